"""Running a build again (``pypto.runtime.debug.replay``), as ``debug/run.py`` of the build does."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl.compile.compiled_program import CompiledProgram, started
from pypto_tmpl.compile.rebuild import rebuild_from_texts
from pypto_tmpl.compile.reuse import reuse_build
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.golden.saved_tensors import saved_tensors
from pypto_tmpl.golden.validation import validate_golden
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.manifest import NAME, Manifest, read_manifest
from pypto_tmpl.runtime.platforms import PLATFORMS
from pypto_tmpl.upstream.log_config import LEVELS, configure_log

GOLDEN = "golden.py"

Inputs = Callable[[], Sequence[Any]]
Compare = Callable[..., object]


class ReplayError(PyptoTmplError, ValueError):
    """What is replayed, and what it is replayed with, do not go together."""

    slug = "replay"


class NoBuildError(PyptoTmplError, FileNotFoundError):
    """A file that a replay needs is not there."""

    slug = "replay"


@dataclass(frozen=True)
class GoldenFile:
    """A ``golden.py``: what it makes inputs and expected outputs with."""

    generate_inputs: Callable[[dict[str, Any]], Sequence[tuple[str, Any]]]
    compute_golden: Callable[[dict[str, Any], dict[str, Any]], object]
    outputs: Sequence[str]
    rtol: float
    atol: float

    @classmethod
    def of(cls, work_dir: Path) -> GoldenFile:
        """That of a build. Raises NoBuildError where there is none, ReplayError for one that lacks a part."""
        path = work_dir / GOLDEN
        if not path.is_file():
            raise NoBuildError(f"validation needs {GOLDEN}, and there is none in {work_dir}")
        names = runpy.run_path(str(path))
        try:
            return cls(
                names["generate_inputs"],
                names["compute_golden"],
                names["__outputs__"],
                names.get("RTOL", 1e-5),
                names.get("ATOL", 1e-5),
            )
        except KeyError as error:
            raise ReplayError(f"{path} defines no {error.args[0]}") from None

    def expected(self, arguments: Sequence[Any]) -> tuple[list[str], dict[str, Any]]:
        """The names of the arguments, and the outputs that they should come to; called before the run."""
        names = [name for name, _ in self.generate_inputs({})]
        if len(names) != len(arguments):
            raise ReplayError(
                f"{GOLDEN} has {len(names)} inputs ({', '.join(names)}), and {len(arguments)} are given"
            )
        copies = [one.clone() if isinstance(one, torch.Tensor) else one for one in arguments]
        tensors = dict(zip(names, copies, strict=True))
        self.compute_golden(tensors, {})
        return names, {name: tensors[name] for name in self.outputs}


def replay(
    work_dir: str | Path,
    *tensors: Any,
    config: RunConfig | None = None,
    recompile: bool = True,
    rebuild_from_pto: bool = True,
    validate: bool = False,
) -> Any:
    """Run a build on tensors and numbers, in place, or without its outputs, which are returned then.

    A script that is missing is made again, one that was edited runs as it is. ``rebuild_from_pto`` makes the
    C++ of edited ``.pto`` texts again, where there is an assembler; no binaries are kept here that
    ``recompile`` could drop. ``validate`` compares with what ``golden.py`` of the build computes.

    Raises: NoBuildError (a FileNotFoundError) for a directory that is no build or has no ``golden.py``,
    ReplayError for another number of tensors than
    ``golden.py`` makes, ValidationError (an AssertionError) for outputs that differ, and what runs raise.
    """
    folder = Path(work_dir).resolve()
    manifest = manifest_of(folder)
    golden = GoldenFile.of(folder) if validate else None
    names, expected = golden.expected(tensors) if golden is not None else ([], {})
    if rebuild_from_pto:
        rebuild_from_texts(folder, manifest)
    made = started(CompiledProgram(reuse_build(folder).build))(*tensors, config=config)
    if golden is not None:
        outputs = {name: value for name, value in zip(names, tensors, strict=True) if name in expected}
        validate_golden(outputs, expected, golden.rtol, golden.atol)
    return made


def main(
    work_dir: str | Path | None = None,
    inputs: Inputs | None = None,
    compare: Compare | None = None,
    argv: Sequence[str] | None = None,
) -> int:
    """The command of ``debug/run.py``, which gives all three, and of this module, whose user names the build.

    Without ``inputs`` those are taken that a run has saved in the build. Returns the exit code.
    """
    given = _parser(work_dir).parse_args(argv)
    folder = Path(given.work_dir if work_dir is None else work_dir).resolve()
    try:
        configure_log(given.log_level, sync_pypto=given.log_sync_pypto)
        arguments = list(inputs()) if inputs is not None else saved_arguments(folder)
        _refuse_unset(manifest_of(folder), arguments)
        has_golden = inputs is not None and (folder / GOLDEN).is_file()
        validate = has_golden if given.validate is None else given.validate
        replay(
            folder,
            *arguments,
            config=_config(given, manifest_of(folder)),
            recompile=given.recompile,
            rebuild_from_pto=given.rebuild_from_pto,
            validate=validate,
        )
        if compare is not None:
            compare(*arguments)
    except (PyptoTmplError, AssertionError, TypeError, ValueError, OSError, RuntimeError) as error:
        print(
            "\n".join([str(error) or type(error).__name__, *getattr(error, "__notes__", ())]), file=sys.stderr
        )
        return 1
    print(f"PASS{'' if validate else ' (nothing was validated)'}: {folder}")
    return 0


_main = main


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a build. Raises NoBuildError where there is none."""
    if not (folder / NAME).is_file():
        raise NoBuildError(
            f"{folder} is no complete build: it has no {NAME}", notes=["compile the program again"]
        )
    return read_manifest(folder)


