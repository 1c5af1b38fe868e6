"""Device code (``pypto.pypto_core.codegen``): texts of kernels, orchestrations and drivers, and facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type
from pypto_tmpl.ir.verifier import Diagnostic, VerificationError
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.runtime.refusals import Refused, refuse, with_members
from pypto_tmpl.streams.driver import driver_of
from pypto_tmpl.streams.module import pto_text
from pypto_tmpl.streams.orchestration.functions import orchestration_of
from pypto_tmpl.streams.templates import cpp_templates
from pypto_tmpl.streams.units import KERNELS, Unit, drivers_of

NEEDS = "makes code for a device, of which there is none here"
INSTEAD = "ir.compile writes the program as a PyTorch script, debug.torch_codegen gives its text"
_CORES = {ir.FunctionType.AIC: ir.CoreType.CUBE, ir.FunctionType.AIV: ir.CoreType.VECTOR}


class PTOCodegen:
    """Kernels as MLIR."""

    def generate(self, program: ir.Program, emit_tile_addr: bool = True, emit_source_loc: bool = True) -> str:
        """The one ``.pto`` module of all kernels of a program after the last pass, for the chosen backend.

        Raises ValueError without a backend, PtoError for what has no text, InternalError for a function that
        is no kernel, RefusedError where addresses are left to the assembler.
        """
        backend = get_backend_type()
        if not emit_tile_addr:
            refuse("PTOCodegen.generate", "has every tile at its address", "emit_tile_addr=True")
        functions = tuple(program.functions.values())
        for function in functions:
            if function.func_type not in KERNELS:
                kind = function.func_type.name
                raise ir.InternalError(f"{function.name!r} is a function of type {kind}, and no kernel")
        return pto_text(Unit(program.name, functions), backend, with_places=emit_source_loc)


class DistributedCodegen:
    """Drivers of several cards."""

    def generate(self, program: ir.Program) -> str:
        """The driver that the host function of a program after the last pass is: ``host_orch.py``.

        Raises ValueError for a program that has no such function, DriverError for one that has no text.
        """
        drivers = drivers_of(program)
        if not drivers:
            raise ValueError(f"the program {program.name!r} has no function of the host that drives chips")
        return driver_of(program, drivers[0], cpp_templates()).code

    def get_builtin_next_level_specs(self) -> NoReturn:
        """Refused: nothing makes the builds of collectives."""
        refuse("DistributedCodegen.get_builtin_next_level_specs", NEEDS, INSTEAD)


@with_members("op_name variant entry_symbol template_dir template_vars")
class BuiltinNextLevelSpec(Refused):
    """A kernel that the run time brings along."""

    needs, instead = NEEDS, INSTEAD


@dataclass(frozen=True, slots=True)
class OrchestrationResult:
    """An orchestration as C++, and what it launches: numbers, cores and directions of tensors by kernel."""

    code: str
    func_name_to_id: dict[str, int]
    func_name_to_core_type: dict[str, ir.CoreType]
    func_name_to_signature: dict[str, list[str]]
    orchestration_signature: list[str]


def generate_orchestration(program: ir.Program, func: ir.Function) -> OrchestrationResult:
    """The C++ of an orchestration function of a program after the last pass, for the chosen backend.

    Raises ValueError for a function that the program does not have, or without a backend, OrchestrationError
    for one that has no C++.
    """
    own = program.get_function(func.name)
    if own is None:
        raise ValueError(f"the program {program.name!r} has no function {func.name!r}")
    if own is not func:
        what = f"the program {program.name!r} has another function {func.name!r}, which passes may have made"
        raise VerificationError([Diagnostic("SameFunction", 0, what, func.span, func.name)])
    found = orchestration_of(program, func, get_backend_type(), cpp_templates())
    return OrchestrationResult(
        found.code,
        {kernel.function.name: kernel.id for kernel in found.kernels},
        {kernel.function.name: infer_function_core_type(kernel.function) for kernel in found.kernels},
        {kernel.function.name: list(kernel.signature) for kernel in found.kernels},
        list(found.signature),
    )


def infer_function_core_type(func: ir.Function) -> ir.CoreType:
    """The core that a kernel runs on: by its type, else cube if any of its values lies in a cube's memory."""
    if func.func_type in _CORES:
        return _CORES[func.func_type]
    spaces = {
        node.type.memory_space
        for node in walk(func)
        if isinstance(node, ir.Expr) and isinstance(node.type, ir.TileType)
    }
    is_cube = bool(spaces & {ir.MemorySpace.Left, ir.MemorySpace.Right, ir.MemorySpace.Acc})
    return ir.CoreType.CUBE if is_cube else ir.CoreType.VECTOR


def collect_vars_from_shape_expr(expr: ir.Expr) -> list[ir.Var]:
    """The variables that an extent names, each once, in the order of the text."""
    found = [node for node in walk(expr) if isinstance(node, ir.Var)]
    return list(dict.fromkeys(found))
