"""Compilers: what makes stages of a program."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, cast

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.lower import PassOptions, lowered
from pypto_tmpl.debug.stages.dumps import StageContent, StageNotFoundError, find_stages
from pypto_tmpl.debug.stages.preparation import read_program
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.hunt.findings import Wrong
from pypto_tmpl.hunt.judge import WrongError
from pypto_tmpl.hunt.limits import OutOfTimeError
from pypto_tmpl.hunt.naming import crash_place, kind_of, message_kind, text_of
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.ir.stage_names import FRONTEND, LAST, stage_stem
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.instruments import CallbackInstrument
from pypto_tmpl.passes.round_trip import RoundTripError, compare_with_text
from pypto_tmpl.passes.settings import DiagnosticPhase, MemoryPlanner, VerificationLevel

See = Callable[[str, ir.Program], None]
_ERROR = re.compile(r"(fatal )?error\b", re.IGNORECASE)
_WARNING = re.compile(r"\bwarning\b", re.IGNORECASE)
OURS = "ours"
PROGRAM, OUTPUT, RUNNING, DUMP = "program.py", "out", "process", "passes_dump"


class CompilerError(PyptoTmplError, RuntimeError):
    """A command that is no compiler: it cannot be started, or leaves no dump of the first program."""

    slug = "hunt-compiler"


class CompilationError(Exception):
    """The compiler ended without a result: after which stage, how, and what it said."""

    def __init__(self, stage: str, wrong: Wrong, detail: str, op: str) -> None:
        super().__init__(detail)
        self.stage, self.wrong, self.detail, self.op = stage, wrong, detail, op


class Compiler(Protocol):
    """Makes the stages of a program one after the other; plain data, so that it goes to other processes."""

    @property
    def name(self) -> str:
        """The compiler as users name it."""

    @property
    def limits(self) -> tuple[str, ...]:
        """Patterns, in which ``*`` is any text, of signatures that are no faults but known refusals."""

    def compile(self, program: HuntedProgram, node: ir.Program, see: See, until: str = LAST) -> None:
        """Call ``see`` with the name and the program of every stage, up to ``until``.

        Raises what ``see`` does, and CompilationError.
        """


@dataclass(frozen=True, slots=True)
class OurPasses:
    """The passes of this package; ``docs/hunting.md`` says why these refusals are none of their faults."""

    limits: tuple[str, ...] = (
        "* / refused / PassError: the vector core *stores*, and nothing makes it wait*",
        "* / refused / PassError: * the other lane *",
        "* / refused / PassError: _ has to be kept in another place of Acc*",
    )

    @property
    def name(self) -> str:
        """See ``Compiler``."""
        return OURS

    def compile(self, program: HuntedProgram, node: ir.Program, see: See, until: str = LAST) -> None:
        """See ``Compiler``; what passes promise is verified."""
        stage, count, settings = FRONTEND, 0, program.settings

        def before(pass_: Pass, _: ir.Program) -> None:
            nonlocal stage, count
            count += 1
            stage = stage_stem(count, pass_.get_name())

        def after(_: Pass, made: ir.Program) -> None:
            see(stage, made)

        options = PassOptions(
            backend=BackendType[program.backend],
            stage=until,
            verification_level=VerificationLevel.BASIC,
            diagnostic_phase=DiagnosticPhase.NONE,
            memory_planner=MemoryPlanner[settings.memory_planner or "PYPTO"],
            buffers=settings.buffers,
            analyze_auto_scopes_for_deps=settings.analyze_auto_scopes_for_deps,
        )
        try:
            lowered(node, options, instruments=[CallbackInstrument(before, after, name="Hunt")])
        except WrongError:
            raise
        except OutOfTimeError as error:  # the pass at work is to blame, or the stage that it has made
            raise CompilationError(stage, "time", str(error), "") from None
        except ir.VerificationError as error:
            rule = error.diagnostics[0].rule_name if error.diagnostics else ""
            raise CompilationError(stage, "verifier", text_of(error), rule) from error
        except PyptoTmplError as error:
            raise CompilationError(stage, "refused", text_of(error), kind_of(error)) from error
        except Exception as error:
            raise CompilationError(stage, "crash", text_of(error), crash_place(error)) from error


@dataclass(frozen=True, slots=True)
class CommandCompiler:
    """A command that is run as ``CMD PROGRAM.py OUT --backend B`` and leaves a ``passes_dump`` in OUT.

    It may take ``time_limit`` seconds, and nothing that it has started outlives it. It works in a folder of
    its own for each program, within ``folder`` if there is one.
    """

    command: tuple[str, ...]
    time_limit: float = 120.0
    limits: tuple[str, ...] = ()
    folder: str | None = None

    @property
    def name(self) -> str:
        """See ``Compiler``."""
        return shlex.join(self.command)

    def check(self, program: HuntedProgram) -> None:
        """Try the command on a program. Raises CompilerError if it cannot be started, or leaves no dump."""
        with tempfile.TemporaryDirectory(prefix="pypto-tmpl-hunt-") as name:
            try:
                ended = self._run(Path(name), program)
            except CompilationError:  # it takes its time: a finding, not a mistake of the user
                return
            if not ended.returncode and _dump_in(Path(name) / OUTPUT) is None:
                raise CompilerError(
                    f"{self.name} leaves no {DUMP} in its OUT",
                    notes=["it is run as: CMD PROGRAM.py OUT --backend B"],
                )

    def compile(self, program: HuntedProgram, node: ir.Program, see: See, until: str = LAST) -> None:
        """See ``Compiler``. Files of the dump that cannot be read count when nothing else is wrong.

        Raises CompilerError for a command that cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="pypto-tmpl-hunt-", dir=self.folder) as name:
            ended = self._run(Path(name), program)
            dumped = _dump_in(Path(name) / OUTPUT)
            last, trouble = (FRONTEND, None) if dumped is None else _see_all(dumped, node, see, until)
            if ended.returncode:
                raise _failed(last, ended, f"{name}{os.sep}")
            if dumped is None:
                what = f"the compiler ended well, and left no {DUMP}"
                trouble = CompilationError(FRONTEND, "dump", what, f"no {DUMP}")
            if trouble is not None:
                raise trouble

    def end(self) -> None:
        """End the commands that still run in the folder: their own processes were ended before them."""
        for path in Path(self.folder or os.devnull).glob(f"*/{RUNNING}"):
            with suppress(OSError, ValueError):
                os.killpg(int(path.read_text(encoding="utf-8")), signal.SIGKILL)

    def _run(self, folder: Path, program: HuntedProgram) -> subprocess.CompletedProcess[str]:
        """Run the command in a session of its own, of which nothing is left behind."""
        (folder / PROGRAM).write_text(program.text, encoding="utf-8")
        (folder / OUTPUT).mkdir()
        words = [*self.command, str(folder / PROGRAM), str(folder / OUTPUT), "--backend", program.backend]
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise CompilerError(f"the compiler {words[0]!r} cannot be started: {error}") from None
        try:
            (folder / RUNNING).write_text(str(process.pid), encoding="utf-8")
            out, said = process.communicate(timeout=self.time_limit)
        except (subprocess.TimeoutExpired, OutOfTimeError) as error:
            limit = error.seconds if isinstance(error, OutOfTimeError) else self.time_limit
            dumped = _dump_in(folder / OUTPUT)
            last = FRONTEND if dumped is None else find_stages(dumped)[-1].name
            detail = f"the compiler was still at work after {limit:g} s"
            raise CompilationError(last, "time", detail, "compiler") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return subprocess.CompletedProcess(words, process.returncode, out, said)


