"""Enumerations; member values are the integer codes of the wire format."""

from __future__ import annotations

from enum import Enum, IntEnum


class _Words(Enum):
    """Members hash by identity, as they compare: the hash of their names takes a call of Python's."""

    __hash__ = object.__hash__


class FunctionType(_Words):
    """Role of a function in a program."""

    Opaque = 0
    Orchestration = 1
    InCore = 2
    AIC = 3
    AIV = 4
    Group = 5
    Spmd = 6
    Inline = 7
    Graph = 8


def is_incore_type(func_type: FunctionType) -> bool:
    """True for kernel code: InCore, AIC and AIV."""
    return func_type in (FunctionType.InCore, FunctionType.AIC, FunctionType.AIV)


class Level(_Words):
    """Place in the machine hierarchy; several names are aliases of one level."""

    AIV = 0
    AIC = 1
    CORE_GROUP = 2
    CHIP_DIE = 3
    CHIP = 4
    HOST = 5
    CLUSTER_0 = 6
    CLUSTER_1 = 7
    CLUSTER_2 = 8
    GLOBAL = 9
    L2CACHE = 3
    PROCESSOR = 4
    UMA = 4
    NODE = 5
    POD = 6
    CLOS1 = 7
    CLOS2 = 8


_LINQU_LEVELS = (0, 0, 0, 1, 2, 3, 4, 5, 6, 7)


def level_to_linqu_level(level: Level) -> int:
    """Number of the LinQu level (0 core group .. 7 global) that ``level`` belongs to."""
    return _LINQU_LEVELS[level.value]


class Role(_Words):
    Orchestrator = 0
    SubWorker = 1


class ParamDirection(_Words):
    """Declared direction of a function parameter."""

    In = 0
    Out = 1
    InOut = 2


class ArgDirection(_Words):
    """Direction of one argument at a call site."""

    Input = 0
    Output = 1
    InOut = 2
    OutputExisting = 3
    NoDep = 4
    Scalar = 5


class ForKind(_Words):
    Sequential = 0
    Parallel = 1
    Unroll = 2
    Pipeline = 3


class ScopeKind(_Words):
    """Kind of a scope statement; code 1 is unused upstream."""

    InCore = 0
    Cluster = 2
    Hierarchy = 3
    Spmd = 4
    Runtime = 5
    CommDomain = 6
    SplitAiv = 7


class SplitMode(_Words):
    """How vector work is shared by two lanes: by rows (UP_DOWN) or by columns (LEFT_RIGHT)."""

    NONE = 0
    UP_DOWN = 1
    LEFT_RIGHT = 2


class BackendType(_Words):
    """The generations of hardware that programs are compiled for."""

    Ascend910B = 0
    Ascend950 = 1


class MemorySpace(_Words):
    DDR = 0
    Vec = 1
    Mat = 2
    Left = 3
    Right = 4
    Acc = 5
    Bias = 6
    ScalarLocal = 7
    LeftScale = 8
    RightScale = 9


Mem = MemorySpace


class TensorLayout(_Words):
    ND = 0
    DN = 1
    NZ = 2
    MX_A_ZZ = 3
    MX_B_NN = 4


class TileLayout(_Words):
    """Order of blocks (``blayout``) or inside a block (``slayout``)."""

    none_box = 0
    row_major = 1
    col_major = 2


class PadValue(_Words):
    null = 0
    zero = 1
    max = 2
    min = 3


class CompactMode(_Words):
    null = 0
    normal = 1


class InlineLanguage(_Words):
    Python = 0


class PipeType(IntEnum):
    MTE1 = 0
    MTE2 = 1
    MTE3 = 2
    M = 3
    V = 4
    S = 5
    FIX = 6
    ALL = 7


class CoreType(IntEnum):
    CUBE = 0
    VECTOR = 1


class NotifyOp(IntEnum):
    AtomicAdd = 0
    Set = 1


class WaitCmp(IntEnum):
    Eq = 0
    Ge = 1


class AtomicType(IntEnum):
    None_ = 0
    Add = 1


class ReduceOp(IntEnum):
    Sum = 0
    Max = 1
    Min = 2
    Prod = 3


class ArgEffect(_Words):
    Read = 0
    Write = 1
    ReadWrite = 2


class WriteChannel(_Words):
    Dma = 0
    Scalar = 1
