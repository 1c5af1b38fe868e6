"""Where buffers lie in the memories of a core, under PyPTO's path ``pypto.tools.memory_map``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.backend import Backend, BackendFacts, BackendType, facts_of, get_backend_instance
from pypto_tmpl.debug.report.memory_page import memory_page_text, write_memory_page
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir.enums import FunctionType, MemorySpace
from pypto_tmpl.language.module import loads
from pypto_tmpl.passes.memory.usage import KernelUse, SpaceUse, TileUse, memory_use
from pypto_tmpl.storage.stored import planned_by

FunctionMap, SpaceUsage, Tile = KernelUse, SpaceUse, TileUse

SPACE_ORDER = ("Vec", "Mat", "Left", "Right", "Acc", "Bias", "LeftScale", "RightScale")
COMPUTE_FUNC_TYPES = frozenset({FunctionType.InCore.name, FunctionType.AIC.name, FunctionType.AIV.name})
DEFAULT_BACKEND = BackendType.Ascend910B.name


class BackendChoice(NamedTuple):
    """A backend, and whether somebody asked for it."""

    name: str
    is_requested: bool


@dataclass(frozen=True)
class Box:
    """Tiles that share bytes: a rectangle of addresses and statements."""

    tiles: tuple[TileUse, ...]

    @property
    def view(self) -> bool:
        """Whether some of them is a view of another, or another in place."""
        return any(not tile.is_own for tile in self.tiles)

    @property
    def conflict(self) -> bool:
        """Whether two tiles of their own are in use at once."""
        busy = -1  # up to which statement the bytes are in use; the next tile may be made of them there
        for tile in sorted((tile for tile in self.tiles if tile.is_own), key=lambda tile: tile.first):
            if tile.first < busy:
                return True
            busy = max(busy, tile.last)
        return False


def backend_names() -> list[str]:
    """The backends that there are."""
    return [backend.name for backend in BackendType]


def backend_instance(backend_name: str) -> Backend:
    """A backend by its name; ValueError for another one."""
    return get_backend_instance(_type(backend_name))


def backend_limits(backend_name: str) -> dict[str, int]:
    """The bytes of each memory that kernels can use."""
    backend = backend_instance(backend_name)
    sizes = {name: backend.get_mem_size(MemorySpace[name]) for name in SPACE_ORDER}
    return {name: size for name, size in sizes.items() if size}


def detect_target_arch(dump: Path) -> str | None:
    """What a dump says it is for: nothing, as no dump says that."""
    return None


def resolve_backend(dump: Path, requested: str | None = None) -> BackendChoice:
    """The backend that is asked for, else the default one; ValueError for a name that is none."""
    name = DEFAULT_BACKEND if requested is None else requested
    return BackendChoice(_type(name).name, requested is not None)


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


def parse_dump(path: Path) -> list[KernelUse]:
    """What the kernels of a dump use of each memory; limits are not known."""
    return _uses(Path(path), None)


def build_boxes(tiles: list[TileUse]) -> list[Box]:
    """Tiles by the bytes that they share, from the lowest address on."""
    found: list[list[TileUse]] = []
    end = 0
    for tile in sorted(tiles, key=lambda tile: (tile.start, -tile.size)):
        if found and tile.start < end:
            found[-1].append(tile)
        else:
            found.append([tile])
        end = max(end, tile.start + tile.size)
    return [Box(tuple(group)) for group in found]


def is_unallocated(function: KernelUse) -> bool:
    """Whether some allocation of a kernel has no address."""
    return not function.is_placed


def render(dump: Path, backend_name: str | None = None) -> str:
    """The page that ``pypto-tmpl memory --html`` writes. Raises ValueError for a dump without addresses."""
    choice = resolve_backend(dump, backend_name)
    return memory_page_text(_drawn(dump, choice), title=Path(dump).name, backend=choice.name)


def _drawn(dump: Path, choice: BackendChoice) -> dict[str, Any]:
    kernels = _uses(Path(dump), facts_of(_type(choice.name)))
    for kernel in kernels:
        if is_unallocated(kernel):
            raise ValueError(f"the allocations of {kernel.name!r} in {dump} have no addresses to draw")
    return {"kernels": [kernel.as_dict() for kernel in kernels]}


def main(argv: list[str] | None = None) -> int:
    """``DUMP [BACKEND]``: write the page beside the dump, and say where. Returns 2 for wrong usage."""
    given = sys.argv[1:] if argv is None else argv
    if not 1 <= len(given) <= 2:
        print("usage: memory_map DUMP [BACKEND]", file=sys.stderr)
        return 2
    dump = Path(given[0])
    page = dump.with_suffix(".html")
    try:
        choice = resolve_backend(dump, *given[1:])
        write_memory_page(page, _drawn(dump, choice), title=dump.name, backend=choice.name)
    except (OSError, ValueError, PyptoTmplError) as error:
        print(error, file=sys.stderr)
        return 2
    print(page)
    return 0


def _type(name: str) -> BackendType:
    if name not in backend_names():
        raise ValueError(f"{name!r} is no backend; there are {', '.join(backend_names())}")
    return BackendType[name]


def _uses(dump: Path, facts: BackendFacts | None) -> list[KernelUse]:
    node = loads(dump)
    if not isinstance(node, ir.Program):
        raise ValueError(f"{dump} holds a function, and kernels are those of programs")
    placed = planned_by(dump.stem) == "addresses"
    return memory_use(node, facts, placed=placed)
