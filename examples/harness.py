"""The command line that all kernels of this folder have: ``-p PLATFORM``, ``-d DEVICE``, ``--seed N``."""

import argparse

import torch

from pypto_tmpl.golden import run_jit

PLATFORMS = ["a2a3", "a2a3sim", "a5", "a5sim"]


def main(kernel, specs, golden, flags=(), **knobs):
    """Run a kernel on its specs under the golden harness; a failed run ends the process with status 1.

    ``flags`` are parsers whose flags the file has besides.
    """
    parser = argparse.ArgumentParser(parents=flags)
    parser.add_argument("-p", "--platform", default="a2a3sim", choices=PLATFORMS)
    parser.add_argument("-d", "--device", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    runtime_cfg = {"platform": args.platform, "device_id": args.device}
    result = run_jit(fn=kernel, specs=specs(), golden_fn=golden, runtime_cfg=runtime_cfg, **knobs)
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)
