"""Builders of op calls, under upstream's names: ``ir.op.tile.load(tensor, offsets, shapes)``."""

from pypto_tmpl.ir.op import array_ops as array
from pypto_tmpl.ir.op import distributed
from pypto_tmpl.ir.op import prefetch_ops as prefetch
from pypto_tmpl.ir.op import system_ops as system
from pypto_tmpl.ir.op import tensor_ops as tensor
from pypto_tmpl.ir.op import tile_ops as tile

__all__ = ["array", "distributed", "prefetch", "system", "tensor", "tile"]
