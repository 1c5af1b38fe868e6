"""The Jinja environment: strict about names, errors at the template's line, the same text everywhere."""

import os
import stat
import traceback
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

from pypto_tmpl.codegen.bytecode import bytecode_cache
from pypto_tmpl.codegen.environment import (
    OpMacros,
    TemplateError,
    UndefinedNameError,
    create_environment,
    render,
)
from pypto_tmpl.codegen.operands import Operand, bind_attributes, bind_operands
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.model import CALL_FACTS

TABLE = """\
family: sums
ops:
  - name: tile.total
    summary: Sum.
    operands:
      - {name: tile, kind: tile}
      - {name: start, kind: scalar, optional: true}
    kwargs: [{name: axis, type: int, default: -1}]
    result: {dtype: tile, shape: tile, valid: tile}
    emit: total
    with: {function: torch.sum}
  - {name: tile.nothing, summary: Nothing., operands: [], result: none, emit: noop}
"""
PLACE = "\n  --> T/ops/sums.py.jinja:3      op table: T/ops/sums.yaml:3"


def macro(body: str) -> str:
    return "{# Sums. #}\n{% macro total(a, attr, emit) -%}\n" + body + "\n{%- endmacro %}\n"


@pytest.fixture
def emit(tmp_path: Path) -> Callable[..., str]:
    """Emit tile.total(x) with the given macro body."""

    def emit_body(body: str, op: str = "tile.total", newline: str = "\n") -> str:
        folder = tmp_path / "T" / "ops"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sums.yaml").write_text(TABLE)
        (folder / "sums.py.jinja").write_bytes(macro(body).replace("\n", newline).encode())
        table = load_table([tmp_path / "T"])
        environment = create_environment([tmp_path / "T"], cache_folder=tmp_path / "cache")
        entry = table[op]
        tile = Operand("x", dtype_name="FP32", shape=["16", "32"], valid="[8, n]", valid_items=["8", "n"])
        operands = bind_operands(entry, [tile][: len(entry.operands)])
        attributes = bind_attributes(entry, {}, result=tile, in_kernel=True)
        return OpMacros(table, environment).call(entry, operands, attributes)

    return emit_body


@pytest.fixture
def emit_error(emit: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """Emit with a body that fails; return the error's whole text."""

    def error_text(body: str) -> str:
        with pytest.raises(TemplateError) as caught:
            emit(body)
        return str(caught.value).replace(str(tmp_path), "").replace("/T/", "T/")

    return error_text


def test_facts_of_a_call(emit: Callable[..., str]) -> None:
    body = "{{ emit.function }}({{ a.tile }}, {{ attr.axis }}, {{ a.tile.valid }}, {{ attr.result.dtype }})"
    assert emit(body) == "torch.sum(x, -1, [8, n], torch.float32)"
    assert emit("{{ a.tile.valid_items | join('*') }}/{{ a.tile.rank }}/{{ a.tile.bits }}") == "8*n/2/32"
    assert emit("{{ 'absent' if a.start is none else a.start }}") == "absent"
    assert (
        emit("{{ a.tile.dtype_class }} {{ attr.in_kernel }} {{ a.tile.memory is none }}") == "fp32 True True"
    )


FACTS = (
    "valid, valid_items, shape, rank, dtype, dtype_name, dtype_class, bits, memory, items, is_literal, "
    "layout, edge"
)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            "{{ a.tyle }}",
            "error[unknown-operand]: macro 'total' reads a.tyle, but tile.total has no operand 'tyle'"
            f"{PLACE}\n   = operands: tile, start; did you mean 'tile'?",
        ),
        (
            "{{ 'whole' if a.strat is none else 'part' }}",
            "error[unknown-operand]: macro 'total' reads a.strat, but tile.total has no operand 'strat'"
            f"{PLACE}\n   = operands: tile, start; did you mean 'start'?",
        ),
        (
            "{{ 'whole' if a.tile.vald is none else 'part' }}",
            "error[unknown-fact]: macro 'total' reads .vald, but the operand 'x' has no fact 'vald'"
            f"{PLACE}\n   = facts: {FACTS}; did you mean 'valid'?",
        ),
        (
            "{{ a.tile[0] }}",
            "error[unknown-fact]: macro 'total' reads [0], but the operand 'x' has no elements; "
            f"those of a tuple are `.items`{PLACE}\n   = facts: {FACTS}",
        ),
        (
            "{% for extent in a.tile %}{{ extent }}{% endfor %}",
            "error[unknown-fact]: macro 'total' reads the elements, but the operand 'x' has no elements; "
            f"those of a tuple are `.items`{PLACE}\n   = facts: {FACTS}",
        ),
        (
            "{{ attr.axes }}",
            "error[unknown-keyword]: macro 'total' reads attr.axes, but tile.total has no keyword 'axes'"
            f"{PLACE}\n   = keywords: axis, {', '.join(CALL_FACTS)}; did you mean 'axis'?",
        ),
        (
            "{{ emit.fn }}",
            "error[unknown-constant]: macro 'total' reads emit.fn, but tile.total has no constant 'fn'"
            f"{PLACE}\n   = constants: function",
        ),
        (
            "{% set total_sum = 1 %}{{ total_sun }}",
            "error[undefined-name]: macro 'total' fails for tile.total: 'total_sun' is undefined"
            f"{PLACE}\n   = did you mean 'total_sum'?",
        ),
        (
            "{{ a.tile | py_litral }}",
            "error[template-syntax]: macro 'total' cannot be read for tile.total: "
            f"No filter named 'py_litral'.{PLACE}",
        ),
        (
            "{{ 1 // 0 }}",
            "error[template]: macro 'total' fails for tile.total: ZeroDivisionError: "
            f"integer division or modulo by zero{PLACE}",
        ),
        (
            "{{ a.tile.shape | py_literal }}{{ emit | py_literal }}",
            "error[filter]: macro 'total' fails for tile.total: py_literal has no literal for a Constants"
            f"{PLACE}\n   = values: None, bool, int, float, str, and lists and tuples of them",
        ),
        ("{# nothing #}", f"error[empty-expression]: macro 'total' yields no text for tile.total{PLACE}"),
    ],
)
def test_errors_of_a_macro(emit_error: Callable[..., str], body: str, error: str) -> None:
    # A macro that yields nothing fails as a whole: its own line stands for it.
    assert emit_error(body) == (
        error if "yields no text" not in error else error.replace("jinja:3", "jinja:2")
    )


