"""TensorSpec and ScalarSpec: initial values, directions, checks."""

import ctypes
import math
import subprocess
import sys

import pytest
import torch

from pypto_tmpl.golden import ScalarSpec, TensorSpec

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn]
INTEGERS = [
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]


def create(init_value, dtype=torch.float32, shape=(2, 3), **options):
    return TensorSpec("t", shape, dtype, init_value, **options).create_tensor()


def test_a_pure_output_starts_as_zeros():
    tensor = create(None, torch.int32, is_output=True)
    assert (tensor.dtype, tensor.tolist()) == (torch.int32, [[0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_random_floats_are_standard_normal(dtype):
    torch.manual_seed(3)
    values = create(None, dtype, (300, 400)).double()
    assert abs(float(values.mean())) < 0.02
    assert abs(float(values.std()) - 1) < 0.02
    share_within_one = float((values.abs() < 1).double().mean())
    assert abs(share_within_one - math.erf(1 / math.sqrt(2))) < 0.02


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_random_integers_are_uniform_over_0_to_7(dtype):
    torch.manual_seed(3)
    values = create(None, dtype, (400, 200)).to(torch.int64)
    counts = torch.bincount(values.flatten())
    assert len(counts) == 8
    assert all(abs(int(count) - 10_000) < 500 for count in counts)


def test_random_bools_are_fair():
    torch.manual_seed(3)
    values = create(None, torch.bool, (200, 200))
    assert values.dtype == torch.bool
    assert abs(int(values.sum()) - 20_000) < 600


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.uint16, torch.float8_e5m2], ids=str)
def test_random_values_come_from_the_default_generator(dtype):
    torch.manual_seed(5)
    first = create(None, dtype, (64,)).double()
    assert not torch.equal(create(None, dtype, (64,)).double(), first)
    torch.manual_seed(5)
    assert torch.equal(create(None, dtype, (64,)).double(), first)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2.5, torch.float32, 2.5),
        (2.9, torch.int32, 2),
        (-2.9, torch.int32, -2),
        (True, torch.float32, 1.0),
        (3, torch.bfloat16, 3.0),
    ],
)
def test_numbers_fill(value, dtype, expected):
    tensor = create(value, dtype)
    assert (tensor.dtype, tensor.tolist()) == (dtype, [[expected] * 3] * 2)


def test_a_number_out_of_range_is_torchs_error():
    with pytest.raises(RuntimeError, match="overflow"):
        create(300, torch.int8)


def test_tensors_are_taken_as_they_are_or_cast():
    given = torch.tensor([[1.5, 2.5, 3.5]])
    assert create(given) is given
    assert create(given, torch.int64).tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("function", [torch.randn, torch.rand, torch.zeros, torch.ones])
def test_the_four_functions_of_torch_get_shape_and_dtype(function):
    tensor = create(function, torch.bfloat16)
    assert (tensor.dtype, tuple(tensor.shape)) == (torch.bfloat16, (2, 3))


def test_any_other_function_is_called_without_arguments():
    assert create(lambda: [[1, 2, 3], [4, 5, 6]], torch.int8).tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(TypeError):
        create(torch.empty)


def test_another_initial_value_is_refused():
    with pytest.raises(TypeError) as caught:
        create("zeros")
    assert str(caught.value) == "Unsupported init_value type <class 'str'> for tensor 't'"


def test_a_bare_number_is_a_shape():
    assert tuple(create(0, shape=5).shape) == (5,)
    assert tuple(create(None, shape=5).shape) == (5,)
    assert TensorSpec("t", [2, 3], torch.int8).extents == (2, 3)


@pytest.mark.parametrize(
    ("resident", "is_resident"), [(None, False), (False, False), (0, True), (3, True), ("stacked", True)]
)
def test_residency(resident, is_resident):
    assert TensorSpec("t", [1], torch.int8, resident=resident).is_resident is is_resident


@pytest.mark.parametrize(
    ("resident", "text"),
    [
        (True, "resident=True is ambiguous; give the card's number or 'stacked'"),
        (-1, "resident must be 0 or more, got -1"),
        ("each", "resident must be a card's number or 'stacked', got 'each'"),
        (1.0, "resident must be a card's number or 'stacked', got 1.0"),
    ],
)
def test_residency_that_names_no_card(resident, text):
    with pytest.raises(ValueError) as caught:
        TensorSpec("t", [1], torch.int8, resident=resident)
    assert str(caught.value) == f"TensorSpec 't': {text}"


