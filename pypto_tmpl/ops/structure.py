"""From YAML nodes to entries: unknown keys, missing keys and values of a wrong type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import yaml

from pypto_tmpl.errors import Diagnostic, Location, allowed_note
from pypto_tmpl.ops import model
from pypto_tmpl.ops.call_model import CallSpec
from pypto_tmpl.ops.fact_model import (
    CoreRule,
    LoweringSpec,
    PipeEnd,
    PipeSpec,
    PipeTarget,
    ScratchShape,
    ScratchSpec,
    Trait,
)
from pypto_tmpl.ops.positions import YamlFile, parse_yaml, split_path
from pypto_tmpl.ops.pto_model import HiddenParameter, PtoSpec, SharedStorage
from pypto_tmpl.ops.sources import read_text
from pypto_tmpl.ops.table import Declaration

_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
_MISSING_KEY = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_WRONG_TYPE = re.compile(r"Expected `(?P<expected>.+?)`, got `(?P<got>.+?)`")
_WRONG_VALUE = re.compile(r"Invalid enum value '(?P<value>.*)'")
_HEAD = ("family", "traits", "ops")
_PARTS = {
    "operands": model.OperandSpec, "kwargs": model.KwargSpec, "result": model.ResultSpec,
    "call": CallSpec, "pipe": PipeSpec, "lowers_to": LoweringSpec, "scratch": ScratchSpec,
    "pto": PtoSpec,
}  # fmt: skip
_VOCABULARY = {
    "kind": model.OperandKind, "memory": model.MemorySpace, "dtypes": model.DTypeName,
    "dtype": model.DTypeName, "type": model.KwargType, "core": CoreRule, "traits": Trait, "end": PipeEnd,
    "to": PipeTarget, "shape": ScratchShape, "shares": SharedStorage,
    "hidden": HiddenParameter,
}  # fmt: skip


def read_family(path: Path) -> tuple[Sequence[Declaration], Sequence[Diagnostic]]:
    """The entries of one file that are well formed, and what is wrong with the others."""
    return _family(path, read_text(path))


@lru_cache(maxsize=256)
def _family(path: Path, text: str) -> tuple[Sequence[Declaration], Sequence[Diagnostic]]:
    """What ``read_family`` gives; kept, since a table is loaded again when any file of it has changed."""
    file = parse_yaml(path, text)
    stem = path.name.removesuffix(".yaml")
    root, data = file.root, file.data
    if file.problems and not isinstance(data, dict):
        return (), file.problems
    if not isinstance(root, yaml.MappingNode) or not isinstance(data.get("ops"), list):
        what = f"{stem}: a family file holds the keys `family` and `ops`, a list of entries"
        return (), [*file.problems, Diagnostic("family-file", what, str(Location(path, 1)))]
    problems = [*file.problems, *_check_head(file, data, stem)]
    nodes = next(value for key, value in root.value if key.value == "ops").value
    shared = _shared_traits(file, data, stem, problems)
    declarations = []
    for index, (value, node) in enumerate(zip(data["ops"], nodes, strict=True)):
        entry = _convert(file, value, node, index, problems)
        if entry is not None:
            declarations.append(Declaration(_with_traits(entry, shared), stem, file, node))
    return declarations, problems


def _shared_traits(
    file: YamlFile, data: dict[str, Any], stem: str, problems: list[Diagnostic]
) -> tuple[Trait, ...]:
    """The traits that a file gives to all of its ops; none, and a problem, where they are not right."""
    try:
        return msgspec.convert(data.get("traits", []), tuple[Trait, ...])
    except msgspec.ValidationError as error:
        message, _, path_text = str(error).partition(" - at ")
        path = ["traits", *split_path(path_text)]
        problems.append(_describe(file, None, stem, message, path))
        return ()


def _with_traits(entry: model.OpEntry, shared: tuple[Trait, ...]) -> model.OpEntry:
    return msgspec.structs.replace(entry, traits=(*shared, *entry.traits)) if shared else entry


def _check_head(file: YamlFile, data: dict[str, Any], stem: str) -> Iterator[Diagnostic]:
    for key in data:
        if key not in _HEAD:
            notes = (allowed_note("keys", _HEAD, key),)
            where = str(Location(file.path, file.line_of([key])))
            yield Diagnostic("unknown-key", f"{stem}: unknown key {key!r}", where, notes)
    if data.get("family") != stem:
        what = f"family {data.get('family')!r} stands in the file of {stem!r}"
        where = str(Location(file.path, file.line_of(["family"])))
        yield Diagnostic("family-name", what, where, (f"write `family: {stem}`",))


def _convert(
    file: YamlFile, value: Any, node: yaml.Node, index: int, problems: list[Diagnostic]
) -> model.OpEntry | None:
    name = value.get("name") if isinstance(value, dict) else None
    op = name if isinstance(name, str) else f"entry {index + 1}"
    failed = False
    while True:
        try:
            entry = msgspec.convert(value, model.OpEntry)
            return None if failed else entry
        except msgspec.ValidationError as error:
            failed = True
            message, _, path_text = str(error).partition(" - at ")
            path = split_path(path_text)
            problems.append(_describe(file, node, op, message, path))
            unknown = _UNKNOWN_KEY.match(message)
            if unknown is None:  # only after an unknown key is the rest known to be worth reading
                return None
            value = _without(value, path, unknown["name"])


def _without(value: Any, path: list[str | int], key: str) -> Any:
    """A copy of ``value`` in which the mapping at ``path`` lacks ``key``; "?" stands for every value."""
    if not path:
        return {name: part for name, part in value.items() if name != key}
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_without(part, rest, key) if index == step else part for index, part in enumerate(value)]
    return {n: _without(part, rest, key) if step in (n, "?") else part for n, part in value.items()}


def _describe(
    file: YamlFile, node: yaml.Node | None, op: str, message: str, path: list[str | int]
) -> Diagnostic:
    """A message of msgspec in the words of the table."""
    place = _shown(path)
    inside = f" in {place}" if place else ""
    line_path = list(path)
    if match := _UNKNOWN_KEY.match(message):
        line_path.append(match["name"])
        slug, what = "unknown-key", f"unknown key {match['name']!r}{inside}"
        note = allowed_note("keys", _keys_at(path), match["name"])
    elif match := _MISSING_KEY.match(message):
        slug, what = "missing-key", f"the key {match['name']!r} is missing{inside}"
        note = allowed_note("needed", _keys_at(path, required=True))
    elif match := _WRONG_VALUE.match(message):
        slug, what = "unknown-value", f"{place} cannot be {match['value']!r}"
        key = next((step for step in reversed(path) if isinstance(step, str)), "")
        values = model.ResultKind if path[:1] == ["result"] else _VOCABULARY[key]
        note = allowed_note("values", get_args(values), match["value"])
    elif match := _WRONG_TYPE.match(message):
        slug, what = "wrong-type", f"{place or 'the entry'} is {_plain(match['got'])}"
        note = f"expected: {' or '.join(_plain(kind) for kind in match['expected'].split(' | '))}"
    else:
        slug, what, note = "wrong-value", f"{place} is not right", _plain_rule(message)
    where = str(Location(file.path, file.line_of(line_path, node)))
    return Diagnostic(slug, f"{op}: {what}", where, (note,))


def _shown(path: list[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".").replace(".?", " (one of its values)")


def _keys_at(path: list[str | int], *, required: bool = False) -> tuple[str, ...]:
    struct: Any = next((_PARTS[step] for step in reversed(path) if step in _PARTS), model.OpEntry)
    fields = msgspec.structs.fields(struct)
    return tuple(field.encode_name for field in fields if field.required or not required)


def _plain(kind: str) -> str:
    words = {"str": "text", "array": "a list", "object": "a mapping", "int": "an integer",
             "bool": "true or false", "float": "a number"}  # fmt: skip
    return words.get(kind, kind)


def _plain_rule(message: str) -> str:
    if "matching regex" in message:
        return "expected: a registered name with its namespace, such as tile.row_sum"
    if "length >= 1" in message:
        return "expected: something that is not empty"
    return message
