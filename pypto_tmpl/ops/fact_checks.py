"""Facts that an entry cannot have: words and operands that are none, keys that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.enums import ArgEffect
from pypto_tmpl.ops import model
from pypto_tmpl.ops.effects import EffectRule, parse_effect
from pypto_tmpl.ops.fact_model import CONDITIONS, LOWERING_RULES, BackendName, LoweringSpec, Trait
from pypto_tmpl.ops.op_facts import ALL, NARROWER

Found = Iterator[tuple[str, tuple[str | int, ...], str]]  # what, where in the entry, a note
_CONDITION = re.compile(r"(?P<word>\w+)\((?P<names>[^()]*)\)")
_EFFECT_FORM = "expected: Read, Write, ReadWrite, or as in `ReadWrite if atomic=Add else Write`"
_NEEDS_OPERAND: frozenset[Trait] = frozenset(
    {
        "copied_in_kernels",
        "extent",
        "loads",
        "may_return_operand",
        "moves",
        "reads_element",
        "shards",
        "window",
    }
)
_NEEDS_WRITES: frozenset[Trait] = frozenset({"accumulates", "fills_padding", "lays"})


def fact_problems(entry: model.OpEntry) -> Found:
    """Everything that is wrong with the facts of one entry."""
    yield from _trait_problems(entry)
    yield from _effect_problems(entry)
    yield from _storage_problems(entry)
    yield from _core_problems(entry)


def _trait_problems(entry: model.OpEntry) -> Found:
    for index, trait in enumerate(entry.traits):
        if trait in entry.traits[:index]:
            yield f"the trait {trait!r} is given twice", ("traits",), "a family's traits are those of its ops"
        if trait in _NEEDS_OPERAND and not entry.operands:
            yield f"the trait {trait!r} is about a first operand, and there is none", ("traits",), ""
        if trait in _NEEDS_WRITES and not entry.writes:
            yield f"the trait {trait!r} needs `writes`", ("traits",), "name the operand in `writes`"
    if "loads" in entry.traits and "window" not in entry.traits:
        yield "what loads reads a window", ("traits",), "add the trait window"


def _effect_problems(entry: model.OpEntry) -> Found:
    for name, text in (entry.effects or {}).items():
        path = ("effects", name)
        if name not in entry.operand_names:
            note = allowed_note("operands", entry.operand_names, name)
            yield f"`effects` names {name!r}, which is no operand", path, note
            continue
        try:
            rule = parse_effect(text)
        except (KeyError, ValueError):
            yield f"{text!r} is no effect", path, _EFFECT_FORM
            continue
        yield from _effect_test_problems(entry, rule, path)
        writes = [effect is not ArgEffect.Read for effect in rule.alternatives]
        if name in entry.writes and not all(writes):
            yield (
                f"`writes` has {name!r}, `effects` says {text!r}",
                path,
                "what `writes` has is always written",
            )
        if name not in entry.writes and all(writes):
            yield f"`effects` has {name!r} written, `writes` does not", path, f"writes: [{name}]"


def _effect_test_problems(entry: model.OpEntry, rule: EffectRule, path: tuple[str, ...]) -> Found:
    specs = {spec.name: spec for spec in entry.kwargs}
    for key, value in rule.tests:
        if key not in specs:
            note = allowed_note("keywords", entry.kwarg_names, key)
            yield f"the effect asks for {key!r}, which is no keyword", path, note
        elif specs[key].values and value not in specs[key].values:
            note = allowed_note("values", tuple(specs[key].values), value)
            yield f"the effect asks for {key}={value}, which it never is", path, note


def _storage_problems(entry: model.OpEntry) -> Found:
    names = entry.operand_names
    if entry.view_of is not None:
        if entry.view_of not in names:
            note = allowed_note("operands", names, entry.view_of)
            yield f"`view_of` names {entry.view_of!r}, which is no operand", ("view_of",), note
        if entry.returns is not None:
            yield (
                "has both `view_of` and `returns`",
                ("view_of",),
                "the result is the operand or a view of it",
            )
    by_backend = entry.disjoint_from
    terms = by_backend if isinstance(by_backend, dict) else {"": by_backend}
    for backend, operands in terms.items():
        path = ("disjoint_from", backend) if backend else ("disjoint_from",)
        if backend and backend not in get_args(BackendName):
            note = allowed_note("backends", get_args(BackendName), backend)
            yield f"no backend is named {backend!r}", path, note
        for name in operands:
            if name not in (*names, ALL, NARROWER):
                note = allowed_note("operands", (*names, ALL, NARROWER), name)
                yield f"`disjoint_from` names {name!r}, which is no operand", path, note
            same = entry.returns or entry.view_of
            if same is not None and name in (same, ALL):
                yield f"the result lies on {same!r}, and `disjoint_from` forbids it", path, ""


def _core_problems(entry: model.OpEntry) -> Found:
    if entry.core == "move" and not (entry.operands and "target_memory" in entry.kwarg_names):
        yield "`core: move` needs an operand and the keyword 'target_memory'", ("core",), ""
    if entry.core == "core_type" and "core_type" not in entry.kwarg_names:
        yield "`core: core_type` needs the keyword 'core_type'", ("core",), ""
    if entry.row_major and not any("tile" in operand.kinds for operand in entry.operands):
        yield "`row_major` is about tiles, and the op takes none", ("row_major",), ""
    if entry.pipe is not None and bool(entry.operands) != (entry.pipe.end != "pop"):
        what = "takes no operand" if entry.pipe.end == "pop" else "takes the tile"
        yield f"the {entry.pipe.end} of a pipe {what}", ("pipe",), ""


def lowering_problems(entry: model.OpEntry, entries: Mapping[str, model.OpEntry]) -> Found:
    """What is wrong with ``lowers_to``, given the entries of all files."""
    for index, way in enumerate(entry.lowerings):
        path = ("lowers_to", index)
        if (way.to is None) == (way.rule is None):
            yield "a way to lower has one of `to` and `rule`", path, ""
        for name in way.names:
            if name not in entries:
                yield f"`lowers_to` names {name!r}, and there is no such op", path, ""
        if way.rule is not None and way.rule not in LOWERING_RULES:
            note = allowed_note("rules", tuple(LOWERING_RULES), way.rule)
            yield f"no way to lower is named {way.rule!r}", path, note
        for what, note in _condition_problems(entry, way.when):
            yield what, path, note
        target = None if way.to is None else entries.get(way.to)
        if target is not None:
            for what, note in _mapping_problems(entry, way, target):
                yield what, path, note


def _condition_problems(entry: model.OpEntry, conditions: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in conditions:
        found = _CONDITION.fullmatch(text)
        if found is None or found["word"] not in CONDITIONS:
            yield f"{text!r} is no condition", f"words: {', '.join(CONDITIONS)}"
            continue
        names = [name.strip() for name in found["names"].split(",")]
        known = entry.kwarg_names if found["word"] == "given" else entry.operand_names
        if len(names) != CONDITIONS[found["word"]] or not set(names) <= set(known):
            yield f"{text!r} names what the op does not take", f"names: {', '.join(known)}"


def _mapping_problems(
    entry: model.OpEntry, way: LoweringSpec, target: model.OpEntry
) -> Iterator[tuple[str, str]]:
    """Operands and keywords that the tile op would not take, or would lack."""
    operands = way.operands or (*entry.operand_names, *way.scratch)
    taken = target.operand_names
    for name in operands:
        if name not in (*entry.operand_names, *way.scratch):
            yield (
                f"{name!r} is neither operand nor workspace",
                allowed_note("names", entry.operand_names, name),
            )
    for name in way.scratch:
        if name not in taken:
            yield f"{target.name} has no operand {name!r}", allowed_note("operands", taken, name)
    needed = sum(not operand.optional for operand in target.operands)
    optional = sum(operand.optional for operand in entry.operands if operand.name in operands)
    if len(operands) > len(taken) or len(operands) - optional < min(needed, len(operands)):
        yield f"{target.name} takes {', '.join(taken)}, and gets {', '.join(operands)}", ""
    if len(operands) < needed:
        yield f"{target.name} needs {needed} operands, and gets {len(operands)}", ""
    yield from _keyword_problems(entry, way, target)


def _keyword_problems(
    entry: model.OpEntry, way: LoweringSpec, target: model.OpEntry
) -> Iterator[tuple[str, str]]:
    for name in way.drops:
        if name not in entry.kwarg_names:
            yield (
                f"`drops` names {name!r}, which is no keyword",
                allowed_note("keywords", entry.kwarg_names, name),
            )
    given: dict[str, Any] = {name: None for name in entry.kwarg_names if name not in way.drops} | way.adds
    for name in given:
        if name not in target.kwarg_names:
            note = allowed_note("keywords", target.kwarg_names, name)
            yield f"{target.name} has no keyword {name!r}", note
    for spec in target.kwargs:
        if spec.required and spec.name not in given:
            yield f"{target.name} needs the keyword {spec.name!r}", "say its value in `adds`"
