from __future__ import annotations
def with_regions_lowered(kernel):
    raise NotImplementedError
