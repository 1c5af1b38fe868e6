"""The script generator under PyPTO's path ``pypto.debug.torch_codegen``."""

from __future__ import annotations

from typing import Any, NoReturn

from pypto_tmpl import ir
from pypto_tmpl.debug.checking import validate_pass_ir_codegen_results
from pypto_tmpl.debug.torch_codegen import torch_codegen
from pypto_tmpl.runtime.refusals import refuse
from pypto_tmpl.upstream.pto_backend import DUAL_AIV_DISPATCH_ATTR

_NODES = (
    "var iter_arg mem_ref const_int const_float const_bool make_tuple tuple_get_item_expr binary_expr"
    " unary_expr call assign_stmt eval_stmt return_stmt seq_stmts break_stmt continue_stmt yield_stmt"
    " for_stmt while_stmt if_stmt add sub mul floor_div floor_mod float_div min max pow eq ne lt le gt ge"
    " and or xor bit_and bit_or bit_xor bit_shift_left bit_shift_right neg not bit_not abs cast"
)
_NEEDS = "visits one node, and scripts are made of whole functions here"
_INSTEAD = "an overlay folder of templates changes what ops become (docs/templates.md)"


class TorchCodegen:
    """A script in two steps: visit a program or function, then take its text. Single nodes are refused."""

    def __init__(self, *, check_shapes: bool = False) -> None:
        self._check_shapes = check_shapes
        self._output = ""

    def visit_program(self, program: ir.Program) -> None:
        """Make the script of a program; raises what ``torch_codegen`` raises."""
        self._output = torch_codegen(program, check_shapes=self._check_shapes)

    def visit_function(self, function: ir.Function) -> None:
        """Make the script of a function; raises what ``torch_codegen`` raises."""
        self._output = torch_codegen(function, check_shapes=self._check_shapes)

    def get_output(self) -> str:
        """The script of what was visited last, an empty text before."""
        return self._output


def _refusing(method: str) -> Any:
    def visit(self: TorchCodegen, op: ir.IRNode) -> NoReturn:
        refuse(f"TorchCodegen.{method}", _NEEDS, _INSTEAD)

    visit.__name__ = method
    return visit


for _node in _NODES.split():
    setattr(TorchCodegen, f"visit_{_node}", _refusing(f"visit_{_node}"))

__all__ = ["DUAL_AIV_DISPATCH_ATTR", "TorchCodegen", "torch_codegen", "validate_pass_ir_codegen_results"]
