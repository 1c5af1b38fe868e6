"""What each op yields, written by hand from its definition: one function an op, or for several alike.

A function takes the operands under their registered names, tiles and tensors as `Shaped`, scalars as
numbers, tuples as lists, and the keywords it needs. It computes on the valid elements, in float64 or
int64, and returns the valid part of the result; rounding to the result's dtype is the test's business.
"""

from ops.references import (
    arithmetic,
    elements,
    masks,
    movement,
    numbers,
    parts,
    pipes,
    products,
    reductions,
    scalars,
    selection,
)
from ops.references.registry import REFERENCES, RuntimeCall, Shaped, reference_of

__all__ = [
    "REFERENCES",
    "RuntimeCall",
    "Shaped",
    "arithmetic",
    "elements",
    "masks",
    "movement",
    "numbers",
    "parts",
    "pipes",
    "products",
    "reductions",
    "reference_of",
    "scalars",
    "selection",
]
