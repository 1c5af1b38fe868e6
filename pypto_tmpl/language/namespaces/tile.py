"""``pl.tile``: ops on tiles in on-chip memory."""

from pypto_tmpl.language.mask_patterns import MaskPattern as MaskPattern
from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, _listed = members_of("pl", "tile")


def __dir__() -> list[str]:
    return ["MaskPattern", *_listed()]
