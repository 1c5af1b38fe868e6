"""Every name that PyPTO's users import is there under its path, with PyPTO's members and parameters."""

import importlib
import inspect
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pypto_tmpl import compat, ir
from pypto_tmpl.runtime.dfx import DfxOptions

NAMES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("public_names.toml").read_text())
UNKNOWN, REST = "?", "..."


@pytest.fixture(scope="module", autouse=True)
def answered() -> Iterator[None]:
    with compat.answering():
        yield


# What differs on purpose; docs/compat.md tells it.
OTHERWISE = {
    "pypto.ir.op.tile_ops.alloc": "recorded texts have the space and the size alone",
    "pypto.language.TaskId": "annotations are records of what is written",
    "pypto.language.paged_gather": "PyPTO's reader takes its numbers by keyword alone",
    "pypto.language.op.paged_gather": "as of pypto.language",
    "alloc_window_buffer": "a window is named by the variable that it is bound to",
    "pypto.pypto_core.ir.ShapedType": "each of its classes has memref and memory_space",
    "python_print": "the texts of dumps are laid out by the printer alone, so that this is the default",
    "python_print_type": "as of python_print",
}


@pytest.mark.parametrize("path", NAMES)
def test_a_module_has_the_names(path: str) -> None:
    module = importlib.import_module(path)
    assert list(differences(module, path, NAMES[path])) == []


def differences(module: ModuleType, path: str, names: dict[str, str]) -> Iterator[str]:
    """What is missing or other than the page says, one line a name."""
    for name, said in names.items():
        if {name, f"{path}.{name}"} & OTHERWISE.keys():
            continue
        try:
            found = getattr(module, name)
        except AttributeError:
            yield f"{name}: missing"
            continue
        kind, _, rest = said.partition(" ")
        if said.startswith("("):
            trouble = parameters_differ(found, said)
        elif kind == "module":
            trouble = "" if isinstance(found, ModuleType) else f"is {found!r}, no module"
        elif kind == "value":
            trouble = value_differs(found, rest)
        elif kind == "enum":
            missing = set(rest.split()) - set(found.__members__)
            trouble = f"lacks {sorted(missing)}" if missing else ""
        else:
            trouble = class_differs(found, kind, rest.split(), module)
        if trouble:
            yield f"{name}: {trouble}"


def value_differs(found: object, type_name: str) -> str:
    return "" if type(found).__name__ == type_name else f"is a {type(found).__name__}, no {type_name}"


def class_differs(found: object, kind: str, members: list[str], module: ModuleType) -> str:
    if not inspect.isclass(found):
        return f"is {found!r}, no class"
    base = kind.removeprefix("class").strip("()")
    if base and not issubclass(found, getattr(module, base)):
        return f"is no {base}"
    known = {name for cls in found.__mro__ for name in vars(cls)} | {
        name for cls in found.__mro__ for name in getattr(cls, "__annotations__", ())
    }
    missing = set(members) - known - {f.name for f in (fields(found) if is_dataclass(found) else ())}
    return f"lacks {sorted(missing)}" if missing else ""


def parameters_differ(found: object, said: str) -> str:
    if not callable(found):
        return f"is {found!r}, which cannot be called"
    ours = inspect.signature(found).parameters
    trouble = next(unlike(parsed(said), dict(ours), found.__module__.startswith("pypto_tmpl.language")), "")
    return f"{trouble}: takes {inspect.signature(found)}, not {said}" if trouble else ""


@dataclass(frozen=True)
class Shown:
    """A parameter as the page writes it; stars are part of the name, a default is "" where there is none."""

    name: str
    default: str
    by_keyword: bool


def parsed(said: str) -> list[Shown]:
    """The parameters that the page writes."""
    found: list[Shown] = []
    by_keyword = False
    for part in said[1:-1].split(", "):
        name, _, default = part.partition(" = ")
        if name == "*":
            by_keyword = True
        elif name:
            found.append(Shown(name, default, by_keyword))
            by_keyword |= name.startswith("*")
    return found


def unlike(theirs: list[Shown], ours: dict[str, inspect.Parameter], in_kernels: bool) -> Iterator[str]:
    """What a call that PyPTO takes is not taken for, or taken for something else.

    More may be taken: further parameters that may be left out, positions for keywords, keywords in any order.
    A span is also taken as the last position of all; what stands in kernels has the span of its text.
    """
    kinds = inspect.Parameter
    positional = [p.name for p in ours.values() if p.kind is kinds.POSITIONAL_OR_KEYWORD and p.name != "span"]
    takes_any = {p.kind for p in ours.values()} & {kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD}
    place, swallowed = 0, any(parameter.name.startswith("*") for parameter in theirs)
    for parameter in theirs:
        name = parameter.name
        if name == REST:
            return
        if name == "span" and in_kernels:
            continue
        if name.startswith("**"):
            if kinds.VAR_KEYWORD not in takes_any and len(ours) <= len(theirs):
                yield f"no {name}"
        elif name.startswith("*"):
            if kinds.VAR_POSITIONAL not in takes_any and len(positional) <= place:
                yield f"no {name}"
        elif name not in ours:
            yield f"no {name!r}"
        elif not swallowed and not same_default(parameter.default, ours[name].default):
            yield f"another default of {name!r}"
        elif not parameter.by_keyword and name != "span":
            if positional[place : place + 1] != [name]:
                yield f"another place of {name!r}"
            place += 1
    known = {parameter.name.lstrip("*") for parameter in theirs}
    for name, own in ours.items():
        is_needed = own.default is own.empty and own.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        if is_needed and name not in known and not swallowed:
            yield f"{name!r} is required"


def same_default(said: str, value: Any) -> bool:
    if not said:
        return True
    if said == UNKNOWN:
        return value is not inspect.Parameter.empty
    texts = {repr(value), f"{type(value).__name__}()"}
    if isinstance(value, Enum):
        texts |= {f"{type(value).__name__}.{value.name}", repr(value.value)}
    if isinstance(value, ir.Span) and not value.is_valid():
        texts.add("Span.unknown()")
    if isinstance(value, DfxOptions):
        texts.add("_DfxOpts()")
    return said in texts


def test_the_page_tells_what_differs() -> None:
    page = Path(__file__).parents[2].joinpath("docs/compat.md").read_text(encoding="utf-8")
    assert [name for name in OTHERWISE if name.rpartition(".")[2] not in page] == []
    assert f"{len(NAMES)} modules" in page
