"""Results do not depend on which lane comes first: mixed programs, and a race, under drawn schedules."""

import pytest
import torch
from codegen.builders import (
    FP32,
    Acc,
    assign,
    evaluate,
    load,
    numbers,
    op,
    program,
    ret,
    run,
    scalar,
    store,
    tile,
)
from codegen.kernels import aic, aiv, group, lane_index, main, out, pop_from_aic, push_to_aiv, x
from corpus_check import default_corpus, find_dumps, load_program, prepared_inputs

from pypto_tmpl import ir
from pypto_tmpl.debug import set_options, torch_codegen

SEEDS = range(50)
LANES = "_run_lanes("


def last_stages():
    """The last stage of each program of the corpus."""
    last = {dump.program: dump for dump in find_dumps(default_corpus(), ".msgpack")}
    return list(last.values())


def emitted(dump, **options):
    return torch_codegen(ir.deserialize_from_file(str(dump.path)), options=options)


MIXED = [dump for dump in last_stages() if LANES in emitted(dump)]


def observe(namespace):
    """Let a list take the pipe operations of every group call, in order, instead of the last one's only."""
    steps, runtime = [], namespace["_cross_core_rt"]
    keep = type(runtime).keep

    def keep_all(group):
        keep(runtime, group)
        steps.extend(runtime.interleaving())

    runtime.keep = keep_all
    return steps


def test_the_corpus_has_mixed_programs():
    assert len(MIXED) >= 8


@pytest.mark.corpus
@pytest.mark.parametrize("dump", MIXED, ids=lambda dump: dump.program)
def test_every_schedule_gives_the_same_bits(dump, capsys):
    name = dump.program
    source = load_program(dump.corpus / "programs" / f"{name}.py")
    namespace = run(emitted(dump, schedule_seed=0))
    steps, orders, wanted = observe(namespace), set(), None
    for seed in SEEDS:
        set_options(namespace, schedule_seed=seed)
        steps.clear()
        tensors = prepared_inputs(source)
        namespace[source.entry](*tensors.values())
        orders.add(tuple(steps))
        bits = {output: tensors[output].view(torch.uint8) for output in source.outputs}
        wanted = wanted or bits
        for output in source.outputs:
            assert torch.equal(bits[output], wanted[output]), f"seed {seed}: {output}"
    with capsys.disabled():
        print(f"\n{name}: {len(orders)} distinct interleavings of {len(steps)} pipe operations", end="")
    lanes = {lane for lane, _ in steps}
    assert len(orders) > 1 or "aiv1" not in lanes
    assert len(lanes) > 1


# A program with a race


def racy(offset, **options):
    """Both lanes store two rows after a pop, from row `offset` on: they overlap unless it is 2 lane."""
    t, u, marked = tile("t", [4, 8], memory=Acc), tile("u", [2, 8]), tile("marked", [2, 8])
    lane, extra = scalar("lane"), scalar("extra", FP32)
    cube = aic(assign(t, load(x, [0, 0], [4, 8], memory=Acc)), push_to_aiv(t, split=1))
    vector = aiv(
        assign(lane, lane_index()),
        assign(u, pop_from_aic([2, 8], split=1)),
        assign(extra, ir.Cast(lane * 100, FP32, ir.Span.unknown())),
        assign(marked, op("tile.adds", [u, extra], u.type)),
        evaluate(store(marked, [offset(lane), 0], out)),
        ret(out),
    )
    return torch_codegen(program(cube, vector, group(), main()), options=options)


def outcomes(script):
    """What the program leaves under each seed, as texts."""
    namespace, found = run(script), set()
    for seed in SEEDS:
        set_options(namespace, schedule_seed=seed)
        target = torch.zeros(4, 8)
        namespace["main"](numbers(4, 8), target)
        found.add(str(target.tolist()))
    return found


def test_a_race_shows_under_some_seed_and_is_reported():
    assert len(outcomes(racy(lambda lane: lane, schedule_seed=0))) == 2
    script = racy(lambda lane: lane, race_check=True)
    namespace = run(script)
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](numbers(4, 8), torch.zeros(4, 8))
    head, first, second = str(caught.value.__cause__).splitlines()
    assert head == "race: no pipe transfer orders two accesses to cells that lanes share"
    number = script.splitlines().index("    _tile_store(marked, [lane, 0], out)") + 1
    line = f":{number}: _tile_store(marked, [lane, 0], out)"
    assert {first.split(" writes them at ")[0], second.split(" writes them at ")[0]} == {
        "  group 'k' aiv0",
        "  group 'k' aiv1",
    }
    assert first.endswith(line) and second.endswith(line)


def test_lanes_that_keep_apart_have_one_outcome_and_no_race():
    assert len(outcomes(racy(lambda lane: lane * 2, schedule_seed=0))) == 1
    namespace = run(racy(lambda lane: lane * 2, race_check=True))
    namespace["main"](numbers(4, 8), torch.zeros(4, 8))


@pytest.mark.corpus
@pytest.mark.parametrize("dump", MIXED, ids=lambda dump: dump.program)
@pytest.mark.parametrize("option", ["race_check", "bounded_pipes", "strict_leftovers", "poison"])
def test_mixed_programs_are_clean(dump, option):
    """No race, no tile left, slots enough, no padding read: nothing is said of a compiled program."""
    source = load_program(dump.corpus / "programs" / f"{dump.program}.py")
    namespace = run(emitted(dump, **{option: True}))
    tensors = prepared_inputs(source)
    namespace[source.entry](*tensors.values())
    wanted = prepared_inputs(source)
    run(emitted(dump))[source.entry](*wanted.values())
    for output in source.outputs:
        assert torch.equal(tensors[output].view(torch.uint8), wanted[output].view(torch.uint8))
