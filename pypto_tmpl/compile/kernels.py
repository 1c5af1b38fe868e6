"""Compiling and running JIT kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.compile.api import compile_as, compile_knobs
from pypto_tmpl.compile.compiled_program import CompiledProgram, started
from pypto_tmpl.compile.lower import PassOptions, lower
from pypto_tmpl.compile.options import compile_options
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.positional import bind_positional, silence_shapes
from pypto_tmpl.execution.script import make_script
from pypto_tmpl.language.jit.cache import Specialisation
from pypto_tmpl.language.jit.function import JITFunction
from pypto_tmpl.runtime.calling import complete_call
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.entry import find_entry, result_count, stage_entry
from pypto_tmpl.runtime.execute import run_in_place, warn_of_change
from pypto_tmpl.runtime.platforms import find_platform, require_simulated


@dataclass(frozen=True, slots=True)
class Runnable:
    """A kernel's script, loaded."""

    loaded: LoadedScript
    has_return: bool
    program: ir.Program


def run_kernel(function: JITFunction, args: Sequence[Any], kwargs: Mapping[str, Any], config: Any) -> Any:
    """Call a kernel with torch tensors and numbers; see ``JITFunction.__call__``."""
    options = None if config is None else compile_options(compile_knobs(_checked(config)))
    passes = PassOptions() if options is None else options.passes
    config = _checked(config)
    require_simulated(find_platform(config.platform))
    specialisation = function.specialisation(*args, **kwargs)
    if options is not None:
        options.check_devices(specialisation.program)
    names = [parameter.name for parameter in function.parameters()]
    bound = function.signature().bind_partial(*args, **kwargs)
    bound.apply_defaults()
    values = [bound.arguments[name] for name in names if name in bound.arguments]
    keeps_build = config.save_kernels or config.save_kernels_dir or config.codegen_only
    if keeps_build:
        compiled = compile_kernel(specialisation.program, config)
        return None if config.codegen_only else started(compiled)(*values, config=config)
    runnable = _runnable(function, specialisation, passes.resolved())
    if "_ranks" in runnable.loaded.namespace:
        runnable.loaded.namespace["_ranks"].device_ids = None if options is None else options.device_ids
    entry = runnable.loaded.entry
    call = complete_call(entry, runnable.has_return, values, f"{function.__name__}()")
    before = run_in_place(runnable.loaded, bind_positional(entry, call.arguments))
    for found in before.changed(lambda: runnable.program):
        warn_of_change(found)
    return call.value


def _runnable(function: JITFunction, specialisation: Specialisation, passes: PassOptions) -> Runnable:
    """The script of a specialisation, made once for the same settings of the passes."""
    found: Runnable | None = specialisation.made.get(passes)
    if found is None:
        program = lower(specialisation.program, passes)
        as_given = find_entry(specialisation.program)
        entry = stage_entry(program, as_given)
        made = make_script(program)
        namespace = load_script(made.script, f"<pypto_tmpl jit {function.__name__}>")
        silence_shapes(namespace)
        has_return = result_count(specialisation.program, as_given) > 0
        entry = replace(entry, script_name=made.script.names[entry.name])
        found = specialisation.made[passes] = Runnable(
            LoadedScript(namespace, entry, made.large()), has_return, program
        )
    return found


def lower_kernel(program: ir.Program, buffers: bool | None = None) -> ir.Program:
    """A program after the passes; ``buffers`` says whether the last is LowerToBuffers, if not the context."""
    return lower(program, PassOptions(buffers=buffers))


def compile_kernel(program: ir.Program, config: Any) -> CompiledProgram:
    """Compile a program as a ``RunConfig`` says."""
    return compile_as(program, _checked(config))


def _checked(config: Any) -> RunConfig:
    if config is None:
        return RunConfig()
    if not isinstance(config, RunConfig):
        raise TypeError(f"config is a RunConfig, got {type(config).__name__}")
    return config
