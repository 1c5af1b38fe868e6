"""What a comparator is: a type for all that compare tensors, which costs no import of them."""

from collections.abc import Callable
from typing import TypeAlias

Verdict: TypeAlias = tuple[bool, str]
"""Whether two tensors agree, and a text."""

Comparator: TypeAlias = Callable[..., Verdict]
"""Called as ``compare(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol)``."""
