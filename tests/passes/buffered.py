"""Programs whose tiles are buffers, made of recorded ones or of kernels at addresses."""

from pathlib import Path

import torch
from storage.placed_kernels import placed

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.ir.pass_manager import PassManager

TESTS = Path(__file__).resolve().parents[1]


def lowered(program: Path, generation: str) -> ir.Program:
    """A recorded program after all passes, LowerToBuffers being the last."""
    node = ir.deserialize_from_file(str(program / generation / "00_frontend.msgpack"))
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[generation])
    try:
        with passes.PassContext(buffers=True, verification_level=passes.VerificationLevel.BASIC):
            return PassManager.get_strategy().run_passes(node)
    finally:
        backend.reset_for_testing()


def recorded(name: str, generation: str = "Ascend910B") -> ir.Program:
    """A program of one of the corpora, lowered."""
    found = [TESTS / corpus / "dumps" / name for corpus in ("corpus", "pass_corpus")]
    return lowered(next(path for path in found if path.is_dir()), generation)


def buffered(body: str) -> ir.Program:
    """The kernel of ``placed``, with its tiles as buffers."""
    return passes.lower_to_buffers()(placed(body))


def kernel_text(program: ir.Program) -> str:
    """What the kernel declares and does, behind its allocations."""
    text = ir.python_print(next(iter(program.functions.values())))
    lines = text.partition("    other: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 65536)\n")[2].splitlines()
    return "\n".join(line.removeprefix("    ") for line in lines[:-1])


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether both are the same numbers."""
    return found.shape == expected.shape and bool((found == expected).all())
