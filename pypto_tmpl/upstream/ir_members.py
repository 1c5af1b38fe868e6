"""Members of enumerations that PyPTO has as names of ``pypto.pypto_core.ir`` too."""

from pypto_tmpl.ir.enums import (
    CoreType,
    ForKind,
    FunctionType,
    InlineLanguage,
    Level,
    MemorySpace,
    PadValue,
    ParamDirection,
    PipeType,
    Role,
    ScopeKind,
    SplitMode,
    TensorLayout,
    TileLayout,
)

Opaque = FunctionType.Opaque
Orchestration = FunctionType.Orchestration
InCore = FunctionType.InCore
Group = FunctionType.Group
Spmd = FunctionType.Spmd
Inline = FunctionType.Inline
Graph = FunctionType.Graph

AIV = Level.AIV
AIC = Level.AIC
CORE_GROUP = Level.CORE_GROUP
CHIP_DIE = Level.CHIP_DIE
CHIP = Level.CHIP
HOST = Level.HOST
CLUSTER_0 = Level.CLUSTER_0
CLUSTER_1 = Level.CLUSTER_1
CLUSTER_2 = Level.CLUSTER_2
GLOBAL = Level.GLOBAL

Orchestrator = Role.Orchestrator
SubWorker = Role.SubWorker

In = ParamDirection.In
Out = ParamDirection.Out
InOut = ParamDirection.InOut

Sequential = ForKind.Sequential
Parallel = ForKind.Parallel
Unroll = ForKind.Unroll
Pipeline = ForKind.Pipeline

Cluster = ScopeKind.Cluster
Hierarchy = ScopeKind.Hierarchy
Runtime = ScopeKind.Runtime
CommDomain = ScopeKind.CommDomain
SplitAiv = ScopeKind.SplitAiv

NONE = SplitMode.NONE
UP_DOWN = SplitMode.UP_DOWN
LEFT_RIGHT = SplitMode.LEFT_RIGHT

DDR = MemorySpace.DDR
Vec = MemorySpace.Vec
Mat = MemorySpace.Mat
Left = MemorySpace.Left
Right = MemorySpace.Right
Acc = MemorySpace.Acc
Bias = MemorySpace.Bias
LeftScale = MemorySpace.LeftScale
RightScale = MemorySpace.RightScale
ScalarLocal = MemorySpace.ScalarLocal

ND = TensorLayout.ND
DN = TensorLayout.DN
NZ = TensorLayout.NZ
MX_A_ZZ = TensorLayout.MX_A_ZZ
MX_B_NN = TensorLayout.MX_B_NN

none_box = TileLayout.none_box
row_major = TileLayout.row_major
col_major = TileLayout.col_major

null = PadValue.null
zero = PadValue.zero
max = PadValue.max
min = PadValue.min

MTE1 = PipeType.MTE1
MTE2 = PipeType.MTE2
MTE3 = PipeType.MTE3
M = PipeType.M
V = PipeType.V
S = PipeType.S
FIX = PipeType.FIX
ALL = PipeType.ALL

CUBE = CoreType.CUBE
VECTOR = CoreType.VECTOR

Python = InlineLanguage.Python
