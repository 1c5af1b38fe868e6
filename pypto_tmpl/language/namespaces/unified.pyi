# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias, overload

from pypto_tmpl.ir import DataType, MemorySpace, PadValue, TensorLayout, TileLayout
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Scalar, Tensor, Tile

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

@overload
def abs(input: _Tensor) -> Tensor:
    """Absolute value of every element; integers wrap."""

@overload
def abs(tile: Tile) -> Tile:
    """Absolute value of every element; integers wrap."""

@overload
def add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Sum of two tensors, elementwise; integers wrap."""

@overload
def add(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Sum of a tensor and a scalar; both take the promoted dtype first."""

@overload
def add(lhs: Tile, rhs: Tile) -> Tile:
    """Sum of two tiles, elementwise; integers wrap."""

@overload
def add(lhs: Tile, rhs: _Scalar) -> Tile:
    """Sum of a tile and a scalar, which takes the tile's dtype first."""

@overload
def add(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

def addc(lhs: Tile, rhs: Tile, rhs2: Tile) -> Tile:
    """Three tiles, lhs + rhs + rhs2, elementwise; integers wrap and there is no carry."""

def addsc(lhs: Tile, rhs: _Scalar, rhs2: Tile) -> Tile:
    """A tile, a scalar and a tile, lhs + rhs + rhs2, elementwise; integers wrap."""

@overload
def aic_gather(x: _Tensor, split: int | Enum | None = None) -> Tensor:
    """The parts of both vector lanes, joined along the split axis."""

@overload
def aic_gather(x: Tile, split: int | Enum | None = None) -> Tile:
    """The parts of both vector lanes, joined along the split axis."""

def aic_initialize_pipe(
    c2v_consumer_buf: _Scalar = 0,
    v2c_consumer_buf: _Scalar = 0,
    *,
    dir_mask: int | Enum,
    slot_size: int | Enum,
    slot_num: int | Enum | None = None,
    local_slot_num: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Set up the cube end of a pipe; its slots count where pipes are bounded."""

def aiv_initialize_pipe(
    c2v_consumer_buf: _Scalar = 0,
    v2c_consumer_buf: _Scalar = 0,
    *,
    dir_mask: int | Enum,
    slot_size: int | Enum,
    slot_num: int | Enum | None = None,
    local_slot_num: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Set up the vector end of a pipe; its slots count where pipes are bounded."""

@overload
def aiv_shard(x: _Tensor, split: int | Enum | None = None) -> Tensor:
    """The part of a tensor that the current vector lane owns."""

@overload
def aiv_shard(x: Tile, split: int | Enum | None = None, lane_stride: int | Enum | None = None) -> Tile:
    """The part of a tile that the current vector lane owns."""

@overload
def and_(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise and of two tensors, elementwise."""

@overload
def and_(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise and of a tensor and a scalar."""

@overload
def and_(lhs: Tile, rhs: Tile) -> Tile:
    """Bitwise and of two tiles, elementwise."""

@overload
def and_(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise and of a tile and a scalar, which takes the tile's dtype first."""

@overload
def ands(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise and of a tensor and a scalar."""

@overload
def ands(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise and of a tile and a scalar, which takes the tile's dtype first."""

def arange(start: _Scalar, shape: _Extents, dtype: DataType = ..., descending: bool = False) -> Tensor:
    """Row of consecutive integers from start, upwards or with descending downwards."""

@overload
def assemble(target: _Tensor, source: _Tensor, offset: _Extents, *, atomic: int | str | Enum = ...) -> Tensor:
    """Write the valid part of a source into a target, or add it with atomic=1; yields the target."""

@overload
def assemble(target: Tile, source: Tile, offset: _Extents) -> Tile:
    """Write the valid part of a source tile into a target tile; yields the target."""

def batch_matmul(lhs: Tile, rhs: Tile) -> Tile:
    """Matrix product of the last two axes, batch axes broadcast, accumulated in FP32 or INT32."""

@overload
def cast(input: _Tensor, target_type: DataType, mode: int | str | Enum = ...) -> Tensor:
    """Conversion to another dtype with the given rounding mode."""

@overload
def cast(tile: Tile, target_type: DataType, mode: int | str | Enum = ...) -> Tile:
    """Conversion to another dtype with the given rounding mode."""

@overload
def cast(input: _Scalar, target_type: DataType, mode: int | str = ...) -> Any:
    """On scalars: a scalar expression."""

@overload
def cmp(lhs: _Tensor, rhs: _Tensor | _Scalar, cmp_type: int | str | Enum = 0) -> Tensor:
    """1 where two tensors, or a tensor and a scalar, compare as cmp_type says, else 0; not packed."""

@overload
def cmp(lhs: Tile, rhs: Tile, cmp_type: int | str | Enum = 0) -> Tile:
    """Packed mask of where two tiles compare as cmp_type says: one bit an element, rows of a multiple of
    32 bytes.
    """

@overload
def cmp(lhs: Tile, rhs: _Scalar, cmp_type: int | str | Enum = 0) -> Tile:
    """Packed mask of where a tile and a scalar, which takes the tile's dtype first, compare as cmp_type
    says.
    """

def cmps(lhs: Tile, rhs: _Scalar, cmp_type: int | str | Enum = 0) -> Tile:
    """Packed mask of where a tile and a scalar, which takes the tile's dtype first, compare as cmp_type
    says.
    """

@overload
def col_argmax(input: _Tensor) -> Tensor:
    """Index of the greatest valid element along one axis, the second to last by default."""

@overload
def col_argmax(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the first axis of the greatest valid element."""

@overload
def col_argmin(input: _Tensor) -> Tensor:
    """Index of the least valid element along one axis, the second to last by default."""

@overload
def col_argmin(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the first axis of the least valid element."""

@overload
def col_expand(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """A per-column value in every element of the column; tensor gives the shape only."""

@overload
def col_expand(lhs: Tile, rhs: Tile) -> Tile:
    """A per-column value in every element of the column; target gives the shape only."""

@overload
def col_expand_add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Add a per-column value to every element of the column."""

@overload
def col_expand_add(lhs: Tile, rhs: Tile) -> Tile:
    """Add a per-column value to every element of the column."""

@overload
def col_expand_div(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Divide every element of a column by a per-column value; integers truncate toward zero."""

@overload
def col_expand_div(lhs: Tile, rhs: Tile) -> Tile:
    """Divide every element of a column by a per-column value; integers truncate toward zero."""

@overload
def col_expand_expdif(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Exponential of every element of a column less a per-column value."""

@overload
def col_expand_expdif(lhs: Tile, rhs: Tile) -> Tile:
    """Exponential of every element of a column less a per-column value."""

@overload
def col_expand_max(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Greater of every element of a column and a per-column value."""

@overload
def col_expand_max(lhs: Tile, rhs: Tile) -> Tile:
    """Greater of every element of a column and a per-column value."""

@overload
def col_expand_min(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Lesser of every element of a column and a per-column value."""

@overload
def col_expand_min(lhs: Tile, rhs: Tile) -> Tile:
    """Lesser of every element of a column and a per-column value."""

@overload
def col_expand_mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Multiply every element of a column by a per-column value."""

@overload
def col_expand_mul(lhs: Tile, rhs: Tile) -> Tile:
    """Multiply every element of a column by a per-column value."""

@overload
def col_expand_sub(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Subtract a per-column value from every element of the column."""

@overload
def col_expand_sub(lhs: Tile, rhs: Tile) -> Tile:
    """Subtract a per-column value from every element of the column."""

@overload
def col_max(input: _Tensor) -> Tensor:
    """Maximum over one axis of the valid region, the second to last by default."""

@overload
def col_max(tile: Tile) -> Tile:
    """Maximum over the first axis of the valid region."""

@overload
def col_min(input: _Tensor) -> Tensor:
    """Minimum over one axis of the valid region, the second to last by default."""

@overload
def col_min(tile: Tile) -> Tile:
    """Minimum over the first axis of the valid region."""

@overload
def col_prod(input: _Tensor) -> Tensor:
    """Product over one axis of the valid region, the second to last by default, in the input dtype."""

@overload
def col_prod(tile: Tile) -> Tile:
    """Product over the first axis of the valid region, in the input dtype."""

@overload
def col_sum(input: _Tensor) -> Tensor:
    """Sum over one axis of the valid region, the second to last by default, in the input dtype."""

@overload
def col_sum(tile: Tile, tmp_tile: Tile | None = None) -> Tile:
    """Sum over the first axis of the valid region, in the input dtype; row by row, or in pairs with a
    workspace.
    """

@overload
def concat(src0: _Tensor, src1: _Tensor) -> Tensor:
    """The columns of two tensors side by side."""

@overload
def concat(src0: Tile, src1: Tile) -> Tile:
    """The columns of two tiles side by side, both taken as wholly valid."""

@overload
def cos(input: _Tensor) -> Tensor:
    """Cosine of every element, in radians."""

@overload
def cos(tile: Tile) -> Tile:
    """Cosine of every element, in radians."""

def create_l1(shape: _Extents, dtype: DataType, transpose: bool = False) -> Tensor:
    """New on-chip accumulator, of zeros here; its contents are undefined on the device."""

def create_tensor(
    shape: _Extents,
    dtype: DataType,
    layout: TensorLayout = ...,
    manual_dep: bool = False,
    init_value: float | None = None,
) -> Tensor:
    """New tensor, of init_value or else of zeros here; undefined on the device."""

def create_tile(
    shape: _Extents,
    dtype: DataType,
    target_memory: MemorySpace = ...,
    transpose: bool | None = None,
    *,
    flat_layout: bool | None = None,
) -> Tile:
    """New tile, of zeros here; its contents are undefined on the device."""

def dim(tensor: _Tensor, axis: _Scalar) -> Any:
    """Extent of a tensor along an axis."""

@overload
def div(lhs: _Tensor, rhs: _Tensor, high_precision: bool = False) -> Tensor:
    """Quotient of two tensors, elementwise; integers truncate toward zero."""

@overload
def div(lhs: _Tensor, rhs: _Scalar, high_precision: bool = False) -> Tensor:
    """Quotient of a tensor and a scalar, both in the promoted dtype; integers truncate toward zero."""

@overload
def div(lhs: Tile, rhs: Tile, high_precision: bool = False) -> Tile:
    """Quotient of two tiles of one dtype, elementwise; integers truncate toward zero."""

@overload
def div(lhs: Tile, rhs: _Scalar, high_precision: bool = False) -> Tile:
    """Quotient of a tile and a scalar, which takes the tile's dtype first; integers truncate toward zero."""

@overload
def div(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

@overload
def exp(input: _Tensor) -> Tensor:
    """Exponential of every element; integers become FP32 first."""

@overload
def exp(tile: Tile) -> Tile:
    """Exponential of every element."""

def expand_clone(src: _Tensor, target: _Tensor) -> Tensor:
    """Fill a target with a rank-3 tensor, repeated along its one axis of extent 1; yields the target."""

@overload
def expands(target: _Tensor, scalar: _Scalar) -> Tensor:
    """One scalar in every element; target gives the shape only."""

@overload
def expands(target: Tile, scalar: _Scalar) -> Tile:
    """One scalar in every element; target gives the shape only."""

@overload
def fillpad(value: _Tensor, pad_value: PadValue | float = ...) -> Tensor:
    """Copy of a tensor in which every cell outside the valid region holds the pad value."""

@overload
def fillpad(value: Tile, pad_value: PadValue | float = ...) -> Tile:
    """Copy of a tile in which every cell outside the valid region holds the pad value."""

@overload
def fillpad_expand(value: _Tensor, shape: _Extents, pad_value: PadValue | float = ...) -> Tensor:
    """New, larger tensor: the valid region at the origin, the pad value in every other cell."""

@overload
def fillpad_expand(value: Tile, shape: _Extents, pad_value: PadValue | float = ...) -> Tile:
    """New, larger tile: the valid region at the origin, the pad value in every other cell."""

@overload
def fmod(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Remainder of two tensors, elementwise, with the sign of the dividend."""

@overload
def fmod(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Remainder of a tensor divided by a scalar, with the sign of the dividend."""

@overload
def fmod(lhs: Tile, rhs: Tile) -> Tile:
    """Remainder of two tiles, elementwise, with the sign of the dividend."""

@overload
def fmod(lhs: Tile, rhs: _Scalar) -> Tile:
    """Remainder of a tile divided by a scalar, with the sign of the dividend."""

@overload
def fmods(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Remainder of a tensor divided by a scalar, with the sign of the dividend."""

@overload
def fmods(lhs: Tile, rhs: _Scalar) -> Tile:
    """Remainder of a tile divided by a scalar, with the sign of the dividend."""

def full(shape: _Extents, dtype: DataType, value: _Scalar) -> Tensor:
    """New tensor whose elements all have one value."""

@overload
def gather(input: _Tensor, dim: int | Enum, index: _Tensor) -> Tensor:
    """Elements of the input at indices along one axis, as torch.gather."""

@overload
def gather(
    input: _Tensor,
    *,
    kvalue: _Scalar,
    cmp_mode: int | str | Enum,
    out_cols: int | Enum,
    offset: int | Enum = 0,
    count_dtype: DataType | None = None,
) -> tuple[Tensor, Tensor]:
    """Per row, the columns that compare so with a number, packed to the left, and how many they are."""

@overload
def gather(input: _Tensor, *, mask_pattern: int | str | Enum, output_dtype: DataType | None = None) -> Tensor:
    """The columns of each row that a mask pattern selects, packed."""

@overload
def gather_row(
    dst: _Tensor,
    src: _Tensor,
    dst_offset: _Extents,
    src_offset: _Extents,
    shapes: _Extents,
    transpose: bool = False,
    *,
    valid_shape: _Extents | None = None,
) -> Tensor:
    """A tensor with a window of another one, transposed if asked, copied into it."""

@overload
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

def import_peer_buffer(name: str, peer_func: str) -> Any:
    """Address of the buffer that the peer function reserved; it has no meaning here."""

def load(
    tensor: _Tensor,
    offsets: _Extents,
    shapes: _Extents,
    valid_shape: _Extents | None = ...,
    target_memory: MemorySpace = ...,
    clamp: bool = False,
) -> Tile:
    """Copy a window of a tensor into a new tile; cells outside the tensor or the valid shape are padding."""

@overload
def log(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Natural logarithm of every element; -inf of 0, NaN where it is negative."""

@overload
def log(tile: Tile, high_precision: bool = False) -> Tile:
    """Natural logarithm of every element; -inf of 0, NaN where it is negative."""

def lrelu(tile: Tile, slope: _Scalar) -> Tile:
    """Every element that is greater than 0, any other multiplied by the slope."""

@overload
def matmul(
    lhs: _Tensor,
    rhs: _Tensor,
    out_dtype: DataType | None = None,
    a_trans: bool = False,
    b_trans: bool = False,
    c_matrix_nz: bool = False,
) -> Tensor:
    """Matrix product after the optional transposes, batch axes broadcast, in the declared dtype."""

@overload
def matmul(
    lhs: Tile,
    rhs: Tile,
    out_dtype: DataType | None = None,
    a_trans: bool = False,
    b_trans: bool = False,
    c_matrix_nz: bool = False,
) -> Tile:
    """Matrix product, accumulated in FP32 or INT32."""

@overload
def matmul_acc(
    acc: _Tensor,
    lhs: _Tensor,
    rhs: _Tensor,
    a_trans: bool = False,
    b_trans: bool = False,
    init_cond: _Scalar | None = None,
) -> Tensor:
    """Accumulating matrix product; a true init_cond leaves acc out."""

@overload
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

def max(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

@overload
def maximum(lhs: _Tensor, rhs: _Tensor | _Scalar) -> Tensor:
    """Greater of two tensors, or of a tensor and a scalar, elementwise."""

@overload
def maximum(lhs: Tile, rhs: Tile) -> Tile:
    """Greater of two tiles, elementwise."""

@overload
def maximum(lhs: Tile, rhs: _Scalar) -> Tile:
    """Greater of a tile and a scalar, which takes the tile's dtype first."""

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

def min(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

@overload
def minimum(lhs: _Tensor, rhs: _Tensor | _Scalar) -> Tensor:
    """Lesser of two tensors, or of a tensor and a scalar, elementwise."""

@overload
def minimum(lhs: Tile, rhs: Tile) -> Tile:
    """Lesser of two tiles, elementwise."""

@overload
def minimum(lhs: Tile, rhs: _Scalar) -> Tile:
    """Lesser of a tile and a scalar, which takes the tile's dtype first."""

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
def mrgsort(src0: _Tensor, *, block_len: _Scalar) -> Tensor:
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run."""

@overload
def mrgsort(
    src0: _Tensor,
    src1: _Tensor,
    src2: _Tensor | None = None,
    src3: _Tensor | None = None,
    *,
    exhausted: bool = False,
) -> Tensor:
    """Merge 2 to 4 lists of (value, payload) records, each in descending order, into one."""

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

def mscatter(src: Tile, idx: Tile, output_tensor: _Tensor) -> Tensor:
    """Write the valid elements of a tile at row-major flat offsets of a tensor; yields the tensor."""

@overload
def mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Product of two tensors, elementwise; integers wrap."""

@overload
def mul(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Product of a tensor and a scalar; both take the promoted dtype first."""

@overload
def mul(lhs: Tile, rhs: Tile) -> Tile:
    """Product of two tiles, elementwise; integers wrap."""

@overload
def mul(lhs: Tile, rhs: _Scalar) -> Tile:
    """Product of a tile and a scalar, which takes the tile's dtype first."""

@overload
def mul(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

@overload
def neg(input: _Tensor) -> Tensor:
    """Negative of every element; integers wrap."""

@overload
def neg(tile: Tile) -> Tile:
    """Negative of every element; integers wrap."""

@overload
def not_(input: _Tensor) -> Tensor:
    """Bitwise complement of every element."""

@overload
def not_(tile: Tile) -> Tile:
    """Bitwise complement of every element."""

@overload
def or_(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise or of two tensors, elementwise."""

@overload
def or_(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise or of a tensor and a scalar."""

@overload
def or_(lhs: Tile, rhs: Tile) -> Tile:
    """Bitwise or of two tiles, elementwise."""

@overload
def or_(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise or of a tile and a scalar, which takes the tile's dtype first."""

@overload
def ors(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise or of a tensor and a scalar."""

@overload
def ors(lhs: Tile, rhs: _Scalar) -> Tile:
    """Bitwise or of a tile and a scalar, which takes the tile's dtype first."""

def paged_gather(
    src: _Tensor,
    indices: _Tensor,
    block_table: _Tensor,
    *,
    block_size: int | Enum,
    size: int | Enum,
    max_indices: int | Enum,
    space: MemorySpace = ...,
    col_off: int | Enum = 0,
    is_trans: bool = False,
    is_b_matrix: bool = False,
) -> Tensor:
    """Columns of the rows that logical row numbers have in a pool of blocks, by way of a block table."""

@overload
def part_add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Sum where both tensors are valid, a copy of the valid one where only one is."""

@overload
def part_add(src0: Tile, src1: Tile) -> Tile:
    """Sum where both tiles are valid, a copy of the valid one where only one is."""

@overload
def part_max(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Greater where both tensors are valid, a copy of the valid one where only one is."""

@overload
def part_max(src0: Tile, src1: Tile) -> Tile:
    """Greater where both tiles are valid, a copy of the valid one where only one is."""

@overload
def part_min(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Lesser where both tensors are valid, a copy of the valid one where only one is."""

@overload
def part_min(src0: Tile, src1: Tile) -> Tile:
    """Lesser where both tiles are valid, a copy of the valid one where only one is."""

@overload
def part_mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Product where both tensors are valid, a copy of the valid one where only one is."""

@overload
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
    dtype: DataType = ...,
    rounds: int | Enum = 10,
) -> Tensor:
    """Random 32-bit words that depend on a 64-bit key, a 128-bit counter and the position only."""

@overload
def read(src: _Tensor, offset: _Extents | _Scalar) -> Any:
    """One element of a tensor, as a scalar."""

@overload
def read(src: Tile, offset: _Extents | _Scalar) -> Any:
    """One element of a tile, as a scalar, valid or not."""

@overload
def recip(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Reciprocal of every element; integers become FP32 first."""

@overload
def recip(tile: Tile, high_precision: bool = False) -> Tile:
    """Reciprocal of every element."""

@overload
def reinterpret_view(data: _Tensor, dtype: DataType, *, shape: _Extents | None = None) -> Tensor:
    """The bytes of a tensor read as another dtype; shares storage."""

@overload
def reinterpret_view(data: Tile, dtype: DataType, *, shape: _Extents | None = None) -> Tile:
    """The bytes of a tile read as another dtype; shares storage."""

def relu(tile: Tile) -> Tile:
    """Every element, 0 where it is negative."""

def rem(lhs: Tile, rhs: Tile, tmp: Tile) -> Tile:
    """Remainder of two tiles, elementwise, with the sign of the divisor."""

def rems(lhs: Tile, rhs: _Scalar, tmp: Tile) -> Tile:
    """Remainder of a tile divided by a scalar, with the sign of the divisor."""

def reserve_buffer(name: str, size: int | Enum, base: int | Enum = -1) -> Any:
    """Reserve a named on-chip buffer; its address has no meaning here."""

@overload
def reshape(input: _Tensor, shape: _Extents, valid_shape: _Extents | None = None) -> Tensor:
    """The same elements, row by row, in another shape."""

@overload
def reshape(input: Tile, shape: _Extents) -> Tile:
    """The same elements, row by row, in another shape; shares storage."""

@overload
def row_argmax(input: _Tensor) -> Tensor:
    """Index of the greatest valid element along one axis, the last by default."""

@overload
def row_argmax(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the last axis of the greatest valid element."""

@overload
def row_argmin(input: _Tensor) -> Tensor:
    """Index of the least valid element along one axis, the last by default."""

@overload
def row_argmin(tile: Tile, tmp_tile: Tile) -> Tile:
    """Index along the last axis of the least valid element."""

@overload
def row_expand(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """A per-row value in every element of the row; target gives the shape only."""

@overload
def row_expand(lhs: Tile, rhs: Tile) -> Tile:
    """A per-row value in every element of the row; target gives the shape only."""

@overload
def row_expand_add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Add a per-row value to every element of the row."""

@overload
def row_expand_add(lhs: Tile, rhs: Tile, tmp: Tile | None = None) -> Tile:
    """Add a per-row value to every element of the row."""

@overload
def row_expand_div(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Divide every element of a row by a per-row value; integers truncate toward zero."""

@overload
def row_expand_div(lhs: Tile, rhs: Tile) -> Tile:
    """Divide every element of a row by a per-row value; integers truncate toward zero."""

@overload
def row_expand_expdif(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Exponential of every element of a row less a per-row value."""

@overload
def row_expand_expdif(lhs: Tile, rhs: Tile) -> Tile:
    """Exponential of every element of a row less a per-row value."""

@overload
def row_expand_max(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Greater of every element of a row and a per-row value."""

@overload
def row_expand_max(lhs: Tile, rhs: Tile) -> Tile:
    """Greater of every element of a row and a per-row value."""

@overload
def row_expand_min(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Lesser of every element of a row and a per-row value."""

@overload
def row_expand_min(lhs: Tile, rhs: Tile) -> Tile:
    """Lesser of every element of a row and a per-row value."""

@overload
def row_expand_mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Multiply every element of a row by a per-row value."""

@overload
def row_expand_mul(lhs: Tile, rhs: Tile) -> Tile:
    """Multiply every element of a row by a per-row value."""

@overload
def row_expand_sub(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Subtract a per-row value from every element of the row."""

@overload
def row_expand_sub(lhs: Tile, rhs: Tile) -> Tile:
    """Subtract a per-row value from every element of the row."""

@overload
def row_max(input: _Tensor) -> Tensor:
    """Maximum over one axis of the valid region, the last by default."""

@overload
def row_max(tile: Tile, tmp_tile: Tile) -> Tile:
    """Maximum over the last axis of the valid region."""

@overload
def row_min(input: _Tensor) -> Tensor:
    """Minimum over one axis of the valid region, the last by default."""

@overload
def row_min(tile: Tile, tmp_tile: Tile) -> Tile:
    """Minimum over the last axis of the valid region."""

@overload
def row_prod(input: _Tensor) -> Tensor:
    """Product over one axis of the valid region, the last by default, in the input dtype."""

@overload
def row_prod(tile: Tile, tmp_tile: Tile) -> Tile:
    """Product over the last axis of the valid region, in the input dtype."""

@overload
def row_sum(input: _Tensor) -> Tensor:
    """Sum over one axis of the valid region, the last by default, in the input dtype (16-bit floats
    accumulate in FP32).
    """

@overload
def row_sum(tile: Tile, tmp_tile: Tile) -> Tile:
    """Sum over the last axis of the valid region, in the input dtype (16-bit floats accumulate in FP32)."""

@overload
def rsqrt(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Reciprocal of the square root of every element; integers become FP32 first."""

@overload
def rsqrt(tile: Tile, tmp: Tile | None = None) -> Tile:
    """Reciprocal of the square root of every element."""

@overload
def scatter(input: _Tensor, dim: int | str | Enum, index: _Tensor, src: _Tensor) -> Tensor:
    """Copy of a tensor in which each row has values at given columns, as torch.scatter."""

@overload
def scatter(input: _Tensor, *, mask_pattern: int | str | Enum, dst: _Tensor) -> Tensor:
    """Copy of a tensor in which the columns that a mask pattern selects are those of another one."""

@overload
def scatter_update(input: _Tensor, dim: int | str | Enum, index: _Tensor, src: _Tensor) -> Tensor:
    """Copy of a tensor with rows written at flat row numbers."""

@overload
def scatter_update(input: _Tensor, index: _Tensor, src: _Tensor, dim: int | str | Enum = -2) -> Tensor:
    """Copy of a tensor with rows written at flat row numbers."""

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

@overload
def set_validshape(input: _Tensor, valid_rows: _Scalar, valid_cols: _Scalar) -> Tensor:
    """The same tensor, of which another part is valid."""

@overload
def set_validshape(input: Tile, valid_rows: _Scalar, valid_cols: _Scalar) -> Tile:
    """The same tile, of which another part is valid."""

@overload
def shl(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Left shift of every element by a count of its own; bits shifted out are lost."""

@overload
def shl(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Left shift of a tensor by a scalar count; bits shifted out are lost."""

@overload
def shl(lhs: Tile, rhs: Tile) -> Tile:
    """Left shift of every element by a count of its own; bits shifted out are lost."""

@overload
def shl(lhs: Tile, rhs: _Scalar) -> Tile:
    """Left shift of a tile by a scalar count; bits shifted out are lost."""

@overload
def shls(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Left shift of a tensor by a scalar count; bits shifted out are lost."""

@overload
def shls(lhs: Tile, rhs: _Scalar) -> Tile:
    """Left shift of a tile by a scalar count; bits shifted out are lost."""

@overload
def shr(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Right shift of every element by a count of its own, arithmetic for signed and logical for unsigned
    elements.
    """

@overload
def shr(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Right shift of a tensor by a scalar count, arithmetic for signed and logical for unsigned elements."""

@overload
def shr(lhs: Tile, rhs: Tile) -> Tile:
    """Right shift of every element by a count of its own, arithmetic for signed and logical for unsigned
    elements.
    """

@overload
def shr(lhs: Tile, rhs: _Scalar) -> Tile:
    """Right shift of a tile by a scalar count, arithmetic for signed and logical for unsigned elements."""

@overload
def shrs(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Right shift of a tensor by a scalar count, arithmetic for signed and logical for unsigned elements."""

@overload
def shrs(lhs: Tile, rhs: _Scalar) -> Tile:
    """Right shift of a tile by a scalar count, arithmetic for signed and logical for unsigned elements."""

@overload
def sin(input: _Tensor) -> Tensor:
    """Sine of every element, in radians."""

@overload
def sin(tile: Tile) -> Tile:
    """Sine of every element, in radians."""

@overload
def slice(
    input: _Tensor,
    shape: _Extents,
    offset: _Extents,
    valid_shape: _Extents | None = None,
    drop_dims: _Extents | None = None,
    pad_value: PadValue | float | None = None,
    clamp: bool = False,
) -> Tensor:
    """Window of a tensor: a copy in kernel code, a view sharing storage in orchestration code."""

@overload
def slice(
    input: Tile,
    shape: _Extents,
    offset: _Extents,
    valid_shape: _Extents | None = None,
    drop_dims: _Extents | None = None,
    pad_value: PadValue | float | None = None,
) -> Tile:
    """View of a window of a tile, sharing its storage."""

@overload
def sort32(src: _Tensor, idx: _Tensor) -> Tensor:
    """Sort each run of 32 columns in descending order, interleaving values and payload."""

@overload
def sort32(src: Tile, idx: Tile) -> Tile:
    """Sort each run of 32 columns in descending order, interleaving values and payload."""

@overload
def sqrt(input: _Tensor) -> Tensor:
    """Square root of every element, NaN where it is negative; integers become FP32 first."""

@overload
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

@overload
def sub(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Difference of two tensors, elementwise; integers wrap."""

@overload
def sub(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Difference of a tensor and a scalar."""

@overload
def sub(lhs: Tile, rhs: Tile) -> Tile:
    """Difference of two tiles, elementwise; integers wrap."""

@overload
def sub(lhs: Tile, rhs: _Scalar) -> Tile:
    """Difference of a tile and a scalar, which takes the tile's dtype first."""

@overload
def sub(lhs: _Scalar, rhs: _Scalar) -> Any:
    """On scalars: a scalar expression."""

def subc(lhs: Tile, rhs: Tile, rhs2: Tile) -> Tile:
    """Two tiles subtracted from a third, lhs - rhs - rhs2, elementwise; integers wrap, there is no borrow."""

def subsc(lhs: Tile, rhs: _Scalar, rhs2: Tile) -> Tile:
    """A scalar and a tile subtracted from a tile, lhs - rhs - rhs2, elementwise; integers wrap."""

def tfree_to_aic(tile: Tile, split: int | Enum | None = None, id: int | Enum | None = None) -> None:
    """Give a popped tile's slot back to the cube core, which counts where pipes are bounded."""

def tfree_to_aiv(tile: Tile, split: int | Enum | None = None, id: int | Enum | None = None) -> None:
    """Give a popped tile's slot back to the vector core, which counts where pipes are bounded."""

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

@overload
def transpose(input: _Tensor, axis1: _Scalar, axis2: _Scalar, valid_shape: _Extents | None = None) -> Tensor:
    """Two axes of a tensor swapped: a copy in kernel code, a view in orchestration code."""

@overload
def transpose(input: Tile, axis1: _Scalar, axis2: _Scalar, tmp: Tile | None = None) -> Tile:
    """Copy of a tile with two axes swapped."""

def tri(
    diagonal: _Scalar,
    shape: _Extents,
    valid_shape: _Extents | None = None,
    dtype: DataType = ...,
    upper: bool = False,
) -> Tile:
    """Ones on and below a diagonal, or on and above it with upper; zeros elsewhere."""

@overload
def write(dst: _Tensor, offset: _Extents | _Scalar, value: _Scalar) -> Tensor:
    """Set one element of a tensor; yields the tensor."""

@overload
def write(dst: Tile, offset: _Extents | _Scalar, value: _Scalar) -> Tile:
    """Set one element of a tile; yields the tile."""

@overload
def xor(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise exclusive or of two tensors, elementwise."""

@overload
def xor(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise exclusive or of a tensor and a scalar."""

@overload
def xor(lhs: Tile, rhs: Tile, tmp: Tile) -> Tile:
    """Bitwise exclusive or of two tiles, elementwise."""

@overload
def xor(lhs: Tile, rhs: _Scalar, tmp: Tile) -> Tile:
    """Bitwise exclusive or of a tile and a scalar, which takes the tile's dtype first."""

@overload
def xors(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise exclusive or of a tensor and a scalar."""

@overload
def xors(lhs: Tile, rhs: _Scalar, tmp: Tile) -> Tile:
    """Bitwise exclusive or of a tile and a scalar, which takes the tile's dtype first."""
