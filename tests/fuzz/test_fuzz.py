"""Mutated dumps neither crash nor hang a reader; the tool notices inputs that do."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest
from fuzz import examine
from fuzz.byte_mutations import length_fields
from fuzz.examine import Failure, failure_of, limit_memory
from fuzz.inputs import dumps, kept_inputs, kind_of, make_input
from fuzz.minimise import minimised
from fuzz.runner import check, result_of, run
from process_pool import Worker

from pypto_tmpl import ir

SEED = 20_261_129


@pytest.fixture(scope="module")
def worker():
    found = Worker(check, limit_memory)
    yield found
    found.stop()


def test_short_run():
    state = run(SEED, seconds=600, minimise_seconds=5, inputs=40)
    assert [finding.failure for finding in state.findings.values()] == []
    assert state.tried == 40


@pytest.mark.parametrize("path", kept_inputs(), ids=lambda path: path.name)
def test_inputs_that_failed_once(path: Path, worker: Worker):
    assert result_of(worker, (kind_of(path), path.read_bytes())) is None


def test_inputs_depend_on_seed_and_number_alone():
    first = [make_input(SEED, index) for index in range(60)]
    again = [make_input(SEED, index) for index in reversed(range(60))]
    assert first == again[::-1]
    assert first != [make_input(SEED + 1, index) for index in range(60)]
    assert {kind for kind, _ in first} == {"text", "bytes"}


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_dumps_as_they_are_pass(kind: str):
    for data in itertools.islice(dumps(kind), 0, None, 20):
        assert failure_of(kind, data) is None


def test_refusals_pass():
    assert failure_of("text", b"\xff") is None
    assert failure_of("text", b"x = 1") is None
    assert failure_of("bytes", b"\xc1") is None


def planted(monkeypatch: pytest.MonkeyPatch, reader) -> Failure | None:
    monkeypatch.setitem(examine.READERS, "text", reader)
    return failure_of("text", b"", seconds=1)


def test_other_errors_are_failures(monkeypatch: pytest.MonkeyPatch):
    found = planted(monkeypatch, lambda data: ir.Span("", 0, 0).nothing)
    assert found is not None and found.signature == "text read AttributeError outside the package"
    assert "AttributeError: 'Span' object has no attribute 'nothing'" in found.details
    found = planted(monkeypatch, lambda data: ir.DataType(700))
    assert found is not None and found.signature == "text read ValueError dtypes.py:__init__"


def test_hangs_are_failures(monkeypatch: pytest.MonkeyPatch):
    def hang(data):
        while True:
            pass

    found = planted(monkeypatch, hang)
    assert found is not None and found.signature.startswith("text read TimeLimitError")


def test_a_node_that_is_not_read_again_as_it_was_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ir, "serialize", lambda node: dumps("bytes")[1])
    found = failure_of("bytes", dumps("bytes")[0])
    assert found is not None and found.signature.startswith("bytes again DifferenceError")


def test_memory_is_limited():
    code = "from fuzz.examine import limit_memory; limit_memory(); bytearray(2**31)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stderr.strip().endswith("MemoryError")


def test_a_process_that_dies_is_a_failure():
    dying = Worker(check, limit_memory)
    try:
        assert dying.run(("text", b""), 30) is None
        dying.process.kill()
        found = result_of(dying, ("text", b""))
        assert found is not None and found.signature == "text dies"
        assert result_of(dying, ("text", b"")) is None
    finally:
        dying.stop()


def test_minimised_text():
    text = b"\n".join(b"line %d" % number for number in range(200)) + b" # bad (word)"
    assert minimised("text", text, lambda data: b"bad" in data, seconds=600) == b"bad"


def test_minimised_bytes():
    data = msgpack.packb({"a": [1, 2, {"b": "bad", "c": [3] * 50}], "d": "x" * 100})

    def fails(candidate: bytes) -> bool:
        try:
            return "bad" in str(msgpack.unpackb(candidate))
        except Exception:
            return False

    smallest = minimised("bytes", data, fails, seconds=600)
    assert msgpack.unpackb(smallest) == {"a": {"b": "bad"}}


def test_length_fields():
    data = msgpack.packb({"a": "x" * 40, "b": [1] * 20, "c": b"y" * 300})
    forms = [form for _, form in length_fields(data)]
    assert forms == ["short", "short", "B", "short", ">H", "short", ">H"]
