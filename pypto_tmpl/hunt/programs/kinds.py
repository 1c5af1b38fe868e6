"""The kinds of programs, by name."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl.hunt.programs.aliasing import AliasingKernels
from pypto_tmpl.hunt.programs.drawing import Drawing, HuntedProgram
from pypto_tmpl.hunt.programs.launches import LaunchPrograms
from pypto_tmpl.hunt.programs.mixed import MixedKernels
from pypto_tmpl.hunt.programs.ops import OpPrograms
from pypto_tmpl.hunt.programs.ranks import RankPrograms
from pypto_tmpl.hunt.programs.tasks import TaskPrograms
from pypto_tmpl.hunt.programs.tensors import TensorPrograms
from pypto_tmpl.hunt.programs.tiles import TileKernels

_DRAWINGS: tuple[type[Drawing], ...] = (
    TensorPrograms,
    TileKernels,
    MixedKernels,
    TaskPrograms,
    AliasingKernels,
    LaunchPrograms,
    RankPrograms,
    OpPrograms,
)
KINDS: Mapping[str, type[Drawing]] = {drawing.kind: drawing for drawing in _DRAWINGS}


def draw_program(kind: str, seed: int) -> HuntedProgram:
    """The program of a kind and a number, the same every time. Raises KeyError for a kind there is not."""
    return KINDS[kind](seed).program()
