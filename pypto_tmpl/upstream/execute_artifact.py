"""Running builds for a machine that reads how it went (``pypto.runtime.execute_artifact``)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from pypto_tmpl.compile.rebuild import rebuild_from_texts
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import make_folder
from pypto_tmpl.golden.validation import validate_golden
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.platforms import PLATFORMS
from pypto_tmpl.upstream.replay import GOLDEN, GoldenFile, manifest_of, replay, saved_arguments
from pypto_tmpl.upstream.runner import validate_persisted_outputs

ACTUAL = "data/actual"
_FAULTS = (PyptoTmplError, AssertionError, TypeError, ValueError, OSError, RuntimeError)
_TOLERANCE = 1e-5


class ManifestError(PyptoTmplError, ValueError):
    """A list of builds that cannot be read."""

    slug = "batch-manifest"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A build, and the platform that it is to run on; "" is the one that it was compiled for."""

    work_dir: Path
    platform: str


def execute_artifact(artifact: Artifact, device_id: int = 0, validate: bool = True) -> None:
    """Run a build, save what it computes in ``data/actual``, and compare that.

    Arguments and expected outputs come from ``golden.py`` of the build, else from what a run has saved in
    ``data``. Raises NoBuildError, ReplayError, AssertionError for outputs that differ, and what runs raise.
    """
    folder = artifact.work_dir
    manifest = manifest_of(folder)
    golden = GoldenFile.of(folder) if (folder / GOLDEN).is_file() else None
    if golden is None:
        arguments = saved_arguments(folder)
    else:
        arguments = [value for _, value in golden.generate_inputs({})]
    expected = golden.expected(arguments)[1] if golden is not None and validate else {}
    config = RunConfig(platform=artifact.platform or manifest.platform, device_id=device_id)
    replay(folder, *arguments, config=config, rebuild_from_pto=False)
    pairs = zip(manifest.entry.parameters, arguments, strict=True)
    outputs = {param.name: value for param, value in pairs if param.is_written}
    make_folder(folder / ACTUAL)
    for name, value in outputs.items():
        torch.save(value, folder / ACTUAL / f"{name}.pt")
    if golden is not None and validate:
        validate_golden(outputs, expected, golden.rtol, golden.atol)
    elif validate:
        validate_persisted_outputs(folder, _TOLERANCE, _TOLERANCE)


def main(argv: Sequence[str] | None = None) -> int:
    """The command: a line ``PYPTO_EXEC_RESULT=PASS device=N`` for each build, or FAIL, or INFRA.

    INFRA is a build whose C++ could not be made again. Returns the exit code, 0 where all passed.
    """
    given = _parser().parse_args(argv)
    try:
        artifacts = _artifacts(given)
    except (ManifestError, OSError) as error:
        _say(error)
        return 1
    results = [_result(artifact, given.device_id, given.validate) for artifact in artifacts]
    return 0 if set(results) == {"PASS"} else 1


def _result(artifact: Artifact, device_id: int, validate: bool) -> str:
    result = "INFRA"
    try:
        rebuild_from_texts(artifact.work_dir, manifest_of(artifact.work_dir))
        result = "FAIL"
        execute_artifact(artifact, device_id, validate)
        result = "PASS"
    except _FAULTS as error:
        _say(error)
    print(f"PYPTO_EXEC_RESULT={result} device={device_id}", flush=True)
    return result


def _say(error: BaseException) -> None:
    lines = [str(error) or type(error).__name__, *getattr(error, "__notes__", ())]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _artifacts(given: argparse.Namespace) -> list[Artifact]:
    """The builds that are named, by an option or in a file. Raises ManifestError, OSError."""
    if given.work_dir is not None:
        return [Artifact(given.work_dir.resolve(), given.platform or "")]
    path: Path = given.batch_manifest
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ManifestError(f"{path} is no JSON: {error}") from None
    allowed = 'a list of {"work_dir": ..., "platform": ...}'
    if not isinstance(entries, list) or not entries:
        raise ManifestError(f"{path}: expected {allowed}")
    found = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("work_dir"), str):
            raise ManifestError(f"{path}: entry {number} names no work_dir; expected {allowed}")
        platform = entry.get("platform", given.platform or "")
        if platform and platform not in PLATFORMS:
            names = ", ".join(sorted(PLATFORMS))
            raise ManifestError(f"{path}: entry {number} has the platform {platform!r}; there are {names}")
        if unknown := entry.keys() - {"work_dir", "platform"}:
            raise ManifestError(f"{path}: entry {number} has {min(unknown)!r}; expected {allowed}")
        found.append(Artifact(Path(entry["work_dir"]).resolve(), platform))
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run builds, and tell of each in a line how it went.")
    builds = parser.add_mutually_exclusive_group(required=True)
    builds.add_argument("--work-dir", type=Path, metavar="DIR", help="the build")
    builds.add_argument(
        "--batch-manifest", type=Path, metavar="FILE", help="JSON: a list of {work_dir, platform}"
    )
    parser.add_argument("--platform", choices=sorted(PLATFORMS), help="default: what it was compiled for")
    parser.add_argument("--device-id", type=int, default=0)
    parser.add_argument("--no-validate", dest="validate", action="store_false", help="compare with nothing")
    return parser


__all__ = ["Artifact", "execute_artifact", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
