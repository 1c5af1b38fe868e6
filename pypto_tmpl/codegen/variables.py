"""Names of one function's variables."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.facts import BOXES
from pypto_tmpl.codegen.lane_regions import lane_variable
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.names import NameTable
from pypto_tmpl.codegen.packed import is_packed
from pypto_tmpl.codegen.static_regions import static_region


class Variables:
    """The names of one function, given as variables are bound."""

    def __init__(self, context: Context) -> None:
        self._context, self._macros, self._forms = context, context.macros, context.forms
        self.names = NameTable(context.script.reserved)
        self.unbound_regions = context.script.kernels.unbound_regions(context.function.name)
        self._bound: dict[int, str] = {}
        self._texts: dict[int, str] = {}  # what variables are read by: their names, or that they are nothing
        self._companions: dict[int, str] = {}
        self._nothing: set[int] = set()
        self._headers: dict[str, str] = {}
        self.unbound: list[ir.Var] = []  # read, though nothing binds them; reported once

    @lazy
    def _extents(self) -> dict[int, tuple[ir.Var, int]]:
        return _extents_of_params(self._context.function)

    @lazy
    def _region_extents(self) -> dict[int, tuple[ir.Var, int]]:
        return {
            id(extent): (param, axis)
            for param in reversed(self._context.function.params)
            if id(param) in self.unbound_regions
            for axis, extent in reversed(list(enumerate(static_region(param.type) or ())))
            if isinstance(extent, ir.Var)
        }

    def extent_text(self, name: str, type_: ir.Type, axis: int) -> str:
        """The extent of a value at run time, in numbers."""
        is_last = isinstance(type_, ir.ShapedType) and axis == len(type_.shape) - 1
        extent = self._macros.packed_extent if is_last and is_packed(type_) else self._macros.extent
        return str(extent(name, axis))

    def shape_text(self, name: str, type_: ir.TensorType) -> str:
        """The extents of a tensor at run time, in numbers."""
        if not is_packed(type_):
            return str(self._macros.shape(name))
        axes = range(len(type_.shape))
        return str(self._macros.list_of([self.extent_text(name, type_, axis) for axis in axes]))

    def bind(self, var: ir.Var) -> str:
        """The name of ``var``, which is being assigned."""
        key = id(var)
        name = self._bound.get(key)
        if name is None:
            name = self._bound[key] = self.names.unique(var.name_hint)
        self._nothing.discard(key)
        self._texts[key] = name
        return name

    def share_name(self, var: ir.Var, source: ir.Var) -> None:
        """Have ``var`` go by the name of ``source``, whose value it has for good."""
        self._texts[id(var)] = self._bound[id(var)] = self._bound[id(source)]

    def bind_nothing(self, var: ir.Var) -> None:
        """Mark ``var`` as the result of an op that has no effect and no value here."""
        self._nothing.add(id(var))
        self._texts[id(var)] = self._macros.nothing()

    def is_nothing(self, var: ir.Var) -> bool:
        """Whether ``var`` is the result of an op that has no value here."""
        return id(var) in self._nothing

    def is_bound(self, var: ir.Var) -> bool:
        """Whether ``var`` has been assigned by now."""
        return id(var) in self._bound

    def name_of(self, var: ir.Var) -> str:
        """The name of ``var``, which is being read; a dynamic extent is read off a parameter.

        After vector splitting, types of lane code may name an index of the lane that no statement binds.
        """
        key = id(var)
        text = self._texts.get(key)
        if text is not None:
            return text
        if key in self._extents:
            param, axis = self._extents[key]
            text = self.extent_text(self._bound[id(param)], param.type, axis)
        elif key in self._region_extents:
            param, axis = self._region_extents[key]
            text = self._macros.item(self._macros.region(self._bound[id(param)]), axis)
        elif self._context.script.kernels.is_lane_symbol(self._context.function, var):
            local = lane_variable(self._context.function.body)
            if local is not None and self.is_bound(local):
                self.share_name(var, local)
                return self._bound[key]
            text = self._macros.lane_index()
        else:
            name = var.name_hint
            self._context.report(
                f"variable {name!r} is used, but nothing before binds it", var.span, unbound=name
            )
            self.unbound.append(var)
            return self.bind(var)
        name = self.bind(var)
        self._headers[name] = text
        return name

    def forget(self, reported: int) -> None:
        """Have unbound variables beyond the first so many be reported where they are read next."""
        for var in self.unbound[reported:]:
            del self._bound[id(var)], self._texts[id(var)]
        del self.unbound[reported:]

    def companion(self, var: ir.Var) -> str:
        """The run-time name of the region of ``var``."""
        name = self._companions.get(id(var))
        if name is None:
            name = self.names.unique(self._macros.companion(var.name_hint))
            self._companions[id(var)] = name
        return name

    def share_companion(self, var: ir.Var, source: ir.Var) -> None:
        """Have the region of ``var`` go by the name of that of ``source``."""
        self._companions[id(var)] = self.companion(source)

    def received_region(self, param: ir.Var) -> str:
        """The name of the region that came along with a parameter."""
        name = self.companion(param)
        self._headers[name] = self._macros.region(self._bound[id(param)])
        return name

    def header(self, hint: str, text: str) -> str:
        """A new name that has a value from the start of the function on."""
        name = self.names.unique(hint)
        self._headers[name] = text
        return name

    def header_lines(self) -> list[str]:
        """Assignments at the top of the function that the body turned out to need."""
        return [
            self._context.script.generator.statements.assign(name, text)
            for name, text in self._headers.items()
        ]

    @lazy
    def device(self) -> str | None:
        """Text of the device of the function's tensors, None when it takes none."""
        for var in self._context.function.params:
            if isinstance(var.type, BOXES):
                return str(self._macros.device_of(self.bind(var)))
        return None


def _extents_of_params(function: ir.Function) -> dict[int, tuple[ir.Var, int]]:
    """Dynamic extents by identity, with the first parameter and axis that they can be read off."""
    return {
        id(dim): (var, axis)
        for var in reversed(function.params)
        if isinstance(var.type, ir.ShapedType)
        for axis, dim in reversed(list(enumerate(var.type.shape)))
        if isinstance(dim, ir.Var)
    }
