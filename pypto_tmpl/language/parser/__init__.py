"""PyPTO's parser package: the decorators, what reads texts, and its errors (``pl.parser.diagnostics``)."""

from typing import TYPE_CHECKING, Any

from pypto_tmpl.language import diagnostics
from pypto_tmpl.language.decorators import function, inline, program
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from pypto_tmpl.language.module import loads, loads_program, parse, parse_program
from pypto_tmpl.language.reader import InlineFunction
from pypto_tmpl.language.surface import range, yield_

if TYPE_CHECKING:
    Scalar: Any
    Tensor: Any
    Tile: Any
else:
    from pypto_tmpl.language.annotations import Scalar, Tensor, Tile

__all__ = [
    "InlineFunction",
    "InvalidOperationError",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "SSAViolationError",
    "Scalar",
    "ScopeIsolationError",
    "Tensor",
    "Tile",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
    "diagnostics",
    "function",
    "inline",
    "loads",
    "loads_program",
    "parse",
    "parse_program",
    "program",
    "range",
    "yield_",
]
