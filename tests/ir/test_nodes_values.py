"""Spans, element types and enums (spec: IR, sections 1 to 4)."""

import dataclasses
import pickle

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType

SPAN = ir.Span.unknown()

# Span


def test_span_fields():
    span = ir.Span("f.py", 1, 2, 3, 4)
    assert (span.filename, span.begin_line, span.begin_column) == ("f.py", 1, 2)
    assert (span.end_line, span.end_column) == (3, 4)
    assert ir.Span("f.py", 1, 2) == ir.Span("f.py", 1, 2, -1, -1)
    assert ir.Span.unknown() == ir.Span("", -1, -1, -1, -1)


def test_span_text():
    assert ir.Span("f.py", 1, 2, 3, 4).to_string() == "f.py:1:2"


@pytest.mark.parametrize(
    ("span", "valid"),
    [
        (ir.Span("f", 1, 1), True),
        (ir.Span("f", 1, -1), True),
        (ir.Span("f", 0, 1), False),
        (ir.Span("f", -1, 1), False),
        (ir.Span("f", 1, 0), False),
        (ir.Span("f", 1, -2), False),
        (ir.Span("f", 5, 3, -1, 1), True),
        (ir.Span("f", 5, 3, 1, -1), True),
        (ir.Span("f", 5, 3, 5, 3), True),
        (ir.Span("f", 5, 3, 5, 2), False),
        (ir.Span("f", 5, 3, 4, 9), False),
        (ir.Span("f", 5, 3, 6, 1), True),
        (ir.Span("f", 5, 3, 0, 5), False),
        (ir.Span.unknown(), False),
    ],
    ids=repr,
)
def test_span_validity(span, valid):
    assert span.is_valid() is valid


# DataType: constant, code, bits, text, C type, class

S, U, F, N = "signed", "unsigned", "float", "neither"
DTYPES = [
    ("BOOL", 0x00, 1, "bool", "bool", N),
    ("INT4", 0x10, 4, "int4", "unknown", S),
    ("INT8", 0x11, 8, "int8", "int8_t", S),
    ("INT16", 0x12, 16, "int16", "int16_t", S),
    ("INT32", 0x13, 32, "int32", "int32_t", S),
    ("INT64", 0x14, 64, "int64", "int64_t", S),
    ("INDEX", 0x15, 64, "index", "int64_t", S),
    ("UINT4", 0x20, 4, "uint4", "unknown", U),
    ("UINT8", 0x21, 8, "uint8", "uint8_t", U),
    ("UINT16", 0x22, 16, "uint16", "uint16_t", U),
    ("UINT32", 0x23, 32, "uint32", "uint32_t", U),
    ("UINT64", 0x24, 64, "uint64", "uint64_t", U),
    ("FP4", 0x30, 4, "fp4", "float4_e2m1x2_t", F),
    ("FP8E4M3FN", 0x31, 8, "fp8e4m3fn", "float8_e4m3_t", F),
    ("FP8E5M2", 0x32, 8, "fp8e5m2", "float8_e5m2_t", F),
    ("FP16", 0x33, 16, "fp16", "half", F),
    ("FP32", 0x34, 32, "fp32", "float", F),
    ("FP8E8M0", 0x36, 8, "fp8e8m0", "float8_e8m0_t", F),
    ("BF16", 0x40, 16, "bfloat16", "bfloat16_t", F),
    ("HF4", 0x41, 4, "hf4", "unknown", F),
    ("HF8", 0x42, 8, "hf8", "unknown", F),
    ("TASK_ID", 0x50, 64, "task_id", "unknown", N),
]


