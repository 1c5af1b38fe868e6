"""Calls of ops as programs: a record's call built as IR, emitted, executed."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from oracle_records import DTYPES, Record, Value

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import KwargSpec, OpEntry, OperandSpec, load_table

SPAN = ir.Span.unknown()
TABLE = load_table()
# Operands that a record names differently.
RECORDED_NAMES = {
    "tile": "src", "target": "tile", "col_tile": "col", "rhs": "scalar", "slope": "scalar",
    "output_tensor": "output", "tmp_or_src2": "src2", "tmp_or_src3": "src3",
}  # fmt: skip
ELEMENTS = ("rhs", "scalar", "slope", "value", "start")  # scalars that meet elements of a tile
PUSHES = ("tile.tpush_to_aiv", "tile.tpush_to_aic")


class MissingOpError(LookupError):
    """The op cannot be called: the table lacks or refuses it, or the record has no operand for it."""


def results_of(record: Record) -> dict[str, torch.Tensor]:
    """What the emitted script of a record's call gives, by the record's names."""
    entry = TABLE.get(record.op)
    if entry is None:
        raise MissingOpError("not in the op table")
    if entry.refused is not None:
        raise MissingOpError(f"refused: {entry.refused}")
    if record.op in PUSHES:
        return _pushed(record)
    call = _CallBuilder(entry, record)
    namespace = _executed(call.function(), record)
    arguments = call.arguments()
    result = namespace["kernel"](*arguments.values())
    if record.op != "tile.slice":
        return {record.result.name: result}
    before = result.clone()
    result[0, 1].fill_(torch.full([8], 0x11, dtype=torch.uint8).view(result.dtype)[0])
    return {"res": before, "input": arguments["input"]}


def _executed(node: ir.Function | ir.Program, record: Record) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "oracle_script"}
    exec(compile(torch_codegen(node), f"<oracle {record.id}>", "exec"), namespace)
    return namespace


class _CallBuilder:
    """One call as the body of a kernel whose parameters are the recorded tiles and tensors."""

    def __init__(self, entry: OpEntry, record: Record) -> None:
        self.entry = entry
        self.record = record
        self.params: dict[str, tuple[ir.Var, torch.Tensor]] = {}
        self.args = list(self._operands())
        self.kwargs = dict(self._keywords())

    def function(self) -> ir.Function:
        """The kernel: it returns the call's result."""
        result = ir.Var("result", self._result_type(), SPAN)
        call = ir.Call(ir.Op(self.entry.name), self.args, self.kwargs, result.type, SPAN)
        body = [ir.AssignStmt(result, call, SPAN), ir.ReturnStmt([result], SPAN)]
        params = [var for var, _ in self.params.values()]
        return ir.Function(
            "kernel", params, [result.type], ir.SeqStmts(body, SPAN), SPAN, type=ir.FunctionType.InCore
        )

    def arguments(self) -> dict[str, torch.Tensor]:
        """The recorded numbers, by parameter."""
        return {name: data for name, (_, data) in self.params.items()}

    def _result_type(self) -> ir.ShapedType:
        result = self.record.result
        if self.entry.name == "tile.slice":
            return typed(result, shape=self.record.params["shape"])
        if self.entry.name == "tile.extract":
            return typed(result, shape=result.valid)
        return typed(result)

    def _operands(self) -> Iterator[ir.Expr]:
        scratch_follows = self.entry.name == "tile.mrgsort_format2"
        for spec in self.entry.operands:
            operand = self._operand(spec)
            if operand is None and scratch_follows:
                yield self._made_up(spec.name, self.record.result)
                return
            if operand is None:
                if not spec.optional:
                    raise MissingOpError(f"the record has no {spec.name}")
                return
            yield operand

    def _operand(self, spec: OperandSpec) -> ir.Expr | None:
        record, name = self.record, spec.name
        recorded = name
        if name not in record.inputs and name not in record.params:
            recorded = RECORDED_NAMES.get(name, name)
        if recorded in record.inputs:
            value = record.inputs[recorded]
            return self._param(recorded, typed(value), record.tensor(value))
        if spec.scratch and not spec.optional:
            first = next(iter(record.inputs.values()), record.result)
            return self._made_up(name, first)
        if "tile" in spec.kinds and name == "target":
            return self._made_up(name, record.result)
        if "tuple" in spec.kinds:
            return self._extents(name)
        if "scalar" in spec.kinds:
            return self._scalar(name, recorded)
        return None

    def _extents(self, name: str) -> ir.Expr | None:
        result = self.record.result
        extents = self.record.params.get(name)
        if extents is None and name == "shape":
            extents = result.valid if self.entry.name == "tile.extract" else result.shape
        if extents is None and name == "valid_shape" and result.valid != result.shape:
            extents = result.valid
        if extents is None:
            return None
        return ir.MakeTuple([ir.ConstInt(extent, ir.DataType.INDEX, SPAN) for extent in extents], SPAN)

    def _scalar(self, name: str, recorded: str) -> ir.Expr | None:
        params = self.record.params
        number = params.get(recorded)
        if number is None and name[:-1] in params:  # key0, key1, counter0, ...
            number = params[name[:-1]][int(name[-1])]
        if number is None:
            return None
        if isinstance(number, bool):
            return ir.ConstBool(number, SPAN)
        dtype = ir.DataType.INDEX
        if name in ELEMENTS:
            # Of a select the mask comes first.
            met = [*self.record.inputs.values(), self.record.result]
            dtype = dtype_of(next(value for value in met if value.name != "mask").dtype)
        if isinstance(number, str):
            number = float(number)
        if dtype.is_float():
            return ir.ConstFloat(float(number), dtype, SPAN)
        if isinstance(number, float):
            return ir.ConstFloat(number, ir.DataType.FP32, SPAN)
        return ir.ConstInt(number, dtype, SPAN)

    def _param(self, name: str, type_: ir.Type, data: torch.Tensor) -> ir.Var:
        self.params[name] = (ir.Var(name, type_, SPAN), data)
        return self.params[name][0]

    def _made_up(self, name: str, like: Value) -> ir.Var:
        """An operand that contributes no value: poisoned."""
        data = torch.full([max(like.shape[0], 1), *like.shape[1:]], 0x7F, dtype=torch.uint8)
        dtype = DTYPES[like.dtype]
        poison = data.unsqueeze(-1).expand(*data.shape, dtype.itemsize).contiguous().view(dtype).squeeze(-1)
        return self._param(name, typed(like), poison)

    def _keywords(self) -> Iterator[tuple[str, Any]]:
        record = self.record
        for spec in self.entry.kwargs:
            if spec.name in record.params:
                yield spec.name, _stored(spec, record.params[spec.name])
            elif spec.name == "dtype":
                yield spec.name, dtype_of(record.result.dtype)
            elif spec.name == "target_memory":
                yield spec.name, ir.MemorySpace[record.result.memory]


