"""Backends, their handlers and their systems on a chip, as PyPTO's users ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import msgpack
import msgspec

from pypto_tmpl import ir
from pypto_tmpl.backend.facts import BackendFacts, contradictions, facts_of
from pypto_tmpl.backend.selection import get_backend_type
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ir.enums import BackendType


def _expect(kind: type, **arguments: object) -> None:
    """Raise TypeError that names the first argument that is no ``kind``."""
    for name, value in arguments.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be {kind.__name__}, got {type(value).__name__} {value!r}")


@dataclass(frozen=True, slots=True)
class Mem:
    """One memory of a core; bytes."""

    mem_type: ir.MemorySpace
    mem_size: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Core:
    core_type: ir.CoreType
    mems: tuple[Mem, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    core_counts: Mapping[Core, int]

    @property
    def total_core_count(self) -> int:
        return sum(self.core_counts.values())


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    cluster_counts: Mapping[Cluster, int]

    @property
    def total_cluster_count(self) -> int:
        return sum(self.cluster_counts.values())

    @property
    def total_core_count(self) -> int:
        return sum(cluster.total_core_count * count for cluster, count in self.cluster_counts.items())


@dataclass(frozen=True, slots=True, eq=False)
class SoC:
    die_counts: Mapping[Die, int]

    @property
    def total_die_count(self) -> int:
        return sum(self.die_counts.values())

    @property
    def total_cluster_count(self) -> int:
        return sum(die.total_cluster_count * count for die, count in self.die_counts.items())

    @property
    def total_core_count(self) -> int:
        return sum(die.total_core_count * count for die, count in self.die_counts.items())


class BackendHandler:
    """What passes and streams ask of a backend."""

    def __init__(self, facts: BackendFacts) -> None:
        self._facts = facts

    def get_pto_target_arch(self) -> str:
        return self._facts.architecture

    def get_launch_spec_core_count_method(self) -> str:
        return self._facts.core_count_method

    def get_default_sim_platform(self) -> str:
        return self._facts.sim_platform

    def get_extra_ptoas_flags(self) -> list[str]:
        return list(self._facts.ptoas_flags)

    def requires_gm_pipe_buffer(self) -> bool:
        return self._facts.requires.gm_pipe_buffer

    def requires_split_load_tpop_workaround(self) -> bool:
        return self._facts.requires.split_load_tpop_workaround

    def requires_vto_c_fractal_adapt(self) -> bool:
        return self._facts.requires.vto_c_fractal_adapt

    def requires_runtime_subblock_bridge(self) -> bool:
        return self._facts.requires.runtime_subblock_bridge

    def requires_no_split_dual_aiv_dispatch(self) -> bool:
        return self._facts.requires.no_split_dual_aiv_dispatch

    def get_gm_access_granularity_bytes(self) -> int:
        return self._facts.gm.access_granularity

    def get_l2_cache_line_bytes(self) -> int:
        return self._facts.gm.l2_cache_line

    def get_recommended_innermost_dim_bytes(self) -> int:
        return self._facts.gm.recommended_innermost

    def get_l0a_capacity_bytes(self) -> int:
        return self._facts.memories["Left"].size

    def get_l0b_capacity_bytes(self) -> int:
        return self._facts.memories["Right"].size

    def get_l0c_capacity_bytes(self) -> int:
        return self._facts.memories["Acc"].size

    def get_bias_capacity_bytes(self) -> int:
        return self._facts.memories["Bias"].size

    def get_mat_capacity_bytes(self) -> int:
        return self._facts.memories["Mat"].size

    def supports_mat_to_bias_move(self, source: ir.DataType, target: ir.DataType) -> bool:
        _expect(ir.DataType, source=source, target=target)
        return target.name in self._facts.bias_moves.get(source.name, ())

    def get_l0_fractal_alignment(self) -> int:
        return self._facts.l0.alignment

    def get_l0c_m_alignment(self, dtype: ir.DataType) -> int:
        _expect(ir.DataType, dtype=dtype)
        return self._facts.acc_row_alignment(dtype)

    def get_min_l0_tile_dim(self) -> int:
        return self._facts.l0.min_tile


class Backend:
    """A generation of hardware; ``Backend910B.instance()`` and ``Backend950.instance()`` are the two."""

    backend_type: ClassVar[BackendType | None] = None

    def __init__(self, facts: BackendFacts) -> None:
        self._facts = facts

    @classmethod
    def instance(cls) -> Backend:
        """The one backend of this class. Raises TypeError for the base class, which is none."""
        if cls.backend_type is None:
            raise TypeError("Backend is no backend itself: ask Backend910B or Backend950 for the instance")
        return get_backend_instance(cls.backend_type)

    def get_type_name(self) -> str:
        return self._facts.name

    def get_handler(self) -> BackendHandler:
        return BackendHandler(self._facts)

    def find_mem_path(self, source: ir.MemorySpace, target: ir.MemorySpace) -> list[ir.MemorySpace]:
        """The shortest way of data between two spaces, both ends included; empty where there is none."""
        _expect(ir.MemorySpace, source=source, target=target)
        return self._facts.memory_path(source, target)

    def get_mem_size(self, space: ir.MemorySpace) -> int:
        """Bytes of ``space`` of one core, 0 where this backend has no such memory."""
        _expect(ir.MemorySpace, space=space)
        return self._facts.capacity(space) or 0

    def get_core_count(self, core_type: ir.CoreType) -> int:
        _expect(ir.CoreType, core_type=core_type)
        return self._facts.core_count(core_type)

    @property
    def soc(self) -> SoC:
        facts = self._facts
        cores = {
            Core(ir.CoreType.CUBE, self._memories("cube")): facts.cores_per_cluster.cube,
            Core(ir.CoreType.VECTOR, self._memories("vector")): facts.cores_per_cluster.vector,
        }
        return SoC({Die({Cluster(cores): facts.clusters_per_die}): facts.dies})

    def _memories(self, core: str) -> tuple[Mem, ...]:
        owned = ((name, memory) for name, memory in self._facts.memories.items() if memory.core == core)
        return tuple(Mem(ir.MemorySpace[name], memory.size, memory.alignment) for name, memory in owned)

    def export_to_file(self, path: str) -> None:
        """Write the facts of the backend as msgpack. Raises FileError where that cannot be."""
        write_bytes(path, msgpack.packb(msgspec.to_builtins(self._facts)))

    @staticmethod
    def import_from_file(path: str) -> Backend:
        """The backend of a file that ``export_to_file`` wrote. Raises ValueError for any other file."""
        try:
            facts = msgspec.convert(msgpack.unpackb(Path(path).read_bytes()), BackendFacts)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise ValueError(f"{path} does not hold the facts of a backend: {error}") from None
        for what, place in contradictions(facts):
            where = ".".join(map(str, place))
            raise ValueError(f"{path} does not hold the facts of a backend: {where}: {what}")
        return Backend(facts)


class Backend910B(Backend):
    backend_type = BackendType.Ascend910B


class Backend950(Backend):
    backend_type = BackendType.Ascend950


@cache
def get_backend_instance(backend_type: BackendType) -> Backend:
    """The backend of a type, whichever is chosen for the process."""
    classes = {cls.backend_type: cls for cls in (Backend910B, Backend950)}
    return classes[backend_type](facts_of(backend_type))


def get_handler() -> BackendHandler:
    """The handler of the chosen backend. Raises ValueError where none is chosen."""
    return get_backend_instance(get_backend_type()).get_handler()
