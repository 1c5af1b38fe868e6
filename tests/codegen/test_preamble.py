"""Cutting the preamble into helpers, and choosing those that a script carries."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto_tmpl.codegen.environment import TemplateError
from pypto_tmpl.codegen.options import ScriptOptions
from pypto_tmpl.codegen.preamble import Preamble, PreambleError, Variant, load_preamble

REGIONS = '''\
{# Windows and what is valid in them. #}

{# helper: _clip #}
def _clip(value, low, high):
    """Cut to a range."""
    return max(low, min(value, high))


{# helper: _window  imports: torch, math #}
def _window(tensor, offsets):
    return torch.clone(tensor[_clip(offsets[0], 0, 9) :])


{# helper: _tile_load
   imports: torch, math #}
class _tile_load:
    {# why it is a class #}
    keep = {"{{ '{{' }}": math.inf}

    def __init__(self, math):
        self.parts = [_window(part, [0]) for part in torch.unbind(math)]

    def _lane_index(self):
        return _lane(self._LIMIT)
'''
LANES = """\
{# helper: _LIMIT #}
_LIMIT: int = 10


{#- helper: _lane imports: threading -#}
def _lane(_window=None):
    return _lane_index + threading.get_ident()


{# helper: _lane_index #}
_lane_index = (lambda: _lane(_LIMIT)) and 0
"""
NEITHER = "which is neither a helper nor among its imports"
ORDER = "# what comes first\nlanes\n\nregions  # last\n"


@pytest.fixture
def preamble_dir(tmp_path: Path) -> Callable[..., Path]:
    def write(regions: str = REGIONS, lanes: str = LANES, order: str | None = ORDER) -> Path:
        folder = tmp_path / "T" / "preamble"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "regions.py.jinja").write_bytes(regions.encode())
        (folder / "lanes.py.jinja").write_bytes(lanes.encode())
        if order is not None:
            (folder / "ORDER").write_text(order)
        return tmp_path / "T"

    return write


@pytest.fixture
def preamble(preamble_dir: Callable[..., Path]) -> Preamble:
    return load_preamble([preamble_dir()])


def test_helpers_come_in_the_order_of_topics_then_of_the_file(preamble: Preamble) -> None:
    names = ("_LIMIT", "_lane", "_lane_index", "_clip", "_window", "_tile_load")
    assert tuple(preamble.helpers) == names
    assert preamble.full().names == names


def test_text_of_a_helper(preamble: Preamble) -> None:
    assert preamble.helpers["_window"].text == (
        "def _window(tensor, offsets):\n    return torch.clone(tensor[_clip(offsets[0], 0, 9) :])\n"
    )
    assert preamble.helpers["_LIMIT"].text == "_LIMIT: int = 10\n"
    assert '{"{{": math.inf}' in preamble.helpers["_tile_load"].text
    assert "{#" not in preamble.helpers["_tile_load"].text


def test_closure(preamble: Preamble) -> None:
    chosen = preamble.closure(["_window"])
    assert chosen.names == ("_clip", "_window")
    assert chosen.imports == ("torch",)
    assert chosen.segments == tuple(preamble.helpers[name].text for name in chosen.names)
    cyclic = preamble.closure(["_tile_load"])
    assert cyclic.names == ("_LIMIT", "_lane", "_lane_index", "_clip", "_window", "_tile_load")
    assert cyclic.imports == ("math", "threading", "torch")
    assert preamble.closure([]).segments == ()


def test_closure_does_not_depend_on_the_order_of_the_names(preamble: Preamble) -> None:
    names = ["_window", "_lane", "_LIMIT"]
    first = preamble.closure(names)
    assert preamble.closure(reversed(names)) == first
    assert preamble.closure(set(names)) == first


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_closure_does_not_depend_on_the_hash_seed(
    seed: str, preamble: Preamble, preamble_dir: Callable[..., Path]
) -> None:
    code = (
        "import sys; from pathlib import Path; from pypto_tmpl.codegen.preamble import load_preamble\n"
        "p = load_preamble([Path(sys.argv[1])]); print(p.closure(p.names_in('_tile_load _clip _lane')))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", code, str(preamble_dir())]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(preamble.closure(["_tile_load"]))


def test_names_in_a_text(preamble: Preamble) -> None:
    text = "x = _clip(_window_1, tensor._window, my_lane)\n_lane_index + torch._clip - _LIMIT"
    assert preamble.names_in(text) == {"_clip", "_lane_index", "_LIMIT"}


@pytest.mark.parametrize(
    "said",
    [
        "x = 1  # see _clip, it's there",
        "# _clip",
        "x = f # _clip",
        'x = "_clip"',
        "x = f('a', '_clip')",
        "x = r'_clip' + b\"_clip\"",
        "x = 'it\\'s _clip'",
        'def f(x):\n    """Say "_clip".\n\n    _clip\n    """',
    ],
)
def test_comments_and_strings_name_no_helper(preamble: Preamble, said: str) -> None:
    assert preamble.names_in(said) == set()
    assert preamble.names_in(f"{said}\ny = _LIMIT") == {"_LIMIT"}


@pytest.mark.parametrize("code", ["x['#'] = _clip", 'x = f"{_clip(y)}"', "x = ''; _clip('')"])
def test_a_helper_beside_strings_is_found(preamble: Preamble, code: str) -> None:
    assert preamble.names_in(code) == {"_clip"}


def test_line_ends_do_not_reach_the_text(preamble: Preamble, preamble_dir: Callable[..., Path]) -> None:
    again = load_preamble([preamble_dir(REGIONS.replace("\n", "\r\n"), "\ufeff" + LANES)])
    assert again.full() == preamble.full()


def test_an_earlier_folder_wins_one_file_at_a_time(preamble_dir: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "user/preamble").mkdir(parents=True)
    mine = LANES.replace("_LIMIT: int = 10", "_LIMIT: int = 11")
    (tmp_path / "user/preamble/lanes.py.jinja").write_text(mine)
    preamble = load_preamble([tmp_path / "user", preamble_dir()])
    assert preamble.helpers["_LIMIT"].text == "_LIMIT: int = 11\n"
    assert "_clip" in preamble.names


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"regions": REGIONS.replace("[_clip(", "[_clp(")},
            "error[unknown-helper]: helper '_window' names '_clp', which is neither a helper nor among its"
            " imports\n"
            "  --> T/preamble/regions.py.jinja:9\n"
            "   = helpers: _LIMIT, _clip, _lane, _lane_index, _tile_load, _window; did you mean '_clip'?",
        ),
        (
            {"lanes": LANES + "\n\n{# helper: _clip #}\n_clip = 1\n"},
            "error[duplicate-helper]: two helpers are named '_clip'\n"
            "  --> T/preamble/regions.py.jinja:3\n"
            "   = first: T/preamble/lanes.py.jinja:14",
        ),
        (
            {"order": "lanes\n"},
            "error[preamble-order]: ORDER does not list 'regions'\n"
            "  --> T/preamble/regions.py.jinja:1\n"
            "   = add the topic, helpers come after what they call at import time",
        ),
        (
            {"order": ORDER + "region\n"},
            "error[preamble-order]: there is no file region.py.jinja\n"
            "  --> T/preamble/ORDER:5\n"
            "   = topics: lanes, regions; did you mean 'regions'?",
        ),
        (
            {"order": ORDER + "lanes\n"},
            "error[preamble-order]: 'lanes' stands twice\n"
            "  --> T/preamble/ORDER:5\n"
            "   = topics: lanes, regions; did you mean 'lanes'?",
        ),
        (
            {"order": None, "lanes": ""},
            "error[preamble-order]: the preamble has no ORDER file\n  --> T/preamble/ORDER:1",
        ),
        (
            {"lanes": "import torch\n" + LANES},
            "error[preamble-text]: text stands before the first helper marker\n"
            "  --> T/preamble/lanes.py.jinja:1\n"
            "   = a marker reads {# helper: NAME  imports: ... #}",
        ),
        (
            {"lanes": LANES.replace("helper", "helfer"), "regions": REGIONS.replace("_lane(", "_clip(")},
            "error[preamble-text]: the file has no helper marker\n"
            "  --> T/preamble/lanes.py.jinja:1\n"
            "   = a marker reads {# helper: NAME  imports: ... #}",
        ),
        (
            {"lanes": LANES.replace("def _lane(", "def _lanes(")},
            "error[preamble-text]: the helper '_lane' is not defined below its marker\n"
            "  --> T/preamble/lanes.py.jinja:5",
        ),
        (
            {"lanes": LANES.replace("imports: threading", "needs: _lane_index  imports: threading")},
            "error[preamble-marker]: helper '_lane': unknown key 'needs'\n"
            "  --> T/preamble/lanes.py.jinja:5\n"
            "   = keys: imports; the helpers that it needs are found in its text",
        ),
        (
            {"lanes": LANES.replace("_lane_index + ", "_lane_index +* ")},
            "error[preamble-text]: the helper '_lane' is no Python: invalid syntax\n"
            "  --> T/preamble/lanes.py.jinja:7",
        ),
        (
            {"lanes": LANES.replace("imports: threading", "imports: threading, from a import b")},
            "error[preamble-marker]: helper '_lane': 'from a import b' is no module\n"
            "  --> T/preamble/lanes.py.jinja:5\n"
            "   = imports: modules, comma-separated, as in `torch, threading`",
        ),
    ],
)
def test_errors(preamble_dir: Callable[..., Path], tmp_path: Path, change: dict[str, str], text: str) -> None:
    with pytest.raises(PreambleError) as caught:
        load_preamble([preamble_dir(**change)])
    assert str(caught.value).replace(f"{tmp_path}/", "") == text
    assert isinstance(caught.value, ValueError)


def test_errors_come_together(preamble_dir: Callable[..., Path]) -> None:
    lanes = LANES.replace("helper: _LIMIT", "helper: _MAXIMUM")
    with pytest.raises(PreambleError) as caught:
        load_preamble([preamble_dir(REGIONS.replace("[_clip(", "[_cut("), lanes, ORDER + "more\n")])
    assert [(problem.slug, problem.what) for problem in caught.value.problems] == [
        ("preamble-order", "there is no file more.py.jinja"),
        ("preamble-text", "the helper '_MAXIMUM' is not defined below its marker"),
        ("unknown-helper", f"helper '_lane_index' names '_LIMIT', {NEITHER}"),
        ("unknown-helper", f"helper '_window' names '_cut', {NEITHER}"),
    ]
    assert str(caught.value).count("error[") == 4


def test_closure_of_an_unknown_name(preamble: Preamble) -> None:
    with pytest.raises(PreambleError) as caught:
        preamble.closure(["_clipp"])
    assert str(caught.value) == (
        "error[unknown-helper]: no helper is named '_clipp'\n"
        "   = helpers: _LIMIT, _clip, _lane, _lane_index, _tile_load, _window; did you mean '_clip'?"
    )


def test_the_projects_own_preamble_loads_once() -> None:
    assert load_preamble() is load_preamble()


# Variants

LONE = "{# helper: _alone #}\n_alone = 1\n"
VARIED = """\
{# helper: _load #}
def _load(tensor):
    {{ "_check(tensor)" if options.poison }}
{% if not has_edges %}
    return tensor
{% else %}
    return _cut(tensor)
{% endif %}


{% if options.poison %}
{# helper: _check #}
def _check(tensor): ...


{% endif %}
{# helper: _cut #}
def _cut(tensor): ...
"""


@pytest.mark.parametrize("poison", [False, True])
@pytest.mark.parametrize("has_edges", [False, True])
def test_what_a_helper_needs_goes_with_its_variant(
    preamble_dir: Callable[..., Path], poison: bool, has_edges: bool
) -> None:
    folder = preamble_dir(LONE, VARIED)
    preamble = load_preamble([folder], Variant(ScriptOptions(poison=poison), has_edges))
    wanted = ["_load", *(["_check"] if poison else []), *(["_cut"] if has_edges else [])]
    assert list(preamble.closure(["_load"]).names) == wanted
    assert ("_check" in preamble.names) == poison


def test_a_template_that_fails_is_named_with_its_line(preamble_dir: Callable[..., Path]) -> None:
    with pytest.raises(TemplateError) as caught:
        load_preamble([preamble_dir(LONE, VARIED.replace("options.poison }}", "options.poisson }}"))])
    assert "has no attribute 'poisson'" in str(caught.value)
    assert "T/preamble/lanes.py.jinja:3" in str(caught.value)
