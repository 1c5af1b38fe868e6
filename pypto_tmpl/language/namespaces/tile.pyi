# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum, IntEnum
from typing import Any, TypeAlias, overload

from pypto_tmpl.ir import DataType, MemorySpace, PadValue, TileLayout
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Ptr, Scalar, Tensor, Tile

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

class MaskPattern(IntEnum):
    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7

def abs(tile: Tile) -> Tile:
    """Absolute value of every element; integers wrap."""

def add(lhs: Tile, rhs: Tile) -> Tile:
    """Sum of two tiles, elementwise; integers wrap."""

def addc(lhs: Tile, rhs: Tile, rhs2: Tile) -> Tile:
    """Three tiles, lhs + rhs + rhs2, elementwise; integers wrap and there is no carry."""

def adds(lhs: Tile, rhs: _Scalar) -> Tile:
    """Sum of a tile and a scalar, which takes the tile's dtype first."""

def addsc(lhs: Tile, rhs: _Scalar, rhs2: Tile) -> Tile:
    """A tile, a scalar and a tile, lhs + rhs + rhs2, elementwise; integers wrap."""

def aic_gather(tile: Tile, split: int | Enum | None = None) -> Tile:
    """The parts of both vector lanes, joined along the split axis."""

def aiv_shard(tile: Tile, split: int | Enum | None = None, lane_stride: int | Enum | None = None) -> Tile:
    """The part of a tile that the current vector lane owns."""

def alloc(memory_space: _Scalar, size: _Scalar, pinned: bool = False) -> Ptr:
    """Reserve an on-chip buffer; its handle has no meaning here."""

def and_(lhs: Tile, rhs: Tile) -> Tile:
    """Bitwise and of two tiles, elementwise."""

