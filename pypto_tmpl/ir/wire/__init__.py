"""The binary form of IR: MessagePack, byte for byte upstream's."""

from pypto_tmpl.ir.wire.errors import WireError
from pypto_tmpl.ir.wire.files import deserialize_from_file, serialize_to_file
from pypto_tmpl.ir.wire.reader import deserialize
from pypto_tmpl.ir.wire.writer import Serializer, serialize

__all__ = [
    "Serializer",
    "WireError",
    "deserialize",
    "deserialize_from_file",
    "serialize",
    "serialize_to_file",
]
