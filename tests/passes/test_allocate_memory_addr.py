"""AllocateMemoryAddr: addresses of allocations, and what does not fit."""

import pytest
from passes.recorded_pairs import recorded_pairs
from passes.stored import addresses, stored

from pypto_tmpl import backend, ir, passes

LOAD = "{0}: T[{1}] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
RESERVE = "{0} = pl.system.reserve_buffer(name='{0}', size={1}, base={2})"


@pytest.fixture(autouse=True)
def chosen_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def allocated(*lines: str, kind: str = "AIV", size: int = 4096) -> ir.Program:
    return passes.make_pass("AllocateMemoryAddr")(stored(*lines, kind=kind, size=size))


def test_allocations_follow_each_other_by_name_from_aligned_addresses():
    """``m_10`` comes before ``m_2``; 4,097 bytes take 4,128."""
    lines = (LOAD.format("a", "m_2"), LOAD.format("b", "m_10"), LOAD.format("c", "m_2"))
    assert addresses(allocated(*lines, size=4097)) == {"a": 4128, "b": 0, "c": 4128}


def test_tiles_lie_behind_reserved_buffers():
    """The second buffer begins behind the first one, and the tiles behind the one that ends last."""
    lines = (RESERVE.format("p", 100, -1), RESERVE.format("q", 64, -1), RESERVE.format("r", 32, 1024))
    node = allocated(*lines, LOAD.format("a", "A"))
    text = ir.python_print(node)
    assert "name='p', size=100, base=0" in text and "name='q', size=64, base=128" in text
    assert "name='r', size=32, base=1024" in text and addresses(node) == {"a": 1056}


def test_orchestration_has_no_addresses():
    node = stored(LOAD.format("a", "A"), kind="Orchestration")
    assert passes.make_pass("AllocateMemoryAddr")(node).get_function("kernel") is node.get_function("kernel")


LIMITS = {"Ascend910B": 184 * 1024, "Ascend950": 240 * 1024}
REFUSED = {
    "the buffer 'p' of 64 bytes at 48 in Vec (of {limit} bytes) does not begin at a multiple of 32": (
        RESERVE.format("p", 64, 48),
    ),
    "the buffers 'p' (64 bytes at 0) and 'q' (96 bytes at 32) overlap in Vec (of {limit} bytes)": (
        RESERVE.format("p", 64, 0),
        RESERVE.format("q", 96, 32),
    ),
    "the buffer 'p' of 64 bytes at 245760 in Vec exceeds platform limit ({limit} bytes)": (
        RESERVE.format("p", 64, 245760),
    ),
    "Vec buffer usage (260032 bytes) exceeds platform limit ({limit} bytes): the first that does not fit is "
    "'B' with 'b', 130000 bytes at 130016": (LOAD.format("a", "A"), LOAD.format("b", "B")),
}


@pytest.mark.parametrize("planner", ["PYPTO", "DSA_RP"])
@pytest.mark.parametrize("chosen", LIMITS)
@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what, chosen, planner):
    """Two tiles of 130,000 bytes, read together: the second one begins at the next multiple of 32."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[chosen])
    lines = REFUSED[what]
    both = ("c: T[A] = pl.tile.add(a, b)",) if "usage" in what else ()
    context = passes.PassContext(memory_planner=passes.MemoryPlanner[planner])
    with context, pytest.raises(passes.PassError) as raised:
        allocated(*lines, *both, size=130000)
    text = str(raised.value)
    assert what.format(limit=LIMITS[chosen]) in text and "in function 'kernel'" in text
    names = len({name for name in ("A", "B") if f"T[{name}]" in "".join(lines)})
    last = "b" if "usage" in what else "q" if "overlap" in what else "p"
    assert (raised.value.variable, raised.value.line) == (last, 8 + names + len(lines))


# In KiB, as the specification lists them.
CAPACITIES = {
    "Ascend910B": {"Vec": 184, "Mat": 512, "Left": 64, "Right": 64, "Acc": 128, "Bias": 1},
    "Ascend950": {
        "Vec": 240,
        "Mat": 512,
        "Left": 64,
        "Right": 64,
        "Acc": 256,
        "Bias": 4,
        "LeftScale": 4,
        "RightScale": 4,
    },
}


@pytest.mark.parametrize(
    ("chosen", "space"), [(name, space) for name, spaces in CAPACITIES.items() for space in spaces]
)
def test_every_memory_has_its_limit(chosen, space):
    """What is as large as the memory fits, and 32 bytes more do not."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[chosen])
    limit = CAPACITIES[chosen][space] * 1024
    line = LOAD.format("a", "A").replace("pl.Mem.Vec", f"pl.Mem.{space}")
    run = passes.make_pass("AllocateMemoryAddr")
    assert addresses(run(stored(line, spaces={"": space}, size=limit))) == {"a": 0}
    what = (
        rf"{space} buffer usage \({limit + 32} bytes\) exceeds platform limit \({limit} bytes\).*'A' with 'a'"
    )
    with pytest.raises(passes.PassError, match=what):
        run(stored(line, spaces={"": space}, size=limit + 32))


def test_slots_that_are_larger_than_the_memory_are_refused_where_they_get_their_address():
    """Two slots of 96 KiB; the pass before, which asks how much is left for tiles, says nothing."""
    backend.set_backend_type(backend.BackendType.Ascend910B)
    node = stored(RESERVE.format("slots", 2 * 96 * 1024, -1), LOAD.format("a", "A"))
    reused = passes.make_pass("MemoryReuse")(node)
    what = r"the buffer 'slots' of 196608 bytes at 0 in Vec exceeds platform limit \(188416 bytes\)"
    with pytest.raises(passes.PassError, match=what) as raised:
        passes.make_pass("AllocateMemoryAddr")(reused)
    found = raised.value
    assert (found.function, found.variable, found.line) == ("kernel", "slots", 10)


def test_pipes_of_a_cube_kernel_lie_in_mat():
    what = r"the buffer 'p' of 64 bytes at 524288 in Mat exceeds platform limit \(524288 bytes\)"
    with pytest.raises(passes.PassError, match=what):
        allocated(RESERVE.format("p", 64, 524288), kind="AIC")


@pytest.mark.parametrize("pair", recorded_pairs("AllocateMemoryAddr"), ids=str)
def test_recorded_programs_get_the_same_addresses(pair):
    """Structural equality leaves memory out, so it is compared by itself."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[pair.backend])
    found = passes.make_pass("AllocateMemoryAddr")(pair.before())
    assert addresses(found) == addresses(pair.after())
