"""Running a stage on given arguments: by values, on the bytes of its tiles, and in other orders."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.options import EVERYTHING_OFF, ScriptOptions
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.execution.entry import describe_entry, select_entry
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.named import bind_named
from pypto_tmpl.hunt.programs.drawing import ENTRY

Tensors = Mapping[str, torch.Tensor]
BY_VALUE = EVERYTHING_OFF
ON_BYTES = ScriptOptions(storage=True)


def in_order(seed: int) -> ScriptOptions:
    """The options of a run in which the cores take turns by a number, on pipes as deep as declared."""
    return ScriptOptions(schedule_seed=seed, bounded_pipes=True, race_check=True, strict_leftovers=True)


@dataclass(frozen=True, slots=True)
class Emitted:
    """The script of a program, and how its entry is called."""

    text: str
    entry: Any

    def run(self, inputs: Tensors) -> dict[str, torch.Tensor]:
        """The tensors of the parameters after a run on copies, and what is returned.

        Raises whatever the script does.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are for users, who run a program once
            return self._run(inputs)

    def _run(self, inputs: Tensors) -> dict[str, torch.Tensor]:
        binding = bind_named(self.entry, inputs, {})
        namespace: dict[str, Any] = {"__name__": "pypto_tmpl_script"}
        exec(compile(self.text, "<hunted>", "exec"), namespace)
        result = LoadedScript(namespace, self.entry).call(binding.arguments)
        returned = result if isinstance(result, tuple) else (result,)
        found = {f"result {k}": one for k, one in enumerate(returned) if isinstance(one, torch.Tensor)}
        return binding.tensors | found


def emitted(program: ir.Program, options: ScriptOptions = BY_VALUE) -> Emitted:
    """The script of a stage. Raises what making one does.

    Helpers are imported where that can be: compiling them with each script takes longer than all else.
    """
    maker = generator()
    mode: Any = "import" if options == BY_VALUE else "script"
    script = maker.script(program, preamble=mode, options=options, needs_lines=False)
    function = select_entry(program, wanted=ENTRY)
    return Emitted(script.text, describe_entry(function, script.names[function.name]))
