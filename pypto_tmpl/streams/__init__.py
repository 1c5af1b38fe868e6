"""The streams that a device build is assembled from; today the ``.pto`` text of kernels."""

from pypto_tmpl.streams.module import pto_text, pto_texts
from pypto_tmpl.streams.problems import PtoError
from pypto_tmpl.streams.units import Unit, paths_of, units_of

__all__ = ["PtoError", "Unit", "paths_of", "pto_text", "pto_texts", "units_of"]
