"""Calls of ops between ranks: the functions of ``tensor_ops``, ``system_ops`` and ``tile_ops``."""

from pypto_tmpl.ir.op.distributed import system_ops as system_ops
from pypto_tmpl.ir.op.distributed import tensor_ops as tensor_ops
from pypto_tmpl.ir.op.distributed import tile_ops as tile_ops
from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pld", "tensor"), ("pld", "system"), ("pld", "tile"))
