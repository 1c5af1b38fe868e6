"""How many examples hypothesis draws: all where CI is set, where a change is judged, else two of five."""

from pypto_tmpl.snapshots.places import in_ci


def examples(count: int) -> int:
    """Of ``count`` examples those that are drawn here."""
    return count if in_ci() else max(1, count * 2 // 5)
