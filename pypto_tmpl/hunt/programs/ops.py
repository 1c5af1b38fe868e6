"""Programs of single ops: calls made of the samples of the op table, or of patterns, stores around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.hunt.programs.drawing import BACKENDS, HEAD, Drawing, function, inside
from pypto_tmpl.hunt.programs.patterns import PATTERNS, Pattern
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.language import parse
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.fact_model import LoweringSpec
from pypto_tmpl.ops.model import KwargSpec, OpEntry, OperandSpec
from pypto_tmpl.ops.sample_checks import typed_value
from pypto_tmpl.ops.samples import sample_type
from pypto_tmpl.ops.vocabulary import ENUMERATIONS
from pypto_tmpl.passes.tiles.cast_routes import cast_route

_CALLS = 4
_SHARES = 2  # programs of a pattern for one of an op
_WORDS: Mapping[str, str] = {
    "MemorySpace": "pl.Mem",
    "TensorLayout": "pl.TensorLayout",
    "TileLayout": "pl.TileLayout",
    "PadValue": "pl.PadValue",
}
_DTYPES: Mapping[str, frozenset[str]] = {
    "tile": frozenset(
        {"FP32", "FP16", "BF16", "INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32", "BOOL"}
    ),
    "tensor": frozenset({"FP32", "FP16", "BF16", "INT16", "INT32"}),
}
_SUMS = ("FP32", "INT32")  # what tiles can hold products in
_AXES = 2  # of tiles, to which passes bring those of more where that can be
_MORE_AXES = ("tile.load", "tile.store", "tile.batch_matmul")
# Lanes, windows and what has no result of its own: programs of other kinds have them.
_ELSEWHERE = frozenset(
    {"tensor.aic_gather", "tensor.aiv_shard", "tile.aic_gather", "tile.aiv_shard", "tile.extract"}
)
_LEVEL = "with pl.at(level=pl.Level.CORE_GROUP):"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sample of an op whose result can be stored, and the type of that."""

    entry: OpEntry
    sample: Mapping[str, Any]
    type: ir.ShapedType


@cache
def sampled_ops() -> tuple[tuple[Sampled, ...], ...]:
    """The samples of each op of which programs can be made, by op."""
    table = load_table()
    found = (tuple(_usable(table[name])) for name in table if name.startswith(("tensor.", "tile.")))
    return tuple(samples for samples in found if samples)


def _usable(entry: OpEntry) -> Iterator[Sampled]:
    if entry.refused is not None or entry.pipe is not None or not entry.dsl or entry.name in _ELSEWHERE:
        return
    if load_table().facts(entry.name).has("allocates"):
        return  # what a tile holds that nothing has written, no program means
    for given in entry.samples:
        # What lies outside of the region of a tensor, ops on tensors compute and ops on tiles do not.
        sample = (
            given if entry.namespace == "tile" else {name: _whole(value) for name, value in given.items()}
        )
        if not _is_plain(entry, sample):
            continue
        try:
            type_ = sample_type(entry, sample)
        except Exception:  # what operands do not tell, a program would have to
            continue
        if (
            isinstance(type_, ir.ShapedType)
            and type_.dtype.name in _DTYPES[entry.namespace]
            and all(isinstance(dim, ir.ConstInt) for dim in type_.shape)
            and (not _is_product(entry) or type_.dtype.name in _SUMS)
        ):
            yield Sampled(entry, sample, type_)


def _may_stand_beside(entry: OpEntry, first: OpEntry) -> bool:
    """Whether an op may stand in a program of another one, and has a result that means something."""
    if entry.namespace != first.namespace or "allocates" in entry.traits:
        return False
    return not (_writes_tensor(first) and _is_product(entry))


def _writes_tensor(entry: OpEntry) -> bool:
    """Whether an op writes anywhere in a tensor, which the check of races takes for all of it."""
    return entry.namespace == "tile" and "writes_tensor" in entry.traits


def _is_product(entry: OpEntry) -> bool:
    return "product" in entry.traits or "product" in _rules(entry)


def _rules(entry: OpEntry) -> set[str | None]:
    return {way.rule for way in entry.lowers_to if isinstance(way, LoweringSpec)}


def _whole(value: Any) -> Any:
    return value if typed_value(value) is None else value.partition(" valid")[0]


