"""The texts that a device build is assembled from: ``.pto`` of kernels; of the host, ``orchestration``."""

from pypto_tmpl.streams.module import pto_text, pto_texts
from pypto_tmpl.streams.problems import PtoError
from pypto_tmpl.streams.units import Unit, names_in_folders, paths_of, units_of

__all__ = ["PtoError", "Unit", "names_in_folders", "paths_of", "pto_text", "pto_texts", "units_of"]