def ands(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise and of a tile and a scalar, which takes the tile's dtype first."""

def arange(start: _Scalar, shape: _Extents, dtype: DataType = ..., descending: bool = False) -> Tile:
    """Row of consecutive integers from start, upwards or with descending downwards."""

def assemble(target: Tile, source: Tile, offset: _Extents) -> Tile:
    """Write the valid part of a source tile into a target tile; yields the target."""

def batch_matmul(lhs: Tile, rhs: Tile) -> Tile:
    """Matrix product of the last two axes, batch axes broadcast, accumulated in FP32 or INT32."""

def batch_matmul_acc(acc: Tile, lhs: Tile, rhs: Tile) -> Tile:
    """Matrix product of the last two axes, batch axes broadcast, added to acc in place."""

def cast(tile: Tile, target_type: DataType, mode: int | str | Enum = ...) -> Tile:
    """Conversion to another dtype with the given rounding mode."""

def ci(start: _Scalar, shape: _Extents, dtype: DataType = ..., descending: bool = False) -> Tile:
    """Row of consecutive integers from start, upwards or with descending downwards."""

def cmp(lhs: Tile, rhs: Tile, cmp_type: int | str | Enum = 0) -> Tile:
    """Packed mask of where two tiles compare as cmp_type says: one bit an element, rows of a multiple of
    32 bytes.
    """

def cmps(lhs: Tile, rhs: _Scalar, cmp_type: int | str | Enum = 0) -> Tile:
    """Packed mask of where a tile and a scalar, which takes the tile's dtype first, compare as cmp_type
    says.
    """

def col_argmax(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the first axis of the greatest valid element."""

def col_argmin(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the first axis of the least valid element."""

def col_expand(target: Tile, col_vec: Tile) -> Tile:
    """A per-column value in every element of the column; target gives the shape only."""

def col_expand_add(tile: Tile, col_vec: Tile) -> Tile:
    """Add a per-column value to every element of the column."""

def col_expand_div(tile: Tile, col_vec: Tile) -> Tile:
    """Divide every element of a column by a per-column value; integers truncate toward zero."""

def col_expand_expdif(tile: Tile, col_vec: Tile) -> Tile:
    """Exponential of every element of a column less a per-column value."""

def col_expand_max(tile: Tile, col_vec: Tile) -> Tile:
    """Greater of every element of a column and a per-column value."""

def col_expand_min(tile: Tile, col_vec: Tile) -> Tile:
    """Lesser of every element of a column and a per-column value."""

def col_expand_mul(tile: Tile, col_vec: Tile) -> Tile:
    """Multiply every element of a column by a per-column value."""

def col_expand_sub(tile: Tile, col_vec: Tile) -> Tile:
    """Subtract a per-column value from every element of the column."""

def col_max(tile: Tile) -> Tile:
    """Maximum over the first axis of the valid region."""

def col_min(tile: Tile) -> Tile:
    """Minimum over the first axis of the valid region."""

def col_prod(tile: Tile) -> Tile:
    """Product over the first axis of the valid region, in the input dtype."""

def col_sum(tile: Tile, tmp_tile: Tile | None = None) -> Tile:
    """Sum over the first axis of the valid region, in the input dtype; row by row, or in pairs with a
    workspace.
    """

def concat(src0: Tile, src1: Tile) -> Tile:
    """The columns of two tiles side by side, both taken as wholly valid."""

def cos(tile: Tile) -> Tile:
    """Cosine of every element, in radians."""

def create(
    shape: _Extents,
    dtype: DataType,
    target_memory: MemorySpace = ...,
    transpose: bool | None = None,
    *,
    flat_layout: bool | None = None,
) -> Tile:
    """New tile, of zeros here; its contents are undefined on the device."""

def div(lhs: Tile, rhs: Tile, high_precision: bool = False) -> Tile:
    """Quotient of two tiles of one dtype, elementwise; integers truncate toward zero."""

def divs(lhs: Tile, rhs: _Scalar, high_precision: bool = False) -> Tile:
    """Quotient of a tile and a scalar, which takes the tile's dtype first; integers truncate toward zero."""

def exp(tile: Tile) -> Tile:
    """Exponential of every element."""

def expands(target: Tile, scalar: _Scalar) -> Tile:
    """One scalar in every element; target gives the shape only."""

def extract(
    src: Tile,
    index_row: _Scalar,
    index_col: _Scalar,
    shape: _Extents,
    *,
    target_memory: MemorySpace,
) -> Tile:
    """Copy of a window of a tile; cells beyond the edge are padding."""

def fillpad(tile: Tile, pad_value: PadValue | float = ...) -> Tile:
    """Copy of a tile in which every cell outside the valid region holds the pad value."""

def fillpad_expand(tile: Tile, shape: _Extents, pad_value: PadValue | float = ...) -> Tile:
    """New, larger tile: the valid region at the origin, the pad value in every other cell."""

def fillpad_inplace(tile: Tile, pad_value: PadValue | float = ...) -> Tile:
    """Give every cell of a tile outside the valid region the pad value; yields the tile."""

def fmod(lhs: Tile, rhs: Tile) -> Tile:
    """Remainder of two tiles, elementwise, with the sign of the dividend."""

def fmods(lhs: Tile, rhs: _Scalar) -> Tile:
    """Remainder of a tile divided by a scalar, with the sign of the dividend."""

def full(shape: _Extents, dtype: DataType, value: _Scalar) -> Tile:
    """New tile whose elements all have one value."""

def gather(src: Tile, indices: Tile, tmp: Tile) -> Tile:
    """Elements of the source at row-major flat offsets."""

def gather_compare(
    src: Tile,
    kvalue: _Scalar,
    tmp: Tile,
    *,
    cmp_mode: int | str | Enum = ...,
    out_cols: int | Enum,
    offset: int | Enum = 0,
    count_dtype: DataType | None = None,
) -> tuple[Tile, Tile]:
    """Per row, the columns that compare so with a number, packed to the left, and how many they are."""

def gather_mask(src: Tile, mask_pattern: int | str | Enum, output_dtype: DataType | None = None) -> Tile:
    """The columns of each row that a mask pattern selects, packed."""

def gather_row(
    dst: Tile,
    src: _Tensor,
    dst_offset: _Extents,
    src_offset: _Extents,
    shapes: _Extents,
    transpose: bool = False,
    *,
    valid_shape: _Extents | None = None,
) -> Tile:
    """Copy a window of a tensor into a tile, transposed if asked; yields the tile."""

def gatherb(src: Tile, offset: Tile, output_dtype: DataType | None = None) -> Tile:
    """The 32 bytes of the source at each byte offset, one after the other."""

def gemv(lhs: Tile, rhs: Tile, acc_phase: str = ...) -> Tile:
    """Product of one row and a matrix; the result has 16 rows, of which the first is valid."""

def gemv_acc(acc: Tile, lhs: Tile, rhs: Tile, acc_phase: str = ...) -> Tile:
    """Product of one row and a matrix, added to acc in place."""

def gemv_bias(lhs: Tile, rhs: Tile, bias: Tile, acc_phase: str = ...) -> Tile:
    """Product of one row and a matrix plus a row of biases; the first of 16 rows is valid."""

def get_block_idx() -> Any:
    """Index of the block in its SPMD launch."""

def get_block_num() -> Any:
    """Number of blocks of the SPMD launch."""

def get_subblock_idx() -> Any:
    """Index of the vector core in its cluster, 0 or 1."""

def load(
    tensor: _Tensor,
    offsets: _Extents,
    shapes: _Extents,
    valid_shape: _Extents | None = ...,
    target_memory: MemorySpace = ...,
    clamp: bool = False,
) -> Tile:
    """Copy a window of a tensor into a new tile; cells outside the tensor or the valid shape are padding."""

def log(tile: Tile, high_precision: bool = False) -> Tile:
    """Natural logarithm of every element; -inf of 0, NaN where it is negative."""

def lrelu(tile: Tile, slope: _Scalar) -> Tile:
    """Every element that is greater than 0, any other multiplied by the slope."""

def matmul(
    lhs: Tile,
    rhs: Tile,
    out_dtype: DataType | None = None,
    a_trans: bool = False,
    b_trans: bool = False,
    c_matrix_nz: bool = False,
) -> Tile:
    """Matrix product, accumulated in FP32 or INT32."""

def matmul_acc(
    acc: Tile,
    lhs: Tile,
    rhs: Tile,
    init_cond: _Scalar | None = None,
    *,
    a_trans: bool = False,
    b_trans: bool = False,
) -> Tile:
    """Accumulating matrix product; a true init_cond overwrites acc instead of adding to it."""

def matmul_bias(lhs: Tile, rhs: Tile, bias: Tile) -> Tile:
    """Matrix product plus a row of biases, accumulated in FP32 or INT32."""

def matmul_mx(lhs: Tile, lhs_scale: Tile, rhs: Tile, rhs_scale: Tile) -> Tile:
    """Matrix product of FP8 tiles whose runs of 32 along K share a power of two."""

def matmul_mx_acc(acc: Tile, lhs: Tile, lhs_scale: Tile, rhs: Tile, rhs_scale: Tile) -> Tile:
    """Matrix product of scaled FP8 tiles, added to acc in place."""

def matmul_mx_bias(lhs: Tile, lhs_scale: Tile, rhs: Tile, rhs_scale: Tile, bias: Tile) -> Tile:
    """Matrix product of scaled FP8 tiles plus a row of biases."""

def maximum(lhs: Tile, rhs: Tile) -> Tile:
    """Greater of two tiles, elementwise."""

def maximums(lhs: Tile, rhs: _Scalar) -> Tile:
    """Greater of a tile and a scalar, which takes the tile's dtype first."""

def mgather(
    mem: _Tensor,
    idx: Tile | _Tensor,
    coalesce: int | str | Enum = ...,
    *,
    gather_oob: int | str | Enum = ...,
    target_memory: MemorySpace = ...,
    scratch: _Tensor | _Extents | None = None,
    valid_shape: _Extents | None = None,
) -> Tile:
    """Rows (coalesce row) or single elements (elem) of a tensor at unsigned 32-bit indices."""

def minimum(lhs: Tile, rhs: Tile) -> Tile:
    """Lesser of two tiles, elementwise."""

def minimums(lhs: Tile, rhs: _Scalar) -> Tile:
    """Lesser of a tile and a scalar, which takes the tile's dtype first."""

def move(
    tile: Tile,
    target_memory: MemorySpace,
    blayout: TileLayout | None = None,
    slayout: TileLayout | None = None,
) -> Tile:
    """The same value in another memory space."""

@overload
def mrgsort(src0: Tile, *, block_len: _Scalar) -> Tile:
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run."""

@overload
def mrgsort(
    src0: Tile,
    src1: Tile,
    src2: Tile | None = None,
    src3: Tile | None = None,
    tmp: Tile | None = None,
    exhausted: bool = False,
) -> Tile:
    """Merge 2 to 4 lists of (value, payload) records, each in descending order, into one."""

def mrgsort_format1(src0: Tile, *, block_len: _Scalar) -> Tile:
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run."""

def mrgsort_format2(
    src0: Tile,
    src1: Tile,
    src2: Tile | None = None,
    src3: Tile | None = None,
    tmp: Tile | None = None,
    exhausted: bool = False,
) -> Tile:
    """Merge 2 to 4 lists of (value, payload) records, each in descending order, into one."""

def mscatter(src: Tile, idx: Tile, output_tensor: _Tensor) -> Tensor:
    """Write the valid elements of a tile at row-major flat offsets of a tensor; yields the tensor."""

def mul(lhs: Tile, rhs: Tile) -> Tile:
    """Product of two tiles, elementwise; integers wrap."""

def muls(lhs: Tile, rhs: _Scalar) -> Tile:
    """Product of a tile and a scalar, which takes the tile's dtype first."""

def neg(tile: Tile) -> Tile:
    """Negative of every element; integers wrap."""

def not_(tile: Tile) -> Tile:
    """Bitwise complement of every element."""

def or_(lhs: Tile, rhs: Tile) -> Tile:
    """Bitwise or of two tiles, elementwise."""

def ors(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise or of a tile and a scalar, which takes the tile's dtype first."""

def part_add(src0: Tile, src1: Tile) -> Tile:
    """Sum where both tiles are valid, a copy of the valid one where only one is."""

def part_max(src0: Tile, src1: Tile) -> Tile:
    """Greater where both tiles are valid, a copy of the valid one where only one is."""

def part_min(src0: Tile, src1: Tile) -> Tile:
    """Lesser where both tiles are valid, a copy of the valid one where only one is."""

def part_mul(src0: Tile, src1: Tile) -> Tile:
    """Product where both tiles are valid, a copy of the valid one where only one is."""

def prelu(tile: Tile, slope: Tile, tmp: Tile) -> Tile:
    """Every element that is greater than 0, any other multiplied by its own slope."""

def random(
    key0: _Scalar,
    key1: _Scalar,
    counter0: _Scalar,
    counter1: _Scalar,
    counter2: _Scalar,
    counter3: _Scalar,
    shape: _Extents,
    valid_shape: _Extents | None = None,
    dtype: DataType = ...,
    rounds: int | Enum = 10,
) -> Tile:
    """Random 32-bit words that depend on a 64-bit key, a 128-bit counter and the position only."""

def read(tile: Tile, indices: _Extents | _Scalar) -> Any:
    """One element of a tile, as a scalar, valid or not."""

def recip(tile: Tile, high_precision: bool = False) -> Tile:
    """Reciprocal of every element."""

def reinterpret_view(data: Tile, dtype: DataType, *, shape: _Extents | None = None) -> Tile:
    """The bytes of a tile read as another dtype; shares storage."""

def relu(tile: Tile) -> Tile:
    """Every element, 0 where it is negative."""

def rem(lhs: Tile, rhs: Tile, tmp: Tile) -> Tile:
    """Remainder of two tiles, elementwise, with the sign of the divisor."""

def rems(lhs: Tile, rhs: _Scalar, tmp: Tile) -> Tile:
    """Remainder of a tile divided by a scalar, with the sign of the divisor."""

def reshape(tile: Tile, shape: _Extents) -> Tile:
    """The same elements, row by row, in another shape; shares storage."""

def row_argmax(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the last axis of the greatest valid element."""

def row_argmin(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the last axis of the least valid element."""

def row_expand(target: Tile, row_vec: Tile) -> Tile:
    """A per-row value in every element of the row; target gives the shape only."""

def row_expand_add(tile: Tile, row_vec: Tile, tmp: Tile | None = None) -> Tile:
    """Add a per-row value to every element of the row."""

def row_expand_div(tile: Tile, row_vec: Tile) -> Tile:
    """Divide every element of a row by a per-row value; integers truncate toward zero."""

def row_expand_expdif(tile: Tile, row_vec: Tile) -> Tile:
    """Exponential of every element of a row less a per-row value."""

def row_expand_max(tile: Tile, row_vec: Tile) -> Tile:
    """Greater of every element of a row and a per-row value."""

def row_expand_min(tile: Tile, row_vec: Tile) -> Tile:
    """Lesser of every element of a row and a per-row value."""

def row_expand_mul(tile: Tile, row_vec: Tile) -> Tile:
    """Multiply every element of a row by a per-row value."""

def row_expand_sub(tile: Tile, row_vec: Tile) -> Tile:
    """Subtract a per-row value from every element of the row."""

def row_max(tile: Tile, tmp_tile: Tile) -> Tile:
    """Maximum over the last axis of the valid region."""

def row_min(tile: Tile, tmp_tile: Tile) -> Tile:
    """Minimum over the last axis of the valid region."""

def row_prod(tile: Tile, tmp_tile: Tile) -> Tile:
    """Product over the last axis of the valid region, in the input dtype."""

def row_sum(tile: Tile, tmp_tile: Tile) -> Tile:
    """Sum over the last axis of the valid region, in the input dtype (16-bit floats accumulate in FP32)."""

def rsqrt(tile: Tile, tmp: Tile | None = None) -> Tile:
    """Reciprocal of the square root of every element."""

def scatter(dst: Tile, src: Tile, indexes: Tile) -> Tile:
    """Write elements at row-major flat offsets of a tile; yields the tile."""

def scatter_mask(dst: Tile, src: Tile, mask_pattern: int | str | Enum) -> Tile:
    """Spread each row over the columns of a tile that a mask pattern selects; the others become 0."""

@overload
def scatter_update(input: Tile, dim: int | str | Enum, index: Tile, src: Tile) -> Tile:
    """Write rows at flat row numbers of a tile; yields the tile."""

@overload
def scatter_update(input: Tile, index: Tile, src: Tile, dim: int | str | Enum = -2) -> Tile:
    """Write rows at flat row numbers of a tile; yields the tile."""

def sel(mask: Tile, lhs: Tile, rhs: Tile, tmp: Tile) -> Tile:
    """Elements of lhs where the bit of a packed mask is 1, of rhs where it is 0."""

def sels(mask: Tile, src: Tile, tmp: Tile, scalar: _Scalar) -> Tile:
    """Elements of src where the bit of a packed mask is 1, a scalar, which takes the dtype of src, where
    it is 0.
    """

def set_validshape(tile: Tile, valid_rows: _Scalar, valid_cols: _Scalar) -> Tile:
    """The same tile, of which another part is valid."""

def shl(lhs: Tile, rhs: Tile) -> Tile:
    """Left shift of every element by a count of its own; bits shifted out are lost."""

def shls(lhs: Tile, rhs: _Scalar) -> Tile:
    """Left shift of a tile by a scalar count; bits shifted out are lost."""

def shr(lhs: Tile, rhs: Tile) -> Tile:
    """Right shift of every element by a count of its own, arithmetic for signed and logical for unsigned
    elements.
    """

def shrs(lhs: Tile, rhs: _Scalar) -> Tile:
    """Right shift of a tile by a scalar count, arithmetic for signed and logical for unsigned elements."""

def sin(tile: Tile) -> Tile:
    """Sine of every element, in radians."""

def slice(
    tile: Tile,
    shape: _Extents,
    offset: _Extents,
    valid_shape: _Extents | None = None,
    drop_dims: _Extents | None = None,
    pad_value: PadValue | float | None = None,
) -> Tile:
    """View of a window of a tile, sharing its storage."""

def sort32(src: Tile, idx: Tile) -> Tile:
    """Sort each run of 32 columns in descending order, interleaving values and payload."""

def sqrt(tile: Tile) -> Tile:
    """Square root of every element; NaN where it is negative."""

def store(
    tile: Tile,
    offsets: _Extents,
    output_tensor: _Tensor,
    shapes: _Extents | None = None,
    *,
    atomic: int | str | Enum = ...,
) -> Tensor:
    """Write the valid part of a tile into a tensor, or add it with atomic=1; yields the tensor."""

def sub(lhs: Tile, rhs: Tile) -> Tile:
    """Difference of two tiles, elementwise; integers wrap."""

def subc(lhs: Tile, rhs: Tile, rhs2: Tile) -> Tile:
    """Two tiles subtracted from a third, lhs - rhs - rhs2, elementwise; integers wrap, there is no borrow."""

def subs(lhs: Tile, rhs: _Scalar) -> Tile:
    """Difference of a tile and a scalar, which takes the tile's dtype first."""

def subsc(lhs: Tile, rhs: _Scalar, rhs2: Tile) -> Tile:
    """A scalar and a tile subtracted from a tile, lhs - rhs - rhs2, elementwise; integers wrap."""

def tget_scale_addr(dst_scale: Tile, src: Tile) -> Tile:
    """The scale tile; its address, which the device pairs with that of the data, means nothing here."""

def tpop_from_aic(
    *,
    shape: _Extents | None = None,
    dtype: DataType | None = None,
    split: int | Enum = 0,
    lane_stride: int | Enum | None = None,
    id: int | Enum | None = None,
) -> Tile:
    """Next tile that the cube core sent to this lane; waits for it."""

def tpop_from_aiv(
    *,
    shape: _Extents | None = None,
    dtype: DataType | None = None,
    split: int | Enum = 0,
    id: int | Enum | None = None,
) -> Tile:
    """Next tile that the vector core sent, the parts of both lanes joined; waits for it."""

def tpush_to_aic(tile: Tile, split: int | Enum, id: int | Enum | None = None) -> None:
    """Send a tile to the cube core; with a split it gets the parts of both lanes joined."""

def tpush_to_aiv(
    tile: Tile,
    split: int | Enum,
    lane_stride: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Send a tile to the vector core; with a split each lane gets its part."""

def transpose(tile: Tile, axis1: _Scalar, axis2: _Scalar, tmp: Tile | None = None) -> Tile:
    """Copy of a tile with two axes swapped."""

def transpose_view(tile: Tile) -> Tile:
    """View of a tile with its last two axes swapped."""

def tri(
    diagonal: _Scalar,
    shape: _Extents,
    valid_shape: _Extents | None = None,
    dtype: DataType = ...,
    upper: bool = False,
) -> Tile:
    """Ones on and below a diagonal, or on and above it with upper; zeros elsewhere."""

def write(tile: Tile, indices: _Extents | _Scalar, value: _Scalar) -> Tile:
    """Set one element of a tile; yields the tile."""

def xor(lhs: Tile, rhs: Tile, tmp: Tile) -> Tile:
    """Bitwise exclusive or of two tiles, elementwise."""

def xors(lhs: Tile, rhs: _Scalar, tmp: Tile) -> Tile:
    """Bitwise exclusive or of a tile and a scalar, which takes the tile's dtype first."""
