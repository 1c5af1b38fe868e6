"""``pl.tile.MaskPattern``."""

from enum import IntEnum


class MaskPattern(IntEnum):
    """Which columns of each group a masked gather or scatter takes; the rightmost digit is column 0."""

    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7
