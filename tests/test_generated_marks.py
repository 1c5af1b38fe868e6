"""Which files count as emitted scripts."""

import pytest

from pypto_tmpl.generated import SCRIPT_MARK, is_script


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        (f'"""main. {SCRIPT_MARK}"""\n', True),
        (f'"""main.\n{SCRIPT_MARK}"""\r\n', True),
        (f'"""main. {SCRIPT_MARK}\nOptions: poison=True\n"""\n', True),
        (f'"""main\n\n{SCRIPT_MARK}\n"""\n', True),  # as it was written once
        (f'"""main\r\n\r\n{SCRIPT_MARK}\r\n"""\r\n', True),
        (f'"""{SCRIPT_MARK}"""\n', True),
        (f'"""main, not {SCRIPT_MARK}"""\n', False),
        (f'"""main. {SCRIPT_MARK} It says so."""\n', False),
        (f'"""Mine."""\nTEXT = """x. {SCRIPT_MARK}"""\n', False),
        (f"# {SCRIPT_MARK}\n", False),
        (f'x = 1\n"""main. {SCRIPT_MARK}"""\n', False),
    ],
)
def test_the_docstring_of_a_script_tells(text: str, is_ours: bool) -> None:
    assert is_script(text.encode()) is is_ours
