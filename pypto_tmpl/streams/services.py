"""What macros ask for while they make the text of a call."""

from __future__ import annotations

from pypto_tmpl.streams.peers import PeerServices
from pypto_tmpl.streams.pipes import PipeServices
from pypto_tmpl.streams.tile_services import TileServices
from pypto_tmpl.streams.windows import WindowServices


class Services(WindowServices, TileServices, PipeServices, PeerServices):
    """All that stands as ``c.k`` in the macros of ops."""