def _stored(spec: KwargSpec, value: Any) -> Any:
    """A keyword's value as the IR stores it."""
    if spec.type == "DataType":
        return dtype_of(value)
    if spec.type == "MemorySpace":
        return ir.MemorySpace[value]
    if spec.type == "PadValue":
        return ir.PadValue[value]
    return spec.values[value] if isinstance(value, str) and spec.values else value


def dtype_of(name: str) -> ir.DataType:
    """The IR's dtype of that name."""
    found: ir.DataType = getattr(ir.DataType, name)
    return found


def typed(value: Value, shape: list[int] | None = None) -> ir.ShapedType:
    """The type of a recorded value; with another shape, which is then valid as a whole."""
    valid = value.valid if shape is None else shape
    shape = value.shape if shape is None else shape
    dtype = dtype_of(value.dtype)
    if value.memory == "DDR":
        view = ir.TensorView(layout=ir.TensorLayout.ND, valid_shape=valid)
        return ir.TensorType(shape, dtype, tensor_view=view)
    space = ir.MemorySpace[value.memory]
    implicit = ir.TileType(shape, dtype, memory_space=space).get_effective_tile_view()
    view = ir.TileView(valid, blayout=implicit.blayout, slayout=implicit.slayout, fractal=implicit.fractal)
    return ir.TileType(shape, dtype, tile_view=view, memory_space=space)


# Transfers between the cores: a group whose members are one push and one pop. The lanes' tiles lie one below
# the other in a tensor.


