"""A build whose script is loaded once, for many calls on the same ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.domains.host import REQUIRED, SUB_WORKERS, is_callback, is_sub_worker
from pypto_tmpl.execution.load import load_script_file
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.origins import LazySourceLines
from pypto_tmpl.execution.positional import bind_positional, silence_shapes
from pypto_tmpl.runtime.built_script import BuiltScript
from pypto_tmpl.runtime.execute import run_in_place, script_places, warn_of_change
from pypto_tmpl.runtime.manifest import Manifest, read_required


class PreparedBuild:
    """The program of a build on the devices of its manifest.

    With ``keeps_windows`` these live from call to call, and are zeroed before each but the first if they
    are to be ``reset``.
    """

    def __init__(
        self,
        build: Path,
        manifest: Manifest,
        program: ir.Program | None = None,
        *,
        keeps_windows: bool = False,
        reset: bool = True,
    ) -> None:
        self.entry = manifest.entry
        self._build, self._manifest = build, manifest
        self._script = BuiltScript(build, manifest, program)
        sources = LazySourceLines(self._script.sources)
        namespace = load_script_file(self._script.path, manifest.entry.script_name, sources)
        silence_shapes(namespace)
        ranks = namespace["_ranks"]
        ranks.device_ids, ranks.resets = manifest.device_ids, reset
        ranks.kept = {} if keeps_windows else None
        self._loaded = LoadedScript(namespace, manifest.entry, manifest.script_large)

    def run(self, args: Sequence[object]) -> None:
        """Run the program, which writes into its arguments: CPU tensors and ctypes scalars.

        Raises what ``bind_positional`` and the program raise, the latter with the lines that it came from.
        """
        values = bind_positional(self.entry, args)
        try:
            before = run_in_place(self._loaded, values)
        except Exception as error:
            for note in script_places(error, self._script):
                error.add_note(note)
            raise
        for found in before.changed(lambda: self._script.program):
            warn_of_change(found)

    @property
    def program(self) -> ir.Program | None:
        """The program that the script was made from, None where the build no longer has it as it was."""
        return self._script.program

    @property
    def sub_workers(self) -> Mapping[str, bool]:
        """The sub-workers by name, and whether whoever runs the program has to give them.

        Where the program is not there any more the names are those that the build lists. Raises
        ManifestError for a list that is none.
        """
        if self.program is not None:
            functions = filter(is_sub_worker, self.program.functions.values())
            return {function.name: is_callback(function) for function in functions}
        files = self._manifest.files
        paths = map(PurePosixPath, files)
        own = [p.stem for p in paths if p.parent == PurePosixPath(SUB_WORKERS) and p.suffix == ".py"]
        required = read_required(self._build) if REQUIRED in files else []
        return dict.fromkeys(own, False) | dict.fromkeys(required, True)

    def bind_workers(
        self, callbacks: Mapping[str, Callable[[Any], object]], overrides: Mapping[str, Callable[..., object]]
    ) -> None:
        """Give sub-workers their functions, by the names of the program.

        A callback gets all arguments as one tuple, an override in place of a body one by one.
        """
        namespace = self._loaded.namespace
        namespace.setdefault("_callbacks", {}).update(callbacks)
        names = {function.made_from: function.name for function in self._script.known.functions}
        namespace.update({names[name]: function for name, function in overrides.items() if name in names})
