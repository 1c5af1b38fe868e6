"""Real dumps print as upstream printed them."""

import ast
from pathlib import Path

import pytest
from corpus_check import Dump, check_print, default_corpus, find_dumps

from pypto_tmpl import ir

DUMPS = find_dumps(default_corpus(), ".msgpack")

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_text_is_upstreams(dump: Dump) -> None:
    assert check_print(dump) is None


@pytest.mark.parametrize("dump", DUMPS[:: max(1, len(DUMPS) // 12)], ids=str)
def test_layout_does_not_change_the_meaning(dump: Dump) -> None:
    node = ir.deserialize_from_file(str(dump.path))
    plain = ir.python_print(node)
    formatted = ir.python_print(node, format=True)
    assert ast.dump(ast.parse(formatted)) == ast.dump(ast.parse(plain))
    assert max(map(len, formatted.splitlines())) <= max(200, max(map(len, plain.splitlines())))


def test_formatting_ignores_the_settings_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = ir.deserialize_from_file(str(DUMPS[0].path))
    before = ir.python_print(node, format=True)
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 40\n")
    monkeypatch.chdir(tmp_path)
    assert ir.python_print(node, format=True) == before
