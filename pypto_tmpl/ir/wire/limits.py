"""Bounds on what is read and written, so that no input takes the memory or the stack of its reader."""

from __future__ import annotations

MAX_BYTES = 256 * 2**20
"""Longest blob that is read; the longest real dump known has 0.2 MiB."""

MAX_TYPES = MAX_BYTES // 16
"""Types inside tuple types that are written into one blob, more than MAX_BYTES could hold.

Types are written in full wherever they occur; those of tuples of tuples may double at every level.
"""

MAX_DEPTH = 1024
"""Nested MessagePack containers, as many as the msgpack package reads; an operator takes two levels."""

BYTES_PER_CONTAINER = 8
"""Bytes a blob must have for each of its maps and lists (real dumps: over 20).

An empty list is one byte on the wire and 64 in memory, so a blob of them would need many times its size.
"""

UNCOUNTED_BYTES = 2**20
"""Blobs up to this size are not held to BYTES_PER_CONTAINER."""
