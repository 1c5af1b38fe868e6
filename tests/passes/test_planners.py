"""The planners of memory: managers and contexts, what never fits, and values and addresses under each."""

import re
from itertools import combinations, permutations

import pipeline_check
import pytest
from corpus_check import default_corpus, find_dumps
from passes.kernels import kernel
from passes.stored import stored

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.ir.pass_manager import PassManager
from pypto_tmpl.passes import MemoryPlanner
from pypto_tmpl.passes.memory.usage import memory_use

LOAD = "{0}: T[{1}] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
RESERVE = "{0} = pl.system.reserve_buffer(name='{0}', size={1}, base={2})"
LIMITS = {"Ascend910B": 184 * 1024, "Ascend950": 240 * 1024}
EMPTY = """
import pypto.language as pl

@pl.program
class Nothing:
    @pl.function
    def main(self, x: pl.Tensor[[16, 16], pl.FP32]) -> pl.Tensor[[16, 16], pl.FP32]:
        return x
"""


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def choose(name):
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[name])


def run(name, node, planner):
    with passes.PassContext(memory_planner=MemoryPlanner[planner]):
        return passes.make_pass(name)(node)


@pytest.mark.parametrize("dumps", [False, True])
@pytest.mark.parametrize(("made", "other"), [*permutations(MemoryPlanner, 2)])
def test_a_manager_runs_under_its_own_planner_only(made, other, dumps, tmp_path):
    with passes.PassContext(memory_planner=made):
        manager = PassManager.get_strategy()
    with passes.PassContext(memory_planner=other), pytest.raises(RuntimeError) as raised:
        manager.run_passes(pl.parse(EMPTY), dump_ir=dumps, output_dir=tmp_path / "dump")
    assert made.name in str(raised.value) and other.name in str(raised.value)
    assert not (tmp_path / "dump").exists()
    with passes.PassContext(memory_planner=made):
        manager.run_passes(pl.parse(EMPTY))


@pytest.mark.parametrize("other", [MemoryPlanner.PTOAS, MemoryPlanner.DSA_RP])
def test_without_a_context_the_planner_is_pypto(other):
    with passes.PassContext(memory_planner=other):
        manager = PassManager.get_strategy()
    with pytest.raises(RuntimeError, match=f"planner {other.name}, and the context has PYPTO"):
        manager.run_passes(pl.parse(EMPTY))
    PassManager.get_strategy().run_passes(pl.parse(EMPTY))


TOO_MUCH = (LOAD.format("a", "A"), LOAD.format("b", "B"), "c: T[A] = pl.tile.add(a, b)")
NEVER = {
    "Vec buffer usage (260000 bytes at once) exceeds platform limit ({limit} bytes): the largest of them is "
    "'A' with 'a', 130000 bytes": (TOO_MUCH, 11),
    "the buffer 'p' of 64 bytes at 48 in Vec (of {limit} bytes) does not begin at a multiple of 32": (
        (RESERVE.format("p", 64, 48),),
        9,
    ),
    "the buffers 'p' (64 bytes at 0) and 'q' (96 bytes at 32) overlap in Vec (of {limit} bytes)": (
        (RESERVE.format("p", 64, 0), RESERVE.format("q", 96, 32)),
        10,
    ),
    "the buffer 'p' of 64 bytes at 245760 in Vec exceeds platform limit ({limit} bytes)": (
        (RESERVE.format("p", 64, 245760),),
        9,
    ),
}


@pytest.mark.parametrize("chosen", LIMITS)
@pytest.mark.parametrize("what", NEVER)
def test_what_no_tool_could_place_is_refused_before_it_is_asked(what, chosen):
    """Under PTOAS another tool gives addresses: of 130,000 bytes no two fit that are read together."""
    choose(chosen)
    lines, line = NEVER[what]
    with pytest.raises(passes.PassError) as raised:
        run("MaterializeSemanticAliases", stored(*lines, size=130000), "PTOAS")
    text = str(raised.value)
    assert what.format(limit=LIMITS[chosen]) in text and "in function 'kernel'" in text
    last = "a" if "usage" in what else "q" if "overlap" in what else "p"
    assert (raised.value.variable, raised.value.line) == (last, line)


def test_tiles_that_are_never_needed_together_may_be_more_than_the_memory():
    """Four tiles of 90,000 bytes, of which two are in use at a time; rsqrt may not write where it reads."""
    choose("Ascend910B")
    lines = (
        LOAD.format("a", "A"),
        *(f"{n}: T[{n.upper()}] = pl.tile.rsqrt({p})" for p, n in ("ab", "bc", "cd")),
    )
    node = stored(*lines, size=90000)
    run("MaterializeSemanticAliases", node, "PTOAS")
    placed = run("AllocateMemoryAddr", node, "DSA_RP")
    (vec,) = memory_use(placed, None)[0].spaces
    assert {b.name: b.start for b in vec.buffers} == {"A": 0, "B": 90016, "C": 0, "D": 90016}
    with pytest.raises(passes.PassError, match="Vec buffer usage"):
        run("AllocateMemoryAddr", node, "PYPTO")


