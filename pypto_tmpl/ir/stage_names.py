"""What the stages of a pipeline are called: the program as it is written, and what each pass makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.errors import PyptoTmplError, allowed_note

AS_WRITTEN, LAST = "frontend", "last"
FRONTEND = f"00_{AS_WRITTEN}"
_AFTER = "_after_"


class StageNameError(PyptoTmplError, ValueError):
    """There is no stage of that name."""

    slug = "stage"


def stage_stem(position: int, pass_name: str) -> str:
    """The name of the files of a stage; passes are counted from 1."""
    return f"{position:02d}{_AFTER}{pass_name}"


def stage_stems(passes: Sequence[str]) -> list[str]:
    """The names of the stages of some passes, that of the program as it is written being the first."""
    return [FRONTEND, *(stage_stem(position, name) for position, name in enumerate(passes, 1))]


def pass_of(stem: str) -> str:
    """The pass that made a stage, "" for the program as it is written."""
    return stem.partition(_AFTER)[2]


def find_stage(stems: Sequence[str], wanted: str) -> int:
    """The position of a stage among the names of all.

    It may be called ``frontend`` or ``last``, by its pass (of which the first place counts), by its number,
    or by its whole name. Raises StageNameError for what is none of these.
    """
    if wanted == LAST:
        return len(stems) - 1
    name = FRONTEND if wanted == AS_WRITTEN else wanted
    for position, stem in enumerate(stems):
        if name and name in (stem, pass_of(stem)) or (name.isdecimal() and int(name) == number_of(stem)):
            return position
    known = [AS_WRITTEN, *dict.fromkeys(filter(None, map(pass_of, stems))), LAST]
    raise StageNameError(f"there is no stage {wanted!r}", notes=[allowed_note("stages", known, wanted)])


def number_of(stem: str) -> int:
    """The number of a stage, -1 for a name without one."""
    digits = stem.partition("_")[0]
    return int(digits) if digits.isdecimal() else -1
