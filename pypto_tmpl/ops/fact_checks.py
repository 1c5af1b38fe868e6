"""Facts that an entry cannot have: words and operands that are none, keys that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.enums import ArgEffect, BackendType
from pypto_tmpl.ops import model
from pypto_tmpl.ops.effects import EffectRule, parse_effect
from pypto_tmpl.ops.fact_model import (
    CONDITIONS,
    LOWERING_RULES,
    TRAITS,
    CoreRule,
    LoweringSpec,
    PipeSpec,
    Trait,
)
from pypto_tmpl.ops.op_facts import ALL, NARROWER
from pypto_tmpl.ops.typing.words import resolve_result

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

_DEEDS: tuple[Trait, ...] = (
    "allocates", "casts", "counts", "dummy_task", "fills_padding", "lays", "loads", "moves", "product",
    "reads_element", "reserves", "shards",
)  # fmt: skip
"""What an op does in the main, of which it has one at most."""
_EXCLUDED: Mapping[Trait, frozenset[Trait]] = {
    "cellwise": frozenset(_DEEDS) - {"casts", "moves"} | {"extent", "reads_first", "window"},
    "makes_value": frozenset({"may_return_operand", "no_arithmetic"}),
    "no_arithmetic": frozenset({"accumulates", "casts", "product"}),
}
_CELLWISE_SHAPES = ("broadcast", "packed_mask")
"""Rules for a result that has a cell, or a bit, for each of the operands'."""


def fact_problems(entry: model.OpEntry) -> Found:
    """Everything that is wrong with the facts of one entry."""
    yield from _repeat_problems(entry)
    yield from _trait_problems(entry)
    yield from _exclusion_problems(entry)
    yield from _effect_problems(entry)
    yield from _storage_problems(entry)
    yield from _core_problems(entry)


def _repeat_problems(entry: model.OpEntry) -> Found:
    """Members of lists that stand there twice."""
    disjoint = entry.disjoint_from if isinstance(entry.disjoint_from, dict) else {"": entry.disjoint_from}
    lists: list[tuple[tuple[str | int, ...], tuple[str, ...]]] = [
        *(((key,), getattr(entry, key)) for key in ("traits", "writes", "dsl", "aliases", "uses", "dtypes")),
        *(
            (("disjoint_from", backend) if backend else ("disjoint_from",), disjoint[backend])
            for backend in disjoint
        ),
        *((("operands", i, "kind"), operand.kinds) for i, operand in enumerate(entry.operands)),
        *((("operands", i, "memory"), operand.memory) for i, operand in enumerate(entry.operands)),
    ]
    for path, members in lists:
        for name in dict.fromkeys(name for name in members if members.count(name) > 1):
            note = "a family's traits are those of its ops" if path == ("traits",) else ""
            yield f"`{path[-1]}` has {name!r} twice", path, note


def _exclusion_problems(entry: model.OpEntry) -> Found:
    """Traits that no op can have together, or not with what else the entry says."""
    deeds = [trait for trait in _DEEDS if trait in entry.traits]
    pairs = list(pairwise(deeds))
    pairs += [(trait, other) for trait in _EXCLUDED for other in sorted(_EXCLUDED[trait])]
    for trait, other in pairs:
        if trait in entry.traits and other in entry.traits:
            note = f"an op is one of: {', '.join(_DEEDS)}" if trait in _DEEDS else f"{trait}: {TRAITS[trait]}"
            yield f"the traits {trait!r} and {other!r} exclude each other", ("traits",), note
    if "makes_value" in entry.traits and entry.view_of is not None:
        yield (
            "has the trait 'makes_value' and `view_of`",
            ("traits",),
            f"makes_value: {TRAITS['makes_value']}",
        )
    if "cellwise" in entry.traits:
        shape = (resolve_result(entry).shape or "none").partition("(")[0]
        if shape not in (*entry.operand_names, *_CELLWISE_SHAPES):
            note = allowed_note("shapes", (*entry.operand_names, *_CELLWISE_SHAPES), shape)
            yield f"the trait 'cellwise' does not go with a result of shape {shape!r}", ("traits",), note


def _trait_problems(entry: model.OpEntry) -> Found:
    for trait in entry.traits:
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
        if backend and backend not in BackendType.__members__:
            note = allowed_note("backends", [*BackendType.__members__], backend)
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
    if entry.row_major and entry.namespace != "tile":
        yield "`row_major` is about tiles, and the op is none of tiles", ("row_major",), ""
    if entry.pipe is not None and bool(entry.operands) != (entry.pipe.end != "pop"):
        what = "takes no operand" if entry.pipe.end == "pop" else "takes the tile"
        yield f"the {entry.pipe.end} of a pipe {what}", ("pipe",), ""
    if entry.pipe is not None:
        core = _core_at(entry.pipe)
        if entry.core != core:
            what = f"the {entry.pipe.end} of a pipe to {entry.pipe.to} runs on the {core} core"
            yield f"{what}, and `core` is {entry.core!r}", ("pipe",), f"core: {core}"


def _core_at(pipe: PipeSpec) -> CoreRule:
    """Who pushes is the core that the pipe does not lead to."""
    is_cube = (pipe.to == "aic") != (pipe.end == "push")
    return "cube" if is_cube else "vector"


def lowering_problems(entry: model.OpEntry, entries: Mapping[str, model.OpEntry]) -> Found:
    """What is wrong with ``lowers_to``, given the entries of all files."""
    if entry.lowers_to and not _is_of(entry.name, "tensor"):
        yield "has `lowers_to` and is no tensor op", ("lowers_to",), "only tensor ops become tile ops"
    always: LoweringSpec | None = None
    for index, way in enumerate(entry.lowerings):
        path = ("lowers_to", index)
        if always is not None:
            note = "say `when` it does, or put it last"
            yield f"a way to lower is never taken: {always.to or always.rule!r} always counts", path, note
        always = always if way.when else always or way
        if (way.to is None) == (way.rule is None):
            yield "a way to lower has one of `to` and `rule`", path, ""
        for name in way.names:
            if name not in entries:
                yield f"`lowers_to` names {name!r}, and there is no such op", path, ""
            elif not _is_of(name, "tile"):
                yield f"`lowers_to` names {name!r}, which is no tile op", path, ""
        if way.rule is not None and way.rule not in LOWERING_RULES:
            note = allowed_note("rules", tuple(LOWERING_RULES), way.rule)
            yield f"no way to lower is named {way.rule!r}", path, note
        for what, note in _condition_problems(entry, way.when):
            yield what, path, note
        target = None if way.to is None else entries.get(way.to)
        if target is not None:
            for what, note in _mapping_problems(entry, way, target):
                yield what, path, note


def _is_of(name: str, kind: str) -> bool:
    """Whether an op is one on tensors or tiles, as the last part of its namespace says."""
    return name.split(".")[-2] == kind


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
