"""Keyword and attribute containers: ordered maps whose values remember the type they are stored as."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import (
    ArgDirection,
    MemorySpace,
    PadValue,
    SplitMode,
    TensorLayout,
    TileLayout,
)
from pypto_tmpl.ir.extents import as_extent
from pypto_tmpl.ir.leaves import Var

AttrValue: TypeAlias = Any
"""bool, int, float, str, DataType, an enum, an Expr, None (a null variable) or a tuple."""

AttrSource: TypeAlias = "Mapping[str, AttrValue] | Iterable[tuple[str, AttrValue]] | None"

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


class AttrKind(Enum):
    """Stored type of an attribute value; the member value is its tag on the wire where it has one."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STR = "str"
    DATA_TYPE = "DataType"
    MEMORY_SPACE = "MemorySpace"
    TENSOR_LAYOUT = "TensorLayout"
    TILE_LAYOUT = "TileLayout"
    PAD_VALUE = "PadValue"
    ARG_DIRECTION = "ArgDirection"
    ARG_DIRECTIONS = "ArgDirectionVector"
    INT32S = "Int32Vector"
    VAR = "Var"
    VARS = "VarList"
    EXPR = "Expr"


ENUM_KINDS: dict[type[Enum], AttrKind] = {
    MemorySpace: AttrKind.MEMORY_SPACE,
    TensorLayout: AttrKind.TENSOR_LAYOUT,
    TileLayout: AttrKind.TILE_LAYOUT,
    PadValue: AttrKind.PAD_VALUE,
    ArgDirection: AttrKind.ARG_DIRECTION,
}

_INT32_LIST_KEYS = frozenset({"arg_direction_overrides"})
SCOPE_LISTS: Mapping[str, str] = MappingProxyType(
    {"manual_dep_edges": "deps", "arg_direction_overrides_vars": "no_dep_args", "dump_vars": "dumps"}
)
"""Attributes of scopes that list variables, with the keywords that give them."""
SCOPE_ATTRS = (*SCOPE_LISTS, "task_id_var", "predicate", "allow_early_resolve", "slot_num", "windowize")
"""The attributes that scopes have in the language, in upstream's order."""
_VAR_LIST_KEYS = frozenset({*SCOPE_LISTS, "compiler_manual_dep_edges"})