@pytest.mark.parametrize(("name", "code", "bits", "text", "c_type", "kind"), DTYPES)
def test_dtype(name, code, bits, text, c_type, kind):
    dtype = getattr(DataType, name)
    assert (dtype.code(), dtype.get_bit(), dtype.to_string(), str(dtype), repr(dtype)) == (
        code,
        bits,
        text,
        text,
        text,
    )
    assert (dtype.name, dtype.to_c_type_string(), dtype.get_byte()) == (name, c_type, max(bits // 8, 1))
    assert dtype.is_signed_int() is (kind == S)
    assert dtype.is_unsigned_int() is (kind == U)
    assert dtype.is_int() is (kind in (S, U))
    assert dtype.is_float() is (kind == F)


def test_dtype_constants_are_all_listed():
    named = {name for name, value in vars(DataType).items() if isinstance(value, DataType)}
    assert named == {row[0] for row in DTYPES} | {"DEFAULT_CONST_INT", "DEFAULT_CONST_FLOAT"}
    assert DataType.DEFAULT_CONST_INT == DataType.INT64
    assert DataType.DEFAULT_CONST_FLOAT == DataType.FP32


def test_dtype_codes_without_a_constant():
    double, unknown = DataType(0x35), DataType(0xFE)
    assert not hasattr(DataType, "FP64")
    assert (double.get_bit(), double.to_string(), double.to_c_type_string()) == (0, "unknown", "double")
    assert double.is_float()
    assert (unknown.get_bit(), unknown.to_string(), unknown.to_c_type_string()) == (0, "unknown", "unknown")


def test_dtypes_compare_by_code():
    assert DataType(0x34) == DataType.FP32
    assert hash(DataType(0x34)) == hash(DataType.FP32)
    assert DataType.INDEX != DataType.INT64
    assert DataType.FP32 != 0x34
    assert pickle.loads(pickle.dumps(DataType.FP32)) == DataType.FP32


def test_index_like_dtypes():
    like = [name for name, *_ in DTYPES if getattr(DataType, name).is_index_like()]
    assert like == ["INT64", "INDEX", "UINT64"]


@pytest.mark.parametrize("code", [-1, 256])
def test_dtype_codes_are_one_byte(code):
    with pytest.raises(ValueError, match=f"^a DataType code is one byte, got {code}$"):
        DataType(code)


# enums

ENUMS = {
    "FunctionType": "Opaque=0 Orchestration=1 InCore=2 AIC=3 AIV=4 Group=5 Spmd=6 Inline=7 Graph=8",
    "Level": "AIV=0 AIC=1 CORE_GROUP=2 CHIP_DIE=3 CHIP=4 HOST=5 CLUSTER_0=6 CLUSTER_1=7 CLUSTER_2=8 GLOBAL=9 "
    "L2CACHE=3 PROCESSOR=4 UMA=4 NODE=5 POD=6 CLOS1=7 CLOS2=8",
    "Role": "Orchestrator=0 SubWorker=1",
    "ParamDirection": "In=0 Out=1 InOut=2",
    "ArgDirection": "Input=0 Output=1 InOut=2 OutputExisting=3 NoDep=4 Scalar=5",
    "ForKind": "Sequential=0 Parallel=1 Unroll=2 Pipeline=3",
    "ScopeKind": "InCore=0 Cluster=2 Hierarchy=3 Spmd=4 Runtime=5 CommDomain=6 SplitAiv=7",
    "SplitMode": "NONE=0 UP_DOWN=1 LEFT_RIGHT=2",
    "MemorySpace": "DDR=0 Vec=1 Mat=2 Left=3 Right=4 Acc=5 Bias=6 ScalarLocal=7 LeftScale=8 RightScale=9",
    "TensorLayout": "ND=0 DN=1 NZ=2 MX_A_ZZ=3 MX_B_NN=4",
    "TileLayout": "none_box=0 row_major=1 col_major=2",
    "PadValue": "null=0 zero=1 max=2 min=3",
    "CompactMode": "null=0 normal=1",
    "PipeType": "MTE1=0 MTE2=1 MTE3=2 M=3 V=4 S=5 FIX=6 ALL=7",
    "CoreType": "CUBE=0 VECTOR=1",
    "NotifyOp": "AtomicAdd=0 Set=1",
    "WaitCmp": "Eq=0 Ge=1",
    "AtomicType": "None_=0 Add=1",
    "ReduceOp": "Sum=0 Max=1 Min=2 Prod=3",
    "InlineLanguage": "Python=0",
    "ArgEffect": "Read=0 Write=1 ReadWrite=2",
    "WriteChannel": "Dma=0 Scalar=1",
}


@pytest.mark.parametrize("name", ENUMS)
def test_enum_members(name):
    found = [f"{member}={value.value}" for member, value in getattr(ir, name).__members__.items()]
    assert found == ENUMS[name].split()


@pytest.mark.parametrize("name", ["PipeType", "CoreType", "NotifyOp", "WaitCmp", "AtomicType", "ReduceOp"])
def test_int_enums_are_integers(name):
    assert all(member == member.value for member in getattr(ir, name))


def test_other_enums_are_no_integers():
    assert ir.MemorySpace.Vec != 1


def test_mem_is_memory_space():
    assert ir.Mem is ir.MemorySpace


def test_incore_types():
    assert [t.name for t in ir.FunctionType if ir.is_incore_type(t)] == ["InCore", "AIC", "AIV"]


def test_linqu_levels():
    assert [ir.level_to_linqu_level(level) for level in ir.Level] == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert ir.level_to_linqu_level(ir.Level.POD) == 4


# conventions


def test_dynamic_dim():
    assert ir.DYNAMIC_DIM == -1


def test_internal_error_is_a_runtime_error():
    assert issubclass(ir.InternalError, RuntimeError)


@pytest.mark.parametrize("name", ["span", "type", "name_hint"])
def test_nodes_are_read_only(name):
    x = ir.Var("x", ir.UnknownType(), SPAN)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(x, name, None)


def test_variables_are_their_objects():
    x, y = (ir.Var("x", ir.UnknownType(), SPAN) for _ in range(2))
    assert x.same_as(x)
    assert not x.same_as(y)
    assert y.unique_id > x.unique_id


def test_python_classes_inherit():
    iter_arg = ir.IterArg("i", ir.UnknownType(), ir.ConstBool(True, SPAN), SPAN)
    assert isinstance(iter_arg, ir.Var)
    assert isinstance(ir.MemRef("m", 0, 1), ir.Var)
    assert isinstance(ir.WindowBuffer(iter_arg, 1), ir.Var)
    assert isinstance(ir.DistributedTensorType([], DataType.FP32), ir.TensorType)
    assert isinstance(ir.GlobalVar("f"), ir.Op)
    assert not isinstance(ir.UnknownType(), ir.IRNode)


def test_ops_compare_by_name():
    assert ir.Op("f") == ir.Op("f")
    assert ir.Op("f") != ir.Op("g")
    assert ir.Op("f") != ir.GlobalVar("f")
    assert ir.GlobalVar("f").name == "f"
