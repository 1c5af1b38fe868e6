"""Scalar expressions: a line for each node, conversions where types differ."""

from __future__ import annotations

from dataclasses import replace

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.spelling import mlir_dtype
from pypto_tmpl.streams.values import Value

# Operations on signed integers and index, on unsigned ones, on floats.
_ARITHMETIC: dict[type[ir.Expr], tuple[str, str, str]] = {
    ir.Add: ("arith.addi", "arith.addi", "arith.addf"),
    ir.Sub: ("arith.subi", "arith.subi", "arith.subf"),
    ir.Mul: ("arith.muli", "arith.muli", "arith.mulf"),
    ir.FloorDiv: ("arith.divsi", "arith.divsi", "arith.divf"),
    ir.FloorMod: ("arith.remsi", "arith.remsi", "arith.remf"),
    ir.FloatDiv: ("arith.divsi", "arith.divui", "arith.divf"),
    ir.Min: ("arith.minsi", "arith.minui", "arith.minimumf"),
    ir.Max: ("arith.maxsi", "arith.maxui", "arith.maximumf"),
    ir.And: ("arith.andi", "arith.andi", ""),
    ir.Or: ("arith.ori", "arith.ori", ""),
    ir.Xor: ("arith.xori", "arith.xori", ""),
    ir.BitAnd: ("arith.andi", "arith.andi", ""),
    ir.BitOr: ("arith.ori", "arith.ori", ""),
    ir.BitXor: ("arith.xori", "arith.xori", ""),
    ir.BitShiftLeft: ("arith.shli", "arith.shli", ""),
    ir.BitShiftRight: ("arith.shrsi", "arith.shrui", ""),
}
_PREDICATES: dict[type[ir.Expr], tuple[str, str]] = {
    ir.Eq: ("eq", "oeq"), ir.Ne: ("ne", "one"), ir.Lt: ("slt", "olt"),
    ir.Le: ("sle", "ole"), ir.Gt: ("sgt", "ogt"), ir.Ge: ("sge", "oge"),
}  # fmt: skip


