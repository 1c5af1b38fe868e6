"""Which tests a run draws that is to be quick: of tests with many parameter sets some, of slow ones none.

``pytest --sample N`` runs so many sets of each test. A draw depends on the names alone, so that the workers
of one run agree and the next run repeats it. What judges a change, CI, runs everything.
"""

from collections import defaultdict
from collections.abc import Iterable
from zlib import crc32

import pytest

LEFT_OUT = ("slow", "packaging")  # marks of tests that a sample has none of
WHOLE = "whole"  # the mark of tests that a sample has all sets of


def drawn(names: Iterable[str], count: int) -> set[str]:
    """Of the names (``test[set]``) of each test ``count``, all if it has no more."""
    of_test = defaultdict(list)
    for name in names:
        of_test[name.partition("[")[0]].append(name)
    kept: set[str] = set()
    for sets in of_test.values():
        kept.update(sorted(sets, key=lambda name: (crc32(name.encode()), name))[:count])
    return kept


def deselect(config: pytest.Config, items: list[pytest.Item], count: int) -> None:
    """Leave the items out that a sample does not have."""
    quick = [item for item in items if not any(map(item.get_closest_marker, LEFT_OUT))]
    whole = {item.nodeid for item in quick if item.get_closest_marker(WHOLE)}
    kept = whole | drawn((item.nodeid for item in quick if item.nodeid not in whole), count)
    left_out = [item for item in items if item.nodeid not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]
