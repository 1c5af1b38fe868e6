"""What a macro sees of a call: operands, keywords and constants by name, as plain text and numbers.

A name that does not exist raises. Under StrictUndefined alone, ``a.lsh is none`` with a misspelt
operand would quietly be false, so none of these errors is an AttributeError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NoReturn

from pypto_tmpl.codegen.filters import torch_dtype
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.ir.dtypes import DATA_TYPES, DataType
from pypto_tmpl.ir.types import ShapedType, TensorType, TileType
from pypto_tmpl.ops.model import CALL_FACTS, OpEntry

FACTS = (
    "valid", "valid_items", "shape", "rank", "dtype", "dtype_name", "dtype_class", "bits", "memory",
    "items", "is_literal", "layout", "edge",
)  # fmt: skip


@cache
def _dtype_class(name: str) -> str:
    """What tells the arithmetic of dtypes apart."""
    dtype = DATA_TYPES[name]
    if dtype.is_float():
        return "fp32" if dtype == DataType.FP32 else "narrow_float"
    return "bool" if dtype == DataType.BOOL else "unsigned" if dtype.is_unsigned_int() else "int"


class UnknownNameError(PyptoTmplError):
    """A macro reads a name that the op does not have."""

    slug = "unknown-name"

    def __init__(
        self, reads: str = "", problem: str = "", *, slug: str | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(f"a macro reads {reads}, but {problem}", slug=slug, notes=notes)
        self.reads = reads
        self.problem = problem


class CallError(PyptoTmplError, ValueError):
    """A call does not have the operands or keywords that its op needs."""

    slug = "op-call"


class Operand(str):
    """An operand's Python expression, with the facts that macros may ask for.

    A fact that does not apply is none: ``valid`` where the region is the whole box, ``items`` of
    anything but a tuple, ``dtype`` of what has no elements.
    """

    __slots__ = (
        "_region_of", "_shape_of", "_type", "dtype_name", "edge", "is_literal", "items", "layout", "memory",
        "name", "rank", "shape", "valid", "valid_items",
    )  # fmt: skip

    dtype_name: str | None
    is_literal: bool
    items: list[str] | None
    layout: str | None
    edge: Operand | None  # where the cells begin that the value's tensor had, if some precede them
    memory: str | None
    name: str  # the text of the value itself, where the operand is a copy of it
    rank: int | None
    shape: list[str] | None
    valid: str | None
    valid_items: list[str] | None
    _type: ShapedType
    _shape_of: Callable[[], list[str]]
    _region_of: Callable[[], tuple[str, list[str]] | None]

    def __new__(
        cls,
        text: str,
        *,
        dtype_name: str | None = None,
        shape: list[str] | None = None,
        valid: str | None = None,
        valid_items: list[str] | None = None,
        memory: str | None = None,
        items: list[str] | None = None,
        is_literal: bool = False,
        layout: str | None = None,
    ) -> Operand:
        self = super().__new__(cls, text)
        self.name, self.edge = text, None
        self.dtype_name = dtype_name
        self.shape = shape
        self.rank = None if shape is None else len(shape)
        self.valid = valid
        self.valid_items = valid_items
        self.memory = memory
        self.items = items
        self.is_literal = is_literal
        self.layout = layout
        return self

    @classmethod
    def shaped(
        cls,
        text: str,
        type_: ShapedType,
        shape_of: Callable[[], list[str]],
        region_of: Callable[[], tuple[str, list[str]] | None],
    ) -> Operand:
        """A tile or tensor of which is worked out what a macro asks for: most ask for little."""
        self = super().__new__(cls, text)
        self.name, self.edge = text, None
        self.dtype_name, self.rank = type_.dtype.name, len(type_.shape)
        self.items, self.is_literal = None, False
        self._type, self._shape_of, self._region_of = type_, shape_of, region_of
        return self

    def copied(self, text: str) -> Operand:
        """The same operand under the text of a copy of it."""
        other = Operand.shaped(
            text,
            self._type,
            lambda: self.shape or [],
            lambda: None if self.valid is None else (self.valid, self.valid_items or []),
        )
        other.name, other.edge = self.name, self.edge
        return other

    @property
    def dtype(self) -> str | None:
        """The torch dtype, ``torch.float32``."""
        return None if self.dtype_name is None else torch_dtype(self.dtype_name)

    @property
    def dtype_class(self) -> str | None:
        """``fp32``, ``narrow_float``, ``int``, ``unsigned`` or ``bool``."""
        return None if self.dtype_name is None else _dtype_class(self.dtype_name)

    @property
    def bits(self) -> int | None:
        """Width of an element in bits."""
        return None if self.dtype_name is None else DATA_TYPES[self.dtype_name].get_bit()

    def __getattr__(self, name: str) -> Any:
        if name == "shape":
            self.shape = self._shape_of()
            return self.shape
        if name in ("valid", "valid_items"):
            self.valid, self.valid_items = self._region_of() or (None, None)
            return getattr(self, name)
        if name == "memory":
            space = self._type.memory_space if isinstance(self._type, TileType) else None
            self.memory = space.name if space is not None else None
            return self.memory
        if name == "layout":
            view = self._type.tensor_view if isinstance(self._type, TensorType) else None
            self.layout = view.layout.name if view is not None else None
            return self.layout
        _refuse_protocol_name(self, name)
        problem = f"the operand {str(self)!r} has no fact {name!r}"
        raise UnknownNameError(
            f".{name}", problem, slug="unknown-fact", notes=(allowed_note("facts", FACTS, name),)
        )

    def region_was_read(self) -> bool:
        """Whether a macro has asked for the valid region, and so heeds it."""
        try:
            object.__getattribute__(self, "valid")
        except AttributeError:
            return False
        return True

    def __getitem__(self, key: Any) -> NoReturn:
        self._refuse_elements(f"[{key!r}]")

    def __iter__(self) -> NoReturn:
        self._refuse_elements("the elements")

    def _refuse_elements(self, reads: str) -> NoReturn:
        # The characters of the text are nobody's wish.
        problem = f"the operand {str(self)!r} has no elements; those of a tuple are `.items`"
        raise UnknownNameError(reads, problem, slug="unknown-fact", notes=(allowed_note("facts", FACTS),))


class _Names:
    """Values by name, as attributes; what ``title`` calls them is told when a name is unknown."""

    __slots__ = ("__dict__", "_op")
    _prefix = ""
    _title = ""

    def __init__(self, op: str, values: dict[str, Any]) -> None:
        self._op = op
        self.__dict__ = values

    def __getattr__(self, name: str) -> Any:
        _refuse_protocol_name(self, name)
        raise UnknownNameError(
            f"{self._prefix}.{name}",
            f"{self._op} has no {self._title} {name!r}",
            slug=f"unknown-{self._title}",
            notes=(allowed_note(f"{self._title}s", self._allowed(), name),),
        )

    def _allowed(self) -> tuple[str, ...]:
        return tuple(self.__dict__)


class Operands(_Names):
    """The macro's ``a``: operands by name, none where an optional one is absent."""

    __slots__ = ()
    _prefix = "a"
    _title = "operand"


