"""Numbers of what can be wrong with a text, under PyPTO's names."""

from __future__ import annotations

from enum import Enum


class ErrorCategory(Enum):
    """What kind of rule a text breaks."""

    SYNTAX = "syntax"
    TYPE = "type"
    NAME = "name"
    OPERATION = "operation"


class ErrorCode(Enum):
    """What is wrong, by the number that messages show."""

    UNSUPPORTED_STATEMENT = "E001"
    INVALID_ASSIGNMENT = "E002"
    INVALID_LOOP_TARGET = "E003"
    INVALID_RANGE_USAGE = "E004"
    MISSING_RANGE_CALL = "E005"
    TUPLE_UNPACKING_ERROR = "E006"
    ITER_ARG_MISMATCH = "E007"
    MISSING_TYPE_ANNOTATION = "E100"
    INVALID_TYPE_ANNOTATION = "E101"
    UNSUPPORTED_TYPE = "E102"
    INCOMPLETE_TYPE = "E103"
    TENSOR_TYPE_ERROR = "E104"
    DTYPE_ERROR = "E105"
    UNDEFINED_VARIABLE = "E200"
    SSA_VIOLATION = "E201"
    SCOPE_ISOLATION_ERROR = "E202"
    UNKNOWN_OPERATION = "E300"
    UNSUPPORTED_OPERATION = "E301"
    INVALID_OPERATION_ARGS = "E302"
    UNSUPPORTED_BINARY_OP = "E303"
    UNSUPPORTED_UNARY_OP = "E304"
    UNSUPPORTED_COMPARISON = "E305"

    @property
    def category(self) -> ErrorCategory:
        """The kind of rule; the first digit of the number."""
        return tuple(ErrorCategory)[int(self.value[1])]


def get_error_code(exception_type: type) -> ErrorCode | None:
    """The number that messages of an exception show, None for a class that has none."""
    return next((code for code in ErrorCode if code.value == getattr(exception_type, "slug", None)), None)
