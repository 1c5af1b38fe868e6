"""The assembler ``ptoas``, which makes C++ of ``.pto`` texts: finding it, and running it in a build."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError

ROOT, WORKERS = "PTOAS_ROOT", "PYPTO_CODEGEN_MAX_WORKERS"
_IN_ROOT = ("ptoas", "ptoas.sh", "bin/ptoas")
_SECONDS = 60
_LINES = 40  # of error output that a report has
# Every text has the addresses of its tiles.
_FLAGS = ("--enable-insert-sync", "--pto-level=level3")
_DUMP_FLAGS = ("--mlir-print-ir-after-all", "--mlir-print-ir-module-scope")

Counted = Callable[[int, int], None]


class PtoasNotFoundError(PyptoTmplError, FileNotFoundError):
    """There is no ``ptoas`` to run."""

    slug = "no-ptoas"


class PtoasError(PyptoTmplError, RuntimeError):
    """``ptoas`` made nothing of a text."""

    slug = "ptoas"


class PtoasMissingWarning(UserWarning):
    """A build has ``.pto`` texts and no C++ of them."""


class _Processes:
    """The processes that have not ended, so that an interrupt can end them, and those that begin after it."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._is_stopped = threading.Event()

    @contextmanager
    def running(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """A process is known while it runs."""
        self._running.add(process)
        if self._is_stopped.is_set():
            _end(process)
        try:
            yield
        finally:
            self._running.discard(process)

    def stop(self) -> None:
        """End all that run, and whatever is started from now on."""
        self._is_stopped.set()
        for process in tuple(self._running):
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process with all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Assembler:
    """``ptoas`` with the flags of a backend."""

    executable: Path
    flags: Sequence[str] = ()
    dumps_passes: bool = False
    processes: _Processes = field(default_factory=_Processes, compare=False)

    def run(self, text: Path) -> Path:
        """Make the C++ beside a text. Raises PtoasError."""
        made = text.with_suffix(".cpp")
        dump = [*_DUMP_FLAGS, f"--mlir-print-ir-tree-dir={passes_folder(text)}"] if self.dumps_passes else []
        command: list[str | Path] = [self.executable, text, "-o", made, *_FLAGS, *dump, *self.flags]
        try:
            code, said = _run(command, self.processes)
        except subprocess.TimeoutExpired:
            raise PtoasError(f"ptoas compilation timed out after {_SECONDS}s", where=str(text)) from None
        except OSError as error:
            raise PtoasError(f"ptoas cannot be started: {error}", where=str(self.executable)) from None
        if code:
            raise PtoasError(f"ptoas compilation failed: {_shown(said) or _ended(code)}", where=str(text))
        wrong = _wrong_with(made)
        if wrong:
            raise PtoasError(f"ptoas ended well and wrote {wrong}", where=str(text))
        return made


def _run(command: Sequence[str | Path], processes: _Processes) -> tuple[int, str]:
    """The exit code of a command and its error output, without any what it told otherwise.

    One that takes too long ends with all it started.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with processes.running(process):
        try:
            told, said = process.communicate(timeout=_SECONDS)
        except BaseException:
            _end(process)
            process.communicate()
            raise
    return process.returncode, said if said.strip() else told


def _shown(said: str) -> str:
    """Error output as a report can hold it: the first lines, and nothing that moves a cursor."""
    lines = ["".join(c for c in line if c.isprintable() or c == "\t") for line in said.strip().splitlines()]
    more = len(lines) - _LINES
    return "\n".join([*lines[:_LINES], f"... ({more} more lines)"] if more > 0 else lines)


def _ended(code: int) -> str:
    return f"exit code {code}" if code > 0 else f"killed by signal {-code}"


def _wrong_with(made: Path) -> str:
    """What is wrong with a file that should be C++, "" where it is text."""
    if not made.is_file():
        return f"no {made.name}"
    try:
        text = made.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"{made.name}, which is no text"
    return "" if text.strip() else f"an empty {made.name}"


def find_ptoas(environment: Mapping[str, str] = os.environ) -> Path:
    """The assembler: in ``PTOAS_ROOT`` alone where that is set, else on PATH. Raises PtoasNotFoundError."""
    root = environment.get(ROOT)
    if not root:
        found = shutil.which("ptoas", path=environment.get("PATH", ""))
        if found is None:
            note = f"set {ROOT} to its folder, or put it on PATH"
            raise PtoasNotFoundError("ptoas binary not found on PATH", notes=[note])
        return Path(found)
    candidates = [Path(root) / name for name in _IN_ROOT]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    what = f"{ROOT} is set to {root!r} but no executable ptoas was found there"
    raise PtoasNotFoundError(what, notes=[f"tried: {', '.join(map(str, candidates))}"])


def passes_folder(text: Path) -> Path:
    """Where a text's own passes are dumped: beside the folder of the texts."""
    return text.parent.parent / "ptoas_passes" / text.stem


def assemble(
    texts: Sequence[Path], assembler: Assembler, counted: Counted = lambda done, total: None
) -> list[Path | PtoasError]:
    """The C++ of each text, or why there is none; ``counted`` is told how many are done, of how many.

    An interrupt ends all that run.
    """

    def one(text: Path) -> Path | PtoasError:
        try:
            return assembler.run(text)
        except PtoasError as error:
            return error

    found: list[Path | PtoasError] = []
    with ThreadPoolExecutor(max_workers=_worker_count(len(texts))) as pool:
        try:
            for made in pool.map(one, texts):
                found.append(made)
                counted(len(found), len(texts))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            assembler.processes.stop()
            raise
    return found


def _worker_count(texts: int, environment: Mapping[str, str] = os.environ) -> int:
    """How many run at a time: as many as there are texts and cores, unless the environment says otherwise."""
    most = os.cpu_count() or 1
    given = environment.get(WORKERS)
    if given:
        try:
            most = int(given)
        except ValueError:
            warnings.warn(f"{WORKERS} is {given!r}, which is no number: {most} are used", stacklevel=3)
    return max(1, min(most, texts))
