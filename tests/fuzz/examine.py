"""What one input has to survive: reading, printing, verifying and writing, within limits."""

from __future__ import annotations

import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.verifier import TooLargeError
from pypto_tmpl.ir.wire.errors import WireError

CPU_SECONDS = 10.0
"""Far above what any kept input takes: processor time too grows on a busy machine."""

MEMORY_BYTES = 2**30
PACKAGE = str(Path(ir.__file__).resolve().parents[1])


KNOWN_DIFFERENCES = (
    ": nan and nan differ",
    ": Op(name='tensor.add') and Op(name='tensor.adds') differ",  # so spelled where the operand is a constant
    ": stored as float and as int",  # the wire form of an integral float
)


@dataclass(frozen=True)
class Failure:
    """How an input failed; inputs of one ``signature`` fail in the same place in the same way."""

    signature: str
    details: str


class TimeLimitError(BaseException):
    """The time limit of one input; not an Exception, so that nothing on the way takes it for its own."""


class DifferenceError(Exception):
    """What was read is not what is read again."""


def limit_memory() -> None:
    """Limit the address space of this process; a reader that needs more gets a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitError after that much processor time of this process: other load does not count."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)  # again, should the first be lost in a callback
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def failure_of(kind: str, data: bytes, seconds: float = CPU_SECONDS) -> Failure | None:
    """How the input fails; None where it is read, or refused with the reader's own error."""
    step = "read"
    try:
        with time_limit(seconds):
            try:
                node = READERS[kind](data)
            except REFUSALS[kind] as error:
                step = "tell"
                str(error)
                return None
            for step, use in USES.items():  # noqa: B007  (the step names the failure)
                use(node)
            step = "again"
            AGAIN[kind](node)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Failure(_signature(kind, step, error), _details(error))
    return None


def read_text(data: bytes) -> ir.IRNode:
    """The bytes as ``loads`` takes them from a file, or as ``parse`` takes text with halves of surrogates."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = ""
    if text and "coding" not in text[:100]:
        return pl.parse(text)
    with tempfile.NamedTemporaryFile(suffix=".py") as file:
        file.write(data)
        file.flush()
        return pl.loads(file.name)


def print_node(node: ir.IRNode) -> None:
    """Every text of the node; IR that has none is refused by the printer."""
    for options in ({}, {"explicit_layout": True, "concise": True}):
        try:
            ir.python_print(node, **options)
        except ir.PrintError as error:
            str(error)


def verify_node(node: ir.IRNode) -> None:
    if isinstance(node, (ir.Program, ir.Function)):
        try:
            for found in ir.verify(node, list(ir.CHECKED_PROPERTIES)):
                str(found)
        except TooLargeError as error:
            str(error)


def compare_node(node: ir.IRNode) -> None:
    """The hash and the comparison of a node with itself."""
    ir.structural_hash(node, True)
    if difference := ir.structural_diff(node, node, True):
        raise DifferenceError(f"a node differs from itself: {difference}")


def print_and_read_again(node: ir.IRNode) -> None:
    """The text of what was read is read as the same IR."""
    try:
        text = ir.python_print(node)
    except ir.PrintError:
        return
    try:
        again = pl.parse(text)
    except pl.ParserError as error:
        if _misplaces_yields(node):
            return
        raise DifferenceError(f"what was read is refused: {error}") from error
    _expect_equal(node, again)


def _misplaces_yields(node: ir.IRNode) -> bool:
    """Whether bodies yield more or less often than loops and branches have results: that has no text."""
    assert isinstance(node, (ir.Program, ir.Function))
    return any(found.error_code in (3, 4, 5, 7) for found in ir.verify(node, [ir.IRProperty.SSAForm]))


def write_and_read_again(node: ir.IRNode) -> None:
    """What was read can be written, and is then the same IR."""
    try:
        data = ir.serialize(node)
    except WireError:
        return
    _expect_equal(node, ir.deserialize(data))


def _expect_equal(node: ir.IRNode, again: ir.IRNode) -> None:
    difference = ir.structural_diff(node, again, True)
    if difference is not None and not str(difference).endswith(KNOWN_DIFFERENCES):
        raise DifferenceError(f"read again: {difference}")


READERS: dict[str, Callable[[bytes], ir.IRNode]] = {"text": read_text, "bytes": ir.deserialize}
REFUSALS: dict[str, type[Exception]] = {"text": pl.ParserError, "bytes": WireError}
USES: dict[str, Callable[[Any], None]] = {
    "print": print_node,
    "verify": verify_node,
    "compare": compare_node,
}
AGAIN: dict[str, Callable[[ir.IRNode], None]] = {"text": print_and_read_again, "bytes": write_and_read_again}


def _signature(kind: str, step: str, error: BaseException) -> str:
    """Kind of the input, step, error class and the innermost place in the package.

    The place of a limit is where it happened to strike: there the outermost function has to do.
    """
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)
    ]
    name = type(error).__name__
    if isinstance(error, (TimeLimitError, MemoryError, RecursionError)):
        found = dict.fromkeys(f"{Path(frame.filename).name}:{frame.name}" for frame in frames)
        place = (
            " > ".join(list(found)[-3:]) if isinstance(error, RecursionError) else " > ".join(list(found)[:4])
        )
    else:
        place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "outside the package"
        if isinstance(error, DifferenceError):
            place = re.sub(r"'.*'|.*\.(?=\w+: )|\d+", "_", str(error).splitlines()[0])
    return f"{kind} {step} {name} {place}"


def _details(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-12)
    except RecursionError:
        lines = [type(error).__name__]
    return "".join(lines)[-4000:]
