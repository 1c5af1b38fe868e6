"""``run`` and ``run_jit``: compile a kernel, run it on generated inputs, compare it with its golden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypto_tmpl.golden.errors import failed_result
from pypto_tmpl.golden.overrides import current_overrides
from pypto_tmpl.golden.result import RunResult

if TYPE_CHECKING:  # specs and comparators do not wait for the compiler
    from pypto_tmpl import ir
    from pypto_tmpl.golden.comparators import Comparator
    from pypto_tmpl.golden.knobs import GoldenFn, Knobs, PathLike, Spec
    from pypto_tmpl.golden.sources import HasProgram, Lowers, Specializes


def run(
    program: ir.Program | HasProgram | PathLike,
    specs: Sequence[Spec],
    golden_fn: GoldenFn | None = None,
    golden_data: PathLike | None = None,
    compile_cfg: Mapping[str, Any] | None = None,
    runtime_cfg: Mapping[str, Any] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    compare_fn: Mapping[str, Comparator] | None = None,
    compile_only: bool = False,
    runtime_dir: PathLike | None = None,
    save_data: bool | None = None,
    *,
    golden_only: bool = False,
    equal_nan: bool = False,
    report: PathLike | None = None,
) -> RunResult:
    """Compile a program, generate its inputs, compute the golden, run it and validate its outputs.

    ``program`` is an ``ir.Program``, an object with ``as_ir()``, or the path of a dump; ``specs`` are in the
    order of the entry's parameters. Each stage prints its ``[RUN]`` lines. Nothing is raised: a failure of
    any stage is a result with ``passed=False``, the phase, the error and its traceback.

    golden_fn: called with clones of the inputs by name, fills in the outputs; golden_data: folder whose
        ``in/`` and ``out/`` are used instead of generated inputs and of ``golden_fn``.
    compile_cfg, runtime_cfg: knobs of the compilation and of the run; an unknown one is an error.
    rtol, atol, equal_nan: the default rule; compare_fn: comparators of single outputs.
    compile_only: stop after compiling; golden_only: write the goldens and run nothing.
    runtime_dir: run this earlier build instead of compiling.
    save_data: write inputs and goldens to ``data/``; None does so up to 1 GiB.
    report: write a page on the run here, passed or failed; plain data where the name ends in ``.json``.
    """
    return _run(
        program,
        False,
        specs=specs,
        golden_fn=golden_fn,
        golden_data=golden_data,
        compile_cfg=compile_cfg,
        runtime_cfg=runtime_cfg,
        rtol=rtol,
        atol=atol,
        compare_fn=compare_fn,
        compile_only=compile_only,
        runtime_dir=runtime_dir,
        save_data=save_data,
        golden_only=golden_only,
        equal_nan=equal_nan,
        report=report,
    )


def run_jit(
    fn: Specializes | Lowers,
    specs: Sequence[Spec],
    golden_fn: GoldenFn | None = None,
    golden_data: PathLike | None = None,
    compile_cfg: Mapping[str, Any] | None = None,
    runtime_cfg: Mapping[str, Any] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    compare_fn: Mapping[str, Comparator] | None = None,
    compile_only: bool = False,
    runtime_dir: PathLike | None = None,
    save_data: bool | None = None,
    *,
    golden_only: bool = False,
    equal_nan: bool = False,
    report: PathLike | None = None,
) -> RunResult:
    """Do what ``run`` does for a ``@pl.jit`` function, which is specialised for the specs.

    Scalars of the specs are baked into the program. ``compile_cfg`` may also hold fields of ``RunConfig``,
    and the platform of ``runtime_cfg`` goes before the one in ``compile_cfg``.
    """
    return _run(
        fn,
        True,
        specs=specs,
        golden_fn=golden_fn,
        golden_data=golden_data,
        compile_cfg=compile_cfg,
        runtime_cfg=runtime_cfg,
        rtol=rtol,
        atol=atol,
        compare_fn=compare_fn,
        compile_only=compile_only,
        runtime_dir=runtime_dir,
        save_data=save_data,
        golden_only=golden_only,
        equal_nan=equal_nan,
        report=report,
    )


def _run(kernel: Any, is_jit: bool, **given: Any) -> RunResult:
    """Run a program, or a JIT function, on the knobs as they are ``given``."""
    overrides = current_overrides()
    if overrides is None:
        return _executed(kernel, is_jit, given)
    if overrides.kernel is not None and overrides.kernel != _name(kernel):
        return RunResult(True)
    if overrides.seed is not None:
        import torch

        torch.manual_seed(overrides.seed)
    result = _executed(kernel, is_jit, overrides.applied(given))
    overrides.runs.append(result)
    return result


def _name(kernel: Any) -> str:
    """What a program, what stands for one, or a function is called."""
    return str(getattr(kernel, "__name__", None) or getattr(kernel, "name", ""))


def _executed(kernel: Any, is_jit: bool, given: Mapping[str, Any]) -> RunResult:
    from pypto_tmpl.golden.harness import Harness
    from pypto_tmpl.golden.sources import GivenProgram, JitFunction

    try:
        knobs = _knobs(given)
    except Exception as error:
        return failed_result(error, "arguments")
    source = JitFunction(kernel, knobs.specs) if is_jit else GivenProgram(kernel)
    return Harness(source, knobs).execute()


def _knobs(given: Mapping[str, Any]) -> Knobs:
    """The knobs among the arguments of ``run`` or ``run_jit``."""
    from pypto_tmpl.golden.knobs import Knobs

    found = {name: given[name] for name in Knobs.__dataclass_fields__}
    for name in ("golden_data", "runtime_dir", "report"):
        found[name] = None if found[name] is None else Path(found[name])
    return Knobs(**found | {"specs": tuple(found["specs"])})
