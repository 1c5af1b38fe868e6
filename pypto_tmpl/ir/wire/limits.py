"""Bounds on what is read and written, so that no input takes the memory or the stack of its reader."""

from __future__ import annotations

MAX_BYTES = 256 * 2**20
"""Longest blob that is read; the largest real dump known has 0.2 MiB."""

MAX_DEPTH = 1024
"""Nesting of MessagePack containers that the msgpack package reads; an operator takes two levels."""
