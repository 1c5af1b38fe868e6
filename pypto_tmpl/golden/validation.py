"""Comparing outputs with their goldens: all of them, before anything is raised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from pypto_tmpl.compare.by_rank import ranks_line, wrong_by_rank
from pypto_tmpl.compare.elements import meta_difference
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.golden.closeness import compare_close
from pypto_tmpl.golden.comparators import (
    Comparator,
    Verdict,
    error_distribution,
    mapped_pool_ratio_allclose,
    ratio_allclose,
    ratio_reldiff,
    topk_pair_compare,
)
from pypto_tmpl.golden.errors import ValidationError, place_in_script

__all__ = [
    "ValidationError",
    "error_distribution",
    "mapped_pool_ratio_allclose",
    "ratio_allclose",
    "ratio_reldiff",
    "topk_pair_compare",
    "validate_golden",
]

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Check:
    """One output's verdict; ``label`` is the comparator, ``measured`` are lines for the console alone."""

    passed: bool
    label: str | None
    message: str
    measured: Iterable[str] = ()
    facts: str = ""

    @property
    def verdict(self) -> str:
        return "PASS" if self.passed else "FAIL"

    @property
    def suffix(self) -> str:
        """The comparator as lines show it; nothing for the default rule."""
        return "" if self.label is None else f" ({self.label})"


@dataclass(frozen=True, slots=True)
class _Context:
    """What the outputs of one run are compared by."""

    outputs: Tensors
    golden: Tensors
    inputs: Tensors
    rtol: float
    atol: float
    equal_nan: bool
    stacked: Collection[str]


def validate_golden(
    outputs: Tensors,
    golden: Tensors,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    compare_fn: Mapping[str, Comparator] | None = None,
    inputs: Tensors | None = None,
    *,
    equal_nan: bool = False,
) -> None:
    """Compare every output with its golden and print a line for each.

    An output with an entry in ``compare_fn`` is judged by that, called as ``compare(actual, expected, *,
    actual_outputs, expected_outputs, inputs, rtol, atol) -> (ok, message)``; any other by the default rule
    ``|actual - expected| <= atol + rtol * |expected|``, shapes and dtypes being equal.

    Raises: ValidationError (an AssertionError) that names all outputs that differ, KeyError for outputs
    without golden.
    """
    raise_for(check_outputs(outputs, golden, rtol, atol, compare_fn, inputs, equal_nan=equal_nan))


def check_outputs(
    outputs: Tensors,
    golden: Tensors,
    rtol: float,
    atol: float,
    compare_fn: Mapping[str, Comparator] | None,
    inputs: Tensors | None,
    *,
    equal_nan: bool,
    only_wrong: bool = False,
    stacked: Collection[str] = (),
) -> dict[str, Check]:
    """The verdicts of ``validate_golden``, whose lines are printed: all of them, or those on what is wrong.

    Of outputs that are ``stacked``, ranks along the first axis, it is told which ranks are wrong.

    Raises: KeyError for a missing golden.
    """
    missing = [name for name in outputs if name not in golden]
    if missing:
        raise KeyError(f"no golden for output(s) {missing}; goldens: {sorted(golden)}")
    context = _Context(_on_cpu(outputs), _on_cpu(golden), inputs or {}, rtol, atol, equal_nan, stacked)
    checks = {}
    for name, actual in context.outputs.items():
        comparator = (compare_fn or {}).get(name)
        check = _by_default(name, context) if comparator is None else _by(comparator, name, context)
        checks[name] = replace(check, facts=f"shape={tuple(actual.shape)} dtype={actual.dtype}")
        if only_wrong and check.passed:
            continue
        print(f"[RUN]   {name!r} {checks[name].verdict}  {checks[name].facts}{check.suffix}")
        for line in check.measured:
            print(f"          {line}")
    return checks


def raise_for(checks: Mapping[str, Check], remarks: Sequence[str] = ()) -> None:
    """Raise ValidationError with a block for each output that differs, or for remarks, which follow them."""
    blocks = {
        name: f"  {name!r} FAIL{check.suffix}  {check.facts}\n{check.message}".rstrip("\n")
        for name, check in checks.items()
        if not check.passed
    }
    if blocks:
        heading = f"Output(s) does not match golden: {list(blocks)}"
        raise ValidationError("\n".join([heading, *blocks.values(), *remarks]))
    if remarks:
        raise ValidationError("\n".join(remarks))


def _on_cpu(tensors: Tensors) -> dict[str, torch.Tensor]:
    """The tensors on the CPU; of those on the meta device there is nothing to bring there."""
    return {
        name: tensor.detach() if tensor.is_meta else tensor.detach().cpu() for name, tensor in tensors.items()
    }


def _by_default(name: str, context: _Context) -> Check:
    actual, expected = context.outputs[name], context.golden[name]
    found = compare_close(actual, expected, context.rtol, context.atol, context.equal_nan)
    message, measured = found.message(), list(found.measured())
    if found.found.bad and name in context.stacked:
        tolerance = Tolerance(context.rtol, context.atol).of(actual.dtype)
        by_rank = ranks_line(wrong_by_rank(actual, expected, tolerance, context.equal_nan))
        message, measured = f"    {by_rank}\n{message}", [by_rank, *measured]
    return Check(found.passed, None, message, measured)


def _by(comparator: Comparator, name: str, context: _Context) -> Check:
    label = str(getattr(comparator, "__name__", "custom"))
    missing = meta_difference(context.outputs[name], context.golden[name])
    if missing is not None:
        return Check(False, label, f"    {missing}")
    try:
        passed, message = _unpacked(
            comparator(
                context.outputs[name],
                context.golden[name],
                actual_outputs=context.outputs,
                expected_outputs=context.golden,
                inputs=context.inputs,
                rtol=context.rtol,
                atol=context.atol,
            )
        )
    except Exception as error:
        passed, message = False, _raised(error)
    return Check(passed, label, message, [f"tolerance of the run rtol={context.rtol} atol={context.atol}"])


def _unpacked(answer: object) -> Verdict:
    if isinstance(answer, tuple) and len(answer) == 2:
        return bool(answer[0]), str(answer[1])
    raise TypeError(f"a comparator returns (ok, message), this one returned {answer!r}")


def _raised(error: Exception) -> str:
    place = place_in_script(error)
    return f"    compare_fn raised {type(error).__name__}: {error}" + (f"\n      at {place}" if place else "")
