"""Giving torch a number of threads for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

LARGE = 1 << 18  # elements of a tensor whose ops several threads speed up


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Give torch this number of threads, and the former number after."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_for(tensors: Iterable[torch.Tensor]) -> AbstractContextManager[None]:
    """One thread for a program on small tensors: waking more would cost many times what its ops take."""
    return nullcontext() if any(tensor.numel() >= LARGE for tensor in tensors) else torch_threads(1)
