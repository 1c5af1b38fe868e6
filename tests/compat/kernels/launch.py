"""Command line that all kernel files of this folder share."""

import argparse


def parser():
    ap = argparse.ArgumentParser()
    ap.add_argument("-p", "--platform", default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"])
    ap.add_argument("-d", "--device", type=int, default=0)
    ap.add_argument("--enable-chip-swimlane", nargs="?", type=int, const=1, default=0)
    ap.add_argument("--enable-dep-gen", action="store_true")
    ap.add_argument("--enable-pmu", action="store_true")
    ap.add_argument("--enable-scope-stats", action="store_true")
    ap.add_argument("--dump-passes", action="store_true")
    ap.add_argument("--compile-only", action="store_true")
    ap.add_argument("--runtime-dir", default=None)
    ap.add_argument("--golden-data", default=None)
    ap.add_argument("--save-data", action="store_true")
    ap.add_argument("--no-golden", action="store_true")
    ap.add_argument("--batch", type=int, default=16, help="read by decode_config when it is imported")
    return ap


def main(fn, specs, golden_fn, ns=None, rtol=1e-3, atol=1e-3, compare_fn=None):
    from golden import run_jit

    ns = ns or parser().parse_args()
    res = run_jit(
        fn=fn,
        specs=specs,
        golden_fn=None if ns.no_golden else golden_fn,
        compile_only=ns.compile_only,
        runtime_dir=ns.runtime_dir,
        golden_data=ns.golden_data,
        save_data=ns.save_data,
        compile_cfg={"dump_passes": ns.dump_passes},
        runtime_cfg={
            "platform": ns.platform,
            "device_id": ns.device,
            "enable_chip_swimlane": ns.enable_chip_swimlane,
            "enable_dep_gen": ns.enable_dep_gen,
            "enable_pmu": ns.enable_pmu,
            "enable_scope_stats": ns.enable_scope_stats,
        },
        rtol=rtol,
        atol=atol,
        compare_fn=compare_fn or {},
    )
    if not res.passed:
        if res.error:
            print(f"Result: {res.error}")
        raise SystemExit(1)