def _is_plain(entry: OpEntry, sample: Mapping[str, Any]) -> bool:
    """Whether passes and hardware take the operands of a sample, and nothing of the result is undefined."""
    typed = [value for value in map(typed_value, sample.values()) if value is not None]
    if any(dtype not in _DTYPES[entry.namespace] for dtype, _, _ in typed):
        return False
    if any(dtype.startswith(("INT", "UINT")) for dtype, _, _ in typed) and any(
        isinstance(value, str) and "." in value for value in sample.values()
    ):
        return False  # a fraction among integers
    if entry.namespace == "tensor":
        lowered = load_table().get(entry.name.replace("tensor.", "tile."))
        is_known = "valid_shape" not in sample
        is_known &= not any(
            spec.name in way.drops
            and spec.has_default
            and sample.get(spec.name, spec.default) != spec.default
            for way in entry.lowers_to
            if isinstance(way, LoweringSpec)
            for spec in entry.kwargs
        )
        is_known &= lowered is None or all(dtype in lowered.dtypes for dtype, _, _ in typed)
        return is_known and all(len(shape) <= _AXES for _, shape, _ in typed)
    if sample.get("target_memory") == "Mat" and any("tile" in spec.kinds for spec in entry.operands):
        return False  # the vector core computes where to read, the cube core would have to
    return all(
        len(shape) <= _AXES or (entry.name in _MORE_AXES and shape == valid) for _, shape, valid in typed
    )


@dataclass(slots=True)
class _Calls:
    """What is written so far: parameters by their declarations, lines before calls, calls, results."""

    parameters: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


