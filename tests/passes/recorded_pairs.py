"""What PyPTO's passes made of real programs: ``recorded/<Pass>/<program>_<backend>/{before,after}.msgpack``.

Without an ``after`` the pass left the program as it was.
"""

from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl import ir

RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class Pair:
    """A program before and after a pass."""

    folder: Path

    def __str__(self) -> str:
        return f"{self.pass_name}/{self.folder.name}"

    @property
    def pass_name(self) -> str:
        return self.folder.parent.name

    @property
    def backend(self) -> str:
        return self.folder.name.rpartition("_")[2]

    def before(self) -> ir.Program:
        return _read(self.folder / "before.msgpack")

    def after(self) -> ir.Program:
        changed = self.folder / "after.msgpack"
        return _read(changed) if changed.exists() else self.before()


def recorded_pairs(pass_name: str = "*") -> list[Pair]:
    """The pairs of a pass, or of all."""
    return [Pair(folder) for folder in sorted(RECORDED.glob(f"{pass_name}/*"))]


def _read(path: Path) -> ir.Program:
    node = ir.deserialize_from_file(str(path))
    assert isinstance(node, ir.Program)
    return node
