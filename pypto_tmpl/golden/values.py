"""The tensors of one run: what the kernel works on, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.knobs import GoldenFn, Spec
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.golden.threads import golden_threads


@dataclass(slots=True)
class RunValues:
    """Tensors by name; scalars as 0-dim tensors. ``expected`` is None while there are no goldens."""

    specs: Sequence[Spec]
    values: dict[str, torch.Tensor]
    expected: dict[str, torch.Tensor] | None = None

    def before(self) -> dict[str, torch.Tensor] | None:
        """The values as they were before a run that has only written its outputs.

        None where an output began with something else than zeros, which is not kept.
        """
        outputs = self.outputs()
        if any(isinstance(s, TensorSpec) and s.is_output and s.init_value is not None for s in self.specs):
            return None
        return {n: torch.zeros_like(value) if n in outputs else value for n, value in self.values.items()}

    def starts(self) -> dict[str, torch.Tensor]:
        """What outputs begin with, copied, of those that begin with something else than zeros."""
        return {
            spec.name: self.values[spec.name].clone()
            for spec in self.specs
            if isinstance(spec, TensorSpec) and spec.is_output and spec.init_value is not None
        }

    def restart(self, starts: Mapping[str, torch.Tensor]) -> None:
        """Have the outputs begin anew, in place: as they started, or as zeros."""
        for name, value in self.outputs().items():
            if name in starts:
                value.copy_(starts[name])
            else:
                value.zero_()

    def arguments(self) -> list[object]:
        """The arguments of the entry: tensors, and scalars as ctypes values."""
        return [
            ScalarSpec(spec.name, spec.dtype, self.values[spec.name]).to_ctypes()
            if isinstance(spec, ScalarSpec)
            else self.values[spec.name]
            for spec in self.specs
        ]

    def outputs(self) -> dict[str, torch.Tensor]:
        """What was computed."""
        return {s.name: self.values[s.name] for s in self.specs if isinstance(s, TensorSpec) and s.is_output}

    def inputs(self) -> dict[str, torch.Tensor]:
        """Everything that is no output."""
        outputs = self.outputs()
        return {name: value for name, value in self.values.items() if name not in outputs}

    def compute_golden(self, golden_fn: GoldenFn) -> None:
        """Call the golden function on clones of everything; what it leaves in the outputs is expected.

        Raises HarnessError for an output that is no tensor any more, and for a function that changes what
        the kernel is going to read.
        """
        before = {name: _version(value) for name, value in self.values.items()}
        scratch: dict[str, Any] = {
            spec.name: self.values[spec.name].item()
            if isinstance(spec, ScalarSpec)
            else self.values[spec.name].clone()
            for spec in self.specs
        }
        with golden_threads():
            golden_fn(scratch)
        for name, version in before.items():
            if _version(self.values[name]) != version:
                raise HarnessError(
                    f"golden_fn changed the tensor that init_value gave for {name!r}, which the kernel reads",
                    notes=[f"work on values[{name!r}], which is a copy"],
                )
        self.expect({name: _expected(scratch, name) for name in self.outputs()})

    def expect(self, expected: Mapping[str, torch.Tensor]) -> None:
        """Take the goldens; one that shares memory with what the kernel works on is copied."""
        self.expected = {
            name: value.clone() if self._is_shared(value) else value for name, value in expected.items()
        }

    def assert_apart(self) -> None:
        """Raise AssertionError if a golden shares memory with an output: it would be compared with itself."""
        for name, value in (self.expected or {}).items():
            if self._is_shared(value):
                raise AssertionError(f"the golden of {name!r} shares memory with what the kernel works on")

    def _is_shared(self, value: torch.Tensor) -> bool:
        return any(_share_storage(value, own) for own in self.values.values())


def generate(specs: Sequence[Spec]) -> RunValues:
    """Fresh values, one by one in the order of the specs.

    Raises HarnessError for an initial tensor of another shape than its spec.
    """
    values = {}
    for spec in specs:
        if isinstance(spec, ScalarSpec):
            values[spec.name] = spec.value
            continue
        value = _initial(spec)
        if value.is_meta:
            raise HarnessError(f"init_value of {spec.name!r} is on the meta device: it holds no values")
        if tuple(value.shape) != spec.extents:
            raise HarnessError(
                f"init_value of {spec.name!r} has shape {tuple(value.shape)}, the spec {spec.extents}"
            )
        values[spec.name] = value
    return RunValues(specs, values)


def _initial(spec: TensorSpec) -> torch.Tensor:
    try:
        return spec.create_tensor()
    except Exception as error:
        if repr(spec.name) not in str(error):
            error.add_note(f"  in making the initial value of {spec.name!r}")
        raise


def from_data(specs: Sequence[Spec], inputs: Mapping[str, torch.Tensor]) -> RunValues:
    """Saved values; pure outputs start as zeros."""
    values = {}
    for spec in specs:
        known = inputs.get(spec.name)
        if known is None:
            assert isinstance(spec, TensorSpec)
            known = spec.create_zeros()
        values[spec.name] = known
    return RunValues(specs, values)


def _expected(scratch: Mapping[str, Any], name: str) -> torch.Tensor:
    if name not in scratch:
        raise HarnessError(f"golden_fn removed the output {name!r}")
    value = scratch[name]
    if not isinstance(value, torch.Tensor):
        raise HarnessError(f"golden_fn set the output {name!r} to a {type(value).__name__}, not a tensor")
    if value.is_meta:
        raise HarnessError(
            f"golden_fn set the output {name!r} to a tensor on the meta device: it has no values"
        )
    return value.detach()


def _version(tensor: torch.Tensor) -> int:
    """How often a tensor, or another view of its memory, was changed in place."""
    return 0 if tensor.is_inference() else tensor._version


def _share_storage(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.device != other.device or not one.numel() or not other.numel():
        return False
    first, second = one.untyped_storage(), other.untyped_storage()
    return (
        first.data_ptr() < second.data_ptr() + second.nbytes()
        and second.data_ptr() < first.data_ptr() + first.nbytes()
    )