class OpPrograms(Drawing):
    """Four calls of ops, of which the number tells the first, or a pattern."""

    kind = "ops"

    def functions(self) -> str:
        """A kernel for tile ops, a scope for tensor ops."""
        every = sampled_ops()
        round_, place = divmod(self.seed, len(every) + _SHARES * len(PATTERNS))
        self.backend = BACKENDS[(round_ + place) % 2]  # each op comes to both
        if place >= len(every):
            return self._pattern(PATTERNS[place % len(PATTERNS)](self.random))
        first = self._accepted(every[place])
        alike = [group for group in every if _may_stand_beside(group[0].entry, first.entry)]
        others = [self._accepted(self.one(alike)) for _ in range(_CALLS - 1)]
        if any(_is_product(one.entry) for one in (first, *others)):
            others = [one for one in others if not _writes_tensor(one.entry)]
        return self._of([first, *others])

    def _pattern(self, pattern: Pattern) -> str:
        self.backend = pattern.backend or self.backend
        self.ranges["n"] = (0, 4)
        made = _Calls(list(pattern.parameters), list(pattern.lines), list(pattern.results))
        return self._tiles(made) if pattern.namespace == "tile" else self._tensors(made)

    def _of(self, chosen: Sequence[Sampled]) -> str:
        made = _Calls()
        for sampled in chosen:
            self._call(made, sampled)
        return self._tiles(made) if chosen[0].entry.namespace == "tile" else self._tensors(made)

    def _accepted(self, samples: Sequence[Sampled]) -> Sampled:
        """A sample whose call the language and the hardware take: the table is for what dumps have, too."""
        drawn = self.random.sample(samples, len(samples))
        return next((one for one in drawn if _is_accepted(one) and self._has_instructions(one)), drawn[0])

    def _has_instructions(self, sampled: Sampled) -> bool:
        """Whether casts, also those of operands to what they are promoted to, take steps of the hardware."""
        if "casts" not in sampled.entry.traits and "divide" not in _rules(sampled.entry):
            return True
        facts, target = facts_of(BackendType[self.backend]), sampled.type.dtype
        sources = [DATA_TYPES[typed[0]] for typed in map(typed_value, sampled.sample.values()) if typed]
        return all(
            facts.is_native_cast(source, target)
            or cast_route(facts, source, target) is not None
            or (source == target and "casts" not in sampled.entry.traits)
            for source in sources
        )

    def _tiles(self, made: _Calls) -> str:
        names = [parameter.partition(":")[0] for parameter in made.parameters]
        head = (
            "    @pl.function(type=pl.FunctionType.{})\n    def {}(self, " + ", ".join(made.parameters) + "):"
        )
        returned = ", ".join(made.results)
        kernel = function(head.format("InCore", "kernel"), [*made.lines, f"return {returned}"])
        call = f"{returned} = self.kernel({', '.join(names)})"
        return kernel + function(head.format("Orchestration", "main"), [call, f"return {returned}"])

    def _tensors(self, made: _Calls) -> str:
        head = f"    @pl.function\n    def main(self, {', '.join(made.parameters)}):"
        lines = [_LEVEL, *inside(made.lines), f"return {', '.join(made.results)}"]
        return function(head, lines)

    def _call(self, made: _Calls, sampled: Sampled) -> None:
        entry = sampled.entry
        operands = []
        own = ""
        for spec in entry.operands:
            if spec.name not in sampled.sample:
                if not spec.optional:
                    operands.append(self._workspace(made, sampled))
                    continue
                break
            if spec.name == "acc" and entry.name.endswith("_acc"):
                operands.append(self._accumulator(made, sampled))
                continue
            operand = self._operand(made, entry, spec, sampled.sample[spec.name])
            is_named = spec.optional and not spec.scratch and "scalar" in spec.kinds
            operands.append(f"{spec.name}={operand}" if is_named else operand)
            if spec.name in entry.writes and "tensor" in spec.kinds:
                own = operands[-1]
        keywords = [
            f"{spec.name}={_keyword(spec, sampled.sample[spec.name])}"
            for spec in entry.kwargs
            if spec.name in sampled.sample
        ]
        call = f"{entry.dsl[0]}({', '.join([*operands, *keywords])})"
        if own:  # the op writes its operand, and that is its result
            made.lines.append(f"{own} = {call}")
            made.results.append(own)
            return
        result, out = self.name("r"), self.name("o")
        made.lines.append(f"{result} = {call}")
        if "allocates" in entry.traits:
            return  # nobody has written it
        shape = [dim.value for dim in sampled.type.shape if isinstance(dim, ir.ConstInt)]
        made.parameters.append(f"{out}: pl.Out[{_type(sampled.type.dtype.name, shape)}]")
        zeros = ", ".join("0" for _ in shape)
        form = "pl.store({1}, [{2}], {0})" if entry.namespace == "tile" else "pl.assemble({0}, {1}, [{2}])"
        made.lines.append(f"{out} = {form.format(out, result, zeros)}")
        made.results.append(out)

    def _operand(self, made: _Calls, entry: OpEntry, spec: OperandSpec, value: Any) -> str:
        typed = typed_value(value)
        if typed is None:
            return str(value)
        dtype, shape, valid = typed
        name = self.name("a")
        type_ = _type(dtype, shape)
        is_written = spec.name in entry.writes and "tensor" in spec.kinds
        made.parameters.append(f"{name}: {f'pl.InOut[{type_}]' if is_written else type_}")
        if "tile" not in spec.kinds:
            if valid == shape:
                return name
            made.lines.append(
                f"{name}_v = pl.slice({name}, {shape}, {[0] * len(shape)}, valid_shape={valid})"
            )
            return f"{name}_v"
        region = "" if valid == shape else f", valid_shape={valid}"
        space = "" if not spec.memory or "Vec" in spec.memory else ", target_memory=pl.Mem.Mat"
        made.lines.append(f"{name}_t = pl.load({name}, {[0] * len(shape)}, {shape}{region}{space})")
        return f"{name}_t"

    def _accumulator(self, made: _Calls, sampled: Sampled) -> str:
        """The product of the factors that are then multiplied once more."""
        entry, name = sampled.entry, self.name("c")
        factors = [spec for spec in entry.operands if spec.name in ("lhs", "rhs")]
        operands = [self._operand(made, entry, spec, sampled.sample[spec.name]) for spec in factors]
        if entry.namespace == "tensor":  # what products of tiles have whatever their operands are
            operands.append(f"out_dtype=pl.{sampled.type.dtype.name}")
        made.lines.append(f"{name} = pl.{entry.name.removesuffix('_acc')}({', '.join(operands)})")
        return name

    def _workspace(self, made: _Calls, sampled: Sampled) -> str:
        """A tile for an op to work on that a sample says nothing of: like the first operand."""
        typed = next(filter(None, map(typed_value, sampled.sample.values())), None)
        assert typed is not None
        name = self.name("w")
        made.lines.append(f"{name} = pl.tile.create({typed[1]}, dtype=pl.{typed[0]})")
        return name


@cache
def _known() -> dict[int, bool]:
    return {}


def _is_accepted(sampled: Sampled) -> bool:
    known = _known()
    if id(sampled) not in known:
        try:
            node = parse(HEAD + OpPrograms(0)._of([sampled]))
            known[id(sampled)] = not ir.verify(node)
        except PyptoTmplError:
            known[id(sampled)] = False
    return known[id(sampled)]


def _type(dtype: str, shape: Sequence[int]) -> str:
    return f"pl.Tensor[{list(shape)}, pl.{dtype}]"


def _keyword(spec: KwargSpec, value: Any) -> str:
    if spec.type == "DataType":
        return f"pl.{value}"
    if spec.type in ENUMERATIONS:
        return f"{_WORDS.get(spec.type, f'pl.{spec.type}')}.{value}"
    if spec.type == "str":
        return repr(value)
    if spec.values and isinstance(value, str):
        return str(spec.values[value])
    return repr(value)