def test_error_of_an_op_without_macro(emit: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(TemplateError) as caught:
        emit("{{ a.tile }}", op="tile.nothing")
    assert str(caught.value).replace(str(tmp_path), "").replace("/T/", "T/") == (
        "error[not-executable]: tile.nothing has no macro\n  --> op table: T/ops/sums.yaml:12"
    )


def test_traceback_ends_at_the_templates_line(emit: Callable[..., str]) -> None:
    with pytest.raises(TemplateError) as caught:
        emit("1 +\n{{ 1 // 0 }}")
    cause = caught.value.__cause__
    assert cause is not None
    last = traceback.extract_tb(cause.__traceback__)[-1]
    assert (Path(last.filename).name, last.lineno, last.line) == ("sums.py.jinja", 4, "{{ 1 // 0 }}")


def test_an_undefined_name_is_jinjas_error_too(emit: Callable[..., str]) -> None:
    with pytest.raises(jinja2.UndefinedError):
        emit("{{ misspelt }}")


def test_line_ends_of_a_template_do_not_reach_the_text(emit: Callable[..., str]) -> None:
    body = "f(\n  {{ a.tile }},\n{% if true %}\n  1)\n{% endif %}"
    assert emit(body, newline="\r\n") == emit(body) == "f(\n  x,\n  1)"


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    (tmp_path / "script").mkdir()
    (tmp_path / "script/line.py.jinja").write_text("# head\n{{ target }} = {{ value.text }}\n")
    return tmp_path


def test_rendering_needs_every_name(templates: Path) -> None:
    environment = create_environment([templates], cache_folder=templates / "cache")
    context = {"target": "x", "value": {"text": "1"}}
    assert render(environment, "script/line.py.jinja", context) == "# head\nx = 1\n"
    with pytest.raises(UndefinedNameError) as caught:
        render(environment, "script/line.py.jinja", {"targets": "x", "value": {"text": "1"}})
    assert str(caught.value).replace(f"{templates}/", "") == (
        "error[undefined-name]: template 'script/line.py.jinja' fails: 'target' is undefined\n"
        "  --> script/line.py.jinja:2\n"
        "   = did you mean 'targets'?"
    )
    with pytest.raises(UndefinedNameError, match="'dict object' has no attribute 'text'"):
        render(environment, "script/line.py.jinja", {"target": "x", "value": {}})


def test_a_template_that_does_not_exist(templates: Path) -> None:
    environment = create_environment([templates], cache_folder=templates / "cache")
    with pytest.raises(TemplateError) as caught:
        render(environment, "script/lime.py.jinja", {})
    assert str(caught.value) == "error[no-template]: template 'script/lime.py.jinja' does not exist"


def test_an_earlier_folder_wins(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    user = tmp_path_factory.mktemp("user")
    (user / "script").mkdir()
    (user / "script/line.py.jinja").write_text("mine {{ target }}\n")
    for folders, text in (((user, templates), "mine x\n"), ((templates, user), "# head\nx = 1\n")):
        environment = create_environment(folders, cache_folder=templates / "cache")
        context = {"target": "x", "value": {"text": "1"}}
        assert render(environment, "script/line.py.jinja", context) == text


def test_compiled_templates_are_kept(emit: Callable[..., str], tmp_path: Path) -> None:
    assert emit("{{ a.tile }}") == "x"
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert len(kept) == 1
    assert emit("{{ a.tile }}") == "x"
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept
    assert emit("-{{ a.tile }}") == "-x"  # an edited template is not answered from the cache


def test_a_damaged_cache_costs_time_only(emit: Callable[..., str], tmp_path: Path) -> None:
    emit("{{ a.tile }}")
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:40] + b"\x00nonsense")
    assert emit("{{ a.tile }}") == "x"


def test_without_a_place_for_the_cache(monkeypatch: pytest.MonkeyPatch, templates: Path) -> None:
    blocker = templates / "file"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    assert bytecode_cache() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert bytecode_cache() is None
    context = {"target": "x", "value": {"text": "1"}}
    assert render(create_environment([templates]), "script/line.py.jinja", context) == "# head\nx = 1\n"


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_cache_that_becomes_unwritable(emit: Callable[..., str], tmp_path: Path) -> None:
    emit("{{ a.tile }}")
    cache = bytecode_cache(tmp_path / "cache")
    assert cache is not None
    cache.directory = str(tmp_path / "gone")
    environment = create_environment([tmp_path / "T"])
    environment.bytecode_cache = cache
    assert environment.get_template("ops/sums.py.jinja").module is not None


@pytest.mark.skipif(os.name == "nt", reason="modes of folders are POSIX")
def test_the_cache_folder_is_the_users_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = bytecode_cache()
    assert cache is not None
    assert stat.S_IMODE(os.stat(cache.directory).st_mode) == 0o700
    assert Path(cache.directory).parent == tmp_path / "pypto_tmpl"
