"""What ``memory --check`` tells of a plan besides wrong reads: no room, no alignment, beyond the end."""

import pytest
from storage.placed_kernels import placed

from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes.memory.checking import plan_problems
from pypto_tmpl.passes.memory.usage import memory_use

BODY = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ other+0x12000 FP32[16, 64] = pl.tile.muls(a, 2.0)
    store(b)
"""
VEC_BYTES = 184 * 1024  # of 910B, as the specification has it
CASES = {
    "right": (BODY, []),
    "beyond its allocation": (
        BODY + "    c @ 0x11000 FP32[16, 64] = pl.tile.muls(a, 2.0)\n",
        [
            "kernel: `c` on line 13 is a tile of 4096 bytes at Vec 0x11000, in an allocation of 65536 bytes"
            " from 0x1000 on"
        ],
    ),
    "within an element": (
        BODY + "    c @ 0x3002 FP32[16, 64] = pl.tile.muls(a, 2.0)\n",
        [
            "kernel: `c` on line 13 is a tile of 4096 bytes at Vec 0x3002, which is no multiple of the 4"
            " bytes of an element"
        ],
    ),
    "not aligned": (
        BODY.replace("0x12000", "0x12010"),
        ["kernel: other begins at Vec 0x12010, no multiple of 32"],
    ),
    "no room": (
        BODY.replace("0x12000", "0x2f800"),
        [f"kernel: Vec is used up to {0x2F800 + 4096} bytes, and has {VEC_BYTES}"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_is_checked_for_room_and_alignment(name: str) -> None:
    body, want = CASES[name]
    program = placed(body)
    facts = facts_of(BackendType.Ascend910B)
    assert plan_problems(program, memory_use(program, facts)) == want
