"""Which function of a stage is run: the rules, one after the other."""

import pytest
from scaled_dumps import HEAD, tensor

import pypto_tmpl.language as pl
from pypto_tmpl.debug import EntryError, select_entry
from pypto_tmpl.execution.entry import Entry, Parameter, describe_entry, user_name

TENSORS = {"x", "out"}


def function(name, *, calls=(), kind="", parameters=("x", "out")):
    """A function that calls others with its own parameters and returns its last one."""
    decorator = f"(type=pl.FunctionType.{kind})" if kind else ""
    listed = ", ".join(f"{parameter}: {tensor()}" for parameter in parameters)
    last = parameters[-1]
    body = [f"        {last}: {tensor()} = self.{callee}({', '.join(parameters)})" for callee in calls]
    lines = [
        f"    @pl.function{decorator}",
        f"    def {name}(self, {listed}) -> {tensor()}:",
        *body,
        f"        return {last}",
    ]
    return "\n".join(lines) + "\n"


def program(*functions):
    return pl.parse(HEAD + "".join(functions))


def chosen(node, tensors=TENSORS, wanted=None):
    return select_entry(node, tensors, wanted).name


def test_the_only_orchestration_function_comes_first():
    node = program(function("kernel"), function("main", calls=["kernel"], kind="Orchestration"))
    assert chosen(node) == "main"
    called = program(function("inner", kind="Orchestration"), function("outer", calls=["inner"]))
    assert chosen(called) == "inner"


def test_else_the_only_function_that_no_other_calls():
    assert chosen(program(function("kernel"), function("main", calls=["kernel"]))) == "main"
    two = program(
        function("inner", kind="Orchestration"),
        function("outer", calls=["inner"], kind="Orchestration"),
    )
    assert chosen(two) == "outer"
    assert chosen(program(function("main"))) == "main"


def test_else_the_only_one_whose_parameters_are_tensors():
    node = program(
        function("main", calls=["kernel"], parameters=("x__ssa_v0", "out__ssa_v0")),
        function("kernel"),
        function("unused", parameters=("y", "out")),
    )
    assert chosen(node) == "main"
    assert chosen(node, {"y", "out"}) == "unused"


def test_pure_outputs_may_be_missing_where_that_decides():
    first = function("first").replace(f"out: {tensor()}", f"out: pl.Out[{tensor()}]", 1)
    second = function("second", parameters=("y", "out"))
    assert chosen(program(first, second), {"x"}) == "first"
    assert chosen(program(first, second), {"y", "out"}) == "second"
    with pytest.raises(EntryError, match="not clear"):
        chosen(program(function("first"), second), {"x"})


def test_a_called_function_is_taken_where_no_uncalled_one_matches():
    node = program(
        function("first", parameters=("a", "b")),
        function("second", calls=["kernel"], parameters=("c", "d")),
        function("kernel"),
    )
    assert chosen(node) == "kernel"


def test_else_an_error_lists_the_candidates():
    node = program(
        function("first"),
        function("second", calls=["kernel"], kind="Opaque", parameters=("x__ssa_v0", "out")),
        function("kernel", kind="InCore"),
    )
    with pytest.raises(EntryError) as caught:
        select_entry(node, TENSORS)
    assert str(caught.value) == (
        "error[entry]: which of 3 functions is the entry is not clear\n"
        "   = candidates:\n"
        "   =   first(x, out), Opaque\n"
        "   =   second(x, out), Opaque\n"
        "   = make it the only orchestration function; `validate` also takes its name as entry"
    )


def test_a_named_entry_overrides_every_rule():
    node = program(function("kernel"), function("main", calls=["kernel"], kind="Orchestration"))
    assert chosen(node, wanted="kernel") == "kernel"
    with pytest.raises(EntryError) as caught:
        select_entry(node, TENSORS, "kernal")
    assert str(caught.value) == (
        "error[entry]: there is no function 'kernal'\n   = functions: kernel, main; did you mean 'kernel'?"
    )


def test_a_function_alone_is_the_entry():
    function_text = f"@pl.function\ndef alone(x: {tensor()}) -> {tensor()}:\n    return x\n"
    node = pl.parse(f"import pypto.language as pl\n\n{function_text}")
    assert chosen(node, set()) == "alone"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("attn__ssa_v0", "attn"),
        ("resid__iter_v12", "resid"),
        ("c__rv_v2", "c"),
        ("c__phi_v1", "c"),
        ("round___ssa_v0", "round_"),
        ("attn", "attn"),
        ("attn__tile", "attn__tile"),
        ("attn__ssa_v", "attn__ssa_v"),
        ("a__ssa_v0_b", "a__ssa_v0_b"),
    ],
)
def test_a_name_without_its_ssa_suffix(name, base):
    assert user_name(name) == base


def test_what_a_caller_has_to_know():
    text = (
        "    @pl.function\n"
        f"    def main(self, x__ssa_v0: {tensor()}, n__ssa_v0: pl.Scalar[pl.INDEX], "
        f"acc__ssa_v0: pl.InOut[{tensor()}], out__ssa_v0: pl.Out[{tensor()}]):\n"
        "        return out__ssa_v0, x__ssa_v0\n"
    )
    node = program(text)
    entry = describe_entry(select_entry(node, set()), "main_1")
    assert (entry.name, entry.script_name, entry.returned) == ("main", "main_1", ("out", "x"))
    assert [(p.name, p.is_scalar, p.is_pure_output) for p in entry.parameters] == [
        ("x", False, False),
        ("n", True, False),
        ("acc", False, False),
        ("out", False, True),
    ]


def test_entries_are_called_alike_whatever_their_shapes_and_dtypes():
    """Stages whose entries differ in these are run once, where nothing else differs."""
    x = Parameter("x", "In", "FP32", (4,), exact="x__ssa_v0")
    entry = Entry("main", "main", (x,))
    assert entry.is_called_like(Entry("main", "main", (Parameter("x", "InOut", "INT8", (8,)),)))
    assert not entry.is_called_like(Entry("main", "main", (Parameter("x", "Out"),)))
    assert not entry.is_called_like(Entry("main", "main", (Parameter("y", "In"),)))
    assert not entry.is_called_like(Entry("main", "main_1", (x,)))
