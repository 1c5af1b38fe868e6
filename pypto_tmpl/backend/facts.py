"""What is known of each generation of hardware, read from the YAML file beside this one that has its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec

from pypto_tmpl import ir
from pypto_tmpl.backend.selection import get_backend_type, is_backend_configured
from pypto_tmpl.errors import Diagnostic, Location, PyptoTmplError, allowed_note
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.ir.enums import BackendType
from pypto_tmpl.ops import facts as op_facts
from pypto_tmpl.ops.positions import YamlFile, parse_yaml, split_path
from pypto_tmpl.ops.sources import read_text

_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(?P<name>.*)`")

CoreKind = Literal["cube", "vector"]
CoreCountMethod = Literal["set_block_num", "set_core_num"]
Order = Literal["row_major", "col_major"]
BoxOrder = Literal["row_major", "col_major", "none_box"]
_WORDS = {"core": CoreKind, "core_count_method": CoreCountMethod, "blayout": Order, "slayout": BoxOrder}
Count = Annotated[int, msgspec.Meta(gt=0)]
_FOUR_BITS = 4
Place: TypeAlias = "list[str | int]"
"""Where in the facts: keys and positions in lists."""


class BackendFactsError(PyptoTmplError, ValueError):
    """A file of facts is broken."""

    slug = "backend-facts"


class Requires(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the hardware cannot do, so that a pass or a stream must."""

    gm_pipe_buffer: bool  # cube and vector cores exchange tiles through global memory
    split_load_tpop_workaround: bool
    vto_c_fractal_adapt: bool  # a tile is brought to NZ before a vector core pushes it
    runtime_subblock_bridge: bool
    no_split_dual_aiv_dispatch: bool  # both lanes run a vector kernel that is not split
    low_precision_mat_scratch: bool


