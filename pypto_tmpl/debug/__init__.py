"""Running programs at any stage of the pass pipeline, and finding where their numbers go wrong."""

from pypto_tmpl.debug.torch_codegen import torch_codegen

__all__ = ["torch_codegen"]
