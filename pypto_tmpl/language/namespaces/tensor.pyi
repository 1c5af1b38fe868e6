# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias, overload

from pypto_tmpl.ir import DataType, MemorySpace, PadValue, TensorLayout
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Ptr, Scalar, Tensor

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

def abs(input: _Tensor) -> Tensor:
    """Absolute value of every element; integers wrap."""

def add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Sum of two tensors, elementwise; integers wrap."""

def adds(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Sum of a tensor and a scalar; both take the promoted dtype first."""

def aic_gather(tensor: _Tensor, split: int | Enum | None = None) -> Tensor:
    """The parts of both vector lanes, joined along the split axis."""

def aiv_shard(tensor: _Tensor, split: int | Enum | None = None) -> Tensor:
    """The part of a tensor that the current vector lane owns."""

def alloc(memory_space: _Scalar, size: _Scalar) -> Ptr:
    """Reserve a buffer in global memory; its handle has no meaning here."""

def and_(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise and of two tensors, elementwise."""

def ands(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise and of a tensor and a scalar."""

def arange(start: _Scalar, shape: _Extents, dtype: DataType = ..., descending: bool = False) -> Tensor:
    """Row of consecutive integers from start, upwards or with descending downwards."""

def assemble(target: _Tensor, source: _Tensor, offset: _Extents, *, atomic: int | str | Enum = ...) -> Tensor:
    """Write the valid part of a source into a target, or add it with atomic=1; yields the target."""

def cast(input: _Tensor, target_type: DataType, mode: int | str | Enum = ...) -> Tensor:
    """Conversion to another dtype with the given rounding mode."""

def ci(start: _Scalar, shape: _Extents, dtype: DataType = ..., descending: bool = False) -> Tensor:
    """Row of consecutive integers from start, upwards or with descending downwards."""

def cmp(lhs: _Tensor, rhs: _Tensor | _Scalar, cmp_type: int | str | Enum = 0) -> Tensor:
    """1 where two tensors, or a tensor and a scalar, compare as cmp_type says, else 0; not packed."""

def col_argmax(input: _Tensor) -> Tensor:
    """Index of the greatest valid element along one axis, the second to last by default."""

def col_argmin(input: _Tensor) -> Tensor:
    """Index of the least valid element along one axis, the second to last by default."""

def col_expand(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """A per-column value in every element of the column; tensor gives the shape only."""

def col_expand_add(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Add a per-column value to every element of the column."""

def col_expand_div(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Divide every element of a column by a per-column value; integers truncate toward zero."""

def col_expand_expdif(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Exponential of every element of a column less a per-column value."""

def col_expand_max(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Greater of every element of a column and a per-column value."""

def col_expand_min(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Lesser of every element of a column and a per-column value."""

def col_expand_mul(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Multiply every element of a column by a per-column value."""

def col_expand_sub(tensor: _Tensor, col_vec: _Tensor) -> Tensor:
    """Subtract a per-column value from every element of the column."""

def col_max(input: _Tensor) -> Tensor:
    """Maximum over one axis of the valid region, the second to last by default."""

def col_min(input: _Tensor) -> Tensor:
    """Minimum over one axis of the valid region, the second to last by default."""

def col_prod(input: _Tensor) -> Tensor:
    """Product over one axis of the valid region, the second to last by default, in the input dtype."""

def col_sum(input: _Tensor) -> Tensor:
    """Sum over one axis of the valid region, the second to last by default, in the input dtype."""

def concat(src0: _Tensor, src1: _Tensor) -> Tensor:
    """The columns of two tensors side by side."""

def cos(input: _Tensor) -> Tensor:
    """Cosine of every element, in radians."""

def create(
    shape: _Extents,
    dtype: DataType,
    layout: TensorLayout = ...,
    manual_dep: bool = False,
    init_value: float | None = None,
) -> Tensor:
    """New tensor, of init_value or else of zeros here; undefined on the device."""

def create_l1(shape: _Extents, dtype: DataType, transpose: bool = False) -> Tensor:
    """New on-chip accumulator, of zeros here; its contents are undefined on the device."""

def dim(tensor: _Tensor, axis: _Scalar) -> Any:
    """Extent of a tensor along an axis."""

def div(lhs: _Tensor, rhs: _Tensor, high_precision: bool = False) -> Tensor:
    """Quotient of two tensors, elementwise; integers truncate toward zero."""

def divs(lhs: _Tensor, rhs: _Scalar, high_precision: bool = False) -> Tensor:
    """Quotient of a tensor and a scalar, both in the promoted dtype; integers truncate toward zero."""

def exp(input: _Tensor) -> Tensor:
    """Exponential of every element; integers become FP32 first."""

def expand_clone(src: _Tensor, target: _Tensor) -> Tensor:
    """Fill a target with a rank-3 tensor, repeated along its one axis of extent 1; yields the target."""

def expands(target: _Tensor, scalar: _Scalar) -> Tensor:
    """One scalar in every element; target gives the shape only."""

def fillpad(tensor: _Tensor, pad_value: PadValue | float = ...) -> Tensor:
    """Copy of a tensor in which every cell outside the valid region holds the pad value."""

def fillpad_expand(tensor: _Tensor, shape: _Extents, pad_value: PadValue | float = ...) -> Tensor:
    """New, larger tensor: the valid region at the origin, the pad value in every other cell."""

def fmod(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Remainder of two tensors, elementwise, with the sign of the dividend."""

def fmods(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Remainder of a tensor divided by a scalar, with the sign of the dividend."""

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

def gather_compare(
    input: _Tensor,
    *,
    kvalue: _Scalar,
    cmp_mode: int | str | Enum,
    out_cols: int | Enum,
    offset: int | Enum = 0,
    count_dtype: DataType | None = None,
) -> tuple[Tensor, Tensor]:
    """Per row, the columns that compare so with a number, packed to the left, and how many they are."""

def gather_mask(
    input: _Tensor,
    *,
    mask_pattern: int | str | Enum,
    output_dtype: DataType | None = None,
) -> Tensor:
    """The columns of each row that a mask pattern selects, packed."""

def gather_row(
    acc: _Tensor,
    src: _Tensor,
    dst_offset: _Extents,
    src_offset: _Extents,
    shapes: _Extents,
    transpose: bool = False,
    *,
    valid_shape: _Extents | None = None,
) -> Tensor:
    """A tensor with a window of another one, transposed if asked, copied into it."""

def get_block_idx() -> Any:
    """Index of the block in its SPMD launch."""

def get_block_num() -> Any:
    """Number of blocks of the SPMD launch."""

def get_subblock_idx() -> Any:
    """Index of the vector core in its cluster, 0 or 1."""

def log(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Natural logarithm of every element; -inf of 0, NaN where it is negative."""

def matmul(
    lhs: _Tensor,
    rhs: _Tensor,
    out_dtype: DataType | None = None,
    a_trans: bool = False,
    b_trans: bool = False,
    c_matrix_nz: bool = False,
) -> Tensor:
    """Matrix product after the optional transposes, batch axes broadcast, in the declared dtype."""

def matmul_acc(
    acc: _Tensor,
    lhs: _Tensor,
    rhs: _Tensor,
    a_trans: bool = False,
    b_trans: bool = False,
    init_cond: _Scalar | None = None,
) -> Tensor:
    """Accumulating matrix product; a true init_cond leaves acc out."""

def maximum(lhs: _Tensor, rhs: _Tensor | _Scalar) -> Tensor:
    """Greater of two tensors, or of a tensor and a scalar, elementwise."""

def minimum(lhs: _Tensor, rhs: _Tensor | _Scalar) -> Tensor:
    """Lesser of two tensors, or of a tensor and a scalar, elementwise."""

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

def mrgsort_format1(src0: _Tensor, *, block_len: _Scalar) -> Tensor:
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run."""

def mrgsort_format2(
    src0: _Tensor,
    src1: _Tensor,
    src2: _Tensor | None = None,
    src3: _Tensor | None = None,
    *,
    exhausted: bool = False,
) -> Tensor:
    """Merge 2 to 4 lists of (value, payload) records, each in descending order, into one."""

def mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Product of two tensors, elementwise; integers wrap."""

def muls(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Product of a tensor and a scalar; both take the promoted dtype first."""

def neg(input: _Tensor) -> Tensor:
    """Negative of every element; integers wrap."""

def not_(input: _Tensor) -> Tensor:
    """Bitwise complement of every element."""

def or_(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise or of two tensors, elementwise."""

def ors(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise or of a tensor and a scalar."""

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

def part_add(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Sum where both tensors are valid, a copy of the valid one where only one is."""

def part_max(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Greater where both tensors are valid, a copy of the valid one where only one is."""

def part_min(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Lesser where both tensors are valid, a copy of the valid one where only one is."""

def part_mul(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Product where both tensors are valid, a copy of the valid one where only one is."""

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

def read(tensor: _Tensor, indices: _Extents | _Scalar) -> Any:
    """One element of a tensor, as a scalar."""

def recip(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Reciprocal of every element; integers become FP32 first."""

def reinterpret_view(data: _Tensor, dtype: DataType, *, shape: _Extents | None = None) -> Tensor:
    """The bytes of a tensor read as another dtype; shares storage."""

def reshape(tensor: _Tensor, shape: _Extents, valid_shape: _Extents | None = None) -> Tensor:
    """The same elements, row by row, in another shape."""

def row_argmax(input: _Tensor) -> Tensor:
    """Index of the greatest valid element along one axis, the last by default."""

def row_argmin(input: _Tensor) -> Tensor:
    """Index of the least valid element along one axis, the last by default."""

def row_expand(target: _Tensor, row_vec: _Tensor) -> Tensor:
    """A per-row value in every element of the row; target gives the shape only."""

def row_expand_add(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Add a per-row value to every element of the row."""

def row_expand_div(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Divide every element of a row by a per-row value; integers truncate toward zero."""

def row_expand_expdif(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Exponential of every element of a row less a per-row value."""

def row_expand_max(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Greater of every element of a row and a per-row value."""

def row_expand_min(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Lesser of every element of a row and a per-row value."""

def row_expand_mul(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Multiply every element of a row by a per-row value."""

def row_expand_sub(tensor: _Tensor, row_vec: _Tensor) -> Tensor:
    """Subtract a per-row value from every element of the row."""

def row_max(input: _Tensor) -> Tensor:
    """Maximum over one axis of the valid region, the last by default."""

def row_min(input: _Tensor) -> Tensor:
    """Minimum over one axis of the valid region, the last by default."""

def row_prod(input: _Tensor) -> Tensor:
    """Product over one axis of the valid region, the last by default, in the input dtype."""

def row_sum(input: _Tensor) -> Tensor:
    """Sum over one axis of the valid region, the last by default, in the input dtype (16-bit floats
    accumulate in FP32).
    """

def rsqrt(input: _Tensor, high_precision: bool = False) -> Tensor:
    """Reciprocal of the square root of every element; integers become FP32 first."""

@overload
def scatter(input: _Tensor, dim: int | str | Enum, index: _Tensor, src: _Tensor) -> Tensor:
    """Copy of a tensor in which each row has values at given columns, as torch.scatter."""

@overload
def scatter(input: _Tensor, *, mask_pattern: int | str | Enum, dst: _Tensor) -> Tensor:
    """Copy of a tensor in which the columns that a mask pattern selects are those of another one."""

def scatter_mask(input: _Tensor, *, mask_pattern: int | str | Enum, dst: _Tensor) -> Tensor:
    """Copy of a tensor in which the columns that a mask pattern selects are those of another one."""

@overload
def scatter_update(input: _Tensor, dim: int | str | Enum, index: _Tensor, src: _Tensor) -> Tensor:
    """Copy of a tensor with rows written at flat row numbers."""

@overload
def scatter_update(input: _Tensor, index: _Tensor, src: _Tensor, dim: int | str | Enum = -2) -> Tensor:
    """Copy of a tensor with rows written at flat row numbers."""

def set_validshape(tensor: _Tensor, valid_rows: _Scalar, valid_cols: _Scalar) -> Tensor:
    """The same tensor, of which another part is valid."""

def shl(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Left shift of every element by a count of its own; bits shifted out are lost."""

def shls(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Left shift of a tensor by a scalar count; bits shifted out are lost."""

def shr(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Right shift of every element by a count of its own, arithmetic for signed and logical for unsigned
    elements.
    """

def shrs(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Right shift of a tensor by a scalar count, arithmetic for signed and logical for unsigned elements."""

def sin(input: _Tensor) -> Tensor:
    """Sine of every element, in radians."""

def slice(
    tensor: _Tensor,
    shape: _Extents,
    offset: _Extents,
    valid_shape: _Extents | None = None,
    drop_dims: _Extents | None = None,
    pad_value: PadValue | float | None = None,
    clamp: bool = False,
) -> Tensor:
    """Window of a tensor: a copy in kernel code, a view sharing storage in orchestration code."""

def sort32(src: _Tensor, idx: _Tensor) -> Tensor:
    """Sort each run of 32 columns in descending order, interleaving values and payload."""

def sqrt(input: _Tensor) -> Tensor:
    """Square root of every element, NaN where it is negative; integers become FP32 first."""

def sub(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Difference of two tensors, elementwise; integers wrap."""

def subs(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Difference of a tensor and a scalar."""

def transpose(tensor: _Tensor, axis1: _Scalar, axis2: _Scalar, valid_shape: _Extents | None = None) -> Tensor:
    """Two axes of a tensor swapped: a copy in kernel code, a view in orchestration code."""

def view(
    tensor: _Tensor,
    shape: _Extents | None = None,
    valid_shape: _Extents | None = None,
    *,
    layout: TensorLayout | None = None,
) -> Tensor:
    """The elements of a tensor, as they lie in memory, in another shape or layout; shares storage."""

def write(tensor: _Tensor, indices: _Extents | _Scalar, value: _Scalar) -> Tensor:
    """Set one element of a tensor; yields the tensor."""

def xor(lhs: _Tensor, rhs: _Tensor) -> Tensor:
    """Bitwise exclusive or of two tensors, elementwise."""

def xors(lhs: _Tensor, rhs: _Scalar) -> Tensor:
    """Bitwise exclusive or of a tensor and a scalar."""
