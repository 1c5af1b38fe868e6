"""A pytest plugin that notes, per test, the classes of the IR nodes in the scripts that the test executes.

The notes go to the file that the environment variable NODE_RECORD names, as {test id: [class name, ...]}.
"""

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from codegen import builders

from pypto_tmpl import ir
from pypto_tmpl.codegen import script
from pypto_tmpl.codegen.record import Script

_record: dict[str, set[str]] = defaultdict(set)
_classes_of_text: dict[str, set[str]] = {}
_current: list[str] = []
_emit, _run = script.Generator.script, builders.run


def _emit_and_note(self: Any, node: Any, **options: Any) -> Script:
    emitted = _emit(self, node, **options)
    _classes_of_text[emitted.text] = {type(part).__name__ for part in ir.walk(node)} | {
        f"{type(kind).__name__}.{kind.name}"
        for part in ir.walk(node)
        if (kind := getattr(part, "scope_kind", None) or getattr(part, "func_type", None)) is not None
    }
    return emitted


def _run_and_note(text: str) -> dict[str, Any]:
    if _current:
        _record[_current[-1]] |= _classes_of_text.get(text, set())
    return _run(text)


script.Generator.script = _emit_and_note
builders.run = _run_and_note


def pytest_runtest_call(item: Any) -> None:
    _current.append(item.nodeid.partition("[")[0])


def pytest_sessionfinish() -> None:
    found = {test: sorted(classes) for test, classes in _record.items()}
    Path(os.environ["NODE_RECORD"]).write_text(json.dumps(found))
