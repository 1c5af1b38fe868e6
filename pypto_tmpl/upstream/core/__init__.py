"""The names of PyPTO's compiled module: dtypes, errors, checks, log levels (``pypto.pypto_core``)."""

from typing import Any

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.faces import find_face
from pypto_tmpl.ir import DataType, InternalError
from pypto_tmpl.upstream.core.checks import check, internal_check, internal_check_span
from pypto_tmpl.upstream.core.logs import (
    LogLevel,
    get_log_level,
    log_debug,
    log_error,
    log_event,
    log_fatal,
    log_info,
    log_warn,
    set_log_level,
)

Error = PyptoTmplError
AssertionError = AssertionError
IndexError = IndexError
NotImplementedError = NotImplementedError
RuntimeError = RuntimeError
TypeError = TypeError
ValueError = ValueError

DEBUG = LogLevel.DEBUG
INFO = LogLevel.INFO
WARN = LogLevel.WARN
ERROR = LogLevel.ERROR
FATAL = LogLevel.FATAL
EVENT = LogLevel.EVENT
NONE = LogLevel.NONE

DT_BOOL = DataType.BOOL
DT_INT4 = DataType.INT4
DT_INT8 = DataType.INT8
DT_INT16 = DataType.INT16
DT_INT32 = DataType.INT32
DT_INT64 = DataType.INT64
DT_INDEX = DataType.INDEX
DT_UINT4 = DataType.UINT4
DT_UINT8 = DataType.UINT8
DT_UINT16 = DataType.UINT16
DT_UINT32 = DataType.UINT32
DT_UINT64 = DataType.UINT64
DT_FP4 = DataType.FP4
DT_FP8E4M3FN = DataType.FP8E4M3FN
DT_FP8E5M2 = DataType.FP8E5M2
DT_FP8E8M0 = DataType.FP8E8M0
DT_FP16 = DataType.FP16
DT_FP32 = DataType.FP32
DT_BF16 = DataType.BF16
DT_HF4 = DataType.HF4
DT_HF8 = DataType.HF8

__all__ = [
    "DEBUG",
    "ERROR",
    "EVENT",
    "FATAL",
    "INFO",
    "NONE",
    "WARN",
    "AssertionError",
    "DataType",
    "Error",
    "IndexError",
    "InternalError",
    "LogLevel",
    "NotImplementedError",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "check",
    "get_log_level",
    "internal_check",
    "internal_check_span",
    "log_debug",
    "log_error",
    "log_event",
    "log_fatal",
    "log_info",
    "log_warn",
    "set_log_level",
]


def __getattr__(name: str) -> Any:
    return find_face(__name__, name)
