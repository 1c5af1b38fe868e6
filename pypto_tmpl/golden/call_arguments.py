"""What is wrong with the arguments of a call of the harness, told before anything of it is run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.execution.entry import EntryError, select_entry, user_name
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.knobs import Spec
from pypto_tmpl.golden.sources import HasProgram, Lowers, Specializes
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec

_SPECS = "a list of TensorSpec and ScalarSpec"
_EXPECTED: Mapping[str, str] = {
    "kernel": "a kernel, an ir.Program, an object with as_ir(), or the path of a dump",
    "specs": _SPECS,
    "golden_fn": "a function of the tensors by name, or None",
}


def check_arguments(kernel: object, specs: object, golden_fn: object) -> None:
    """Refuse arguments of other kinds than their parameters, and specs in another order than the kernel's.

    Raises: HarnessError that says of each what it is, and what was expected.
    """
    given = {"kernel": kernel, "specs": specs, "golden_fn": golden_fn}
    wrong = [name for name, value in given.items() if not _fits(name, value)]
    if wrong:
        raise HarnessError(
            f"wrong kind of argument for {' and '.join(map(repr, wrong))}",
            notes=[*_kinds(given, wrong), "the parameters are kernel, specs, golden_fn, in that order"],
        )
    assert isinstance(specs, Sequence)
    names = [spec.name for spec in specs]
    params = _parameters(kernel, names)
    if names != params and sorted(names) == sorted(params):
        name = getattr(kernel, "__name__", "") or getattr(kernel, "name", "")
        what = f"the specs are not in the order of the parameters of {name!r}"
        raise HarnessError(what, notes=list(_misplaced(params, specs)))


def _fits(parameter: str, value: Any) -> bool:
    if parameter == "specs":
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        return is_list and all(isinstance(spec, TensorSpec | ScalarSpec) for spec in value)
    if parameter == "golden_fn":
        return value is None or (callable(value) and not _is_kernel(value))
    return not inspect.isfunction(value) and not isinstance(value, list | tuple)


def _is_kernel(value: object) -> bool:
    return isinstance(value, Specializes | Lowers | HasProgram | ir.Program)


def _kinds(given: Mapping[str, object], wrong: Sequence[str]) -> Iterator[str]:
    """What each wrong argument is, what its parameter takes, and whose it would be."""
    for name in wrong:
        owner = next((other for other in wrong if other != name and _fits(other, given[name])), None)
        guess = f": it would do for {owner!r}" if owner is not None else ""
        yield f"{name} is {_told(given[name])}{guess}; expected {_EXPECTED[name]}"


def _told(value: object) -> str:
    """An argument in a few words."""
    if isinstance(value, list | tuple):
        kinds = sorted({type(item).__name__ for item in value})
        return f"a {type(value).__name__} of {len(value)} ({', '.join(kinds) or 'nothing'})"
    name = getattr(value, "__name__", None)
    return f"a {type(value).__name__}" if name is None else f"the {type(value).__name__} {name!r}"


def _parameters(kernel: Any, names: Sequence[str]) -> list[str]:
    """The parameters of a kernel or of a program's entry by name; none where that is chosen later."""
    if isinstance(kernel, Specializes | Lowers):
        return list(inspect.signature(kernel).parameters) if callable(kernel) else []
    if not isinstance(kernel, ir.Program):
        return []
    try:
        entry = select_entry(kernel, names)
    except EntryError:  # told by the run
        return []
    return [user_name(param.name_hint) for param in entry.params]


def _misplaced(params: Sequence[str], specs: Sequence[Spec]) -> Iterator[str]:
    """Which parameter gets the tensor or scalar of another one, and what the spec of its own name has."""
    by_name = {spec.name: spec for spec in specs}
    for param, spec in zip(params, specs, strict=True):
        if spec.name != param:
            own = by_name[param]
            yield f"parameter {param!r} gets {_value(spec)} of spec {spec.name!r}; expected {_value(own)}"


def _value(spec: Spec) -> str:
    dtype = str(spec.dtype).removeprefix("torch.")
    return f"{dtype}{list(spec.extents)}" if isinstance(spec, TensorSpec) else f"a scalar of {dtype}"
