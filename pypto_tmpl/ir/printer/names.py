"""Names of variables: valid identifiers, and distinct ones for distinct variables (spec: DSL, 13)."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from keyword import iskeyword

from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.printer.pieces import Leaf, Mention, Role, is_index_scalar

FREE_SUFFIX = "__FREE_VAR"


def identifier(hint: str) -> str:
    """The hint itself where it is an identifier, else the closest one."""
    name = unicodedata.normalize("NFKC", hint)  # as Python does: two spellings must not become one name
    if not name.isidentifier():
        name = "".join(char if ("_" + char).isidentifier() else "_" for char in name) or "v"
        if not name.isidentifier():
            name = "_" + name
    return name + "_" if iskeyword(name) else name


def assign_names(variables: Sequence[Var], taken: Iterable[str]) -> dict[int, str]:
    """Distinct names by the id of the variable, none of them among ``taken``.

    A hint of one variable is its name. Several variables of one hint are ``x``, ``x_1``, ``x_2`` in the given
    order, past every name that is taken.
    """
    wanted = [identifier(var.name_hint) for var in variables]
    counts = Counter(wanted)
    used = set(taken)
    single = {name for name, count in counts.items() if count == 1 and name not in used}
    used |= single
    numbers: dict[str, int] = {}
    names: dict[int, str] = {}
    for var, base in zip(variables, wanted, strict=True):
        name = base
        while name in used and base not in single:
            numbers[base] = numbers.get(base, 0) + 1
            name = f"{base}_{numbers[base]}"
        used.add(name)
        names[id(var)] = name
    return names


class FunctionText:
    """The text of a function, or of any other node, with its variables still unnamed.

    Variables that are not defined in it are dynamic dimensions where they stand in a type; elsewhere they
    are named ``x__FREE_VAR`` if ``marks_free``. An INDEX parameter that the signature has as an extent is a
    dynamic dimension as well. ``lanes`` are variables that hold the index of the vector lane.
    """

    def __init__(
        self,
        leaves: list[Leaf],
        defined: Mapping[int, Var],
        params: Set[int],
        lanes: Set[int],
        marks_free: bool,
    ) -> None:
        self.leaves = leaves
        self.defined = defined
        self.params = params
        self.lanes = lanes
        self.marks_free = marks_free
        self.used: dict[int, Var] = {}
        self.dimensions: dict[int, Var] = {}
        self._labels: set[int] = set()  # undefined, but named as they are
        self._beyond_bodies: set[int] = set()  # named by more than the types of a body
        self._rendered: tuple[dict[int, str], set[str], str] | None = None
        for leaf in leaves:
            if not isinstance(leaf, str):
                self._notice(leaf)

    def _notice(self, leaf: Var | Mention) -> None:
        var, role = (leaf.var, leaf.role) if isinstance(leaf, Mention) else (leaf, None)
        is_defined = id(var) in self.defined
        self.used[id(var)] = var
        if role is not Role.EXTENT:
            self._beyond_bodies.add(id(var))
        is_symbol = role is Role.SIGNATURE and id(var) in self.params and is_index_scalar(var.type)
        if is_symbol or (role in (Role.EXTENT, Role.SIGNATURE) and not is_defined):
            self.dimensions[id(var)] = var
        elif role is not None and not is_defined:
            self._labels.add(id(var))

    def render(self, reserved: Iterable[str], dimension_names: Mapping[int, str]) -> str:
        """The text; dynamic dimensions are named as given."""
        asked = dict(dimension_names), set(reserved)
        if self._rendered is None or self._rendered[:2] != asked:
            self._rendered = *asked, self._render(reserved, dimension_names)
        return self._rendered[2]

    def _render(self, reserved: Iterable[str], dimension_names: Mapping[int, str]) -> str:
        shared = self.used.keys() - (self.defined.keys() - self.dimensions.keys())
        names = {key: dimension_names[key] for key in shared if key in dimension_names}
        names |= self._lane_names(names)
        local = [var for key, var in {**self.defined, **self.used}.items() if key not in names]
        names |= assign_names(local, {*reserved, *names.values()})
        plain = self.defined.keys() | dimension_names.keys() | self._labels
        if self.marks_free:
            _mark_free(names, names.keys() - plain)
        return "".join([leaf if isinstance(leaf, str) else self._name(leaf, names) for leaf in self.leaves])

    def _lane_names(self, dimension_names: Mapping[int, str]) -> dict[int, str]:
        """Lane indices that share the name of a dimension.

        Vector splitting leaves types that name the lane index of another function. In lane code that is the
        index of this lane as well, so the local one keeps its name beside such a symbol.
        """
        names: dict[str, int] = {}
        symbols = {name for key, name in dimension_names.items() if key not in self._beyond_bodies}
        for key, var in self.defined.items():
            if key in self.lanes and key not in dimension_names and identifier(var.name_hint) in symbols:
                names.setdefault(identifier(var.name_hint), key)
        return {key: name for name, key in names.items()}

    def _name(self, leaf: Var | Mention, names: Mapping[int, str]) -> str:
        if isinstance(leaf, Var):
            return names[id(leaf)]
        name = names[id(leaf.var)]
        is_bound = id(leaf.var) in self.defined
        quoted = leaf.role is Role.QUOTED or (leaf.role is Role.BASE and not is_bound)
        return f'"{name}"' if quoted else name


def _mark_free(names: dict[int, str], free: Set[int]) -> None:
    used = set(names.values())
    for key in [key for key in names if key in free]:
        name = names[key] + FREE_SUFFIX
        while name in used:
            name += "_"
        used.add(name)
        names[key] = name