def saved_arguments(folder: Path) -> list[Any]:
    """The arguments of the last run that saved them; outputs begin with zeros. Raises NoBuildError."""
    manifest = manifest_of(folder)
    found = saved_tensors(folder, manifest)
    given: Mapping[str, torch.Tensor] = {} if found is None else found[0]
    missing = [p.name for p in manifest.entry.parameters if not p.is_pure_output and p.name not in given]
    if found is None or missing:
        raise NoBuildError(
            f"{folder} has no saved inputs",
            notes=[
                f"run its debug/run.py, or the kernel with save_data=True: missing are {', '.join(missing)}"
            ],
        )
    arguments: list[Any] = []
    for param in manifest.entry.parameters:
        if param.name in given:
            value = given[param.name]
            arguments.append(value.item() if param.is_scalar else value)
        else:
            expected = found[1].get(param.name)
            shape = (
                expected.shape
                if expected is not None
                else [n if isinstance(n, int) else 1 for n in param.shape or ()]
            )
            arguments.append(torch.zeros(shape, dtype=getattr(torch, TORCH_NAMES[param.dtype])))
    return arguments


def _refuse_unset(manifest: Manifest, arguments: Sequence[Any]) -> None:
    unset = [p.name for p, value in zip(manifest.entry.parameters, arguments, strict=False) if value is None]
    if unset:
        raise ReplayError(f"_inline_inputs() gives no number for {', '.join(unset)}")


def _config(given: argparse.Namespace, manifest: Manifest) -> RunConfig:
    level = given.swimlane_level if given.swimlane_level is not None else 4 if given.swimlane else 0
    return RunConfig(
        platform=given.platform or manifest.platform,
        device_id=given.device_id,
        enable_pmu=given.pmu,
        enable_chip_swimlane=level,
        enable_dump_args=given.dump_args,
        enable_dep_gen=given.dep_gen,
        enable_scope_stats=given.scope_stats,
    )


def _parser(work_dir: str | Path | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run a build again on its simulated platform.")
    if work_dir is None:
        parser.add_argument("work_dir", metavar="DIR", help="the build")
    parser.add_argument("--platform", choices=sorted(PLATFORMS), help="default: what it was compiled for")
    parser.add_argument("--device-id", type=int, default=0)
    parser.add_argument("--pmu", type=int, default=0, metavar="N", help="count events of group N")
    parser.add_argument("--swimlane", action="store_true", help="record when tasks run")
    parser.add_argument("--swimlane-level", type=int, metavar="N", help="the same, 1 to 4")
    parser.add_argument(
        "--dump-args", type=int, nargs="?", const=1, default=0, metavar="N", help="1 marked tensors, 2 all"
    )
    parser.add_argument("--dep-gen", action="store_true", help="record which task waits for which")
    parser.add_argument("--scope-stats", action="store_true")
    parser.add_argument(
        "--no-recompile", dest="recompile", action="store_false", help="no binaries are kept here"
    )
    parser.add_argument(
        "--no-rebuild-from-pto", dest="rebuild_from_pto", action="store_false", help="leave C++ as it is"
    )
    parser.add_argument("--log-level", default="warn", choices=sorted(LEVELS))
    parser.add_argument("--log-sync-pypto", action="store_true")
    parser.add_argument(
        "--validate", action=argparse.BooleanOptionalAction, help=f"compare with {GOLDEN} of the build"
    )
    return parser


__all__ = ["main", "replay"]

if __name__ == "__main__":
    raise SystemExit(main())