def _pushed(record: Record) -> dict[str, torch.Tensor]:
    to_vector = record.op == "tile.tpush_to_aiv"
    lanes = record.outputs if to_vector else record.inputs
    tile = record.inputs["tile"] if to_vector else record.outputs["tile"]
    rows, columns = lanes["lane0"].shape
    source = torch.zeros([rows * 2, columns], dtype=DTYPES[tile.dtype])
    if not to_vector:
        for number, value in enumerate(lanes.values()):
            source[number * rows : (number + 1) * rows] = record.tensor(value)
    cube = record.tensor(tile) if to_vector else torch.zeros(tile.shape, dtype=DTYPES[tile.dtype])
    namespace = _executed(_transfer(record, tile, lanes), record)
    namespace["kernel"](cube, source)
    if not to_vector:
        return {"tile": cube}
    starts = {"lane0": 0, "lane1": rows}
    return {name: source[starts[name] :][: value.shape[0]] for name, value in lanes.items()}


def _transfer(record: Record, tile: Value, lanes: Mapping[str, Value]) -> ir.Program:
    lane = lanes["lane0"]
    dtype = dtype_of(tile.dtype)
    tile_type, lane_type = typed(tile), typed(lane)
    rows, columns = lane.shape
    cube_type, stacked_type = ir.TensorType(tile.shape, dtype), ir.TensorType([rows * 2, columns], dtype)
    split = {"split": record.params["split"]}
    attrs = {"split_aiv": True} if len(lanes) == 2 else {}

    def params() -> list[ir.Var]:
        return [ir.Var("cube", cube_type, SPAN), ir.Var("lanes", stacked_type, SPAN)]

    def function(kind: ir.FunctionType, suffix: str, of: list[ir.Var], body: list[ir.Stmt]) -> ir.Function:
        name = f"kernel{suffix}"
        return ir.Function(name, of, [], ir.SeqStmts(body, SPAN), SPAN, type=kind, attrs=attrs)

    def load(source: ir.Var, start: ir.Expr, type_: ir.TileType) -> ir.Call:
        extents = ir.MakeTuple(type_.shape, SPAN)
        args = [source, ir.MakeTuple([start, index(0)], SPAN), extents, extents]
        return ir.Call(ir.Op("tile.load"), args, {"target_memory": type_.memory_space}, type_, SPAN)

    def store(value: ir.Var, start: ir.Expr, target: ir.Var) -> ir.Stmt:
        args = [value, ir.MakeTuple([start, index(0)], SPAN), target]
        stored = ir.Var("stored", target.type, SPAN)
        return ir.AssignStmt(stored, ir.Call(ir.Op("tile.store"), args, target.type, SPAN), SPAN)

    on_cube, on_vector = params(), params()
    lane_number = ir.Var("lane", ir.ScalarType(ir.DataType.INDEX), SPAN)
    number_of_lane = ir.Call(ir.Op("tile.get_subblock_idx"), [], lane_number.type, SPAN)
    start = ir.mul(lane_number, rows)
    here, there = ir.Var("here", tile_type, SPAN), ir.Var("there", lane_type, SPAN)
    cube_body: list[ir.Stmt]
    vector_body: list[ir.Stmt] = [ir.AssignStmt(lane_number, number_of_lane, SPAN)]
    if record.op == "tile.tpush_to_aiv":
        cube_body = [
            ir.AssignStmt(here, load(on_cube[0], index(0), tile_type), SPAN),
            ir.EvalStmt(ir.Call(ir.Op(record.op), [here], split, SPAN), SPAN),
        ]
        popped = ir.Call(ir.Op("tile.tpop_from_aic"), [], split, lane_type, SPAN)
        vector_body += [ir.AssignStmt(there, popped, SPAN), store(there, start, on_vector[1])]
    else:
        vector_body += [
            ir.AssignStmt(there, load(on_vector[1], start, lane_type), SPAN),
            ir.EvalStmt(ir.Call(ir.Op(record.op), [there], split, SPAN), SPAN),
        ]
        popped = ir.Call(ir.Op("tile.tpop_from_aiv"), [], split, tile_type, SPAN)
        cube_body = [ir.AssignStmt(here, popped, SPAN), store(here, index(0), on_cube[0])]
    group = params()
    members = [ir.Call(ir.GlobalVar(name), group, SPAN) for name in ("kernel_aic", "kernel_aiv")]
    return ir.Program(
        [
            function(ir.FunctionType.AIC, "_aic", on_cube, cube_body),
            function(ir.FunctionType.AIV, "_aiv", on_vector, vector_body),
            function(ir.FunctionType.Group, "", group, [ir.EvalStmt(call, SPAN) for call in members]),
        ],
        "oracle",
        SPAN,
    )


def index(number: int) -> ir.ConstInt:
    """An INDEX constant."""
    return ir.ConstInt(number, ir.DataType.INDEX, SPAN)
