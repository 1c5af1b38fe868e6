"""Which programs run on the bytes of their tiles."""

import pytest
from storage.placed_kernels import placed

from pypto_tmpl.storage.stored import is_stored

ADDRESSES = """
    a @ 0 FP32[16, 64] = load(x)
    b @ 0x1000 FP32[16, 64] = pl.tile.muls(a, 2.0)
    store(b)
"""
ONE_ALLOCATION = ADDRESSES.replace("0x1000", "0")
TWO_ALLOCATIONS = ADDRESSES.replace("b @ 0x1000", "b @ other+0")


@pytest.mark.parametrize(
    ("body", "stage", "choices"),
    [
        (ADDRESSES, "35_after_AllocateMemoryAddr", "planned on both"),
        (ADDRESSES, "00_frontend", "planned on both"),
        (ONE_ALLOCATION, "35_after_AllocateMemoryAddr", "planned on both"),
        (ONE_ALLOCATION, "34_after_MemoryReuse", "on"),
        (ONE_ALLOCATION, "32_after_InitMemRef", "on"),
        (TWO_ALLOCATIONS, "35_after_AllocateMemoryAddr", "on"),  # of another planner
    ],
)
def test_addresses_or_places_decide(body, stage, choices):
    functions = list(placed(body).functions.values())
    found = [choice for choice in ("planned", "on", "off", "both") if is_stored(functions, choice, stage)]
    assert found == choices.split()
