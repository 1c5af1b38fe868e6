"""No test depends on an idle machine: none fails since a clock on the wall says that it took too long."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WALL_CLOCKS = {"time", "monotonic", "perf_counter", "monotonic_ns", "perf_counter_ns", "time_ns"}
LEAST_GUARD = 600  # seconds that a guard against hanging allows at least


def clock_reads(node):
    """Calls of ``time.monotonic()`` and its like in an expression."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            owner = call.func.value
            if isinstance(owner, ast.Name) and owner.id == "time" and call.func.attr in WALL_CLOCKS:
                yield call


def short_guards(node):
    """Numbers of seconds below the least that are given as a timeout."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [keyword.value for keyword in node.keywords if keyword.arg == "timeout"]
        given += node.args[:1] if name in ("timeout", "result", "exception") else []
        for value in given:
            least = LEAST_GUARD * 1000 if name in ("launch", "wait_for_selector") else LEAST_GUARD
            seconds = value.value if isinstance(value, ast.Constant) else None
            if isinstance(seconds, int | float) and seconds < least:
                yield seconds


def complaints(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert) and any(clock_reads(node.test)):
            yield f"{node.lineno}: asserts how long something took on the wall"
        yield from (f"{node.lineno}: a timeout of {seconds}" for seconds in short_guards(node))


def test_limits_are_of_processor_time_or_generous():
    found = [
        f"{path.relative_to(ROOT)}:{complaint}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__).resolve() and "corpus" not in path.parts
        for complaint in complaints(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "use time.process_time(), a rendezvous, or a guard of minutes"


def test_the_guard_against_tests_that_hang_is_generous():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["tool"]["pytest"]["ini_options"]["timeout"] >= LEAST_GUARD


def test_what_would_be_found():
    assert [*complaints("assert time.monotonic() - began < 5")] == [
        "1: asserts how long something took on the wall"
    ]
    assert [*complaints("subprocess.run(c, timeout=60)\npytest.mark.timeout(20)\nf.result(10)")] == [
        "1: a timeout of 60",
        "2: a timeout of 20",
        "3: a timeout of 10",
    ]
    assert [*complaints("assert time.process_time() - began < 5\nf.result()\nrun(c, timeout=900)")] == []
