"""Properties that are worked out when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # it is written as a decorator, as `property` is
    """A property that is worked out once, for objects of one thread: `cached_property` may take a lock.

    That lock, which Python has up to 3.11, takes longer than most of what a small function is asked.
    """

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Value | Self:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work_out(instance)
        return value
