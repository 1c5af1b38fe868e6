"""The object of the fixture ``pypto_snapshot``: equals what is emitted as it is committed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import program_part
from pypto_tmpl.debug.torch_codegen import emit_script, torch_codegen
from pypto_tmpl.generated import is_script, write_generated
from pypto_tmpl.golden.sources import HasProgram, Lowers, Specializes
from pypto_tmpl.snapshots.cases import Emission
from pypto_tmpl.snapshots.config import nearest_config
from pypto_tmpl.snapshots.patch import FilePatch, hunk_text
from pypto_tmpl.snapshots.record import SnapshotRecord, stem_of


def configured_emission(folder: Path) -> Emission:
    """How the repository's snapshots are emitted; as by default where it has no configuration."""
    config = nearest_config(folder)
    return Emission() if config is None else Emission(config.table.check_shapes, config.table.preamble)


class PyptoSnapshot:
    """The committed scripts of one test; ``==`` compares the next of them.

    ``folder`` holds the scripts of the test's file; ``show`` puts a text into the report of the test.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        *,
        folder: Path,
        test: str,
        node_id: str,
        show: Callable[[str, str], None],
        record: SnapshotRecord,
        emission: Emission,
        is_updating: bool,
    ) -> None:
        self._folder = folder
        self._test = test
        self._node_id = node_id
        self._show = show
        self._record = record
        self._emission = emission
        self._is_updating = is_updating
        self._name: str | None = None
        self._names: set[str] = set()  # shared with what a call gives
        self.explanation: list[str] = []

    def __repr__(self) -> str:
        return f"<snapshot of {self._test}>"

    def __call__(self, *, name: str | None = None, check_shapes: bool | None = None) -> PyptoSnapshot:
        """The same snapshot under a name of its own, or emitted otherwise."""
        if name is not None and (not name or "/" in name):
            raise ValueError(f"{name!r} is no name of a snapshot: it becomes part of a file's name")
        emission = (
            self._emission if check_shapes is None else replace(self._emission, check_shapes=check_shapes)
        )
        other = PyptoSnapshot(
            folder=self._folder,
            test=self._test,
            node_id=self._node_id,
            show=self._show,
            record=self._record,
            emission=emission,
            is_updating=self._is_updating,
        )
        other._name, other._names = name, self._names
        return other

    def __eq__(self, other: object) -> bool:
        """Whether what is emitted for ``other`` is committed; when updating, it is from now on.

        Raises TypeError for what has no program, and what specialising and emission raise.
        """
        __tracebackhide__ = True  # pytest: what is wrong is wrong in the test
        program = _program(other)
        given: dict[str, Any] = {
            "check_shapes": self._emission.check_shapes,
            "format": True,
            "preamble": self._emission.preamble,
            "options": {},
            "comments": True,
        }
        text = torch_codegen(program, **given)
        path = self._folder / f"{self._next_stem()}.py"
        self._record.used.add(str(path))
        committed = path.read_bytes() if path.is_file() else None
        if committed == text.encode():
            return True
        self._record.failed.add(str(path))
        if self._is_updating:
            write_generated(path, text, is_script, make_folders=True)
            self._record.failed.discard(str(path))
            self._record.written.add(str(path))
            return True
        self._explain(Path(os.path.relpath(path)), committed, emit_script(program, **given).program)
        return False

    def _next_stem(self) -> str:
        """The name of the next script; numbers count on where the same name is used again."""
        stem = stem_of(self._test if self._name is None else f"{self._test}.{self._name}")
        number = 1
        while (found := stem if number == 1 else f"{stem}.{number}") in self._names:
            number += 1
        self._names.add(found)
        return found

    def _explain(self, path: Path, committed: bytes | None, program: str) -> None:
        """Say what is wrong, and show how the program differs, without the helpers around it."""
        command = f"accept it by: pytest {shlex.quote(self._node_id)} --snapshot-update"
        if committed is None:
            self.explanation = [f"there is no snapshot {path.as_posix()}", command]
            self._show("pypto snapshot", program)
            return
        old = program_part(committed.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))
        patch = FilePatch(path.as_posix(), old, program)
        if patch.hunks:
            self.explanation = [f"the program of the snapshot {path.as_posix()} differs", command]
            hunks = [hunk_text(hunk) for hunk in patch.hunks]
            self._show("pypto snapshot", "\n".join(["--- committed", "+++ emitted now", *hunks]))
        else:
            what = "differs outside of the program: in its helpers, or in line ends"
            self.explanation = [f"the snapshot {path.as_posix()} {what}", command]


def _program(value: Any) -> ir.Program | ir.Function:
    __tracebackhide__ = True
    if isinstance(value, ir.Program | ir.Function):
        return value
    found: Any = None
    if isinstance(value, Specializes):
        found = value.specialize()
    elif isinstance(value, Lowers):
        found = value.lower()
    elif not isinstance(value, type) and isinstance(value, HasProgram):
        found = value.as_ir()
    if isinstance(found, ir.Program | ir.Function):
        return found
    raise TypeError(
        f"pypto_snapshot is compared with a value of type {type(value).__name__}; it takes an ir.Program or "
        "ir.Function, an object with as_ir(), or a @pl.jit kernel (kernel.specialize(...) where annotations "
        "leave shapes out)"
    )
