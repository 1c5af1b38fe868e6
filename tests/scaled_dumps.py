"""Small pass dumps as text: a program that scales a tensor, and ways to get it wrong."""

from pathlib import Path

import torch

HEAD = "# pypto.program: Scaled\nimport pypto.language as pl\n\n@pl.program\nclass Scaled:\n"


def tensor(rows: int = 64, columns: int = 32, dtype: str = "FP32") -> str:
    return f"pl.Tensor[[{rows}, {columns}], pl.{dtype}]"


def scaled_text(even: float = 2.0, odd: float = 2.0, ssa: str = "", name: str = "main") -> str:
    """Rows 0-7 of each 16 are scaled by ``even``, rows 8-15 by ``odd``; ``ssa`` is a suffix of the names."""
    part = tensor(8)
    lines = [
        "    @pl.function",
        f"    def {name}(self, x{ssa}: {tensor()}, out{ssa}: pl.Out[{tensor()}]) -> {tensor()}:",
        "        for r in pl.range(0, 64, 16):",
        f"            a: {part} = pl.tensor.muls(pl.tensor.slice(x{ssa}, [8, 32], [r, 0]), {even!r})",
        f"            b: {part} = pl.tensor.muls(pl.tensor.slice(x{ssa}, [8, 32], [r + 8, 0]), {odd!r})",
        f"            out{ssa}: {tensor()} = pl.tensor.assemble(out{ssa}, a, [r, 0])",
        f"            out{ssa}: {tensor()} = pl.tensor.assemble(out{ssa}, b, [r + 8, 0])",
        f"        return out{ssa}",
    ]
    return HEAD + "\n".join(lines) + "\n"


def write_dump(folder: Path, *texts: str) -> Path:
    """Write texts as the stages ``00_frontend``, ``01_after_Pass1``, ...; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        name = "00_frontend" if number == 0 else f"{number:02}_after_Pass{number}"
        (folder / f"{name}.py").write_text(text)
    return folder


def inputs() -> dict[str, torch.Tensor]:
    """``x`` counts up from 1; ``out`` is full of a value that no stage computes."""
    return {"x": torch.arange(1.0, 64 * 32 + 1).reshape(64, 32), "out": torch.full((64, 32), -7.0)}


def expected() -> dict[str, torch.Tensor]:
    return {"out": torch.arange(2.0, 2 * 64 * 32 + 1, 2).reshape(64, 32)}
