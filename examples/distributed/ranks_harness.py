"""The command line of all programs here: ``-p PLATFORM``, ``-d DEVICES``, ``--engine mpi``, ``--seed N``."""

import argparse

import torch

from pypto_tmpl.golden import run_jit
from pypto_tmpl.runtime import DistributedConfig

PLATFORMS = ["a2a3", "a2a3sim", "a5", "a5sim"]


def main(ranks, program, specs, golden, **knobs):
    """Run a program of several ranks on its specs; a failed run ends the process with status 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim", choices=PLATFORMS)
    parser.add_argument("-d", "--device", default=",".join(map(str, range(ranks))), help="ids, as in 0,1")
    parser.add_argument("--engine", choices=["threads", "mpi"], help="mpi: by mpiexec -n RANKS")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    try:
        devices = DistributedConfig([int(one) for one in args.device.split(",")], engine=args.engine)
    except ValueError as error:
        parser.error(str(error))
    result = run_jit(
        fn=program,
        specs=specs(),
        golden_fn=golden,
        compile_cfg={"distributed_config": devices},
        runtime_cfg={"platform": args.platform},
        **knobs,
    )
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)
