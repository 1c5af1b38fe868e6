"""Names of C++ variables, as upstream chooses them."""

from __future__ import annotations

import re

_FOREIGN = re.compile(r"\W")
_OUTPUT = re.compile(r"out(_\d+)?")  # the role of a buffer that a kernel's result gets: its base says nothing
# What the text itself declares; `ext_` is what the tensors of the caller begin with.
_OWN = re.compile(
    r"(ext_|params_|alloc_\d|mixed_\d|task_\d+_outs|phase_fence_barrier_\d+_outs|indices_|__init_i$).*"
)
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
"""
_RESERVED = frozenset(_KEYWORDS.split())
_TAKEN = _RESERVED | {"std", "half", "orch_args"}


def base_of(hint: str) -> str:
    """The part of a name before its role and version."""
    at = hint.find("__", 1)
    return plain(hint if at < 0 else hint[:at])


def plain(hint: str) -> str:
    """A name as an identifier."""
    name = _FOREIGN.sub("_", hint)
    return f"_{name}" if name[:1].isdigit() else name


def is_reserved(name: str) -> bool:
    """Whether a name is a word of C++."""
    return name in _RESERVED


def identifier(hint: str) -> str:
    """A name as an identifier that is no word of C++."""
    name = plain(hint)
    return f"{name}_" if is_reserved(name) else name


class CppNames:
    """The names of one function; a name stays taken where its block has ended."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take_base(self, hint: str) -> str:
        """The base of a hint for a name that begins otherwise; all of the hint where the base is taken."""
        base = base_of(hint)
        name = plain(hint) if base in self._used else base
        self._used.add(name)
        return name

    def take(self, hint: str, *, whole: bool = False) -> str:
        """A free name: the base of the hint, else all of it, else that with a number."""
        full = plain(hint)
        full = f"var_{full}" if _OWN.fullmatch(full) else full
        _, has_role, role = hint[1:].partition("__")
        is_output = bool(has_role) and _OUTPUT.fullmatch(role) is not None
        wanted = [full if whole or is_output else base_of(hint), full]
        number = 0
        while not self._is_free(wanted[0]):
            number += len(wanted) == 1
            wanted = wanted[1:] or [f"{full}_{number}"]
        self._used.add(wanted[0])
        return wanted[0]

    def _is_free(self, name: str) -> bool:
        return name not in self._used and name not in _TAKEN and _OWN.fullmatch(name) is None
