"""Every error sample of the op table fails as it says: when the script is emitted, or when it runs."""

import builtins

import pytest
from codegen.builders import U, assign, function, op, ret, script
from ops.sampled import TABLE, Typed, made_up, parse, result_dtype, result_shape
from ops.without_effect import is_of_ranks

from pypto_tmpl import ir

SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, entry in TABLE.items()
    for number, sample in enumerate(entry.error_samples)
]


def test_every_op_that_takes_something_has_an_error_sample():
    takes_anything = {"prefetch.wait"}  # handles, which have no dtype
    without = {
        name
        for name, entry in TABLE.items()
        if entry.is_executable and (entry.operands or entry.kwargs) and not entry.error_samples
        if not is_of_ranks(name)
    }
    assert without == takes_anything


def type_of(kind, typed):
    """The IR type of a tile or tensor in a sample."""
    dtype = getattr(ir.DataType, typed.dtype)
    if kind == "array":
        return ir.ArrayType(dtype, *typed.shape)
    if kind == "tensor":
        view = ir.TensorView(layout=ir.TensorLayout.ND, valid_shape=typed.valid)
        return ir.TensorType(typed.shape, dtype, None, view)
    return ir.TileType(typed.shape, dtype, None, ir.TileView(typed.valid), ir.MemorySpace.Vec)


def stored(spec, value):
    """A keyword's value as the IR stores it."""
    enums = {"DataType": ir.DataType, "MemorySpace": ir.MemorySpace, "PadValue": ir.PadValue}
    return getattr(enums[spec.type], value) if spec.type in enums else spec.values.get(str(value), value)


def arguments_of(entry, sample):
    """The operands of the call, and the parameters among them with made-up numbers."""
    args, params = [], []
    for spec in entry.operands:
        if spec.name not in sample:
            break
        value = parse(sample[spec.name])
        if isinstance(value, Typed):
            kind = next((kind for kind in ("tensor", "array") if kind in spec.kinds), "tile")
            value = ir.Var(spec.name, type_of(kind, value), U)
            data = made_up(parse(sample[spec.name]), spec.name).data
            params.append((value, data.tolist() if kind == "array" else data))
        args.append(value)
    return args, params


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_an_error_sample_fails(name, sample):
    entry = TABLE[name]
    args, params = arguments_of(entry, sample)
    keywords = {spec.name: stored(spec, sample[spec.name]) for spec in entry.kwargs if spec.name in sample}
    given = {key: value for key, value in sample.items() if key in entry.operand_names}
    keyword_texts = {key: value for key, value in sample.items() if key in entry.kwarg_names}
    first = params[0][0].type if params else type_of("tile", Typed("INT32", [8], [8]))
    dtype = result_dtype(entry, given, keyword_texts) or first.dtype.name
    try:
        shape = result_shape(entry, given) or first.shape
    except RuntimeError:  # the shapes do not fit, which is what the sample is about
        shape = first.shape
    result_type = type_of(entry.namespace, Typed(dtype, list(shape), list(shape)))
    result = ir.Var("result", result_type, U)
    body = [assign(result, op(name, args, result_type, **keywords)), ret(result)]
    with pytest.raises(getattr(builtins, sample["raises"]), match=sample["match"]):
        namespace = script(function("kernel", [var for var, _ in params], *body, type=ir.FunctionType.InCore))
        namespace["kernel"](*[data for _, data in params])
