"""A recurrent state that every token changes: gated delta rule, built as a program class by a factory."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, ratio_allclose, run

TOKENS, KEY, VALUE = 6, 32, 64


def build_program(tokens=TOKENS, key=KEY, value=VALUE):
    @pl.program
    class DeltaRule:
        @pl.function(type=pl.FunctionType.Opaque)
        def step(
            self,
            k: pl.Tensor[[tokens, key], pl.FP32],
            v: pl.Tensor[[tokens, value], pl.FP32],
            beta: pl.Tensor[[tokens, 1], pl.FP32],
            state: pl.InOut[pl.Tensor[[key, value], pl.FP32]],
            read: pl.Out[pl.Tensor[[tokens, value], pl.FP32]],
        ) -> pl.Tensor[[tokens, value], pl.FP32]:
            for t in pl.range(tokens):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="delta"):
                    column = pl.reshape(pl.slice(k, [1, key], [t, 0]), [key, 1])
                    held: pl.Tensor[[key, value], pl.FP32] = pl.slice(state, [key, value], [0, 0])
                    seen = pl.col_sum(pl.row_expand_mul(held, column))
                    wanted = pl.sub(pl.slice(v, [1, value], [t, 0]), seen)
                    change = pl.mul(wanted, pl.read(beta, [t, 0]))
                    ones = pl.full([key, value], dtype=pl.FP32, value=1.0)
                    outer = pl.row_expand_mul(pl.col_expand_mul(ones, change), column)
                    state = pl.assemble(state, pl.add(held, outer), [0, 0])
                    read = pl.assemble(read, seen, [t, 0])
            return read

    return DeltaRule


def golden(tensors):
    state = tensors["state"].clone()
    for t in range(TOKENS):
        key = tensors["k"][t]
        seen = key @ state
        tensors["read"][t] = seen
        state += torch.outer(key, (tensors["v"][t] - seen) * tensors["beta"][t])
    tensors["state"][:] = state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "-p", "--platform", type=str, default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"]
    )
    parser.add_argument("--dump-passes", action="store_true")
    args = parser.parse_args()
    specs = [
        TensorSpec("k", [TOKENS, KEY], torch.float32, init_value=lambda: torch.rand(TOKENS, KEY) / KEY),
        TensorSpec("v", [TOKENS, VALUE], torch.float32, init_value=torch.randn),
        TensorSpec("beta", [TOKENS, 1], torch.float32, init_value=torch.rand),
        TensorSpec("state", [KEY, VALUE], torch.float32, init_value=torch.randn, is_output=True),
        TensorSpec("read", [TOKENS, VALUE], torch.float32, is_output=True),
    ]
    result = run(
        program=build_program(),
        specs=specs,
        golden_fn=golden,
        compile_cfg={"dump_passes": args.dump_passes},
        runtime_cfg={"platform": args.platform},
        compare_fn={name: ratio_allclose(atol=1e-4, rtol=1e-4) for name in ("state", "read")},
    )
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