class Scalars:
    """Scalar expressions of one kernel as values."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._macros = kernel.templates.values

    def value(self, expr: ir.Expr) -> Value:
        """The value of a scalar expression, in the dtype of its type."""
        kernel = self._kernel
        if isinstance(expr, ir.ConstInt):
            return self._integer(expr.value, expr.dtype, expr)
        if isinstance(expr, ir.ConstFloat):
            return kernel.constants.floating(expr.value, expr.dtype)
        if isinstance(expr, ir.ConstBool):
            return self._fresh_constant(int(expr.value), DataType.BOOL)
        if isinstance(expr, ir.Var):
            found = kernel.meaning(expr)
            if isinstance(found, Value):
                return found
        if isinstance(expr, ir.BinaryExpr):
            return self._binary(expr)
        if isinstance(expr, ir.UnaryExpr):
            return self._unary(expr)
        raise Obstacle(f"a {type(expr).__name__} is no scalar expression that kernels compute", expr.span)

    def _integer(self, value: int, dtype: DataType, expr: ir.Expr) -> Value:
        if dtype.is_float():
            return self._kernel.constants.floating(float(value), dtype)
        if dtype == DataType.BOOL:
            return self._fresh_constant(value, dtype)
        return self._kernel.constants.integer(value, dtype)

    def index(self, expr: ir.Expr) -> Value:
        """The value as an index; an integer variable is cast under its own name."""
        if isinstance(expr, ir.ConstInt):
            return self._kernel.index_constant(expr.value)
        value = self.value(expr)
        if value.dtype == DataType.INDEX:
            return value
        if isinstance(expr, ir.Var):
            result = self._kernel.named(f"{expr.name_hint}_idx", DataType.INDEX)
            return self._cast_into(result, value)
        return self.converted(value, DataType.INDEX)

    def offset(self, expr: ir.Expr) -> Value:
        """An offset into a tensor: an index that is not negative."""
        if isinstance(expr, ir.ConstInt):
            return self._kernel.index_constant(max(expr.value, 0))
        value = self.index(expr)
        zero = self._kernel.index_constant(0)
        return self.operation("arith.maxsi", value, zero)

    def operation(self, name: str, left: Value, right: Value) -> Value:
        """A numbered result of two values of one type."""
        assert left.dtype is not None
        result = self._kernel.temp(left.dtype)
        self._kernel.line(self._macros.binary(result, name, left, right))
        return result

    def condition(self, expr: ir.Expr) -> Value:
        """The value of a condition, of type i1."""
        value = self.value(expr)
        if value.dtype == DataType.BOOL:
            return value
        return self._compare("ne", value, self._zero(value))

    def _binary(self, expr: ir.BinaryExpr) -> Value:
        predicates = _PREDICATES.get(type(expr))
        if predicates is not None:
            left = self.value(expr.left)
            right = self._operand(expr.right, left.dtype)
            is_float = left.dtype is not None and left.dtype.is_float()
            return self._compare(predicates[is_float], left, right)
        names = _ARITHMETIC.get(type(expr))
        dtype = dtype_of(expr)
        name = "" if names is None else names[2 if dtype.is_float() else int(dtype.is_unsigned_int())]
        if not name:
            raise Obstacle(f"no .pto operation computes {type(expr).__name__} of {dtype.name}", expr.span)
        left = self._operand(expr.left, dtype)
        right = self._operand(expr.right, dtype)
        result = self._kernel.temp(dtype)
        self._kernel.line(self._macros.binary(result, name, left, right))
        return result

    def _operand(self, expr: ir.Expr, dtype: DataType | None) -> Value:
        """An operand in the dtype of the operation; a constant is written in that dtype at once."""
        if isinstance(expr, ir.ConstInt) and dtype is not None and dtype != DataType.BOOL:
            return self._integer(expr.value, dtype, expr)
        if isinstance(expr, ir.ConstFloat) and dtype is not None and dtype.is_float():
            return self._kernel.constants.floating(expr.value, dtype)
        value = self.value(expr)
        return value if dtype is None else self.converted(value, dtype)

    def _compare(self, predicate: str, left: Value, right: Value) -> Value:
        is_float = left.dtype is not None and left.dtype.is_float()
        result = self._kernel.temp(DataType.BOOL)
        operation = "arith.cmpf" if is_float else "arith.cmpi"
        self._kernel.line(self._macros.compare(result, operation, predicate, left, right))
        return result

    def _unary(self, expr: ir.UnaryExpr) -> Value:
        kernel = self._kernel
        dtype = dtype_of(expr)
        operand = self.value(expr.operand)
        assert operand.dtype is not None
        is_float = operand.dtype.is_float()
        if isinstance(expr, ir.Cast):
            return self.converted(operand, dtype)
        if isinstance(expr, ir.Not):
            return self._compare("oeq" if is_float else "eq", operand, self._zero(operand))
        operand = self.converted(operand, dtype)
        result = kernel.temp(dtype)
        if isinstance(expr, ir.Neg) and not is_float:
            text = self._macros.binary(result, "arith.subi", self._fresh_constant(0, dtype), operand)
        elif isinstance(expr, ir.BitNot):
            text = self._macros.binary(result, "arith.xori", operand, self._fresh_constant(-1, dtype))
        elif isinstance(expr, ir.Neg):
            text = self._macros.unary(result, "arith.negf", operand)
        elif isinstance(expr, ir.Abs):
            text = self._macros.unary(result, "math.absf" if is_float else "math.absi", operand)
        else:
            raise Obstacle(f"no .pto operation computes {type(expr).__name__}", expr.span)
        kernel.line(text)
        return result

    def _zero(self, like: Value) -> Value:
        assert like.dtype is not None
        if like.dtype.is_float():
            return self._kernel.constants.floating(0.0, like.dtype)
        return self._fresh_constant(0, like.dtype)

    def _fresh_constant(self, value: int, dtype: DataType) -> Value:
        result = self._kernel.temp(dtype)
        self._kernel.line(self._macros.constant(result, str(value)))
        return result

    def converted(self, value: Value, dtype: DataType) -> Value:
        """The value in another dtype; a float becomes an index by way of an i64, which upstream refuses."""
        if value.dtype in (dtype, None):
            return value
        return self._cast_into(Value("", mlir_dtype(dtype), dtype), value)

    def _cast_into(self, result: Value, value: Value) -> Value:
        """The lines of a cast; an unnamed result gets its number after what it needs."""
        source, target = value.dtype, result.dtype
        assert source is not None and target is not None
        middle = _between(source, target)
        if middle is not None:
            value = self._cast_into(Value("", mlir_dtype(middle), middle), value)
            return self._cast_into(result, value)
        if source.is_unsigned_int():
            value = self._reinterpreted(value, Value("", mlir_dtype(source).removeprefix("u"), source))
        name = _cast_name(source, target)
        if target.is_unsigned_int():
            signless = value
            if name is not None:
                signless = Value(self._kernel.names.temp(), mlir_dtype(target).removeprefix("u"), target)
                self._kernel.line(self._macros.cast(signless, name, value))
            return self._reinterpreted(signless, result)
        if name is None:
            return Value(value.name, result.type, target)
        if not result.name:
            result = self._kernel.temp(target)
        self._kernel.line(self._macros.cast(result, name, value))
        return result

    def _reinterpreted(self, value: Value, result: Value) -> Value:
        """The same bits as an integer with or without sign."""
        result = replace(result, name=result.name or self._kernel.names.temp())
        self._kernel.line(self._macros.cast(result, "builtin.unrealized_conversion_cast", value))
        return result


def dtype_of(expr: ir.Expr) -> DataType:
    """The dtype of a scalar. Raises Obstacle for anything else."""
    if not isinstance(expr.type, ir.ScalarType):
        raise Obstacle(f"a scalar is expected, got {type(expr.type).__name__}", expr.span)
    return expr.type.dtype


def _between(source: DataType, target: DataType) -> DataType | None:
    """The dtype by way of which a cast goes where no operation does all of it."""
    index = DataType.INDEX
    if index in (source, target) and (source.is_float() or target.is_float()):
        return DataType.INT64
    if source.is_float() and target.is_float() and source.get_bit() == target.get_bit() and source != target:
        return DataType.FP32
    return None


def _cast_name(source: DataType, target: DataType) -> str | None:
    """The operation between two dtypes, unsigned ones as signless integers; None where the bits stay."""
    is_unsigned = source.is_unsigned_int() or source == DataType.BOOL
    if DataType.INDEX in (source, target):
        return "arith.index_castui" if is_unsigned or target.is_unsigned_int() else "arith.index_cast"
    if source.is_float() and target.is_float():
        return "arith.extf" if source.get_bit() < target.get_bit() else "arith.truncf"
    if source.is_float():
        return "arith.fptoui" if target.is_unsigned_int() else "arith.fptosi"
    if target.is_float():
        return "arith.uitofp" if is_unsigned else "arith.sitofp"
    if source.get_bit() == target.get_bit():
        return None
    if source.get_bit() > target.get_bit():
        return "arith.trunci"
    return "arith.extui" if is_unsigned else "arith.extsi"
