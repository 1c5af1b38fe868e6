"""Where buffers lie in memory (``pypto.tools.memory_map``): the facts; ``pypto-tmpl memory`` draws."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pypto_tmpl.backend import Backend, BackendType, get_backend_instance
from pypto_tmpl.ir.enums import FunctionType, MemorySpace
from pypto_tmpl.runtime.refusals import Refused, refuse, with_members

_NEEDS = "is a part of a picture that is drawn otherwise here"
_INSTEAD = "`pypto-tmpl memory FILE` shows where the buffers of a dump lie"

SPACE_ORDER = ("Vec", "Mat", "Left", "Right", "Acc", "Bias", "LeftScale", "RightScale")
COMPUTE_FUNC_TYPES = frozenset({FunctionType.InCore.name, FunctionType.AIC.name, FunctionType.AIV.name})
DEFAULT_BACKEND = BackendType.Ascend910B.name


class BackendChoice(Refused):
    """A backend, and who chose it."""

    needs, instead = _NEEDS, _INSTEAD


@with_members("view conflict")
class Box(Refused):
    """A buffer in the picture."""

    needs, instead = _NEEDS, _INSTEAD


class FunctionMap(Refused):
    """The buffers of a kernel."""

    needs, instead = _NEEDS, _INSTEAD


class SpaceUsage(Refused):
    """How much of a memory is used."""

    needs, instead = _NEEDS, _INSTEAD


class Tile(Refused):
    """A tile in a buffer."""

    needs, instead = _NEEDS, _INSTEAD


def backend_names() -> list[str]:
    """The backends that there are."""
    return [backend.name for backend in BackendType]


def backend_instance(backend_name: str) -> Backend:
    """A backend by its name; ValueError for another one."""
    if backend_name not in backend_names():
        raise ValueError(f"{backend_name!r} is no backend; there are {', '.join(backend_names())}")
    return get_backend_instance(BackendType[backend_name])


def backend_limits(backend_name: str) -> dict[str, int]:
    """The bytes of each memory that kernels can use."""
    backend = backend_instance(backend_name)
    sizes = {name: backend.get_mem_size(MemorySpace[name]) for name in SPACE_ORDER}
    return {name: size for name, size in sizes.items() if size}


def pass_name_of(dump: Path) -> str:
    """The pass that a dump is behind: ``33_after_X.py`` is behind ``X``, the first one behind none."""
    return Path(dump).stem.partition("_after_")[2]


def resolve_dump(path: Path, pass_name: str) -> Path:
    """The dump behind a pass in a folder, or the file itself; FileNotFoundError where there is none."""
    found = Path(path)
    if found.is_file():
        return found
    dumps = sorted(found.glob(f"*_after_{pass_name}.py"))
    if not dumps:
        raise FileNotFoundError(f"no dump behind {pass_name} in {found}")
    return dumps[-1]


def detect_target_arch(dump: Path) -> str | None:
    """What a dump says it is for: nothing, as no dump says that."""
    return None


def resolve_backend(dump: Path, requested: str | None = None) -> NoReturn:
    """Refused."""
    refuse("memory_map.resolve_backend", _NEEDS, _INSTEAD)


def parse_dump(path: Path) -> NoReturn:
    """Refused."""
    refuse("memory_map.parse_dump", _NEEDS, _INSTEAD)


def build_boxes(tiles: list[Tile]) -> NoReturn:
    """Refused."""
    refuse("memory_map.build_boxes", _NEEDS, _INSTEAD)


def is_unallocated(function: FunctionMap) -> NoReturn:
    """Refused."""
    refuse("memory_map.is_unallocated", _NEEDS, _INSTEAD)


def render(dump: Path, backend_name: str | None = None) -> NoReturn:
    """Refused."""
    refuse("memory_map.render", _NEEDS, _INSTEAD)


def main(argv: list[str] | None = None) -> NoReturn:
    """Refused."""
    refuse("memory_map.main", _NEEDS, _INSTEAD)
