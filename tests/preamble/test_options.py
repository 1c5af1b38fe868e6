"""What the options of a script leave in the text of its helpers: each its own, and nothing without them."""

import pytest
from preamble.rendered import Script, preamble, read_helpers, render

from pypto_tmpl.codegen.options import DEFAULTS, EVERYTHING_OFF, EVERYTHING_ON, ScriptOptions

# Words that the text of helpers has only where an option needs them.
WORDS = {
    "bounded_pipes": ("_BOUNDED_PIPES", "_PipeSlots", ".slots"),
    "strict_leftovers": ("_STRICT_LEFTOVERS",),
    "schedule_seed": ("_SCHEDULE_SEED", "_SeededSchedule", "schedule", "group.step("),
    "race_check": ("_RACE_CHECK", "_RaceCheck", "_RaceWatch", ".race", "clock"),
    "poison": ("_POISON", "_fresh", "poison", "may_be_padding"),
    "packed_scales": ("_PACKED_SCALES",),
    "source_map_file": ("_SOURCE_MAP_FILE", "json", ".map.json"),
    "ranks": ("_RANKS",),
    "storage": ("_STORAGE", "_pool(", "_buf(", "_write_tile"),
    "copy_yields": ("_COPY_YIELDS",),
    "placed": ("_PLACED",),
}


def alone(name):
    """The options with one of them on."""
    return ScriptOptions(**{name: 0 if DEFAULTS[name] is None else True})


def whole_text(options):
    names = read_helpers(options=options)
    return render(*names, options=options)


def test_every_option_but_the_timeouts_leaves_words():
    assert WORDS.keys() == {name for name in DEFAULTS if not name.endswith("_sec")}


@pytest.mark.parametrize("name", WORDS)
def test_a_script_has_no_trace_of_an_option_that_it_was_emitted_without(name):
    others = {other: value for other, value in EVERYTHING_ON.items() if other != name}
    text = whole_text(ScriptOptions(**others))
    assert [word for word in WORDS[name] if word in text] == []


@pytest.mark.parametrize("name", WORDS)
def test_a_script_has_what_its_option_needs(name):
    text = whole_text(alone(name))
    assert [word for word in WORDS[name] if word not in text] == []


def test_a_script_without_options_looks_at_no_environment():
    text = whole_text(EVERYTHING_OFF)
    assert [word for word in ("environ", "_OPTIONS", "import os", "import json") if word in text] == []


@pytest.mark.parametrize("name", ["_PIPE_WAIT_TIMEOUT_SEC", "_MIXED_KERNEL_TIMEOUT_SEC"])
def test_timeouts_are_constants_where_they_are_used(name):
    text = render("_run_mixed_kernels", options=ScriptOptions(pipe_wait_timeout_sec=2.5))
    value = "2.5" if name.startswith("_PIPE") else "30"
    assert f"\n{name} = {value}\n" in text
    assert name not in render("_tile_store", "_run_spmd")


def test_constants_say_what_their_options_do():
    helpers = read_helpers("options", options=EVERYTHING_ON)
    assert list(helpers) == [f"_{name.upper()}" for name in DEFAULTS]
    assert all(text.startswith("# ") for text in helpers.values())


def test_tiles_note_their_edges_only_where_a_store_may_meet_them():
    texts = {has_edges: preamble(has_edges=has_edges).helpers for has_edges in (True, False)}
    assert "found" in texts[True]["_tile_store"].text
    for name in ("_tile_load", "_tile_store", "_tile_store_add", "_fillpad_inplace", "_store_scales"):
        assert "edge" not in texts[False][name].text
    assert "_drop_edge" not in texts[False]


def test_options_do_not_change_what_is_computed():
    """A switchable script whose options are off gives what one without them gives."""
    import torch

    tensor = torch.arange(12.0).reshape(3, 4)
    for script in (Script(("regions",)), Script(("regions",), switchable=True)):
        tile = script["_tile_load"](tensor, [1, -1], [3, 3])
        assert tile.tolist() == [[0.0, 4.0, 5.0], [0.0, 8.0, 9.0], [0.0, 0.0, 0.0]]
        out = script["_tile_store"](tile, [0, 0], torch.full((3, 4), 7.0))
        assert out.tolist() == [[7.0, 4.0, 5.0, 7.0], [7.0, 8.0, 9.0, 7.0], [7.0, 7.0, 7.0, 7.0]]
