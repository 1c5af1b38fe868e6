"""Every function of ``ir.op`` as upstream lists them: the call it builds, its defaults, the span."""

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from ops.calls.operands import D, S, tensor, tile
from ops.sampled import TABLE
from ops.typing.test_inference_samples import EVENT, OTHERS, SESSION, written

from pypto_tmpl import ir, ops
from pypto_tmpl.ops.calls.overloads import spelled_name

LISTED = (Path(__file__).parent / "functions.txt").read_text().splitlines()
HERE = ir.Span("k.py", 3, 4)
NAMESPACES = {
    "array_ops": ["array"], "prefetch_ops": ["prefetch"], "system_ops": ["system"], "tensor_ops": ["tensor"],
    "tile_ops": ["tile"], "distributed": ["pld.tensor", "pld.system", "pld.tile"],
    "distributed.system_ops": ["pld.system"], "distributed.tensor_ops": ["pld.tensor"],
    "distributed.tile_ops": ["pld.tile"],
}  # fmt: skip
# Functions whose name is not that of the op: what they build.
NAMED_OTHERWISE = {
    "arange": "ci", "create_tensor": "create", "create_tile": "create", "syncall_soft": "syncall",
    "mrgsort": "mrgsort_format2",
}  # fmt: skip
# Upstream's own function passes four operands to an op of two, which its registry refuses.
REFUSED = "tile_ops.alloc(memory_space, addr, size, alloc_id, span=None)"
FUNCTIONS = [line for line in LISTED if line != REFUSED and "resolve_gather" not in line]
ENUMERATIONS = {
    name: getattr(ir, name) for name in ("MemorySpace", "TensorLayout", "PadValue", "AtomicType", "ReduceOp")
} | {"int32": D.INT32, "uint32": D.UINT32}
RENAMED = {"tmp_or_src2": "tmp"}
SAMPLES = {
    "prefetch_ops.wait": ([EVENT, SESSION], {}),
    "set_ffts": ([tensor(16, dtype=D.INT64)], {}),
    "syncall": ([], {"core_type": "mix"}),
    "syncall_soft": ([tensor(16, dtype=D.INT32), 7], {"core_type": "mix", "mode": "soft"}),
}
Parameter = tuple[str, str | None]


def parameters(line: str) -> tuple[str, str, list[Parameter], list[Parameter]]:
    """Module, name, and the parameters that may be given by position and those that may not."""
    module, name, listed = re.fullmatch(r"([\w.]+)\.(\w+)\((.*)\)", line).groups()
    before, _, after = f"{listed}, ".partition("*, ")
    parts = [
        [
            (word, default or None)
            for word, _, default in (item.partition("=") for item in part.split(", ") if item)
        ]
        for part in (before, after)
    ]
    return module, name, *([pair for pair in part if pair[0] != "span"] for part in parts)


def function_of(module: str, name: str) -> Any:
    return getattr(import_module(f"pypto_tmpl.ir.op.{module}"), name)


def op_of(module: str, name: str) -> str:
    spelled = NAMED_OTHERWISE.get(name, name)
    for namespace in NAMESPACES[module]:
        for op in TABLE:
            if op.startswith(f"{namespace}.") and spelled_name(op.removeprefix(f"{namespace}.")) == spelled:
                return op
    raise AssertionError(f"no op of {module}.{name}")


@cache
def sample_of(op: str, function: str) -> tuple[list[ir.Expr], dict[str, Any]]:
    """Operands and keywords of a call; constants among them as Python numbers."""
    own = SAMPLES.get(function, SAMPLES.get(function.rpartition(".")[2]))
    if own is not None:
        return own
    operands, keywords = OTHERS[op][:2] if op in OTHERS else written(op, TABLE[op].samples[0])
    constants = (ir.ConstInt, ir.ConstFloat, ir.ConstBool)
    return [value.value if isinstance(value, constants) else value for value in operands], keywords


