"""What a program does with the pipes between cores, so that its script carries no more of them.

It is read from the text of the program, as the helpers that it names are: a form that is not known there, as
the templates of a user may have it, counts as every use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pypto_tmpl.codegen.kernels import GroupMeta, KernelMap

_METHODS = frozenset(
    {
        "initialize_pipe",
        "push_to_aiv",
        "push_to_aic",
        "pop_from_aiv",
        "pop_from_aic",
        "tfree_to_aiv",
        "tfree_to_aic",
    }
)
_PIPES = "_cross_core_rt."
_METHOD = re.compile(r"_cross_core_rt\.(\w+)")
_TRANSFER = re.compile(r"_cross_core_rt\.(?:push|pop|tfree)_")
_PLAIN_TRANSFER = re.compile(  # of a tile that is valid as a whole, without a split or by an even one
    r"_cross_core_rt\."
    r"(?:(?:push_to_ai[cv]\((?:\w+|_unpack\(\w+\)), |pop_from_ai[cv]\()(?P<code>[012])"
    r"|tfree_to_ai[cv]\((?:split=[012])?)"
    r"(?:(?:, )?(?:id=\d+|copy=\w+))*\)"
)
_PARTLY_VALID = frozenset({"_region", "_pass_region", "_aiv_shard", "_aic_gather"})  # helpers
_STARTS_LANES = "_run_"


@dataclass(frozen=True, slots=True)
class PipeUse:
    """The methods of pipes that are called; whether split codes cut tiles, and ones of different axes meet;
    whether tiles may be valid in part, or cut by an odd split; and whether a lane may start lanes itself."""

    methods: frozenset[str] = _METHODS
    cuts: bool = True
    mixes_splits: bool = True
    regions: bool = True
    nests: bool = True


EVERY_USE = PipeUse()


def pipe_use(
    codes: Mapping[str, Sequence[str]],
    used: AbstractSet[str],
    kernels: KernelMap,
    groups: Mapping[str, GroupMeta],
) -> PipeUse:
    """What the functions of a program do, by the helpers that are used.

    ``codes`` has the texts of each function, without comments and strings.
    """
    if not groups:
        return EVERY_USE
    every = [code for parts in codes.values() for code in parts if _PIPES in code]
    methods = {method for code in every for method in _METHOD.findall(code)}
    plain = [split for code in every for split in _PLAIN_TRANSFER.findall(code)]
    has_others = len(plain) < sum(len(_TRANSFER.findall(code)) for code in every)
    regions = has_others or not _PARTLY_VALID.isdisjoint(used)
    splits = {*plain} - {""}
    return PipeUse(
        _METHODS & methods,
        cuts=regions or bool(splits - {"0"}),
        mixes_splits=regions or len(splits) > 1,
        regions=regions,
        nests=_nests(codes, kernels, groups),
    )


def _nests(codes: Mapping[str, Sequence[str]], kernels: KernelMap, groups: Mapping[str, GroupMeta]) -> bool:
    """Whether a function that a lane runs may start lanes."""
    names = {name for meta in groups.values() for name in (meta.aic, meta.aiv) if name is not None}
    names |= {f.name for f in kernels.functions.values() if kernels.runs_on_two_lanes(f)}
    reached = {part.name for name in names for part in kernels.reachable(kernels.functions[name])}
    return any(_STARTS_LANES in code for name in reached for code in codes[name])