def _failed(last: str, ended: subprocess.CompletedProcess[str], folder: str) -> CompilationError:
    """How a command ended after a stage; each program has another folder, which tells nothing."""
    code = ended.returncode
    said = (ended.stderr or ended.stdout).replace(folder, "").strip()
    line = _message(said) if said else ""
    if code > 0:
        line = line or f"exit code {code}"
        return CompilationError(last, "refused", said or line, message_kind(line))
    how = _signal_name(-code)
    kind = f"{how}: {message_kind(line)}" if line and _WARNING.search(line) is None else how
    return CompilationError(last, "crash", f"{said}\n{how}".lstrip(), kind)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _message(said: str) -> str:
    """The line that says what is wrong: the first that begins with it, else the last, as of a traceback."""
    lines = said.splitlines()
    return next((line for line in lines if _ERROR.match(line)), lines[-1])


def _see_all(dump: Path, node: ir.Program, see: See, until: str) -> tuple[str, CompilationError | None]:
    """The last stage that was seen, and what is wrong with the files of the first stage that has such.

    A stage with the bytes of the one before is the same.
    """
    before, last = node, FRONTEND
    trouble: CompilationError | None = None
    files: tuple[bytes | None, bytes | None] = (None, None)
    for stage in find_stages(dump):
        last, content = stage.name, stage.read()
        if (content.text, content.binary) != files:
            files = content.text, content.binary
            before, found = _read(content, dump)
            trouble = trouble or found
        see(last, before)
        if last == until:
            break
    return last, trouble


def _read(content: StageContent, dump: Path) -> tuple[ir.Program, CompilationError | None]:
    """The program of a stage, and what is wrong with its files. Raises CompilationError if none is right."""
    troubles: list[CompilationError] = []
    programs: list[ir.Program] = []
    for wrong, form in (("dump", replace(content, text=None)), ("text", replace(content, binary=None))):
        if form.text is None and form.binary is None:
            continue
        try:
            node = read_program(form)
        except PyptoTmplError as error:
            folder = f"{dump}{os.sep}"
            said, kind = str(error).replace(folder, ""), kind_of(error, folder)
            troubles.append(CompilationError(content.name, cast("Wrong", wrong), said, kind))
        else:
            if not isinstance(node, ir.Program):
                raise CompilationError(content.name, "dump", "the dump holds no program", "no program")
            programs.append(node)
    if not programs:
        raise troubles[0]
    if len(programs) > 1:
        try:
            compare_with_text(content.name, *programs)
        except RoundTripError as error:
            troubles.append(CompilationError(content.name, "text", str(error), kind_of(error)))
    return programs[0], troubles[0] if troubles else None


def _dump_in(folder: Path) -> Path | None:
    """The dump in the folder of a build, at any depth; None where there is none."""
    found = sorted(path for path in folder.rglob(DUMP) if path.is_dir())
    for path in found:
        try:
            find_stages(path)
        except StageNotFoundError:
            continue
        return path
    return None


def compiler_of(text: str, time_limit: float = 120.0) -> Compiler:
    """``ours``, or the command of a text. Raises CompilerError for an empty one, or an open quotation."""
    if text == OURS:
        return OurPasses()
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CompilerError(f"the compiler {text!r} is no command: {error}") from None
    if not words:
        raise CompilerError("the compiler is an empty command", notes=[f"compilers: {OURS}, or a command"])
    if words[0] == "python":
        words[0] = sys.executable
    return CommandCompiler(tuple(words), time_limit)
