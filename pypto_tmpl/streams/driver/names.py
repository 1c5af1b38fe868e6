"""Names of the Python variables of a driver, and keys of its tensors."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_FOREIGN = re.compile(r"\W")
# What the text itself names.
_OWN = re.compile(r"_ta_\d+(_config)?|__\w+_ord|__comm_\w+")
_FRAME = """
torch CallConfig CommBufferSpec DataType TaskArgs TensorArgType make_tensor_arg _submit_chip
_alloc_intermediates
orch _args config tensors callables sub_ids _keep world_size _domain_provider range max min abs int float bool
"""
_TAKEN = frozenset(_FRAME.split())


class BlockNames:
    """Names by the blocks that show them: one is free again when its block has ended, as in the IR.

    A name of a block around is never taken again: Python would overwrite what stands there.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._blocks: list[set[str]] = [set(taken)]

    def take(self, hint: str) -> str:
        """The hint as an identifier, with a number where that is taken."""
        base = _FOREIGN.sub("_", hint) or "_"
        base = f"_{base}" if base[0].isdigit() else base
        name, number = base, 0
        while not self._is_free(name):
            number += 1
            name = f"{base}_{number}"
        self._blocks[-1].add(name)
        return name

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is named inside is forgotten afterwards."""
        self._blocks.append(set())
        yield
        self._blocks.pop()

    def _is_free(self, name: str) -> bool:
        if keyword.iskeyword(name) or name in _TAKEN or _OWN.fullmatch(name):
            return False
        return all(name not in block for block in self._blocks)