def test_residency_may_be_set_later():
    spec = TensorSpec("t", [1], torch.int8)
    spec.resident = "stacked"
    assert spec.is_resident


@pytest.mark.parametrize(
    ("dtype", "value", "ctype", "raw"),
    [
        (torch.int8, -128, ctypes.c_int8, -128),
        (torch.int32, 2**31 - 1, ctypes.c_int32, 2**31 - 1),
        (torch.int64, -(2**63), ctypes.c_int64, -(2**63)),
        (torch.uint8, 255, ctypes.c_uint8, 255),
        (torch.bool, True, ctypes.c_bool, True),
        (torch.float32, 0.5, ctypes.c_float, 0.5),
        (torch.float32, 2, ctypes.c_float, 2.0),
        (torch.float16, 1.0, ctypes.c_uint16, 0x3C00),
        (torch.float16, -2.0, ctypes.c_uint16, 0xC000),
        (torch.bfloat16, 1.0, ctypes.c_uint16, 0x3F80),
        (torch.bfloat16, -1.0, ctypes.c_uint16, 0xBF80),
    ],
)
def test_scalars(dtype, value, ctype, raw):
    spec = ScalarSpec("n", dtype, value)
    assert isinstance(spec.value, torch.Tensor)
    assert (spec.value.dim(), spec.value.dtype) == (0, dtype)
    assert spec.to_python() == value
    found = spec.to_ctypes()
    assert (type(found), found.value) == (ctype, raw)


def test_scalars_are_rounded_to_their_dtype():
    assert ScalarSpec("n", torch.bfloat16, 1.01).to_python() == 1.0078125  # 1 + 2^-7
    assert ScalarSpec("n", torch.float16, 1e6).to_python() == math.inf
    assert ScalarSpec("n", torch.float32, 1e300).to_python() == math.inf


def test_a_0_dim_tensor_is_a_scalar():
    value = torch.tensor(3, dtype=torch.int32)
    assert ScalarSpec("n", torch.int32, value).value is value


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (
            torch.int16,
            1,
            "ScalarSpec 'n': unsupported dtype torch.int16; expected one of ['torch.int8', 'torch.int32', "
            "'torch.int64', 'torch.uint8', 'torch.bool', 'torch.float32', 'torch.float16', 'torch.bfloat16']",
        ),
        (torch.int32, True, "ScalarSpec 'n' dtype=torch.int32 requires int value, got bool"),
        (torch.int32, 1.0, "ScalarSpec 'n' dtype=torch.int32 requires int value, got float"),
        (torch.bool, 1, "ScalarSpec 'n' dtype=torch.bool requires bool value, got int"),
        (torch.float32, False, "ScalarSpec 'n' dtype=torch.float32 requires int or float value, got bool"),
        (torch.float16, "1", "ScalarSpec 'n' dtype=torch.float16 requires int or float value, got str"),
        (torch.int8, 128, "ScalarSpec 'n' value 128 out of range for torch.int8 [-128, 127]"),
        (torch.uint8, -1, "ScalarSpec 'n' value -1 out of range for torch.uint8 [0, 255]"),
        (
            torch.int32,
            torch.tensor([1], dtype=torch.int32),
            "ScalarSpec 'n' requires a 0-dim tensor of torch.int32, got torch.int32 of shape (1,)",
        ),
        (
            torch.int32,
            torch.tensor(1),
            "ScalarSpec 'n' requires a 0-dim tensor of torch.int32, got torch.int64 of shape ()",
        ),
    ],
)
def test_values_that_are_no_scalars(dtype, value, text):
    with pytest.raises(ValueError) as caught:
        ScalarSpec("n", dtype, value)
    assert str(caught.value) == text


def test_specs_and_comparators_do_not_wait_for_the_compiler():
    """Kernel files import the harness at their top; parsing their arguments should be quick."""
    code = (
        "import sys; threads = __import__('torch').get_num_threads();"
        "from pypto_tmpl.golden import *; import torch;"
        "heavy = [m for m in ('jinja2', 'black', 'msgspec', 'yaml', 'pypto_tmpl.ir') if m in sys.modules];"
        "print(heavy, torch.get_num_threads() == threads)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] True\n", "")
