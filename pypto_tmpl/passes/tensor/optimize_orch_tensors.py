"""Fewer buffers between orchestration and kernels, and kernels that know the strides of what they get."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tensor.merged_buffers import with_merged_buffers
from pypto_tmpl.passes.tensor.stored_parts import with_stored_parts
from pypto_tmpl.passes.tensor.strides import with_assembled_strides, with_sliced_strides
from pypto_tmpl.passes.tensor.windowed_kernels import with_windows
from pypto_tmpl.rewrite import build


class OptimizeOrchTensors(ProgramPass):
    """Let kernels write over arguments that nothing else reads, in parts, and into windows of larger tensors.

    What a kernel writes takes the place of an argument only if the storage of that is the caller's own and
    nothing else uses it.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps})
    produces = frozenset({IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = with_merged_buffers(list(program.functions.values()))
        functions = with_assembled_strides(functions)
        functions = [with_stored_parts(function) for function in functions]
        return build(program, functions=with_windows(with_sliced_strides(functions)))