def arguments(line: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a function from a sample of its op: by position as far as they go, then by name."""
    module, name, positional, keyword_only = parameters(line)
    entry = TABLE[op_of(module, name)]
    operands, keywords = sample_of(entry.name, f"{module}.{name}")
    values = dict(zip(entry.operand_names, operands, strict=False)) | keywords
    values |= {RENAMED[key]: value for key, value in values.items() if key in RENAMED}
    rest = [value for key, value in values.items() if key not in dict(positional + keyword_only)]
    args, named = [], {}
    if positional and positional[0][0] == "*args":
        return operands, keywords
    for place, (parameter, default) in enumerate(positional):
        if parameter.startswith("*"):
            named |= {key: values[key] for key, _ in positional[place + 1 :] if key in values}
            break
        value = values.get(parameter)
        if value is None and default is None:  # an operand that the IR calls otherwise
            value = operands[place] if place < len(operands) else rest.pop(0)
        if value is None:
            named |= {key: values[key] for key, _ in positional[place:] if key in values}
            break
        args.append(value)
    named |= {key: values[key] for key, _ in keyword_only if key in values}
    return args, named


@pytest.mark.parametrize("line", FUNCTIONS)
def test_a_function_builds_the_call_of_its_op(line: str) -> None:
    """Its operands in the order of the IR; with the span, which may also be the last positional argument."""
    module, name, positional, _ = parameters(line)
    op = op_of(module, name)
    args, named = arguments(line)
    found = function_of(module, name)(*args, span=HERE, **named)
    operands, keywords = sample_of(op, f"{module}.{name}")
    expected = ops.call(op, *operands, span=HERE, result_type=found.type, **keywords)
    assert (found.op.name, found.span) == (op, HERE)
    assert (
        ir.structural_diff(found, ir.Call(found.op, expected.args, found.kwargs, None, found.type, S)) is None
    )
    assert dict(expected.kwargs).items() <= dict(found.kwargs).items()


@pytest.mark.parametrize("line", [line for line in FUNCTIONS if "*args" not in line])
def test_what_is_left_out_has_upstreams_default(line: str) -> None:
    module, name, positional, keyword_only = parameters(line)
    args, named = arguments(line)
    given = {name for name, _ in positional[: len(args)]} | named.keys()
    defaults = {
        key: eval(default, ENUMERATIONS)
        for key, default in positional + keyword_only
        if default not in (None, "...") and key not in given
    }
    function = function_of(module, name)
    assert ir.structural_diff(function(*args, **named, **defaults), function(*args, **named)) is None


def test_the_last_argument_may_be_the_span() -> None:
    x = tensor(16, 64)
    found = ir.op.tensor.add(x, 2.0, HERE)
    assert (found.op.name, found.span, found.args[1].span) == ("tensor.adds", HERE, HERE)
    assert ir.op.tensor.add(x, 2.0, None).op.name == "tensor.adds"
    assert ir.op.tensor.slice(x, [4, 64], [0, 0], None, None, HERE).span == HERE
    with pytest.raises(ops.OpCallError, match="^ir.op.tensor_ops.add: the span is given twice$"):
        ir.op.tensor.add(x, x, HERE, span=HERE)


def test_a_function_stands_for_the_op_that_takes_its_arguments() -> None:
    x = tensor(16, 64)
    assert ir.op.tensor.add(x, x).op.name == "tensor.add"
    assert ir.op.tensor.gather(x, mask_pattern=1, offset=0).op.name == "tensor.gather_mask"
    assert ir.op.tile.mrgsort(tile(1, 64), block_len=32).op.name == "tile.mrgsort_format1"


def test_a_result_type_may_be_stated() -> None:
    stated = tile(16, 64).type
    found = ir.op.tile.tpop_from_aic(result_type=stated, split=1)
    assert (found.type, dict(found.kwargs)) == (stated, {"split": 1})
    by_extents = ir.op.tile.tpop_from_aic(shape=[16, 64], dtype=D.FP32, split=1)
    assert ir.structural_equal(by_extents.type, stated)


def test_modes_of_comparison_have_names() -> None:
    resolve = ir.op.tile.resolve_gather_compare_cmp_mode
    assert [resolve(name) for name in ("eq", "ne", "lt", "le", "gt", "ge", 4)] == [0, 1, 2, 3, 4, 5, 4]
    with pytest.raises(ops.OpCallError, match="'cmp_mode' is one of eq, ne, lt, le, gt, ge, not 'gte'"):
        resolve("gte")


def test_four_operands_of_an_allocation_are_refused() -> None:
    with pytest.raises(ops.OpCallError, match="^ir.op.tile_ops.alloc: 4 positional arguments, and it takes "):
        ir.op.tile.alloc(ir.MemorySpace.Vec, 0, 1024, 1)
    assert ir.op.tile.alloc(ir.MemorySpace.Vec, 1024).op.name == "tile.alloc"


def test_a_name_that_is_no_op_is_refused() -> None:
    with pytest.raises(
        AttributeError, match="^pypto_tmpl.ir.op.tile_ops has no op 'lode'; did you mean 'load'\\?$"
    ):
        ir.op.tile.lode  # noqa: B018
    assert "load" in dir(ir.op.tile) and "create_tile" in dir(ir.op.tile)


def test_an_error_names_the_function_and_the_operand() -> None:
    with pytest.raises(ops.OpCallError, match="^ir.op.tile_ops.load: the operand 'shapes' is missing$"):
        ir.op.tile.load(tensor(16, 64), [0, 0])


def test_a_function_tells_its_parameters() -> None:
    parameters = inspect.signature(ir.op.tile.load).parameters
    assert list(parameters) == [
        "tensor", "offsets", "shapes", "valid_shape", "target_memory", "clamp", "span"
    ]  # fmt: skip
    assert parameters["target_memory"].default is ir.MemorySpace.Vec
    assert parameters["clamp"].default is False
    assert ir.op.tile.load.__doc__.startswith("ir.op.tile_ops.load(tensor: tensor, offsets: tuple")