class AttrMap(dict[str, AttrValue]):
    """Read-only ordered map of attributes; ``kinds`` gives the stored type of each value.

    Built from a mapping or from (key, value) pairs, converting values as upstream's bindings do. Lists
    become tuples. An integer ``core_num`` is an expression among the attributes of a launch, and stays an
    integer among the keywords of an op (``of_op``). Raises TypeError for a value that no stored type holds,
    naming the key, and ValueError for a repeated key.
    """

    __slots__ = ("kinds",)

    def __init__(self, source: AttrSource = None, of_op: bool = False) -> None:
        super().__init__()
        self.kinds: dict[str, AttrKind] = {}
        if source is None:
            return
        kinds: dict[str, AttrKind] = getattr(source, "kinds", {})
        for key, value in _pairs(source):
            if key in self.kinds:
                raise ValueError(f"attribute {key!r} is given twice")
            self.kinds[key], stored = (kinds[key], value) if key in kinds else _convert(key, value, of_op)
            dict.__setitem__(self, key, stored)

    @staticmethod
    def of_stored(entries: Iterable[tuple[str, AttrKind, AttrValue]]) -> AttrMap:
        """A map of values whose stored type is known already (a reader's)."""
        found = AttrMap()
        for key, kind, value in entries:
            if key in found.kinds:
                raise ValueError(f"attribute {key!r} is given twice")
            found.kinds[key] = kind
            dict.__setitem__(found, key, value)
        return found

    def map_expressions(self, function: Callable[[Expr], Expr]) -> AttrMap:
        """The map with ``function`` applied to every expression in it; itself when none changes.

        Raises TypeError where it gives something else for a variable of an attribute that holds variables.
        """
        changed = False
        entries: list[tuple[str, AttrKind, AttrValue]] = []
        for key, value in self.items():
            mapped = value
            if isinstance(value, Expr):
                mapped = function(value)
                changed |= mapped is not value
            elif self.kinds[key] is AttrKind.VARS:
                mapped = tuple(v if v is None else function(v) for v in value)
                changed |= any(a is not b for a, b in zip(mapped, value, strict=True))
            if self.kinds[key] in (AttrKind.VAR, AttrKind.VARS):
                _check_variables(key, mapped)
            entries.append((key, self.kinds[key], mapped))
        return AttrMap.of_stored(entries) if changed else self

    def with_(self, **values: AttrValue) -> AttrMap:
        """The map with these attributes set, those that are new at its end."""
        given = AttrMap(values)
        sources = [given if key in given else self for key in self] + [
            given for key in given if key not in self
        ]
        keys = [*self, *(key for key in given if key not in self)]
        return AttrMap.of_stored((k, m.kinds[k], m[k]) for k, m in zip(keys, sources, strict=True))

    def without(self, *keys: str) -> AttrMap:
        """The map without these attributes; itself where it has none of them."""
        if not any(key in self for key in keys):
            return self
        return AttrMap.of_stored((k, self.kinds[k], v) for k, v in self.items() if k not in keys)

    def expressions(self) -> Iterable[Expr]:
        """Every expression held, in order."""
        for key, value in self.items():
            if isinstance(value, Expr):
                yield value
            elif self.kinds[key] is AttrKind.VARS:
                yield from (v for v in value if v is not None)

    def _read_only(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("attributes are read-only; build a new map")

    __setitem__ = __delitem__ = __ior__ = _read_only
    clear = pop = popitem = setdefault = update = _read_only

    def __reduce__(self) -> tuple[Callable[..., AttrMap], tuple[list[tuple[str, AttrKind, AttrValue]]]]:
        return AttrMap.of_stored, ([(k, self.kinds[k], v) for k, v in self.items()],)


def attrs_of(source: AttrSource, field: str, owner: object, of_op: bool = False) -> AttrMap:
    """What a node that is being constructed stores in ``field``; errors name its class and the field."""
    if isinstance(source, AttrMap):
        return source
    if source is None:
        return _NO_ATTRS
    try:
        return AttrMap(source, of_op)
    except (TypeError, ValueError, RuntimeError) as error:
        raise type(error)(f"{type(owner).__name__}.{field}: {error}") from None


def _pairs(source: AttrSource) -> Iterable[tuple[str, AttrValue]]:
    """The entries of a mapping or a list of pairs; a TypeError for what is neither, or for another key."""
    entries = source.items() if isinstance(source, Mapping) else source
    if not isinstance(entries, Iterable | None) or isinstance(entries, str):
        raise TypeError(f"attributes are a mapping or (key, value) pairs, got {type(source).__name__}")
    for entry in entries or ():
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise TypeError(f"an attribute is a (key, value) pair, got {type(entry).__name__}")
        if not isinstance(entry[0], str):
            raise TypeError(f"the key of an attribute is a str, got {type(entry[0]).__name__}")
        yield entry[0], entry[1]


_NO_ATTRS = AttrMap()


def _check_variables(key: str, value: AttrValue) -> None:
    for part in value if isinstance(value, tuple) else (value,):
        if part is not None and not isinstance(part, Var):
            raise TypeError(f"attribute {key!r} holds variables: a {type(part).__name__} cannot stand there")


def _convert(key: str, value: AttrValue, of_op: bool) -> tuple[AttrKind, AttrValue]:
    """Stored type and stored form of a Python value (spec, 10.1: the order of these tests counts)."""
    if key == "core_num" and isinstance(value, int) and not of_op:
        value = as_extent(value)
    if isinstance(value, DataType):
        return AttrKind.DATA_TYPE, value
    if (kind := ENUM_KINDS.get(type(value))) is not None:
        return kind, value
    if isinstance(value, (IntEnum, SplitMode)):
        return AttrKind.INT, int(value.value)
    if isinstance(value, Expr):
        is_var = isinstance(value, Var) and key == "task_id_var"
        return (AttrKind.VAR if is_var else AttrKind.EXPR), value
    if isinstance(value, bool):
        return AttrKind.BOOL, value
    if isinstance(value, int):
        if not INT32_MIN <= value <= INT32_MAX:
            raise RuntimeError(f"attribute {key!r}: {value} does not fit a 32-bit integer")
        return AttrKind.INT, value
    if isinstance(value, float):
        return AttrKind.FLOAT, value
    if isinstance(value, str):
        return AttrKind.STR, value
    if isinstance(value, (list, tuple)):
        return _convert_list(key, tuple(value))
    raise TypeError(f"attribute {key!r}: a {type(value).__name__} cannot be stored")


FLOAT_KEYWORDS = frozenset({("tensor.create", "init_value")})
"""Op and keyword where a number is a float, by the op table: MessagePack makes an int of an integral one."""


def with_float_keywords(op: str, kwargs: AttrMap) -> AttrMap:
    """The keywords of an op, with floats where the op takes a float."""
    kinds = kwargs.kinds
    wrong = {key for key, kind in kinds.items() if kind is AttrKind.INT and (op, key) in FLOAT_KEYWORDS}
    if not wrong:
        return kwargs
    return AttrMap.of_stored(
        (key, AttrKind.FLOAT, float(value)) if key in wrong else (key, kinds[key], value)
        for key, value in kwargs.items()
    )


def _convert_list(key: str, values: tuple[AttrValue, ...]) -> tuple[AttrKind, AttrValue]:
    if key in _INT32_LIST_KEYS:
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"attribute {key!r} is a list of integers, got {type(value).__name__}")
            if not INT32_MIN <= value <= INT32_MAX:
                raise ValueError(f"attribute {key!r}: {value} does not fit a 32-bit integer")
        return AttrKind.INT32S, values
    is_var_list = key in _VAR_LIST_KEYS or (values and isinstance(values[0], Var))
    is_other = bool(values) and not is_var_list and not isinstance(values[0], ArgDirection)
    if is_other and key != "arg_directions":
        keys = " or ".join(repr(known) for known in sorted(_INT32_LIST_KEYS))
        what = f"a list of {type(values[0]).__name__} cannot be stored"
        raise TypeError(f"attribute {key!r}: {what}; lists hold Var or ArgDirection, under {keys} int")
    kind, element = (AttrKind.VARS, Var) if is_var_list else (AttrKind.ARG_DIRECTIONS, ArgDirection)
    for value in values:
        if not isinstance(value, element):
            raise TypeError(f"attribute {key!r} is a list of {element.__name__}, got {type(value).__name__}")
    return kind, values
