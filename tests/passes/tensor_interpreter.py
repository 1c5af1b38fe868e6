"""What drawn programs of tensors compute, by an interpreter of the IR."""

from collections.abc import Callable
from typing import Any

import numpy as np
from codegen.interpreter import Interpreter

from pypto_tmpl import ir
from pypto_tmpl.hunt.programs.tensors import SIZE


class TensorInterpreter(Interpreter):
    """Tensors are arrays: ``assemble`` writes into one, a slice shows one, the other ops make new ones."""

    def value(self, node: ir.Expr) -> Any:
        if isinstance(node, ir.ConstFloat):
            return node.value
        if isinstance(node, ir.Call) and isinstance(node.op, ir.Op) and node.op.name in _OPS:
            return _OPS[node.op.name](*map(self.value, node.args))
        return super().value(node)


def output_of(node: ir.Program, n: int) -> np.ndarray:
    """What ``main`` writes into its output."""
    cells = np.arange(SIZE * SIZE, dtype=np.float64).reshape(SIZE, SIZE)
    out = np.full((SIZE, SIZE), -9.0)
    TensorInterpreter(node).call("main", [cells, cells[::-1] * 3 - 7, n, out])
    return out


def _window(tensor: np.ndarray, shape: tuple[int, ...], offsets: tuple[int, ...]) -> np.ndarray:
    return tensor[tuple(slice(o, o + extent) for o, extent in zip(offsets, shape, strict=True))]


def _assemble(target: np.ndarray, source: np.ndarray, offsets: tuple[int, ...]) -> np.ndarray:
    _window(target, source.shape, offsets)[...] = source.copy()
    return target


_OPS: dict[str, Callable[..., Any]] = {
    "tensor.create": lambda shape: np.full(shape, np.nan),
    "tensor.slice": _window,
    "tensor.assemble": _assemble,
    "tensor.neg": lambda a: -a,
    "tensor.add": lambda a, b: a + b,
    "tensor.adds": lambda a, b: a + b,
    "tensor.sub": lambda a, b: a - b,
    "tensor.muls": lambda a, b: a * b,
}
