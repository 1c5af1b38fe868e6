"""Directions of arguments by the short names that texts and scripts use: ``pl.adir.output_existing``."""

from pypto_tmpl.ir.enums import ArgDirection

input = ArgDirection.Input
output = ArgDirection.Output
output_existing = ArgDirection.OutputExisting
inout = ArgDirection.InOut
no_dep = ArgDirection.NoDep
scalar = scalar_dir = ArgDirection.Scalar

__all__ = ["inout", "input", "no_dep", "output", "output_existing", "scalar", "scalar_dir"]
