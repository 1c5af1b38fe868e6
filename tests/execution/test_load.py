"""Running a script: its name in tracebacks, fresh arguments for every call, errors with its own lines."""

import inspect
import linecache
import traceback

import pytest
import torch

from pypto_tmpl.debug import MissingTensorError, ScriptError, load_script
from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.execution.load import KEPT_SCRIPTS, script_name
from pypto_tmpl.execution.named import bind_named
from pypto_tmpl.execution.run import run_entry

NAME = "<pypto_tmpl scaled 22_after_ExpandMixedKernel>"


def entry(*parameters, returned=(), name="main"):
    """``n:scalar`` and ``out:out`` mark scalars and pure outputs."""
    pairs = [parameter.partition(":") for parameter in parameters]
    described = tuple(
        Parameter(name, "Out" if kind == "out" else "In", is_scalar=kind == "scalar")
        for name, _, kind in pairs
    )
    return Entry(name, name, described, returned)


@pytest.mark.parametrize(
    ("program", "stage", "name"),
    [
        ("SwigluScope", "22_after_ExpandMixedKernel", "<pypto_tmpl swiglu_scope 22_after_ExpandMixedKernel>"),
        ("_jit_gelu", "00_frontend", "<pypto_tmpl _jit_gelu 00_frontend>"),
        ("Rank3Heads", "00_frontend", "<pypto_tmpl rank3_heads 00_frontend>"),
    ],
)
def test_the_name_says_program_and_stage(program, stage, name):
    assert script_name(program, stage) == name


def test_tracebacks_and_inspect_show_the_lines_of_the_script():
    space = load_script("def main(x):\n    return x.no_such_thing\n", NAME)
    assert inspect.getsource(space["main"]) == "def main(x):\n    return x.no_such_thing\n"
    with pytest.raises(AttributeError) as caught:
        space["main"](torch.ones(1))
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.line) == (NAME, 2, "return x.no_such_thing")
    linecache.checkcache()
    assert linecache.getline(NAME, 2) == "    return x.no_such_thing\n"


def test_a_name_shows_the_script_that_was_loaded_last():
    for value in (1, 2, 1):
        space = load_script(f"def main():\n    return {value}\n", NAME)
        assert space["main"]() == value
        assert linecache.getline(NAME, 2) == f"    return {value}\n"


def test_one_script_may_have_several_names():
    script = "def main():\n    def inner():\n        raise ValueError('here')\n    inner()\n"
    for name in ("<first>", "<second>", "<first>"):
        with pytest.raises(ValueError, match="here") as caught:
            load_script(script, name)["main"]()
        assert [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)][1:] == [
            name
        ] * 2


def test_every_load_has_a_namespace_of_its_own():
    script = "seen = []\ndef main():\n    seen.append(1)\n    return len(seen)\n"
    assert [load_script(script, NAME)["main"]() for _ in range(3)] == [1, 1, 1]


def test_old_scripts_are_forgotten():
    for number in range(KEPT_SCRIPTS + 1):
        load_script("def main(): ...\n", f"<script {number}>")
    assert linecache.getline("<script 0>", 1) == ""
    assert linecache.getline(f"<script {KEPT_SCRIPTS}>", 1) == "def main(): ...\n"


def test_arguments_are_copies_in_the_order_of_the_parameters():
    x, out = torch.ones(2), torch.zeros(2)
    bound = bind_named(entry("out:out", "x"), {"x": x, "out": out}, {})
    assert [a.tolist() for a in bound.arguments] == [[0.0, 0.0], [1.0, 1.0]]
    for argument in bound.arguments:
        argument.fill_(9.0)
    assert (x.tolist(), out.tolist()) == ([1.0, 1.0], [0.0, 0.0])


def test_inputs_that_share_storage_become_separate():
    x = torch.zeros(4)
    first, second = bind_named(entry("a", "b"), {"a": x, "b": x[1:]}, {}).arguments
    first.fill_(1.0)
    assert second.tolist() == [0.0, 0.0, 0.0]
    repeated = bind_named(entry("a"), {"a": torch.ones(1).expand(3)}, {}).arguments[0]
    repeated[0] = 5.0
    assert repeated.tolist() == [5.0, 1.0, 1.0]


def test_scalar_parameters_get_numbers():
    inputs = {"n": torch.tensor(3), "x": torch.tensor(2.0), "f": torch.tensor([True])}
    arguments = bind_named(entry("n:scalar", "x", "f:scalar"), inputs, {}).arguments
    assert (arguments[0], type(arguments[0]), arguments[2]) == (3, int, True)
    assert torch.equal(arguments[1], torch.tensor(2.0))