class Attributes(_Names):
    """The macro's ``attr``: keyword values by name, and the facts of the call.

    Few macros ask for most of these, which are worked out by ``asked`` when one does.
    """

    __slots__ = ("_asked",)
    _prefix = "attr"
    _title = "keyword"

    def __init__(self, op: str, values: dict[str, Any], asked: Callable[[str], Any]) -> None:
        super().__init__(op, values)
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        if name not in CALL_FACTS:
            return super().__getattr__(name)
        found = self.__dict__[name] = self._asked(name)
        return found

    def _allowed(self) -> tuple[str, ...]:
        return (*(name for name in self.__dict__ if name not in CALL_FACTS), *CALL_FACTS)


class Constants(_Names):
    """The macro's ``emit``: the entry's ``with:`` values."""

    __slots__ = ()
    _prefix = "emit"
    _title = "constant"


def bind_operands(entry: OpEntry, values: Sequence[Operand | None]) -> Operands:
    """Give the positional operands of a call their names.

    An optional one that is no tuple is absent where a tuple stands instead.
    Raises: CallError for too many, or for an absent one that is not optional.
    """
    if len(values) > len(entry.operands):
        raise _call_error(entry, f"takes {len(entry.operands)} operands, the call has {len(values)}")
    if len(values) == len(entry.operands) and None not in values:
        return Operands(entry.name, dict(zip(entry.operand_names, values, strict=True)))
    named: dict[str, Operand | None] = dict.fromkeys(entry.operand_names)
    rest = list(values)
    for operand in entry.operands:
        is_tuple = bool(rest) and rest[0] is not None and rest[0].items is not None
        if rest and not (is_tuple and operand.optional and "tuple" not in operand.kinds):
            named[operand.name] = rest.pop(0)
    for operand in entry.operands:
        if named[operand.name] is None and not operand.optional:
            raise _call_error(entry, f"needs the operand {operand.name!r}, the call does not have it")
    return Operands(entry.name, named)


def bind_attributes(
    entry: OpEntry,
    values: Mapping[str, Any],
    *,
    asked: Callable[[str], Any] = lambda fact: None,
    **facts: Any,
) -> Attributes:
    """Complete the keywords of a call by the table's defaults; the caller has refused undeclared ones.

    What is not among ``facts`` of the call is ``asked`` for when the macro reads it.
    Raises: CallError for an absent keyword that is required.
    """
    named: dict[str, Any] = {}
    for kwarg in entry.kwargs:
        value = values.get(kwarg.name)
        if value is None:
            if kwarg.required:
                raise _call_error(entry, f"needs the keyword {kwarg.name!r}, the call does not have it")
            value = kwarg.default if kwarg.has_default else None
        named[kwarg.name] = value
    named.update(facts)
    return Attributes(entry.name, named, asked)


def _call_error(entry: OpEntry, problem: str) -> CallError:
    operands = [f"{item.name} (optional)" if item.optional else item.name for item in entry.operands]
    notes = [allowed_note("operands", operands)]
    if entry.kwargs:
        keywords = [f"{item.name} (required)" if item.required else item.name for item in entry.kwargs]
        notes.append(allowed_note("keywords", keywords))
    return CallError(f"{entry.name} {problem}", notes=notes)


def _refuse_protocol_name(owner: object, name: str) -> None:
    """Python and markupsafe probe for ``__html__`` and the like; they must get an AttributeError."""
    if name.startswith("__"):
        raise AttributeError(f"{type(owner).__name__} has no {name}")
