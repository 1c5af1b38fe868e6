"""Host orchestrators, and the collectives that they call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat, parts

Loops: TypeAlias = tuple[ir.ForStmt | ir.WhileStmt, ...]
WORLD_SIZE = "pld.system.world_size"
ALLOCATION = "pld.tensor.alloc_window_buffer"
WINDOW = "pld.tensor.window"
ALL_REDUCE = "pld.tensor.allreduce"
SUBMITS = MappingProxyType(
    {"dist.submit_worker": ir.Role.SubWorker, "dist.submit_orchestrator": ir.Role.Orchestrator}
)
"""Ops that submit a call of the function that their keyword ``callee`` names, of such a role."""
DEFER_WAIT = "pld.system.defer_wait"
SUB_WORKERS = "sub_workers"
"""The folder of a build that has the Python of sub-workers, each in a file of its name."""
REQUIRED = f"{SUB_WORKERS}/__required__.json"
"""The file of a build that lists those which whoever runs the program has to give."""
KERNEL_ONLY = frozenset(
    {
        "pld.system.rank",
        "pld.system.nranks",
        "pld.system.notify",
        "pld.system.wait",
        DEFER_WAIT,
        "pld.tensor.put",
        "pld.tensor.get",
        "pld.tile.put",
        "pld.tile.get",
        "pld.tile.remote_load",
        "pld.tile.remote_store",
        "pld.tensor.remote_store",
    }
)
"""What code on a rank does, and the host does not."""


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective of the language: what it becomes on one device, and what its operands are."""

    builtin: str
    keywords: tuple[str, ...]  # of the builtin, in its order
    directions: str  # one letter an operand: i(nput) or b(oth)
    data: int  # the operand whose domain takes part
    signal: int
    followers: tuple[int, ...]  # operands that need to be where the data is
    lane_signal: bool = False  # the signal may be [ranks, lanes] instead of [ranks]
    sums_only: bool = False

    @property
    def arg_directions(self) -> list[ir.ArgDirection]:
        """What the builtin does to each operand."""
        return [ir.ArgDirection.InOut if one == "b" else ir.ArgDirection.Input for one in self.directions]


COLLECTIVES: Mapping[str, Collective] = MappingProxyType(
    {
        ALL_REDUCE: Collective(
            "builtin.tensor.allreduce", ("op", "dtype", "core_num"), "bb", 0, 1, (1,), True
        ),
        "pld.tensor.broadcast": Collective("builtin.tensor.broadcast", ("root", "dtype"), "bb", 0, 1, (1,)),
        "pld.tensor.reduce_scatter": Collective(
            "builtin.tensor.reduce_scatter", ("op", "dtype"), "bb", 0, 1, (1,), sums_only=True
        ),
        "pld.tensor.barrier": Collective("builtin.tensor.barrier", (), "b", 0, 0, ()),
        "pld.tensor.allgather": Collective("builtin.tensor.allgather", ("dtype",), "ibb", 1, 2, (2,), True),
        "pld.tensor.all_to_all": Collective("builtin.tensor.all_to_all", ("dtype",), "ibb", 1, 2, (2,), True),
        "pld.tensor.all_to_all_v": Collective(
            "builtin.tensor.all_to_all_v", ("dtype",), "ibbib", 1, 2, (2, 4), True
        ),
    }
)
RING = Collective("builtin.tensor.allreduce_ring", ("op", "dtype"), "bb", 0, 1, (1,), True)
"""What a sum over a ring becomes."""


def is_host(function: ir.Function) -> bool:
    """Whether a function orchestrates the ranks from the host."""
    return function.level is ir.Level.HOST and function.role is ir.Role.Orchestrator


def is_sub_worker(function: ir.Function) -> bool:
    """Whether a function is Python that runs on the host beside the ranks."""
    return function.level is ir.Level.HOST and function.role is ir.Role.SubWorker


def is_callback(function: ir.Function) -> bool:
    """Whether a function is a sub-worker whose body, ``...``, says that who runs the program gives it."""
    return is_sub_worker(function) and not any(map(_says_something, flat(function.body)))


def _says_something(stmt: ir.Stmt) -> bool:
    return not isinstance(stmt, ir.InlineStmt) or stmt.body.strip() not in ("", "...")


def is_chip_orchestrator(function: ir.Function | None) -> bool:
    """Whether a function runs on one rank and submits tasks there."""
    return (
        function is not None
        and function.level is ir.Level.CHIP
        and function.role is ir.Role.Orchestrator
        and function.func_type is not ir.FunctionType.Graph
    )


def op_call(value: object) -> ir.Call | None:
    """The call of an op that a value is."""
    return value if isinstance(value, ir.Call) and not isinstance(value.op, ir.GlobalVar) else None


def is_call_of(value: object, name: str) -> bool:
    """Whether a value is a call of the op of that name."""
    call = op_call(value)
    return call is not None and call.op.name == name


def collective_of(value: object) -> Collective | None:
    """The collective that a value is a call of."""
    call = op_call(value)
    return COLLECTIVES.get(call.op.name) if call is not None else None


def in_loops(body: ir.Stmt) -> Iterator[tuple[ir.Stmt, Loops]]:
    """Every statement of a body in the order of the text, and the loops that it stands in."""
    stack: list[tuple[ir.Stmt, Loops]] = [(body, ())]
    while stack:
        stmt, loops = stack.pop()
        yield stmt, loops
        inside = (*loops, stmt) if isinstance(stmt, ir.ForStmt | ir.WhileStmt) else loops
        stack += ((part, inside) for part in reversed(parts(stmt)))
