"""Operands and keywords that change neither text nor value of any call, and why that is right."""

_REGION = "says the valid region of the result, which its type has; ops that heed a region read it there"
_SPACE = "says the memory space of the result, which its type has; a script has one memory"
_LAYOUT = "says how the result lies in memory, which no value depends on"
_PRECISION = "chooses a more exact instruction; the script computes as exactly as FP32 allows in any case"
_BARRIER = "says who waits and how; blocks run one after another here, and none can wait"
_PHASE = "a hint about partial sums"
_BUFFER = "an address on the device"
_CLAMP = "tells the type how much of the window there is; cells keep their place in any case"
_PAD = "is recorded for a later fillpad"


def is_of_ranks(op: str) -> bool:
    """Whether an op is of ranks or their host, which only a host program has: tests/ranks run these."""
    return op.startswith(("pld.", "builtin.", "dist."))


WITHOUT_EFFECT: dict[tuple[str, str], str] = {
    ("prefetch.wait", "event"): "a handle without value here: prefetches only warm caches",
    ("prefetch.wait", "session"): "a handle without value here: prefetches only warm caches",
    ("system.aic_initialize_pipe", "c2v_consumer_buf"): _BUFFER,
    ("system.aic_initialize_pipe", "v2c_consumer_buf"): _BUFFER,
    ("system.aic_initialize_pipe", "slot_size"): "bytes of a slot; a slot here holds any tile",
    ("system.aiv_initialize_pipe", "c2v_consumer_buf"): _BUFFER,
    ("system.aiv_initialize_pipe", "v2c_consumer_buf"): _BUFFER,
    ("system.aiv_initialize_pipe", "slot_size"): "bytes of a slot; a slot here holds any tile",
    ("system.syncall", "used_cores"): _BARRIER,
    ("system.syncall", "core_type"): _BARRIER,
    ("system.syncall", "mode"): _BARRIER,
    ("system.tfree_to_aic", "tile"): "slots are freed in the order in which they were popped",
    ("system.tfree_to_aiv", "tile"): "slots are freed in the order in which they were popped",
    ("tensor.create", "layout"): _LAYOUT,
    ("tensor.create", "manual_dep"): "concerns the tracking of dependencies; tasks run in program order",
    ("tensor.create_l1", "transpose"): _LAYOUT,
    ("tensor.matmul", "c_matrix_nz"): _LAYOUT,
    ("tensor.paged_gather", "is_b_matrix"): _LAYOUT,
    ("tensor.paged_gather", "space"): _SPACE,
    ("tensor.slice", "pad_value"): _PAD,
    ("tensor.slice", "clamp"): _CLAMP,
    ("tile.create", "target_memory"): _SPACE,
    ("tile.create", "transpose"): _LAYOUT,
    ("tile.create", "flat_layout"): _LAYOUT,
    ("tile.extract", "target_memory"): _SPACE,
    ("tile.load", "target_memory"): _SPACE,
    ("tile.load", "clamp"): _CLAMP,
    ("tile.mgather", "target_memory"): _SPACE,
    ("tile.move", "blayout"): _LAYOUT,
    ("tile.move", "slayout"): _LAYOUT,
    ("tile.scatter_mask", "dst"): "every cell is overwritten: those that get no element become 0",
    ("tile.slice", "pad_value"): _PAD,
    ("tile.tget_scale_addr", "src"): "names the tile that the scales belong to; the value is the scales",
    ("tile.tpop_from_aic", "lane_stride"): "the lanes are cut where the tile is pushed",
}
for _op in ("gemv", "gemv_acc", "gemv_bias"):
    WITHOUT_EFFECT[f"tile.{_op}", "acc_phase"] = _PHASE
for _op in ("div", "log", "recip"):
    WITHOUT_EFFECT[f"tile.{_op}", "high_precision"] = _PRECISION
for _op in ("div", "log", "recip", "rsqrt"):
    WITHOUT_EFFECT[f"tensor.{_op}", "high_precision"] = _PRECISION
for _op in ("tile.set_validshape", "tensor.set_validshape"):
    WITHOUT_EFFECT[_op, "valid_rows"] = WITHOUT_EFFECT[_op, "valid_cols"] = _REGION
for _op in ("tensor.reshape", "tensor.transpose", "tensor.view"):
    WITHOUT_EFFECT[_op, "valid_shape"] = _REGION
for _op in ("tensor.scatter", "tensor.scatter_update", "tile.scatter_update"):
    WITHOUT_EFFECT[_op, "dim"] = "names the one axis that the op knows; any other is refused"
for _op in ("tile.mgather", "tile.random", "tile.slice", "tile.tri"):
    WITHOUT_EFFECT[_op, "valid_shape"] = _REGION
