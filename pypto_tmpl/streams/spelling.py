"""How numbers and types are spelt in ``.pto`` text."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import MemorySpace, PadValue, TileLayout
from pypto_tmpl.streams.problems import Obstacle

_DTYPES = {
    DataType.FP32: "f32", DataType.FP16: "f16", DataType.BF16: "bf16",
    DataType.FP8E4M3FN: "f8E4M3FN", DataType.FP8E5M2: "f8E5M2", DataType.FP8E8M0: "!pto.f8E8M0",
    DataType.HF8: "!pto.hif8", DataType.FP4: "!pto.f4E2M1x2",
    DataType.INT8: "i8", DataType.INT16: "i16", DataType.INT32: "i32", DataType.INT64: "i64",
    DataType.UINT8: "ui8", DataType.UINT16: "ui16", DataType.UINT32: "ui32", DataType.UINT64: "ui64",
    DataType.BOOL: "i1", DataType.INDEX: "index",
}  # fmt: skip
_SPACES = {
    MemorySpace.DDR: "gm", MemorySpace.Vec: "vec", MemorySpace.Mat: "mat", MemorySpace.Left: "left",
    MemorySpace.Right: "right", MemorySpace.Acc: "acc", MemorySpace.Bias: "bias",
    MemorySpace.LeftScale: "scaling", MemorySpace.RightScale: "scaling",
}  # fmt: skip
_LAYOUTS = {
    TileLayout.none_box: "none_box", TileLayout.row_major: "row_major", TileLayout.col_major: "col_major",
}  # fmt: skip
_PADS = {PadValue.null: 0, PadValue.zero: 1, PadValue.max: 2, PadValue.min: 3}


def mlir_dtype(dtype: DataType) -> str:
    """The element type in MLIR. Raises Obstacle for one that kernels cannot hold."""
    found = _DTYPES.get(dtype)
    if found is None:
        raise Obstacle(f"the dtype {dtype.name} has no .pto type")
    return found


def float_text(value: float) -> str:
    """A float with 17 digits after the point, as C's ``%.17e`` writes it."""
    return f"{value:.17e}"


def memory_name(space: MemorySpace | None) -> str:
    """The memory of a tile. Raises Obstacle where the tile has none that the text can name."""
    found = None if space is None else _SPACES.get(space)
    if found is None:
        raise Obstacle("a tile without a memory space has no .pto type")
    return found


def tile_extents(shape: tuple[ir.Expr, ...]) -> tuple[int, int]:
    """Rows and columns that a tile's type shows: of a vector one row, of more than two axes the first two."""
    extents = [constant_of(dim) for dim in shape]
    if any(extent is None for extent in extents):
        raise Obstacle("a tile of symbolic extents has no .pto type")
    known = [extent for extent in extents if extent is not None]
    return (1, known[0]) if len(known) == 1 else (known[0], known[1])


def tile_facts(tile: ir.TileType) -> dict[str, object]:
    """What the type of a tile says besides its valid extents."""
    view = tile.get_effective_tile_view()
    rows, cols = tile_extents(tile.shape)
    if tile.dtype == DataType.FP4 and tile.memory_space is MemorySpace.Vec:
        packed_rows = view.blayout is TileLayout.col_major
        rows, cols = (rows // 2, cols) if packed_rows else (rows, cols // 2)
    return {
        "loc": memory_name(tile.memory_space),
        "dtype": mlir_dtype(tile.dtype),
        "rows": rows,
        "cols": cols,
        "blayout": _LAYOUTS[view.blayout],
        "slayout": _LAYOUTS[view.slayout],
        "fractal": view.fractal,
        "pad": _PADS[view.pad],
        "compact": int(view.compact.value),
    }


def constant_of(expr: ir.Expr) -> int | None:
    """The number that an extent is, None where it is symbolic."""
    return expr.value if isinstance(expr, ir.ConstInt) else None


def place_text(span: ir.Span) -> str:
    """`` loc("file":line:column)`` of a span; nothing for one without a file."""
    if not span.filename or span.begin_line <= 0:
        return ""
    column = span.begin_column if span.begin_column > 0 else 1
    return f" loc({quoted(span.filename)}:{span.begin_line}:{column})"


def quoted(text: str) -> str:
    """A string literal of MLIR: bytes that are no printable ASCII as two hexadecimal digits."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    is_control = ord(char) < 32 or ord(char) == 127
    return plain.get(char, f"\\{ord(char):02X}" if is_control else char)
