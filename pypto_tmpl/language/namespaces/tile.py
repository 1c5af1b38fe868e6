"""``pl.tile``: ops on tiles in on-chip memory."""

from enum import IntEnum

from pypto_tmpl.language.namespaces.objects import members_of


class MaskPattern(IntEnum):
    """Which columns of each group a masked gather or scatter takes; the rightmost digit is column 0."""

    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7


__getattr__, _listed = members_of("pl", "tile")


def __dir__() -> list[str]:
    return ["MaskPattern", *_listed()]
