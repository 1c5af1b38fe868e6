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
PIPES = """
    first: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='first', size=8192, base={})
    second: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='second', size=8192, base={})
"""
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
        [
            "kernel: `b` on line 11 is a tile of 4096 bytes at Vec 0x12010, which is no multiple of 32",
        ],
    ),
    "pipe buffers on each other, and on a tile": (
        PIPES.format(0x3000, 0x4000) + BODY.replace("0x12000", "0x3800"),
        [
            "kernel: the allocation other on line 9 of 4096 bytes lies on the pipe buffer first on line 10 of"
            " 8192 bytes at Vec 0x3800-0x47ff",
            "kernel: the pipe buffer second on line 11 of 8192 bytes lies on the pipe buffer first on line 10"
            " of 8192 bytes at Vec 0x4000-0x4fff",
            "kernel: the allocation other on line 9 of 4096 bytes lies on the pipe buffer second on line 11"
            " of 8192 bytes at Vec 0x4000-0x47ff",
        ],
    ),
    "a pipe buffer beyond the memory, and one that is not aligned": (
        PIPES.format(0x2D000, 0x5008) + BODY,
        [
            "kernel: the pipe buffer first on line 10 of 8192 bytes at Vec 0x2d000, and Vec has 0x2e000",
            "kernel: the pipe buffer second on line 11 of 8192 bytes at Vec 0x5008, which is no multiple of"
            " 32",
        ],
    ),
    "no room without addresses": (
        "".join(f"    m{k}: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 65536)\n" for k in range(3))
        + BODY.replace("0x1000", "0").replace("0x12000", "0")
        + "".join(
            f"    c{k} @ m{k}+0 FP32[256, 64] = pl.tile.full([256, 64], dtype=pl.FP32, value=1.0)\n"
            for k in range(3)
        ),
        [
            f"kernel: Vec is used up to {3 * 65536 + 2 * 4096} bytes, and has {184 * 1024}; the largest is"
            " the allocation m0 on line 10 of 65536 bytes",
        ],
    ),
    "no room": (
        BODY.replace("0x12000", "0x2f800"),
        [
            "kernel: `b` on line 11 is a tile of 4096 bytes at Vec 0x2f800, and Vec has 0x2e000",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_is_checked_for_room_and_alignment(name: str) -> None:
    body, want = CASES[name]
    program = placed(body)
    facts = facts_of(BackendType.Ascend910B)
    assert plan_problems(program, memory_use(program, facts)) == want
