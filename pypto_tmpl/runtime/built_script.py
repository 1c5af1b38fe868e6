"""The script of a build, and what is known of it: looked up when it is asked for, and once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.kept_record import kept_record
from pypto_tmpl.execution.origins import record_of
from pypto_tmpl.runtime.manifest import Manifest, file_record


class BuiltScript:
    """The script of one build; a ``program`` that is given is what it was made from."""

    def __init__(self, build: Path, manifest: Manifest, program: ir.Program | None = None) -> None:
        self.path = build / manifest.script
        self._build, self._manifest, self._program = build, manifest, program

    @cached_property
    def program(self) -> ir.Program | None:
        """The program that the script was made from, if the build still has it as it was."""
        return self._program or self._dumped()

    @cached_property
    def record(self) -> Script | None:
        """The record of the script, None if it was edited to another program.

        One that was only laid out anew has its record as well, for which it is emitted again.
        """
        program = self.program
        kept = kept_record(self.path, self._text, () if program is None else functions_of(program))
        if kept is None and program is not None:
            return record_of(program, self._text, takes_notes=True)
        return kept

    @property
    def known(self) -> Script:
        """The record, or what an edited script says itself."""
        return self.record or outline(self._text)

    def sources(self) -> Mapping[str, str]:
        """The source lines of the lines whose source is known."""
        return {} if self.record is None else self.record.sources

    @cached_property
    def _text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def _dumped(self) -> ir.Program | None:
        source = self._manifest.source
        if source is None:
            return None
        path = self._build / source
        if not path.is_file() or file_record(path) != self._manifest.files.get(source):
            return None
        node = ir.deserialize_from_file(str(path))
        return node if isinstance(node, ir.Program) else None
