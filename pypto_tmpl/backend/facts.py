"""What is known of each generation of hardware, read from the YAML file beside this one that has its name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from pypto_tmpl import ir
from pypto_tmpl.backend.selection import BackendType
from pypto_tmpl.errors import Diagnostic, Location, PyptoTmplError
from pypto_tmpl.ops.positions import YamlFile, parse_yaml, split_path
from pypto_tmpl.ops.sources import read_text

_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(?P<name>.*)`")

CoreKind = Literal["cube", "vector"]


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

    access_granularity: int
    l2_cache_line: int
    recommended_innermost: int


class Memory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One memory of a core in bytes: what tiles may use, all of it, and how the SoC tables align it."""

    size: int
    alignment: int
    core: CoreKind
    physical: int = 0


class CoresPerCluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cube: int
    vector: int


class L0(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extents of tiles of the matrix unit."""

    alignment: int
    min_tile: int
    acc_row_alignment: int
    acc_row_alignment_by_dtype: dict[str, int]


class BackendFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All facts of a backend (spec: passes 2.2, 3.15, 4.2 and 4.3; compile 3)."""

    name: str
    architecture: str
    sim_platform: str
    ptoas_flags: list[str]
    core_count_method: str
    requires: Requires
    supports: Supports
    gm: GlobalMemory
    acc_store_dtypes: list[str]
    bias_moves: dict[str, list[str]]
    in_core_4bit_dtypes: list[str]
    memories: dict[str, Memory]
    paths: dict[str, list[str]]
    dies: int
    clusters_per_die: int
    cores_per_cluster: CoresPerCluster
    l0: L0
    casts: dict[str, list[str]]

    def capacity(self, space: ir.MemorySpace) -> int | None:
        """Bytes that the tiles of one core may use in ``space``, None where they are not limited."""
        memory = self.memories.get(space.name)
        return memory.size if memory else None

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


def read_facts(path: Path) -> BackendFacts:
    """The facts of a file. Raises BackendFactsError that says what is wrong, with file and line."""
    file = parse_yaml(path, read_text(path))
    if file.problems:
        raise _error(file.problems[0])
    try:
        facts = msgspec.convert(file.data, BackendFacts)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at ")
        place = split_path(at.strip("`"))
        if unknown := _UNKNOWN_KEY.fullmatch(message):
            message, place = f"unknown key {unknown['name']!r}", [*place, unknown["name"]]
        raise _error(_problem(file, message, place)) from None
    for problem in _contradictions(file, facts):
        raise _error(problem)
    return facts


def _contradictions(file: YamlFile, facts: BackendFacts) -> list[Diagnostic]:
    """Names that are none, and spaces that only one part of the file knows."""
    spaces = set(ir.MemorySpace.__members__)
    dtypes = {name for name, value in vars(ir.DataType).items() if isinstance(value, ir.DataType)}
    found = [
        _problem(file, f"{name!r} is no memory space", ["memories", name])
        for name in facts.memories
        if name not in spaces
    ]
    for key, table, known, what in (
        ("paths", facts.paths, {*facts.memories, "DDR"}, "among the memories"),
        ("casts", facts.casts, dtypes, "a dtype"),
        ("bias_moves", facts.bias_moves, dtypes, "a dtype"),
    ):
        for source, targets in table.items():
            names = [name for name in (source, *targets) if name not in known]
            found += [_problem(file, f"{name!r} is not {what}", [key, source]) for name in names]
    for name, memory in facts.memories.items():
        if memory.physical and memory.physical < memory.size:
            what = f"{name}: tiles may use {memory.size} bytes of {memory.physical}"
            found.append(_problem(file, what, ["memories", name]))
    return found


def _problem(file: YamlFile, what: str, path: list[str | int]) -> Diagnostic:
    where = str(Location(file.path, file.line_of(path)))
    return Diagnostic(BackendFactsError.slug, f"{file.path.stem}: {what}", where)


def _error(problem: Diagnostic) -> BackendFactsError:
    return BackendFactsError(problem.what, slug=problem.slug, where=problem.where, notes=problem.notes)
