"""Device code (``pypto.pypto_core.codegen``): facts of functions, and generators that refuse."""

from __future__ import annotations

from typing import NoReturn

from pypto_tmpl import ir
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.runtime.refusals import Refused, refuse, with_members

NEEDS = "makes code for a device, of which there is none here"
INSTEAD = "ir.compile writes the program as a PyTorch script, debug.torch_codegen gives its text"
_CORES = {ir.FunctionType.AIC: ir.CoreType.CUBE, ir.FunctionType.AIV: ir.CoreType.VECTOR}


@with_members("generate")
class PTOCodegen(Refused):
    """Kernels as MLIR."""

    needs, instead = NEEDS, INSTEAD


@with_members("generate get_builtin_next_level_specs")
class DistributedCodegen(Refused):
    """Drivers of several cards."""

    needs, instead = NEEDS, INSTEAD


@with_members("op_name variant entry_symbol template_dir template_vars")
class BuiltinNextLevelSpec(Refused):
    """A kernel that the run time brings along."""

    needs, instead = NEEDS, INSTEAD


@with_members("code func_name_to_id func_name_to_core_type func_name_to_signature orchestration_signature")
class OrchestrationResult(Refused):
    """An orchestration as C++."""

    needs, instead = NEEDS, INSTEAD


def generate_orchestration(program: ir.Program, func: ir.Function) -> NoReturn:
    """Refused: there is no C++ of an orchestration here."""
    refuse("generate_orchestration", NEEDS, INSTEAD)


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
