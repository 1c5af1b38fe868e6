"""Rewriting of IR: nodes with fields replaced, trees with parts replaced, copies, names."""

from pypto_tmpl.ir.bodies import as_body, flat
from pypto_tmpl.rewrite.build import build
from pypto_tmpl.rewrite.clone import clone
from pypto_tmpl.rewrite.names import GeneratedName, Names, base_name
from pypto_tmpl.rewrite.rewriter import Replacement, Rewriter
from pypto_tmpl.rewrite.substitute import substitute
from pypto_tmpl.rewrite.visitor import IRMutator, IRVisitor

__all__ = [
    "GeneratedName",
    "IRMutator",
    "IRVisitor",
    "Names",
    "Replacement",
    "Rewriter",
    "as_body",
    "base_name",
    "build",
    "clone",
    "flat",
    "substitute",
]