def test_products_of_two_branches_are_made_in_one_place():
    """Nothing copies within Acc, so that what either branch makes lies there from the start."""
    choose("Ascend910B")
    node = kernel(
        "l = pl.tile.load(x, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)",
        "a = pl.tile.move(l, target_memory=pl.Mem.Left)",
        "b = pl.tile.move(l, target_memory=pl.Mem.Right)",
        "if n < 1:",
        "    p = pl.tile.matmul(a, b)",
        "    r = pl.yield_(p)",
        "else:",
        "    q = pl.tile.matmul(a, b)",
        "    r = pl.yield_(q)",
        "o = pl.tile.store(r, [0, 0], out)",
    )
    made = run("MaterializeSemanticAliases", passes.make_pass("InitMemRef")(node), "DSA_RP")
    found = {name: base for name, base, *_ in tiles(ir.python_print(made))}
    assert found["p"] == found["q"] == found["r"] and found["a"] != found["b"]


def test_slots_of_the_first_buffer_have_addresses():
    """Two slots of 4,096 bytes at address 0: nothing is added to where the run finds a slot in them."""
    choose("Ascend910B")
    slot = "pl.Tile[[16, 64], pl.FP32, pl.MemRef(A, n * 4096, 4096, slots=2)[n], pl.Mem.Vec]"
    node = stored(
        "A: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 8192, pinned=True)",
        f"a: {slot} = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        LOAD.format("b", "B"),
    )
    placed = run("AllocateMemoryAddr", node, "PYPTO")
    passes.verify_properties([ir.IRProperty.AllocatedMemoryAddr], placed, "the test")
    (vec,) = memory_use(placed, None)[0].spaces
    assert [(b.name, b.start, b.size) for b in vec.buffers] == [("A", 0, 8192), ("B", 8192, 4096)]


DUMPS = [
    dump
    for dump in find_dumps(default_corpus(), ".msgpack", "")
    if dump.path.name == pipeline_check.FRONTEND and dump.program in ("carried_swap", "matmul_init_cond")
]


@pytest.mark.parametrize("planner", [MemoryPlanner.PTOAS, MemoryPlanner.DSA_RP])
@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.program)
def test_every_stage_computes_what_it_should(dump, planner):
    found = dict(pipeline_check.check(dump, "", 1, planner))
    assert len(found) >= 8 and not any("MemoryReuse" in label for label in found)
    assert {label: why for label, why in found.items() if why is not None} == {}


TILE = re.compile(
    r"^ +(\w+): pl\.Tile\[.*?pl\.MemRef\((\w+), (?:pl\.const\()?(\d+)(?:, pl\.INT64\))?, (\d+)\)"
)
LOOP = re.compile(r" *(?:for|while) ")


def tiles(text):
    """Names, allocations, offsets and bytes of the tiles in a text."""
    return [match.groups() for line in text.splitlines() if (match := TILE.match(line))]


def lives(lines):
    """Tiles of the text of a function by name: allocation, bytes, and the first and the last line in use.

    What stands before a loop and is named in it is in use to the end of it.
    """
    indents = [len(line) - len(line.lstrip()) for line in lines]
    loops = []
    for start, line in enumerate(lines):
        if LOOP.match(line):
            after = (at for at in range(start + 1, len(lines)) if indents[at] <= indents[start])
            loops.append((start, next(after, len(lines)) - 1))
    found = {}
    for first, line in enumerate(lines):
        if match := TILE.match(line):
            name, base, begin, size = match.groups()
            named = [at for at, text in enumerate(lines) if at > first and re.search(rf"\b{name}\b", text)]
            ends = [end for start, end in loops if start > first and any(start <= at <= end for at in named)]
            found[name] = base, int(begin), int(begin) + int(size), first, max([first, *named, *ends])
    return found


@pytest.mark.parametrize("name", ["layer_norm_pipeline", "flash_attention", "carried_swap"])
def test_what_is_needed_at_once_lies_apart(name):
    """Under DSA_RP, tiles of allocations that lie across each other are in use at different times; only where
    one begins exactly where the other does may it be made of that."""
    choose("Ascend910B")
    path = default_corpus() / f"dumps/{name}/Ascend910B/{pipeline_check.FRONTEND}"
    node = ir.deserialize_from_file(str(path))
    assert isinstance(node, ir.Program)
    with passes.PassContext(memory_planner=MemoryPlanner.DSA_RP):
        node = PassManager.get_strategy().run_passes(node)
    across = 0
    for function in node.functions.values():
        for one, two in combinations(lives(ir.python_print(function).splitlines()).values(), 2):
            in_one_memory = one[0].rpartition("_")[0] == two[0].rpartition("_")[0]
            if in_one_memory and one[0] != two[0] and one[1] < two[2] and two[1] < one[2]:
                across += 1
                gap = max(two[3] - one[4], one[3] - two[4])  # 0: one is written where the other is read
                assert gap > 0 or (gap == 0 and one[1] == two[1]), (function.name, one, two)
    assert across > 0