class Supports(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bf16_atomic_add: bool
    flat_tile_gather: bool  # tile.gather takes positions in all of a tile, not in its one row only


class GlobalMemory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes: of one access, of a line of the L2 cache, and best for the innermost extent of a tile."""

    access_granularity: Count
    l2_cache_line: Count
    recommended_innermost: Count


class Memory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One memory of a core in bytes: what tiles may use, all of it, and how the SoC tables align it."""

    size: Count
    alignment: Count
    core: CoreKind
    physical: Annotated[int, msgspec.Meta(ge=0)] = 0


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How tiles lie that say nothing else: order of the boxes, order inside a box, bytes of a box."""

    blayout: Order
    slayout: BoxOrder
    fractal: Count


class CoresPerCluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cube: Count
    vector: Count


Rate = Annotated[float, msgspec.Meta(gt=0)]


class MatmulCosts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What products cost: bytes a cycle, cycles of a product and of a store besides, passes over FP32."""

    left_rate: Rate
    right_rate: Rate
    drain_rate: Rate
    drain_start: Rate
    drain_row: Rate  # cycles of a row that is stored, at least
    drain_penalty: Rate  # cycles of a row whose boxes are in an odd number
    start: Rate
    fp32_passes: Count


class L0(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extents of tiles of the matrix unit."""

    alignment: Count
    min_tile: Count
    acc_row_alignment: Count
    acc_row_alignment_by_dtype: dict[str, Count]
    matmul: MatmulCosts


class BackendFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All facts of a backend (spec: passes 2.2, 3.15, 4.2 and 4.3; compile 3)."""

    name: str
    architecture: str
    sim_platform: str
    ptoas_flags: list[str]
    core_count_method: CoreCountMethod
    requires: Requires
    supports: Supports
    gm: GlobalMemory
    acc_store_dtypes: list[str]
    bias_moves: dict[str, list[str]]
    in_core_4bit_dtypes: list[str]
    memories: dict[str, Memory]
    layouts: dict[str, Layout]
    paths: dict[str, list[str]]
    dies: Count
    clusters_per_die: Count
    cores_per_cluster: CoresPerCluster
    l0: L0
    casts: dict[str, list[str]]

    def capacity(self, space: ir.MemorySpace) -> int | None:
        """Bytes that the tiles of one core may use in ``space``, None where they are not limited."""
        memory = self.memories.get(space.name)
        return memory.size if memory else None

    def core_count(self, kind: ir.CoreType) -> int:
        """How many cores of a kind there are, over all dies."""
        cluster = self.cores_per_cluster
        count = cluster.cube if kind is ir.CoreType.CUBE else cluster.vector
        return count * self.clusters_per_die * self.dies

    def layout(self, space: ir.MemorySpace) -> Layout | None:
        """How tiles lie in ``space``, None where the backend has no such memory; ``[N, 1]`` is col_major."""
        return self.layouts.get(space.name)

    def needs_row_major(self, op: str | ir.Op) -> bool:
        """True where an op takes tiles row by row.

        All backends need it of the same ops (spec: pto 14), so the op table has the one list.
        """
        return op_facts.of(op).row_major

    def is_native_cast(self, source: ir.DataType, target: ir.DataType) -> bool:
        """True where one instruction converts ``source`` to ``target``."""
        return target.name in self.casts.get(source.name, ())

    def acc_row_alignment(self, dtype: ir.DataType) -> int:
        """To what the rows of an accumulator of ``dtype`` are rounded up in memory."""
        return self.l0.acc_row_alignment_by_dtype.get(dtype.name, self.l0.acc_row_alignment)

    def memory_path(self, source: ir.MemorySpace, target: ir.MemorySpace) -> list[ir.MemorySpace]:
        """The shortest way of data between two spaces, both ends included; empty where there is none."""
        reached: dict[str, str | None] = {source.name: None}
        todo = [source.name]
        for place in todo:
            for following in self.paths.get(place, ()):
                if following not in reached:
                    reached[following] = place
                    todo.append(following)
        way: list[ir.MemorySpace] = []
        place_back: str | None = target.name if target.name in reached else None
        while place_back is not None:
            way.append(ir.MemorySpace[place_back])
            place_back = reached[place_back]
        return way[::-1]


@cache
def facts_of(backend: BackendType) -> BackendFacts:
    """The facts of a backend."""
    return read_facts(Path(__file__).with_name(f"{backend.name}.yaml"))


@cache
def largest_capacity(space: ir.MemorySpace) -> int | None:
    """Bytes that tiles may use in ``space`` on the backend with most of it, None where none limits them."""
    sizes = [facts_of(backend).capacity(space) for backend in BackendType.__members__.values()]
    return max((size for size in sizes if size is not None), default=None)


def chosen_facts() -> BackendFacts | None:
    """The facts of the backend of the process, None where none is chosen."""
    return facts_of(get_backend_type()) if is_backend_configured() else None


def read_facts(path: Path) -> BackendFacts:
    """The facts of a file. Raises BackendFactsError that says what is wrong, with file and line."""
    file = parse_yaml(path, read_text(path))
    if file.problems:
        raise _error(file.problems[0])
    try:
        facts = msgspec.convert(file.data, BackendFacts)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at ")
        place = _with_key(file.data, split_path(at.strip("`")))
        words = get_args(_WORDS.get(str(place[-1]) if place else ""))
        notes = (allowed_note("values", words),) if words and message.startswith("Invalid enum") else ()
        if unknown := _UNKNOWN_KEY.fullmatch(message):
            message, place = f"unknown key {unknown['name']!r}", [*place, unknown["name"]]
        raise _error(_problem(file, message, place, *notes)) from None
    for what, place in contradictions(facts):
        raise _error(_problem(file, what, place))
    return facts


def _with_key(data: dict[str, Any], place: Place) -> Place:
    """A place with the key of a mapping where msgspec only says that it is one of its values."""
    if "?" not in place:
        return place
    above, below = place[: place.index("?")], place[place.index("?") + 1 :]
    for key in list(_at(data, above)):
        probe = deepcopy(data)
        others = _at(probe, above)
        for other in others.keys() - {key}:
            del others[other]
        try:
            msgspec.convert(probe, BackendFacts)
        except msgspec.ValidationError:
            return [*above, key, *below]
    return place


def _at(data: Any, place: Place) -> Any:
    for step in place:
        data = data[step]
    return data


def contradictions(facts: BackendFacts) -> Iterator[tuple[str, Place]]:
    """Names that are none, and what one part of the facts says against another; each with its place."""
    yield from _unknown_names(facts)
    for source, targets in facts.casts.items():
        if source in targets:
            yield f"{source!r} is cast to itself", ["casts", source]
    for name, memory in facts.memories.items():
        if memory.physical and memory.physical < memory.size:
            yield f"{name}: tiles may use {memory.size} bytes of {memory.physical}", ["memories", name]
        if name not in facts.layouts:
            yield f"{name!r} has no layout", ["layouts"]
    for index, name in enumerate(facts.in_core_4bit_dtypes):
        if DATA_TYPES[name].get_bit() != _FOUR_BITS:
            yield f"{name!r} has not {_FOUR_BITS} bits", ["in_core_4bit_dtypes", index]


def _unknown_names(facts: BackendFacts) -> Iterator[tuple[str, Place]]:
    """Spaces that are none or known to one part only, dtypes that are none, names given twice."""
    memories = {*facts.memories, ir.MemorySpace.DDR.name}
    for name in facts.memories:
        if name not in ir.MemorySpace.__members__:
            yield f"{name!r} is no memory space", ["memories", name]
    for name in facts.layouts:
        if name not in facts.memories:
            yield f"{name!r} is not among the memories", ["layouts", name]
    tables: list[tuple[str, Mapping[str, Sequence[str]], Collection[str], str]] = [
        ("paths", facts.paths, memories, "among the memories"),
        ("casts", facts.casts, DATA_TYPES, "a dtype"),
        ("bias_moves", facts.bias_moves, DATA_TYPES, "a dtype"),
    ]
    for key, table, known, what in tables:
        for source, targets in table.items():
            yield from _wrong_members([source], known, what, [key, source])
            yield from _wrong_members(targets, known, what, [key, source])
    yield from _wrong_members(facts.acc_store_dtypes, DATA_TYPES, "a dtype", ["acc_store_dtypes"])
    yield from _wrong_members(facts.in_core_4bit_dtypes, DATA_TYPES, "a dtype", ["in_core_4bit_dtypes"])
    for name in facts.l0.acc_row_alignment_by_dtype:
        yield from _wrong_members([name], DATA_TYPES, "a dtype", ["l0", "acc_row_alignment_by_dtype", name])


def _wrong_members(
    names: Sequence[str], known: Collection[str], what: str, place: Place
) -> Iterator[tuple[str, Place]]:
    for index, name in enumerate(names):
        if name not in known:
            yield f"{name!r} is not {what}", place
        if name in names[:index]:
            yield f"{name!r} stands twice", place


def _problem(file: YamlFile, what: str, path: Place, *notes: str) -> Diagnostic:
    where = str(Location(file.path, file.line_of(path)))
    return Diagnostic(BackendFactsError.slug, f"{file.path.stem}: {what}", where, notes)


def _error(problem: Diagnostic) -> BackendFactsError:
    return BackendFactsError(problem.what, slug=problem.slug, where=problem.where, notes=problem.notes)