@pytest.mark.parametrize("given", ["x", "x__ssa_v0", "x__iter_v3"])
def test_names_match_without_their_ssa_suffix(given):
    assert bind_named(entry("x"), {given: torch.ones(1)}, {}).tensors["x"].item() == 1.0


def test_an_exact_name_comes_before_a_suffixed_one():
    inputs = {"x__ssa_v0": torch.zeros(1), "x": torch.ones(1)}
    assert bind_named(entry("x", "x__ssa_v0"), inputs, {}).arguments == [inputs["x"], inputs["x__ssa_v0"]]


def test_a_pure_output_starts_as_zeros_and_an_inout_does_not():
    wanted = {"out": torch.full((2, 3), 7, dtype=torch.int8)}
    [out] = bind_named(entry("out:out"), {}, wanted).arguments
    assert (out.tolist(), out.dtype) == ([[0, 0, 0], [0, 0, 0]], torch.int8)
    with pytest.raises(MissingTensorError):
        bind_named(entry("out"), {}, wanted)


def test_a_parameter_without_a_tensor():
    with pytest.raises(KeyError) as caught:
        bind_named(entry("x", "gamma", "out:out"), {"x": torch.ones(1), "gama": torch.ones(1)}, {})
    assert isinstance(caught.value, MissingTensorError)
    assert str(caught.value) == (
        "error[missing-tensor]: 2 names do not match the entry 'main'\n"
        "   = parameter 'gamma' of the entry 'main' is not among the inputs; did you mean 'gama'?\n"
        "   = the input 'gama' is no parameter of the entry; did you mean 'gamma'?\n"
        "   = parameters: x, gamma, out\n"
        "   = inputs: gama, x"
    )


WRITES = "def main(x, out):\n    out += x\n    total = x + x\n    return total, 3\n"


def test_what_was_computed_comes_by_the_expected_names():
    inputs = {"x": torch.ones(2), "out": torch.ones(2)}
    wanted = {"out__ssa_v0": torch.zeros(2), "total": torch.zeros(2)}
    found = run_entry(WRITES, NAME, entry("x", "out:out", returned=("total", "n")), inputs, wanted)
    assert {name: tensor.tolist() for name, tensor in found.items()} == {
        "out__ssa_v0": [2.0, 2.0],
        "total": [2.0, 2.0],
    }
    assert inputs["out"].tolist() == [1.0, 1.0]


def test_an_expected_name_that_nothing_computes():
    inputs = {"x": torch.ones(2), "out": torch.ones(2)}
    with pytest.raises(MissingTensorError) as caught:
        run_entry(WRITES, NAME, entry("x", "out"), inputs, {"ouut": torch.zeros(2)})
    assert str(caught.value) == (
        "error[missing-tensor]: the expected 'ouut' is no tensor that the entry 'main' takes or returns;"
        " did you mean 'out'?\n"
        "   = parameters: x, out\n"
        "   = inputs: out, x"
    )


def test_an_error_in_the_script_shows_its_lines():
    script = "def main(x):\n    return inner(x)\n\n\ndef inner(x):\n    raise ValueError('no row is valid')\n"
    with pytest.raises(ScriptError) as caught:
        run_entry(script, NAME, entry("x"), {"x": torch.ones(1)}, {})
    assert caught.value.what == (
        "ValueError: no row is valid\n"
        f'  File "{NAME}", line 2, in main\n    return inner(x)\n'
        f"  File \"{NAME}\", line 6, in inner\n    raise ValueError('no row is valid')"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_error_that_was_raised_again_shows_where_it_began():
    script = (
        "def main(x):\n    try:\n        inner(x)\n    except ValueError as error:\n"
        "        raise RuntimeError('lane 1 failed') from error\n\n\n"
        "def inner(x):\n    raise ValueError('no row')\n"
    )
    with pytest.raises(ScriptError) as caught:
        run_entry(script, NAME, entry("x"), {"x": torch.ones(1)}, {})
    assert caught.value.what == (
        "RuntimeError: lane 1 failed\n"
        f'  File "{NAME}", line 3, in main\n    inner(x)\n'
        f"  File \"{NAME}\", line 9, in inner\n    raise ValueError('no row')"
    )


@pytest.mark.parametrize(("large", "threads"), [((), 1), (("main",), 3)])
def test_only_functions_with_large_ops_run_on_several_threads(large, threads):
    script = "import torch\n\n\ndef main(x):\n    return x[:1] * 0 + torch.get_num_threads()\n"
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        called, wanted = entry("x", returned=("y",)), {"y": torch.zeros(1)}
        found = run_entry(script, NAME, called, {"x": torch.zeros(8)}, wanted, large=large)
        assert (found["y"].tolist(), torch.get_num_threads()) == ([threads], 3)
    finally:
        torch.set_num_threads(before)
