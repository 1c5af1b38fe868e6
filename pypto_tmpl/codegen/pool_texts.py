"""The memories of a function as its script has them: pools of bytes, slots of pipes, and views of places."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.storage.places import FunctionPlaces, Place, pool_of
from pypto_tmpl.storage.slots import SlotRing


class PoolTexts:
    """Names of pools and slots, which the head of the function gives them when they are first asked for."""

    def __init__(
        self, context: Context, variables: Variables, expressions: Expressions, places: FunctionPlaces
    ) -> None:
        self._macros, self._has_addresses = context.macros, context.script.has_addresses
        self._variables, self._expressions, self._places = variables, expressions, places

    @lazy
    def rings(self) -> dict[int, str]:
        """The names of the slots of pipes, by their buffers (ids)."""
        return {
            id(ring.buffer): self._variables.header(ring.buffer.name_hint, self._ring(ring))
            for ring in self._places.rings
            if id(ring.buffer) in self._slot_spaces
        }

    @lazy
    def _slot_spaces(self) -> dict[int, Place]:
        """A place of a tile in the slots of each buffer."""
        return {id(place.base): place for place in self._places.all() if self._places.slots_of(place)}

    def _ring(self, ring: SlotRing) -> str:
        pool = self._pools[pool_of(self._slot_spaces[id(ring.buffer)], self._has_addresses)]
        return str(self._macros.slots(pool, self._macros.address(ring.offset.value), ring.size, ring.count))

    @lazy
    def _pools(self) -> dict[ir.MemorySpace | ir.Var, str]:
        device, macros = self._variables.device, self._macros
        return {
            pool: self._variables.header(
                macros.pool_name(pool.name) if isinstance(pool, ir.MemorySpace) else pool.name_hint,
                macros.pool(size, device),
            )
            for pool, size in self._places.pools(self._has_addresses).items()
        }

    def view(self, place: Place) -> str:
        """The text of a view of the bytes of a place."""
        macros, boxes = self._macros, place.boxes
        pool = self._pools[pool_of(place, self._has_addresses)]
        address = place.address
        start = self._expressions.alone(place.offset) if address is None else macros.address(address)
        shape, dtype = self.literals(place.shape), place.dtype.name
        if boxes is not None:
            usual = -(-place.shape[0] // boxes.height) * boxes.height
            rows = None if boxes.rows == usual else macros.literal(boxes.rows)
            fractal = macros.literal(boxes.fractal)
            return str(macros.boxes(pool, start, shape, dtype, boxes.name, fractal, rows))
        strides = None if place.is_dense else self.literals(place.strides)
        return str(macros.buffer(pool, start, shape, dtype, strides))

    def literals(self, numbers: Iterable[int]) -> list[str]:
        """The texts of numbers."""
        return [self._macros.literal(number) for number in numbers]
