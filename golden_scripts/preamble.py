"""Run-time helpers

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import collections
import ctypes
import functools
import linecache
import math
import sys
import threading
import time
import torch
import warnings


def _program_frame(frame):
    """The innermost frame of the program, from a given one outwards: not of a helper, nor of a library."""
    first_line = _program_frame.__code__.co_firstlineno  # helpers start here
    while frame:
        scope = frame.f_globals
        is_helper = scope is globals() and frame.f_code.co_firstlineno >= first_line
        if not is_helper and not scope.get("__name__", "").startswith(("torch", "pypto_tmpl.")):
            return frame
        frame = frame.f_back


def _generated_line(frame):
    """The line of the program that a frame has come from, and its source line if _SOURCE_MAP has it."""
    frame = _program_frame(frame)
    if frame is None:
        return "its end"
    path, number = frame.f_code.co_filename, frame.f_lineno
    source = frame.f_globals.get("_SOURCE_MAP", {}).get(str(number))
    text = linecache.getline(path, number).partition("  # ")[0].strip()
    place = f"{path}:{number}: {text}" if text else f"{path}:{number}"
    return f"{place} (from {source})" if source else place


# Seconds that one pipe operation may wait for its peer.
_PIPE_WAIT_TIMEOUT_SEC = 10


# Seconds that all lanes of one group call may take.
_MIXED_KERNEL_TIMEOUT_SEC = 30


class _LaneContext(threading.local):
    """What the calling thread stands for: by default lane 0 of block 0, outside any group."""

    subblock_idx, block_idx, block_num, writes_land = 0, 0, 1, True
    lane_name, group = "caller", None  # the _LaneGroup whose lane this thread is


_lane_context = _LaneContext()


def _get_subblock_idx():
    """Vector lane of the calling thread, 0 or 1; 0 on the AIC thread and outside a group."""
    return _lane_context.subblock_idx


def _writes_land():
    """Whether stores of the calling thread count: not on a lane that runs for its pipe traffic alone."""
    return _lane_context.writes_land


# What a blocked lane waits for; ready() and told(), what is missing, are called under the group's lock.
_Wait = collections.namedtuple("_Wait", "lane_name wakeup ready told")


class _LaneCancelled(SystemExit):
    """Ends a lane whose group has failed; as a SystemExit it ends the thread without a word."""


class _LaneGroup:
    """The lanes of one concurrent call, their pipes (by direction and id), and one lock over all of it."""

    def __init__(self, name, lane_names=()):
        self.name, self.lane_names = name, lane_names
        self.live = set(lane_names)  # empty outside a group: nobody knows which threads will come
        self.aiv_lanes = 2 if "aiv1" in lane_names else 1
        self.no_split_dual_aiv_dispatch = False
        self.lanes = {}  # lane name -> _Lane
        self.pipes = collections.defaultdict(lambda: (collections.deque(), collections.deque()))
        self.waits = []  # a _Wait for each waiting lane
        self.failure = None  # (lane name or None, the first error)
        self.inner = {}  # lane name -> the group that this lane is running
        self.lock = threading.RLock()
        self.wakeups = {name: threading.Condition(self.lock) for name in lane_names}
        self.ended = threading.Event()

    def snapshot(self):
        """Queue depths: {direction: {id: [lane 0, lane 1]}}, and the dispatch mode."""
        with self.lock:
            state = {"no_split_dual_aiv_dispatch": self.no_split_dual_aiv_dispatch}
            for (direction, pipe_id), fifos in sorted(self.pipes.items()):
                state.setdefault(direction, {})[pipe_id] = [*map(len, fifos)]
            return state

    def wait_until(self, operation, ready, missing):
        """Block the calling lane, which holds the lock, until ready(); RuntimeError on timeout."""
        name, timeout, frame = _lane_context.lane_name, _PIPE_WAIT_TIMEOUT_SEC, sys._getframe(1)
        wakeup = self.wakeups.get(name) or threading.Condition(self.lock)
        told = lambda: f"{operation} at {_generated_line(frame)}; missing: {missing()}"
        wait = _Wait(name, wakeup, ready, told)
        self.waits.append(wait)
        self._fail_if_stuck()
        in_time = wakeup.wait_for(lambda: self.failure or ready(), timeout)
        self.waits.remove(wait)
        self.check_running()
        if not in_time:
            text = f"timed out (pipe wait timeout {timeout} s) in {told()}; queue depths: {self.snapshot()}"
            raise RuntimeError(f"{self.name}: lane {name} {text}")

    def wake(self):
        """Wake the lanes whose wait is over; the caller holds the lock."""
        for wait in self.waits:
            if wait.ready():
                wait.wakeup.notify()

    def check_running(self):
        """Raise _LaneCancelled if the group has failed."""
        if self.failure:
            raise _LaneCancelled

    def fail(self, lane_name, error):
        """Keep the first error and wake every lane, those of inner groups too, to be cancelled."""
        with self.lock:
            self.failure = self.failure or (lane_name, error)
            for wakeup in self.wakeups.values():
                wakeup.notify_all()
            self.ended.set()
            for group in self.inner.values():
                group.fail(None, _LaneCancelled())

    def finish(self, lane_name):
        """Count a lane as ended; the rest may now wait in vain."""
        with self.lock:
            self.live.discard(lane_name)
            self._fail_if_stuck()
            if not self.live:
                self.ended.set()

    def report(self):
        """Where each lane stands, one a line, and the queue depths."""
        with self.lock:
            states, frames = dict.fromkeys(self.lane_names, "finished"), sys._current_frames()
            for name in self.live:
                states[name] = f"running at {_generated_line(frames.get(self.lanes[name].ident))}"
            states |= {wait.lane_name: wait.told() for wait in self.waits}
            lines = [f"  {name}: {state}" for name, state in states.items()]
            return "\n".join([*lines, f"  queue depths: {self.snapshot()}"])

    def _fail_if_stuck(self):
        may_be = self.live and len(self.waits) >= len(self.live) and not self.failure
        if may_be and not any(wait.ready() for wait in self.waits):
            problem = f"deadlock in {self.name}: every live lane waits and none can be woken"
            self.fail(None, RuntimeError(f"{problem}\n{self.report()}"))


class _Lane(threading.Thread):
    """The thread of one core of a group, in the SPMD block and gradient mode of the one that made it."""

    def __init__(self, group, name, function, args, **context):
        super().__init__(name=f"{group.name} {name}", daemon=True)
        group.lanes[name] = self
        self.group, self.lane_name = group, name
        self.function, self.args, self.value = function, args, None
        self.context = {**vars(_lane_context), "group": group, "lane_name": name, **context}
        self.grad_modes = (torch.is_inference_mode_enabled(), torch.is_grad_enabled())

    def run(self):
        vars(_lane_context).update(self.context)
        inference, grad = self.grad_modes
        try:
            with torch.inference_mode(inference), torch.set_grad_enabled(grad):
                self.value = self.function(*self.args)
        except BaseException as error:  # whatever ends a lane ends its group
            self.group.fail(self.lane_name, error)
        finally:
            self.group.finish(self.lane_name)


def _end_lanes(group, lanes):
    """Join lanes, interrupting after a failure those that compute on; return those that would not end."""
    remaining = [lane for lane in lanes if lane.ident is not None]
    for seconds in (0.2, _MIXED_KERNEL_TIMEOUT_SEC):
        deadline = time.monotonic() + seconds
        for lane in remaining:
            lane.join(max(0.0, deadline - time.monotonic()))
        remaining = [lane for lane in remaining if lane.is_alive()]
        for lane in remaining if group.failure else ():
            if lane.lane_name not in group.inner:  # it ends that first
                cancel = ctypes.py_object(_LaneCancelled)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(lane.ident), cancel)
    return remaining


def _run_lanes(group, lanes):
    """Run the lanes of a group concurrently until all have ended; the first error cancels the others."""
    timeout = _MIXED_KERNEL_TIMEOUT_SEC
    outer = _lane_context.group
    if outer:
        with outer.lock:
            outer.check_running()
            outer.inner[_lane_context.lane_name] = group
    try:
        for lane in lanes:
            lane.start()
        if not group.ended.wait(timeout):
            with group.lock:
                alive = ", ".join(lane.name for lane in lanes if lane.lane_name in group.live)
                text = f"{group.name} timed out (group timeout {timeout} s); alive threads: {alive}"
                group.fail(None, RuntimeError(f"{text}\n{group.report()}"))
    except BaseException:  # an interrupt from the keyboard must not leave lanes behind
        group.fail(None, _LaneCancelled())
        raise
    finally:
        remaining = _end_lanes(group, lanes)
        if outer:
            with outer.lock:
                del outer.inner[_lane_context.lane_name]
    if group.failure:
        _raise_failure(group, remaining)


def _raise_failure(group, remaining):
    """Raise the first error of a group; one that arose in a lane is the cause of what is raised."""
    lane_name, error = group.failure
    if remaining:
        error.add_note(f"could not be stopped: {', '.join(lane.name for lane in remaining)}")
    if lane_name is None:
        raise error
    text = f"{group.name} lane {lane_name} failed: {type(error).__name__}: {error}"
    raise RuntimeError(text) from error


def _get_block_idx():
    """SPMD block that the calling thread runs, 0 outside a launch."""
    return _lane_context.block_idx


def _get_block_num():
    """Number of blocks of the SPMD launch that the calling thread is in, 1 outside a launch."""
    return _lane_context.block_num


def _sync_all():
    """Warn at a barrier of blocks that run one after another: a block cannot wait for a later one."""
    if _lane_context.block_num > 1:
        warnings.warn(
            f"a barrier of {_lane_context.block_num} blocks that run one after another: what a block"
            " reads of a later one is not written yet; use a launch for each side of the barrier",
            RuntimeWarning,
            stacklevel=2,
        )


def _run_spmd(core_num, function, *args):
    """Run function(*args) for the blocks 0..core_num-1 in order; return the last block's value.

    The result is None if core_num is 0. A launch inside a block restores the outer block at its
    end.
    Raises: ValueError if core_num is negative.
    """
    if core_num < 0:
        raise ValueError(f"core_num must be at least 0, not {core_num}")
    outer = (_lane_context.block_idx, _lane_context.block_num)
    value = None
    try:
        for block_idx in range(core_num):
            _lane_context.block_idx, _lane_context.block_num = block_idx, core_num
            value = function(*args)
    finally:
        _lane_context.block_idx, _lane_context.block_num = outer
    return value


def _spmd_blocks(core_num):
    """Iterate over the blocks 0..core_num-1 of an SPMD region; each round stands for one block.

    A region inside a block restores the outer block at its end.
    Raises: ValueError if core_num is negative.
    """
    if core_num < 0:
        raise ValueError(f"core_num must be at least 0, not {core_num}")
    outer = (_lane_context.block_idx, _lane_context.block_num)
    try:
        for block_idx in range(core_num):
            _lane_context.block_idx, _lane_context.block_num = block_idx, core_num
            yield block_idx
    finally:
        _lane_context.block_idx, _lane_context.block_num = outer


_TASK_DONE = 0  # task id of a submitted launch: launches run at once, in program order


def _pass_region(value, valid_shape):
    """A view of `value` that takes its valid extents to a callee whose types do not state them."""
    view = value.view_as(value)
    view._pypto_valid_shape = list(valid_shape)
    return view


def _split_mode_to_int(split):
    """Split code 0..4: 0 none, 1 / 2 halves of dim 0 / dim 1, 3 / 4 the same over an odd extent."""
    code = 0 if split is None else int(split) if str(split).isdecimal() else -1
    if not 0 <= code <= 4:
        raise ValueError(f"split must be 0 (none), 1 or 3 (dim 0), 2 or 4 (dim 1), not {split!r}")
    return code


def _even_split(op, split, tile=None):
    """Split code 0, 1 or 2; 3 and 4 (a ValueError) exist only from cube to vector."""
    code = _split_mode_to_int(split)
    if code > 2:
        what = "" if tile is None else f" of a tile of shape {[*tile.shape]}"
        raise ValueError(
            f"{op}(split={code}){what}: vector lanes reach the cube core by split 0, 1 or 2"
        )
    return code


def _split_axis(code):
    """Dimension that a split code cuts: 0 for 1 and 3, 1 for 2 and 4, None for 0."""
    return (code - 1) % 2 if code else None


def _region(tile):
    """Valid extents of a tile that crossed a pipe or a call: the whole box when it carries none."""
    return list(getattr(tile, "_pypto_valid_shape", tile.shape))


def _with_region(tile, valid):
    """Hang valid extents on a fresh tile if they are smaller than its box; return the tile."""
    if valid != [*tile.shape]:
        tile._pypto_valid_shape = valid
    return tile


def _valid_extents(op, tile, valid_shape):
    """The valid extents of a tile as a list of ints within its box; None stands for the whole box."""
    if valid_shape is None:
        return [*tile.shape]
    if len(valid_shape) != tile.dim():
        raise ValueError(f"{op}: valid_shape {valid_shape} for a tile of shape {[*tile.shape]}")
    return [min(max(int(v), 0), box) for v, box in zip(valid_shape, tile.shape, strict=True)]


def _lane_extents(valid, stride):
    """Valid cells of lanes 0 and 1, where lane L owns the cells [L*stride, L*stride + stride)."""
    return [min(max(valid - lane * stride, 0), stride) for lane in (0, 1)]


def _lane_stride(op, tile, code, lane_stride):
    """Cells between the starts of the two lanes: lane_stride, or half of the box, rounded up."""
    axis = _split_axis(code)
    if axis >= tile.dim():
        raise ValueError(f"{op}(split={code}): a tile of shape {[*tile.shape]} has no dim {axis}")
    half = (tile.shape[axis] + 1) // 2
    if lane_stride is None:
        return half
    if not 1 <= lane_stride <= half:
        raise ValueError(
            f"{op}(split={code}): lane_stride {lane_stride} is not in 1..{half}"
            f" for the extent {tile.shape[axis]} of dim {axis}"
        )
    return int(lane_stride)


def _check_split_parity(op, tile, code, stride, valid):
    """Refuse a split code that the extents contradict: of the box for 1 and 2, of valid cells for 3 and 4."""
    axis = _split_axis(code)
    if code in (1, 2) and tile.shape[axis] % 2:
        raise ValueError(
            f"{op}(split={code}): dim {axis} of a tile of shape {[*tile.shape]} is odd;"
            f" split {code} needs an even extent, {code + 2} is the odd one"
        )
    first, second = _lane_extents(valid[axis], stride)
    if code in (3, 4) and first != second + 1:
        raise ValueError(
            f"{op}(split={code}): lanes 0 and 1 hold {first} and {second} valid cells of dim {axis}"
            f" (lane stride {stride}); split {code} needs exactly one more on lane 0"
        )


def _lane_part(tile, code, lane, stride, valid, copy=True):
    """What a lane owns of a tile: half of it from lane*stride on, with at most `stride` valid cells."""
    axis = _split_axis(code)
    half = (tile.shape[axis] + 1) // 2
    start = lane * stride
    length = min(half, tile.shape[axis] - start)
    part = tile.narrow(axis, start, length)
    if length < half:
        box = [*tile.shape]
        box[axis] = half
        padded = tile.new_zeros(box)
        padded.narrow(axis, 0, length).copy_(part)
        part = padded
    elif copy:
        part = part.clone()
    extent = _lane_extents(valid[axis], stride)[lane]
    return _with_region(part, [*valid[:axis], extent, *valid[axis + 1 :]])


def _lane_parts(op, tile, code, lane_stride=None, valid_shape=None, copy=True):
    """What lanes 0 and 1 own of a tile; see _lane_part."""
    axis = _split_axis(code)
    is_whole = code <= 2 and lane_stride is None and valid_shape is None
    if is_whole and axis < tile.dim() and tile.shape[axis] % 2 == 0:
        parts = tile.chunk(2, axis)
        return [part.clone() for part in parts] if copy else parts
    valid = _valid_extents(op, tile, valid_shape)
    stride = _lane_stride(op, tile, code, lane_stride)
    _check_split_parity(op, tile, code, stride, valid)
    return [_lane_part(tile, code, lane, stride, valid, copy) for lane in (0, 1)]


def _merge_lanes(op, parts, code):
    """Join the parts of lanes 0 and 1 along the split axis; their valid cells must be one rectangle."""
    if parts[0].shape != parts[1].shape or parts[0].dtype != parts[1].dtype:
        first, second = (f"{[*part.shape]} of {part.dtype}" for part in parts)
        raise ValueError(
            f"{op}(split={code}): lanes 0 and 1 bring different tiles: {first} and {second}"
        )
    axis = _split_axis(code)
    if not any(hasattr(part, "_pypto_valid_shape") for part in parts):
        return torch.cat(parts, dim=axis)
    valid, second = (_region(part) for part in parts)
    if 0 not in second:
        box = [*parts[0].shape]
        needed = [*second]
        needed[axis] = box[axis]
        if valid != needed:
            raise RuntimeError(
                f"{op}(split={code}): the valid extents {valid} of lane 0 and {second} of lane 1"
                f" in boxes of {box} are not one rectangle"
            )
        valid[axis] += second[axis]
    return _with_region(torch.cat(parts, dim=axis), valid)


def _two_lanes():
    """Group in which the calling thread is one of two vector lanes, otherwise None."""
    group = _lane_context.group
    if group and group.aiv_lanes == 2 and _lane_context.lane_name != "aic":
        return group
    return None


def _exchange(operation, value):
    """Swap a value with the other vector lane; wait until it has come to the same operation.

    Raises: RuntimeError on timeout, or if the other lane is at another operation.
    """
    group, lane = _two_lanes(), _lane_context.subblock_idx
    with group.lock:
        group.check_running()
        fifos = group.pipes["exchange", 0]
        fifos[1 - lane].append((operation, value))
        group.wake()
        received = fifos[lane]
        if not received:
            group.wait_until(
                operation,
                ready=lambda: bool(received),
                missing=lambda: f"the same call on lane aiv{1 - lane}",
            )
        other_operation, other_value = received.popleft()
    if other_operation != operation:
        raise RuntimeError(
            f"{group.name}: lane aiv{lane} is at {operation}, but lane aiv{1 - lane}"
            f" at {other_operation}; both lanes must take the same path"
        )
    return other_value


def _aiv_shard(tile, split, lane_stride=None, valid_shape=None):
    """This vector lane's part of a cube tile, as a copy.

    Shapes: split 0 the whole tile; 1 / 2 its half of dim 0 / 1, in a box of ceil(extent/2).
    Valid region: of lane L the valid cells among [L*S, L*S + S), S = lane_stride or half the box.
        `valid_shape` are the valid extents of the tile, None for all of it.
    Raises: ValueError if split, stride and tile do not fit.
    """
    code = _split_mode_to_int(split)
    valid = _valid_extents("_aiv_shard", tile, valid_shape)
    if code == 0:
        return _with_region(tile.clone(), valid)
    stride = _lane_stride("_aiv_shard", tile, code, lane_stride)
    return _lane_part(tile, code, _lane_context.subblock_idx, stride, valid)


def _aic_gather(tile, split, valid_shape=None):
    """The parts of both vector lanes joined to one cube tile; each lane waits for the other's.

    Shapes: split 1 / 2 the tiles joined along dim 0 / 1; split 0 a copy of lane 0's tile.
    Valid region: lane 0's, and lane 1's after it if lane 0's part is full.
    Raises: RuntimeError outside two lanes, on timeout, and if the valid parts are not one
        rectangle; ValueError for split 3 and 4 and for parts of different shapes.
    """
    code = _even_split("_aic_gather", split, tile)
    if not _two_lanes():
        raise RuntimeError("_aic_gather needs two vector lanes; call it within _run_split_lanes")
    part = _with_region(tile.clone(), _valid_extents("_aic_gather", tile, valid_shape))
    other = _exchange(f"_aic_gather(split={code})", part)
    parts = [other, part] if _lane_context.subblock_idx else [part, other]
    if code:
        return _merge_lanes("_aic_gather", parts, code)
    return _with_region(parts[0].clone(), _region(parts[0]))


def _store_once(store, *args):
    """Do what the cube core does once for both lanes: lane 0 runs store(*args), both get its value.

    The lanes meet before it, since lane 1 may yet have to read what the store overwrites, and
    after it. Outside two lanes it is a plain call.
    """
    if not _two_lanes():
        return store(*args)
    operation = f"_store_once({getattr(store, '__name__', store)})"
    _exchange(operation, None)
    if _lane_context.subblock_idx:
        return _exchange(operation, None)
    value = store(*args)
    _exchange(operation, value)
    return value


def _run_split_lanes(function, *args):
    """Run one body on two vector lanes at a time, over shared arguments; return lane 0's value.

    Raises: RuntimeError if a lane fails, waits in vain or takes too long.
    """
    name = getattr(function, "__name__", function)
    group = _LaneGroup(f"split lanes of {name!r}", ["aiv0", "aiv1"])
    lanes = [_Lane(group, f"aiv{index}", function, args, subblock_idx=index) for index in (0, 1)]
    _run_lanes(group, lanes)
    return lanes[0].value


# torch computes little with wide unsigned integers, so callers may bring them in a signed carrier.
_CARRIERS = {
    torch.uint16: (torch.int32, torch.int64),
    torch.uint32: (torch.int32, torch.int64),
    torch.uint64: (torch.int64,),
}


def _check_dtype(name, value, dtype):
    """Refuse a value that is not a tensor of the given dtype, or of a carrier of it.

    Raises: TypeError naming the variable, what it is and what was expected.
    """
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name}: got {type(value).__name__}, expected a tensor of {dtype}")
    if value.dtype != dtype and value.dtype not in _CARRIERS.get(dtype, ()):
        raise TypeError(f"{name}: got a tensor of {value.dtype}, expected {dtype}")


def _check_tensor(name, value, shape, dtype):
    """Refuse a value that is not a tensor of the given dtype and shape; None stands for any extent.

    Raises: TypeError as _check_dtype; ValueError naming the variable and both shapes.
    """
    _check_dtype(name, value, dtype)
    got = [*value.shape]
    if len(got) != len(shape) or any(want not in (None, have) for have, want in zip(got, shape)):
        expected = ", ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"{name}: got shape {got}, expected [{expected}]")


def _extents_differ(dimension, extents):
    """How parameters disagree about a dynamic dimension, None if they do not."""
    (first, known), *others = extents.items()
    for place, extent in others:
        if extent != known:
            return f"dimension {dimension} is {known} in {first}, and {extent} in {place}"
    return None


def _check_extents(dimension, extents):
    """Refuse parameters that disagree about a dynamic dimension.

    Raises: ValueError naming the dimension, and two parameters with their extents.
    """
    found = _extents_differ(dimension, extents)
    if found is not None:
        raise ValueError(found)


def _compare_shapes(tensors, numbers=None):
    """Warn of tensors whose extents are not those of their parameters, or disagree about a dimension."""
    found, dimensions = [], {name: {name: value} for name, value in (numbers or {}).items()}
    for parameter, (shape, declared) in tensors.items():
        differs = len(shape) != len(declared)
        for axis, (extent, want) in enumerate(zip(shape, declared)):
            differs = differs or isinstance(want, int) and extent != want
            if isinstance(want, str):
                dimensions.setdefault(want, {})[f"axis {axis} of {parameter}"] = extent
        if differs:
            wanted = ", ".join("?" if want is None else str(want) for want in declared)
            found.append(f"tensor {parameter!r} has shape {[*shape]}, the parameter has [{wanted}]")
    found += filter(None, map(_extents_differ, dimensions, dimensions.values()))
    if found:
        warnings.warn("; ".join(found), UserWarning, stacklevel=3)


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of the cells that a tensor and the valid part of a block laid on it have in common."""
    if valid_shape is not None:
        block = block[tuple(slice(max(extent, 0)) for extent in valid_shape)]
    rank = max(tensor.dim(), block.dim())
    tensor, block = (value[(None,) * (rank - value.dim())] for value in (tensor, block))
    starts = [0] * (rank - len(offsets)) + [*offsets]
    ends = [start + extent for start, extent in zip(starts, block.shape)]
    cells = tensor[tuple(slice(max(start, 0), max(end, 0)) for start, end in zip(starts, ends))]
    firsts = [max(-start, 0) for start in starts]
    return cells, block[tuple(slice(at, at + size) for at, size in zip(firsts, cells.shape))]


def _clip(offset, size, extent):
    """Start and stop of the cells offset .. offset+size in 0 .. extent; equal if there is none."""
    start = min(max(offset, 0), extent)
    return start, max(start, min(offset + size, extent))


def _share_cells(left, right):
    """Whether two tensors show a byte of one storage in common."""
    storages = left.untyped_storage(), right.untyped_storage()
    if storages[0].data_ptr() != storages[1].data_ptr() or not left.numel() or not right.numel():
        return False
    # Stride in bytes -> how many steps of it two cells may lie apart, at least and at most.
    reach = {}
    for tensor, sign in ((left, -1), (right, 1)):
        size = tensor.element_size()
        strides = [1, *(stride * size for stride in tensor.stride())]
        for stride, extent in zip(strides, [size, *tensor.shape]):
            ends = sorted((0, sign * (extent - 1)))
            if stride:
                reach[stride] = [*map(sum, zip(reach.get(stride, (0, 0)), ends))]

    def meet(distance, axes):
        if not axes:
            return distance == 0
        (stride, (low, high)), *rest = axes
        first = -((sum(step * ends[1] for step, ends in rest) - distance) // stride)
        last = (distance - sum(step * ends[0] for step, ends in rest)) // stride
        steps = range(max(first, low), min(last, high) + 1)
        return any(meet(distance - step * stride, rest) for step in steps)

    return meet(left.data_ptr() - right.data_ptr(), sorted(reach.items(), reverse=True))


def _apart(source, target, offsets=None):
    """A source as it is before a target is written: a copy, if it shows cells that are.

    Those are all of the target, or the ones on which the source is laid at offsets.
    """
    cells, part = (target, source) if offsets is None else _overlap(target, source, offsets)
    return source.clone() if _share_cells(part, cells) else source


def _note_edge(tile, cells, offsets, valid_shape):
    """Note in a new tile which cells its tensor had, where the tensor's edge cut the window."""
    rank = tile.dim()
    wanted = tile.shape if valid_shape is None else map(min, valid_shape, tile.shape)
    found = cells.shape[cells.dim() - rank :]
    if [*found] != [*wanted]:
        starts = ([0] * rank + [max(-offset, 0) for offset in offsets])[-rank:]
        tile.found = [slice(start, start + size) for start, size in zip(starts, found)]


def _past_edge(tile, starts):
    """A tile, noted to have cells of a tensor from there on only: those before lie before the tensor."""
    if any(starts):
        tile.found = [slice(start, None) for start in starts]
    return tile


def _drop_edge(tile, offsets, valid_shape):
    """A tile without the cells that its tensor did not have, and where the others go.

    Other tiles stay as they are: only a load over the edge of a tensor makes such cells.
    """
    found = getattr(tile, "found", None)
    if found is None:
        return tile, offsets, valid_shape
    starts = [part.start for part in found]
    offsets = [0] * (tile.dim() - len(offsets)) + [*offsets]
    moves = [0] * (len(offsets) - len(starts)) + starts
    if valid_shape is not None:
        valid_shape = [max(size - start, 0) for size, start in zip(valid_shape, starts)]
    return tile[tuple(found)], [*map(sum, zip(offsets, moves))], valid_shape


def _tile_load(tensor, offsets, shape, valid_shape=None):
    """Copy a window of a tensor into a new tile, zero beyond the tensor and outside valid_shape."""
    tile = torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    source, cells = _overlap(tensor, tile, offsets, valid_shape)
    if cells.shape != tile.shape:
        _note_edge(tile, cells, offsets, valid_shape)
    cells.copy_(source)
    return tile


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor."""
    part, offsets, valid_shape = _drop_edge(tile, offsets, valid_shape)
    cells, part = _overlap(tensor, part, offsets, valid_shape)
    cells.copy_(part)
    if hasattr(tensor, "found"):  # a tile: what is written into it counts
        del tensor.found
    return tensor


def _tile_store_block(tile, offsets, tensor, shapes, valid_shape):
    """Write the valid cells of a flattened tile, read row-major as a block of extents `shapes`.

    The valid rectangle of the flat tile need not be one in the block: cells are chosen one by one.
    """
    valid = torch.zeros(tile.shape, dtype=torch.bool, device=tile.device)
    reached = valid[tuple(slice(0, max(extent, 0)) for extent in valid_shape)]
    reached[tuple(getattr(tile, "found", ()))] = True
    cells, part = _overlap(tensor, tile.reshape(shapes), offsets)
    _, chosen = _overlap(tensor, valid.reshape(shapes), offsets)
    cells.copy_(torch.where(chosen, part.to(cells.dtype), cells))
    return tensor


# Held while cells are added to, which other threads may do at the same time.
_atomic_lock = threading.Lock()


def _tile_store_add(tile, offsets, tensor, valid_shape=None):
    """Add the valid part of a tile to a tensor at offsets, in one step, and return the tensor."""
    part, offsets, valid_shape = _drop_edge(tile, offsets, valid_shape)
    cells, part = _overlap(tensor, part, offsets, valid_shape)
    with _atomic_lock:
        cells.add_(part.to(cells.dtype))
    return tensor


def _assemble(target, source, offsets, valid_shape=None):
    """Write the valid part of a source into a target at offsets and return the target."""
    return _tile_store(source, offsets, target, valid_shape)


def _assemble_add(target, source, offsets, valid_shape=None):
    """Add the valid part of a source to a target at offsets and return the target."""
    return _tile_store_add(source, offsets, target, valid_shape)


def _tensor_slice(tensor, shape, offsets, valid_shape=None):
    """Copy a window of a tensor; cells beyond the tensor's edge or outside valid_shape are zero."""
    return _tile_load(tensor, offsets, shape, valid_shape)


def _tensor_window(tensor, shape, offsets):
    """View of a window of a tensor, which shares its storage; it ends where the tensor ends.

    A window that starts before 0 has cells that no view can show: it is copied, with zeros there.
    """
    if min(offsets) < 0:
        return _tensor_slice(tensor, shape, offsets)
    bounds = [_clip(*window) for window in zip(offsets, shape, tensor.shape)]
    return tensor[tuple(slice(start, stop) for start, stop in bounds)]


def _tile_slice(tile, shape, offsets):
    """View of a window of a tile or tensor; over the edge a copy, with zeros beyond."""
    window = torch.zeros(shape, dtype=tile.dtype, device=tile.device)
    source, cells = _overlap(tile, window, offsets)
    if source.shape == window.shape:
        return source
    _note_edge(window, cells, offsets, None)
    cells.copy_(source)
    return window


def _pad_number(dtype, pad):
    """The number that pads a dtype: 0 for "zero", its lowest for "min", its highest for "max".

    Raises: ValueError for any other word.
    """
    if pad not in ("zero", "min", "max"):
        raise ValueError(f"{pad!r} is no padding value: zero, min or max")
    if pad == "zero":
        return 0
    if dtype.is_floating_point:
        return float("inf") if pad == "max" else float("-inf")
    return getattr(torch.iinfo(dtype), pad)


def _fillpad(tile, pad, valid_shape):
    """Copy of a tile whose cells outside valid_shape hold "zero", "min" or "max" of its dtype."""
    padded = torch.full_like(tile, _pad_number(tile.dtype, pad))
    valid = tuple(slice(0, max(extent, 0)) for extent in valid_shape)
    padded[valid] = tile[valid]
    return padded


def _fillpad_inplace(tile, pad, valid_shape):
    """Fill the cells of a tile outside valid_shape and return the tile; pads as for _fillpad."""
    number = _pad_number(tile.dtype, pad)
    for axis, extent in enumerate(valid_shape):
        start = min(max(extent, 0), tile.shape[axis])
        tile.narrow(axis, start, tile.shape[axis] - start).fill_(number)
    if hasattr(tile, "found"):  # as in the copy of _fillpad, every cell counts from now on
        del tile.found
    return tile


def _pad_before(tile, starts, pad):
    """Fill the cells of a tile before those that its tensor had, and return the tile; "one" is a pad, too."""
    number = 1 if pad == "one" else _pad_number(tile.dtype, pad)
    for axis, start in enumerate(starts):
        tile.narrow(axis, 0, min(start, tile.shape[axis])).fill_(number)
    if hasattr(tile, "found"):  # every cell counts from now on
        del tile.found
    return tile


def _fillpad_expand(tile, shape, pad, valid_shape=None):
    """New tile of that shape: the valid cells at the origin, the pad elsewhere, as for _fillpad."""
    number = _pad_number(tile.dtype, pad)
    padded = torch.full(shape, number, dtype=tile.dtype, device=tile.device)
    extents = tile.shape if valid_shape is None else valid_shape
    valid = tuple(slice(0, max(extent, 0)) for extent in extents)
    padded[valid] = tile[valid]
    return padded


def _wrap_int(value, bits, signed):
    """An integer reduced modulo 2^bits into the range of that integer type."""
    lowest = -(1 << (bits - 1)) if signed else 0
    return (value - lowest) % (1 << bits) + lowest


def _fp32(value):
    """A float rounded half to even to the nearest FP32 number."""
    return ctypes.c_float(value).value


def _int_div(left, right):
    """Quotient of two integers, rounded toward zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _as_dtype(value, dtype):
    """The number that a scalar becomes in a dtype, as an operand of a tile of that dtype.

    To floats: rounded half to even. To integers: floats truncate and saturate, NaN becomes 0;
    integers wrap modulo 2^bits.
    """
    value = value.item() if isinstance(value, torch.Tensor) else value
    if dtype.is_floating_point:
        return torch.tensor(value, dtype=dtype).item()
    info = torch.iinfo(dtype)
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        return int(min(max(value, info.min), info.max))
    return _wrap_int(value, info.bits, info.min < 0)


def _as_cell(value, dtype):
    """The number that a scalar becomes in a cell of an integer dtype: rounded half to even, saturated.

    NaN becomes 0.
    """
    value = value.item() if isinstance(value, torch.Tensor) else value
    info = torch.iinfo(dtype)
    return 0 if math.isnan(value) else round(min(max(value, info.min), info.max))


def _tile_int_div(tile, divisor):
    """Quotient of two integer operands, elementwise, rounded toward zero; 0 where the divisor is 0.

    The lowest integer divided by -1 wraps to itself. Both cases occur in padding, where torch would
    end the process.
    """
    divisor = torch.as_tensor(divisor, dtype=tile.dtype, device=tile.device)
    regular = (divisor != 0) & (divisor != -1)
    quotient = torch.div(tile, torch.where(regular, divisor, 1), rounding_mode="trunc")
    return torch.where(regular, quotient, tile * divisor)


def _unsigned_op(function, dtype, *operands):
    """Apply an integer function to unsigned operands modulo 2^bits; the result has the given dtype.

    torch has hardly any arithmetic on uint16 and uint32, so int64 carries the values.
    """
    mask = (1 << torch.iinfo(dtype).bits) - 1
    carried = [(x.long() if isinstance(x, torch.Tensor) else int(x)) & mask for x in operands]
    return (function(*carried) & mask).to(dtype)


def _uint64_bits(x):
    """The bits of a 64-bit unsigned tensor or number as a signed one; carriers have them already."""
    return x.long() if isinstance(x, torch.Tensor) else _wrap_int(int(x), 64, True)


def _uint64_order(x):
    """Signed numbers that are ordered as the 64-bit unsigned ones are."""
    return _uint64_bits(x) ^ -(1 << 63)


def _uint64_div(left, right):
    """Quotient of the unsigned numbers in signed bits; 0 where the divisor is 0."""
    right = torch.as_tensor(right, dtype=torch.int64, device=left.device)
    divisor = torch.where(right > 0, right, 1)
    # Half the dividend is no negative number; its quotient doubled is right or one too small.
    quotient = torch.div(left >> 1 & (1 << 63) - 1, divisor, rounding_mode="trunc") << 1
    rest = left - quotient * divisor
    quotient += _uint64_order(rest) >= _uint64_order(divisor)
    large = (_uint64_order(left) >= _uint64_order(right)).to(torch.int64)
    return torch.where(right > 0, quotient, torch.where(right < 0, large, 0))


def _uint64_op(function, dtype, *operands):
    """Apply an integer function to 64-bit unsigned operands modulo 2^64; the result has the dtype.

    int64 carries the bits. Where signed and unsigned differ there is other arithmetic, found by the
    name of the function.
    """
    bits = [_uint64_bits(x) for x in operands]
    kind = function.__name__
    if kind in ("maximum", "minimum", "clamp_min", "clamp_max"):
        result = function(*map(_uint64_order, bits)) ^ -(1 << 63)
    elif kind in ("abs", "relu"):
        result = bits[0].clone()
    elif kind == "bitwise_right_shift":
        left, count = bits
        count = torch.as_tensor(count, dtype=torch.int64, device=left.device)
        result = torch.where(count == 0, left, (left >> 1 & (1 << 63) - 1) >> count - 1)
    elif kind == "_tile_int_div":
        result = _uint64_div(*bits)
    elif kind in ("_tile_int_rem", "_tile_int_fmod"):
        result = bits[0] - _uint64_div(*bits) * bits[1]
    else:
        result = function(*bits)
    return result.to(dtype)


def _array_at(array, index):
    """An element of a local array; a negative index is none from the end."""
    if not 0 <= index < len(array):
        raise IndexError(f"index {index} of an array of {len(array)}")
    return array[index]


def _array_set(array, index, value):
    """Set an element of a local array in place; yields the array."""
    if not 0 <= index < len(array):
        raise IndexError(f"index {index} of an array of {len(array)}")
    array[index] = value
    return array


def _tile_int_rem(tile, divisor):
    """Remainder of two integer operands with the divisor's sign; the dividend where the divisor is 0.

    There, also in padding, torch would raise.
    """
    divisor = torch.as_tensor(divisor, dtype=tile.dtype, device=tile.device)
    is_zero = divisor == 0
    return torch.where(is_zero, tile, torch.remainder(tile, torch.where(is_zero, 1, divisor)))


def _tile_int_fmod(tile, divisor):
    """Remainder of two integer operands with the dividend's sign; the dividend where the divisor is 0.

    There, also in padding, torch would raise.
    """
    divisor = torch.as_tensor(divisor, dtype=tile.dtype, device=tile.device)
    is_zero = divisor == 0
    return torch.where(is_zero, tile, torch.fmod(tile, torch.where(is_zero, 1, divisor)))


def _unsigned_values(tile, dtype):
    """The numbers of a tile of an unsigned dtype, or of a signed carrier of it, as int64."""
    return tile.long() & ((1 << torch.iinfo(dtype).bits) - 1)


def _pack_mask(mask, columns=None):
    """Pack the columns of a boolean mask into bytes, the first column into the lowest bit.

    Of the columns only the first `columns` count; the bits of others are 0.
    Shapes: the last extent becomes that many bytes, rounded up to a multiple of 32.
    """
    width = -(-mask.shape[-1] // 256) * 256
    count = mask.shape[-1] if columns is None else min(max(columns, 0), mask.shape[-1])
    if count < width:
        mask = torch.nn.functional.pad(mask[..., :count], [0, width - count])
    # Eight booleans, a byte each, are one number; the product has them as the bits of its top byte.
    words = mask.contiguous().view(torch.int64)
    return (words * 0x0102040810204080 >> 56).to(torch.uint8)


def _unpack_mask(packed, columns):
    """Boolean mask of that many columns from packed bits, as _pack_mask makes them.

    Wider integers hold their bytes lowest first. Columns beyond the packed bits are false.
    """
    # Each byte stands eight times in a number, of which byte k keeps bit k.
    words = packed.contiguous().view(torch.uint8).long() * 0x0101010101010101
    bits = (words & 0x8040201008040201 - (1 << 64)).view(torch.uint8)[..., :columns] != 0
    missing = columns - bits.shape[-1]
    return torch.nn.functional.pad(bits, [0, missing]) if missing else bits


def _reach(tile, valid_shape, shape, starts=None):
    """Index of the cells of a shape that the valid cells of a tile reach when it is broadcast to it.

    Cells before `starts`, if there are any, do not count.
    """
    lead = len(shape) - tile.dim()
    reached = [slice(0, extent) for extent in shape[:lead]]
    for axis, (size, whole) in enumerate(zip(tile.shape, shape[lead:])):
        first = 0 if starts is None else starts[axis]
        valid = size if valid_shape is None else valid_shape[axis]
        start, stop = (whole if end >= size else max(end, 0) for end in (first, valid))
        reached.append(slice(start, max(start, stop)))
    return tuple(reached)


def _combine_parts(
    function, left, right, left_valid, right_valid, left_starts=None, right_starts=None
):
    """Combine two tiles where both are valid; where only one is, copy it.

    None stands for a valid region that is the whole tile, and for no cells before those that count. Cells
    valid in neither are undefined.
    """
    shape = torch.broadcast_shapes(left.shape, right.shape)
    left_cells = _reach(left, left_valid, shape, left_starts)
    right_cells = _reach(right, right_valid, shape, right_starts)
    shared = tuple(
        slice(max(one.start, other.start), min(one.stop, other.stop))
        for one, other in zip(left_cells, right_cells)
    )
    left, right = left.expand(shape), right.expand(shape)
    combined = right.clone()
    combined[left_cells] = left[left_cells]
    if left.dtype == torch.uint64:
        combined[shared] = _uint64_op(function, left.dtype, left[shared], right[shared])
    elif left.dtype in (torch.uint16, torch.uint32):
        combined[shared] = _unsigned_op(function, left.dtype, left[shared], right[shared])
    else:
        combined[shared] = function(left[shared], right[shared])
    return combined


def _repeat_columns(block, count, columns):
    """The first `count` columns of a block, repeated up to that many columns."""
    return block[..., torch.arange(columns, device=block.device) % count]


def _fill_repeated(target, source):
    """Write a source, repeated along its axes of extent 1, into a target and return the target."""
    target.copy_(source)
    return target


def _round_to_integral(x, mode):
    """Round every element of a float64 tensor to an integer, exactly as the mode says.

    "rint": ties to even; "round": ties away from zero; "odd": ties to odd; "floor"; "ceil";
    "trunc" and "none": toward zero. NaN and infinities stay.
    """
    if mode == "rint":
        return torch.round(x)
    if mode == "floor":
        return torch.floor(x)
    if mode == "ceil":
        return torch.ceil(x)
    whole = torch.trunc(x)
    if mode in ("trunc", "none"):
        return whole
    rest = (x - whole).abs()
    away = rest > 0.5
    away |= (rest == 0.5) & (whole % 2 == 0) if mode == "odd" else rest == 0.5
    return whole + torch.copysign(away.to(x.dtype), x)


def _round_to_grid(exact, smallest_normal, eps, mode):
    """Round float64 numbers to those of a float dtype without bounds; infinities and NaN stay.

    Modes as in _round_to_integral, but "none" is "rint", and "odd" sets the last bit of an inexact
    result. `eps` is the distance of the dtype's neighbours above 1.
    """
    power = torch.ldexp(torch.full_like(exact, 0.5), torch.frexp(exact).exponent)
    quantum = power.clamp(min=smallest_normal) * eps  # distance of neighbours in the dtype
    steps = exact / quantum
    if mode == "odd":
        whole = torch.trunc(steps)
        to_odd = (whole != steps) & (whole % 2 == 0)
        whole = whole + torch.copysign(to_odd.to(steps.dtype), steps)
    else:
        whole = _round_to_integral(steps, "rint" if mode == "none" else mode)
    return torch.where(exact.isfinite(), whole * quantum, exact)


def _cast_narrow(x, dtype, mode):
    """Convert to a float dtype with fewer significant bits, rounding once, as the mode says.

    Modes as in _round_to_grid. Out of range: 16-bit dtypes become infinite, 8-bit ones saturate.
    """
    info = torch.finfo(dtype)
    rounded = _round_to_grid(x.to(torch.float64), info.smallest_normal, info.eps, mode)
    if info.bits == 8:
        return torch.clamp(rounded, info.min, info.max).to(dtype)
    return torch.where(rounded.abs() > info.max, rounded * float("inf"), rounded).to(dtype)


def _round_to_bf16(x):
    """Convert FP32 to BF16, ties away from zero: as _cast_narrow does, but on the bits."""
    nearest = (x.view(torch.int32) + 0x8000 >> 16).to(torch.int16).view(torch.bfloat16)
    return torch.where(x.isnan(), x.to(torch.bfloat16), nearest)


def _cast_to_int(x, dtype, mode):
    """Convert floats to an integer dtype: round as the mode says, then saturate; NaN becomes 0."""
    info = torch.iinfo(dtype)
    rounded = _round_to_integral(x.to(torch.float64), mode)
    too_low, too_high = rounded <= info.min, rounded >= info.max
    inside = torch.where(too_low | too_high | rounded.isnan(), 0.0, rounded).to(torch.int64)
    return torch.where(too_low, info.min, torch.where(too_high, info.max, inside)).to(dtype)


def _saturate(x, dtype, bits=None):
    """Integers in another integer dtype, of which `bits` count; beyond its range the number at its end."""
    info = torch.iinfo(dtype)
    bits = bits or info.bits
    lowest = -(1 << bits - 1) if info.min < 0 else 0
    wide = x.to(torch.int64)
    if x.dtype == torch.uint64:
        wide = torch.where(wide < 0, torch.iinfo(torch.int64).max, wide)  # from 2^63 on
    if dtype != torch.uint64:
        wide = wide.clamp(max=lowest + (1 << bits) - 1)
    return wide.clamp(min=lowest).to(dtype)


def _cast_to_uint64(x, dtype, mode):
    """As _cast_to_int, to 64 bits without sign: int64 holds numbers from 2^63 up as negative ones."""
    rounded = _round_to_integral(x.to(torch.float64), mode)
    too_high = rounded >= 2.0**64
    inside = torch.where((rounded <= 0) | too_high | rounded.isnan(), 0.0, rounded)
    bits = torch.where(inside >= 2.0**63, inside - 2.0**64, inside).to(torch.int64)
    return torch.where(too_high, -1, bits).to(dtype)


def _cast_int_to_float(x, dtype, mode):
    """Convert integers to a float dtype, rounding once, as the mode says (see _cast_narrow)."""
    wide = x.to(torch.int64)
    # float64 holds 53 bits: of longer numbers, the leading bits and whether any other is set.
    sticky = (wide & 0xFFF != 0).to(torch.int64) << 11
    wide = torch.where(wide.abs() >> 53 == 0, wide, wide >> 12 << 12 | sticky)
    return _cast_narrow(wide.to(torch.float64), dtype, mode)


def _cast_to_int4(x, dtype, mode):
    """Convert to 4-bit integers, one a byte of the given dtype: int8 has a sign, uint8 none.

    Floats round as the mode says, then saturate; of integers the low bits stay.
    """
    lowest = -8 if dtype == torch.int8 else 0
    if x.dtype.is_floating_point:
        return _cast_to_int(x, dtype, mode).clamp(lowest, lowest + 15)
    return ((x.to(torch.int64) - lowest & 15) + lowest).to(dtype)


def _cast_uint64_to_float(x, dtype, mode):
    """As _cast_int_to_float, for 64 bits without sign."""
    bits = x.to(torch.int64)
    sticky = (bits & 0xFFF != 0).to(torch.int64) << 11
    exact = torch.where(bits >> 53 == 0, bits, bits >> 12 << 12 | sticky).to(torch.float64)
    return _cast_narrow(torch.where(bits < 0, exact + 2.0**64, exact), dtype, mode)


def _reinterpret(data, dtype):
    """The bytes of each row read as another dtype; shares storage unless the rows are strided."""
    return (data if data.stride(-1) == 1 else data.contiguous()).view(dtype)


def _fp4_window(tensor, offsets, shape):
    """View of the bytes of a packed FP4 tensor that a window touches, and its offsets in that view."""
    data = tensor.view(torch.uint8)
    sizes = [1] * (len(offsets) - len(shape)) + [*shape]
    lead, inside = data.dim() - len(offsets), []
    for axis, (offset, size) in enumerate(zip(offsets, sizes), lead):
        unit = 2 if axis == data.dim() - 1 else 1  # numbers in a byte
        start, stop = _clip(offset, size, data.shape[axis] * unit)
        data = data.narrow(axis, start // unit, -(-stop // unit) - start // unit)
        inside.append(offset - start // unit * unit)
    return data, inside


# The codes of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 in float8_e4m3fn, which carries FP4 numbers in tiles.
_FP4_CODES = [0x00, 0x30, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C]


def _fp4_numbers(data):
    """The FP4 numbers of packed bytes, two in a byte, the first in the low half."""
    codes = torch.stack([data & 15, data >> 4], dim=-1).flatten(-2)
    table = torch.tensor(_FP4_CODES, dtype=torch.uint8, device=data.device)
    return (table[(codes & 7).long()] | (codes & 8) << 4).view(torch.float8_e4m3fn)


def _fp4_bytes(numbers):
    """FP4 numbers packed into bytes, as _fp4_numbers reads them."""
    bits = numbers.contiguous().view(torch.uint8)
    table = torch.tensor(_FP4_CODES, dtype=torch.uint8, device=bits.device)
    codes = (torch.bucketize(bits & 0x7F, table) | (bits & 0x80) >> 4).to(torch.uint8)
    return codes[..., ::2] | codes[..., 1::2] << 4


def _fp4_unpack(tensor):
    """The numbers of a packed FP4 tensor in float8_e4m3fn, one an element."""
    return _fp4_numbers(tensor.view(torch.uint8))


def _fp4_pack(numbers):
    """FP4 numbers as a packed tensor, two an element."""
    return _fp4_bytes(numbers).view(torch.float4_e2m1fn_x2)


def _fp4_load(tensor, offsets, shape, valid_shape=None):
    """As _tile_load, from a packed FP4 tensor; offsets and extents count numbers."""
    data, inside = _fp4_window(tensor, offsets, shape)
    return _tile_load(_fp4_numbers(data), inside, shape, valid_shape)


def _fp4_store(tile, offsets, tensor, valid_shape=None):
    """As _tile_store, into a packed FP4 tensor; offsets and extents count numbers."""
    data, inside = _fp4_window(tensor, offsets, tile.shape)
    data.copy_(_fp4_bytes(_tile_store(tile, inside, _fp4_numbers(data), valid_shape)))
    return tensor


def _fp4_slice(tensor, shape, offsets, valid_shape=None):
    """As _tensor_slice, of a packed FP4 tensor; offsets and extents count numbers."""
    return _fp4_pack(_fp4_load(tensor, offsets, shape, valid_shape))


def _fp4_view(tensor, shape, offsets):
    """As _tensor_window, of a packed FP4 tensor; offsets and extents count numbers.

    Raises: ValueError for a window that begins inside a pair of numbers.
    """
    if offsets[-1] % 2:
        raise ValueError(f"a view of packed FP4 begins at an even number, not at {offsets[-1]}")
    halves = [[*numbers[:-1], numbers[-1] // 2] for numbers in (shape, offsets)]
    return _tensor_window(tensor, *halves)


def _fp4_assemble(target, source, offsets, valid_shape=None):
    """As _assemble, of packed FP4 tensors; offsets and extents count numbers."""
    return _fp4_store(_fp4_unpack(source), offsets, target, valid_shape)


def _cast_to_fp4(x, mode):
    """Convert to FP4 numbers in float8_e4m3fn; modes as in _cast_narrow.

    What is too large, infinity included, becomes 6 of its sign; there is no NaN: it becomes 0.
    """
    exact = x.to(torch.float64)
    rounded = _round_to_grid(exact.nan_to_num(0.0, 6.0, -6.0).clamp(-6.0, 6.0), 1.0, 0.5, mode)
    return rounded.clamp(-6.0, 6.0).to(torch.float8_e4m3fn)


def _hf8_size(code):
    """The number that an HF8 code below 128 stands for.

    The leading bits tell how many bits of exponent follow, from four to none, of which the first is
    its sign and a leading 1 is left out; the rest is fraction. Codes below 8 are powers of two.
    """
    if code < 8:
        return 2.0 ** (code - 23) if code else 0.0
    layouts = [(0x60, 4, 1), (0x40, 3, 2), (0x20, 2, 3), (0x10, 1, 3), (0x08, 0, 3)]
    first, exponent_bits, fraction_bits = next(layout for layout in layouts if code >= layout[0])
    exponent, fraction = divmod(code - first, 1 << fraction_bits)
    leading = 1 << exponent_bits >> 1
    if exponent_bits:
        exponent = leading + exponent if exponent < leading else -exponent
    return (1 + fraction / (1 << fraction_bits)) * 2.0**exponent


# The numbers of the codes without sign.
_HF8_SIZES = [_hf8_size(code) if code != 0x6F else float("inf") for code in range(128)]


# The codes without sign by their numbers, without infinity, to which nothing is rounded.
_HF8_ORDER = sorted(range(128), key=_HF8_SIZES.__getitem__)[:-1]


def _hf8_numbers(codes):
    """The numbers of HF8 codes, in FP32; 0x80 is NaN."""
    signed = [*_HF8_SIZES, float("nan"), *(-size for size in _HF8_SIZES[1:])]
    return torch.tensor(signed, device=codes.device)[codes.long()]


def _cast_to_hf8(x, mode):
    """Convert to HF8 codes in uint8; modes as in _cast_narrow.

    What is too large, infinity included, becomes 32768 of its sign. There is no negative zero.
    """
    exact = x.to(torch.float64)
    order = torch.tensor(_HF8_ORDER, device=exact.device)
    sizes = torch.tensor(_HF8_SIZES, dtype=torch.float64, device=exact.device)[order]
    size = exact.abs().nan_to_num(0.0).clamp(max=sizes[-1].item())
    below = torch.bucketize(size, sizes, right=True) - 1
    rest = size - sizes[below]
    half = (sizes[(below + 1).clamp(max=len(order) - 1)] - sizes[below]) / 2
    is_odd = below % 2 == 1  # as the last bit of the code
    if mode in ("rint", "none"):
        up = (rest > half) | (rest == half) & is_odd
    elif mode == "round":
        up = rest >= half
    elif mode == "odd":
        up = ~is_odd
    else:
        up = {"floor": exact < 0, "ceil": exact > 0, "trunc": torch.zeros_like(is_odd)}[mode]
    codes = order[below + (up & (rest > 0))]
    codes = torch.where((exact < 0) & (codes > 0), codes | 0x80, codes)
    return torch.where(exact.isnan(), 0x80, codes).to(torch.uint8)


# What padding becomes before a reduction, so that it changes no result.
_REDUCTION_PADS = {
    torch.sum: "zero",
    torch.prod: "one",
    torch.amax: "min",
    torch.amin: "max",
    torch.argmax: "min",
    torch.argmin: "max",
}


def _reduce_valid(function, tile, valid_shape=None, dim=-1, keepdim=True):
    """Reduce the valid elements of a tile along dim; the others count as the reduction's identity.

    Sums of 16-bit floats accumulate in FP32, integers wrap in their own width. An index among no
    valid elements is 0.
    """
    if valid_shape is not None:
        pad = _REDUCTION_PADS[function]
        padded = torch.full_like(tile, 1 if pad == "one" else _pad_number(tile.dtype, pad))
        valid = tuple(slice(max(extent, 0)) for extent in valid_shape)
        padded[valid] = tile[valid]
        tile = padded
    carrier = tile.dtype
    if not carrier.is_floating_point:
        carrier = torch.int64
    elif function is torch.sum and carrier in (torch.float16, torch.bfloat16):
        carrier = torch.float32
    # With the sign bit turned, signed numbers are ordered as unsigned ones of 64 bits are.
    turned = tile.dtype == torch.uint64 and function not in (torch.sum, torch.prod)
    carried = tile.to(carrier)
    reduced = function(carried ^ -(1 << 63) if turned else carried, dim=dim, keepdim=keepdim)
    if function in (torch.argmax, torch.argmin):
        return reduced
    return (reduced ^ -(1 << 63) if turned else reduced).to(tile.dtype)


def _reduce_in_order(step, tile, count=None, dim=-1, keepdim=True):
    """Reduce the first `count` elements of a tile along dim one after the other, in the tile's dtype.

    `step` is torch.add or torch.mul; torch.sum and torch.prod would take another order, and accumulate
    16-bit floats in FP32.
    """
    parts = tile.unbind(dim)[: None if count is None else max(count, 0)]
    empty = torch.full_like(tile.select(dim, 0), 0 if step is torch.add else 1)
    reduced = functools.reduce(step, parts) if parts else empty
    return reduced.unsqueeze(dim) if keepdim else reduced.clone()


def _sum_in_pairs(tile, count=None):
    """Sum the first `count` rows of a tile as a tree of pairs, every partial sum in the tile's dtype.

    Each level adds rows 0 and 1, 2 and 3, and so on; an odd last row goes to the first sum.
    """
    rows = tile[: None if count is None else max(count, 0)]
    if len(rows) < 2:
        return rows.clone() if len(rows) else torch.zeros_like(tile[:1])
    while len(rows) > 1:
        sums = rows[: len(rows) - 1 : 2] + rows[1::2]
        if len(rows) % 2:
            sums[0] += rows[-1]
        rows = sums
    return rows


def _acc_init(acc, product, init_cond):
    """Write a product into an accumulator, or add it unless init_cond holds; return the accumulator."""
    return acc.copy_(product) if init_cond else acc.add_(product)


def _matmul_mx(lhs, lhs_scale, rhs, rhs_scale, length=None):
    """Product in FP32 of FP8 operands, 32 consecutive numbers along K sharing a power of two.

    `length` cells of K take part, or all if it is none. FP64 carries the sums.
    Shapes: [M, K], [M, ceil(K / 32)], [K, N], [ceil(K / 32), N].
    """
    length = max(0, lhs.shape[-1] if length is None else length)
    left = lhs[:, :length].double()
    left *= lhs_scale.double().repeat_interleave(32, dim=1)[:, :length]
    right = rhs[:length].double()
    right *= rhs_scale.double().repeat_interleave(32, dim=0)[:length]
    return (left @ right).float()


def _logical_scales(packed, layout):
    """The scales of a tensor by row and column, which come in whole blocks of 16 by 2 (else: ValueError)."""
    rows, columns = (16, 2) if layout == "MX_A_ZZ" else (2, 16)
    if packed.dim() != 2 or packed.shape[0] % rows or packed.shape[1] % columns:
        raise ValueError(
            f"scales in layout {layout} come in {rows} rows by {columns}, not {[*packed.shape]}"
        )
    return packed


def _store_scales(tile, offsets, packed, layout, valid_shape=None):
    """Write the valid part of a tile of scales into a tensor that is packed as _logical_scales says."""
    tile, offsets, valid_shape = _drop_edge(tile, offsets, valid_shape)
    places = torch.arange(packed.numel(), device=packed.device).reshape(packed.shape)
    places, part = _overlap(_logical_scales(places, layout), tile, offsets, valid_shape)
    packed.view(torch.uint8).view(-1)[places] = part.view(torch.uint8)
    return packed


def _ci(start, shape, dtype, descending=False, device=None):
    """Row of consecutive integers from start, upwards or downwards, as a new tensor."""
    stop = start - shape[-1] if descending else start + shape[-1]
    info = torch.iinfo(dtype)
    if dtype.is_signed and info.min <= min(start, stop) and max(start, stop) <= info.max:
        row = torch.arange(start, stop, -1 if descending else 1, dtype=dtype, device=device)
    else:  # beyond the dtype integers wrap
        count = torch.arange(shape[-1], device=device)
        row = (start - count if descending else start + count).to(dtype)
    return row.reshape(shape)


def _sort32(values, payload):
    """Sort each run of 32 columns in descending order, ties kept, and interleave the payload.

    A record has 8 bytes: a value and, bit for bit in float lanes, a 32-bit payload.
    Shapes: FP32: the last extent doubles. FP16: it quadruples, records being value, 0, low half and
        high half of the payload.
    """
    runs, order = torch.sort(values.reshape(-1, 32), dim=-1, descending=True, stable=True)
    bits = payload.long().to(torch.int32).reshape(-1, 32).gather(-1, order)
    if values.dtype == torch.float32:
        records = torch.stack([runs.view(torch.int32), bits], dim=-1)
    else:
        records = torch.stack([runs.view(torch.int16).int() & 0xFFFF, bits], dim=-1)
    records = records.reshape(*values.shape[:-1], 2 * values.shape[-1])
    return records.view(values.dtype)


def _mrgsort_format1(records, block_len):
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run.

    The columns are the records that _sort32 makes; equal values stay in order.
    """
    lane_count = 8 // records.element_size()
    merged = []
    for block in records.split(4 * block_len, dim=-1):
        order = torch.sort(block[..., ::lane_count], dim=-1, descending=True, stable=True).indices
        lanes = [block[..., lane::lane_count].gather(-1, order) for lane in range(lane_count)]
        merged.append(torch.stack(lanes, dim=-1).reshape(block.shape))
    return torch.cat(merged, dim=-1)


def _gather_flat(source, indices):
    """Elements of a source at row-major flat indices; 0 where an index is out of range."""
    flat = source.reshape(-1)
    index = indices.long()
    inside = (index >= 0) & (index < flat.numel())
    return torch.where(inside, flat[torch.where(inside, index, 0)], 0)


def _refuse_negative(indices, tensor):
    """Refuse an index before the first element, which Python would count from the end."""
    if any(index < 0 for index in indices):
        shape = [*tensor.shape]
        raise IndexError(f"index {[*indices]} is negative: it is none of a tensor of {shape}")


def _element(tensor, indices):
    """One element of a tile or tensor, as a number."""
    _refuse_negative(indices, tensor)
    return tensor[tuple(indices)].item()


def _write(target, indices, value):
    """Set one element of a tile or tensor and return it."""
    _refuse_negative(indices, target)
    target[tuple(indices)] = value
    return target


def _mgather(table, indices, coalesce, out_of_range="zero"):
    """Rows ("row") or elements ("elem") of a table at indices, which are unsigned 32-bit numbers.

    Those out of range are clamped ("clamp"), taken modulo the count ("wrap"), or give 0 ("zero").
    """
    is_row = coalesce == "row"
    source = table.reshape(-1, table.shape[-1]) if is_row else table.reshape(-1)
    index = (indices.reshape(-1) if is_row else indices).long() & 0xFFFFFFFF
    if out_of_range == "clamp":
        return source[index.clamp(max=len(source) - 1)]
    if out_of_range == "wrap":
        return source[index % len(source)]
    inside = index < len(source)
    picked = source[torch.where(inside, index, 0)]
    return torch.where(inside.unsqueeze(-1) if is_row else inside, picked, torch.zeros_like(picked))


def _mrgsort_format2(lists, width=None, exhausted=False):
    """Merge lists of records, each in descending order, into one as wide as they are or as `width`.

    The columns are the records that _sort32 makes; equal values stay in the order of the lists. If
    exhausted is set, the merge ends with the last record of the list that is used up first.
    """
    records = torch.cat(lists, dim=-1)
    lane_count = 8 // records.element_size()
    order = torch.sort(records[..., ::lane_count], dim=-1, descending=True, stable=True).indices
    lanes = [records[..., lane::lane_count].gather(-1, order) for lane in range(lane_count)]
    merged = torch.stack(lanes, dim=-1)
    if exhausted:
        ends = torch.tensor([part.shape[-1] // lane_count for part in lists]).cumsum(0) - 1
        place = torch.argsort(order, dim=-1)[..., ends.to(order.device)]
        taken = torch.arange(order.shape[-1], device=order.device) <= place.amin(-1, keepdim=True)
        merged = torch.where(taken.unsqueeze(-1), merged, torch.zeros_like(merged))
    merged = merged.reshape(records.shape)
    extra = 0 if width is None else width - records.shape[-1]
    return torch.nn.functional.pad(merged, (0, extra)) if extra else merged


def _random(key, counter, shape, dtype, rounds, device=None):
    """Random 32-bit words: word 0 of Philox 4x32 at that key, for a counter that every cell has.

    The 128-bit counter of cell [i, j] is the given one plus i * ceil(columns / 4) + j.
    """
    columns = torch.arange(shape[-1], device=device)
    rows = torch.arange(shape[0], device=device).unsqueeze(-1) * -(-shape[-1] // 4)
    mask, carry = 0xFFFFFFFF, rows + columns
    words = []
    for word in counter:
        carry = carry + (int(word) & mask)
        words.append(carry & mask)
        carry = carry >> 32
    key0, key1 = int(key[0]) & mask, int(key[1]) & mask
    for _ in range(rounds):
        left, right = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        high = (right >> 32 & mask) ^ words[1] ^ key0, (left >> 32 & mask) ^ words[3] ^ key1
        words = [high[0], right & mask, high[1], left & mask]
        key0, key1 = (key0 + 0x9E3779B9) & mask, (key1 + 0xBB67AE85) & mask
    return words[0].to(dtype)


def _gatherb(source, offsets, dtype):
    """The 32 bytes of a source at each byte offset, as numbers of a dtype; 0 beyond its end.

    Shapes: [rows, columns] offsets give [rows, columns * 32 / element size].
    """
    data = source.contiguous().view(torch.uint8).reshape(-1)
    blocks = torch.nn.functional.pad(data, [0, 32]).unfold(0, 32, 1)  # one for each offset
    picked = blocks.index_select(0, offsets.long().reshape(-1).clamp(max=data.numel()))
    return picked.reshape(offsets.shape[0], -1).view(dtype)


def _gather_compare(
    source, compare, number, out_cols, offset, count_dtype, valid_shape=None, starts=(0, 0)
):
    """Per row the columns whose valid element compares so with a number, plus an offset; the counts.

    Elements before `starts` lie before their tensor and are left out.
    Shapes: [rows, out_cols], packed to the left and 0 after that, and [1, rows].
    """
    chosen = torch.zeros(source.shape, dtype=torch.bool, device=source.device)
    ends = zip(starts, valid_shape or source.shape)
    valid = tuple(slice(start, max(extent, start)) for start, extent in ends)
    chosen[valid] = compare(source[valid], number)
    counts = chosen.cumsum(dim=1)
    row, column = torch.nonzero(chosen & (counts <= out_cols), as_tuple=True)
    packed = torch.zeros([source.shape[0], out_cols], dtype=torch.int32, device=source.device)
    packed[row, counts[row, column] - 1] = (column + offset).to(torch.int32)
    return packed, counts[:, -1:].mT.to(count_dtype)


def _gather_row(target, source, target_offset, source_offset, shape, transpose=False):
    """Copy a window of a source into a target, as columns if transpose is set; return the target.

    What the source does not have, or the target, is dropped.
    """
    ends = [max(offset + size, 0) for offset, size in zip(source_offset, shape)]
    window = source[tuple(slice(max(start, 0), end) for start, end in zip(source_offset, ends))]
    start = [max(-offset, 0) for offset in source_offset]
    if transpose:
        window, start = window.mT, start[::-1]
    return _tile_store(window, [*map(sum, zip(target_offset, start))], target)


def _paged_gather(source, indices, block_table, block_size, count, columns):
    """Rows of a pool of blocks: those that the first `count` logical row numbers have in it.

    `columns` are the first one and how many. What does not exist is 0.
    """
    index = indices.reshape(-1)[:count].long()
    table = block_table.reshape(-1).long()
    block = torch.div(index, block_size, rounding_mode="floor")
    exists = (block >= 0) & (block < table.numel())
    row = table[torch.where(exists, block, 0)] * block_size + index % block_size
    exists &= (row >= 0) & (row < source.shape[0])
    picked = _tile_load(source[torch.where(exists, row, 0)], [0, columns[0]], [count, columns[1]])
    return torch.where(exists.unsqueeze(-1), picked, torch.zeros_like(picked))


def _put(target, indices, values, valid_shape=None, row_axes=0):
    """Write values at row-major flat indices of a tile or tensor, in order, and return it.

    With row_axes=1 an index counts rows of the last axis. Indices outside valid_shape or the target
    write nothing.
    """
    index = indices.long()
    if valid_shape is not None:
        valid = tuple(slice(0, max(extent, 0)) for extent in valid_shape)
        chosen = torch.full_like(index, -1)
        chosen[valid] = index[valid]
        index = chosen
    index = index.reshape(-1)
    shape, entry = target.shape[: target.dim() - row_axes], target.shape[target.dim() - row_axes :]
    values = values.reshape(index.numel(), *entry)
    lowest, highest = index.aminmax() if index.numel() else (0, -1)
    if lowest < 0 or highest >= shape.numel():
        inside = (index >= 0) & (index < shape.numel())
        index, values = index[inside], values[inside]
    order = torch.arange(index.numel(), device=index.device)
    place = torch.empty(shape.numel(), dtype=torch.int64, device=index.device)
    place.scatter_(0, index, order)  # of equal indices torch takes any
    if not torch.equal(place.gather(0, index), order):
        index, order = torch.sort(index, stable=True)
        is_last = torch.ones_like(index, dtype=torch.bool)
        is_last[:-1] = index[1:] != index[:-1]
        index, values = index[is_last], values[order[is_last]]
    if target.is_contiguous():
        target.view(-1, *entry).index_copy_(0, index, values)
    else:
        target[torch.unravel_index(index, shape)] = values
    return target


def _past_indices(indices, starts):
    """Copy of indices with -1, which names no cell, for those before `starts`."""
    counted = torch.full_like(indices, -1, dtype=torch.int64)
    past = tuple(slice(start, None) for start in starts)
    counted[past] = indices[past]
    return counted


def _put_rows_past(starts, target, indices, rows, valid_shape=None):
    """As _put with row_axes=1, without the cells of rows before `starts`: they lie before their tensor."""
    *leading, first = starts
    past = _past_indices(indices.reshape(rows.shape[:-1]), leading).reshape(indices.shape)
    _put(target[..., first:], past, rows[..., first:], valid_shape, row_axes=1)
    return target


def _scatter_columns(target, columns, values, valid_shape=None):
    """Copy of a target whose cells [row, columns[row, k]] are values[row, k], for rising k."""
    column = columns.long()
    width = target.shape[-1]
    lowest, highest = column.aminmax() if column.numel() else (0, -1)
    if lowest < 0 or highest >= width:
        inside = (column >= 0) & (column < width)
        column = torch.where(inside, column, -target.numel())  # in no row
    first = torch.arange(0, column.shape[0] * width, width, device=target.device).unsqueeze(-1)
    return _put(target.clone(), first + column, values, valid_shape)


def _scatter_mask(target, source, first, step, valid_shape=None, clear=False):
    """Write the valid part of a source into every step-th column of a target and return the target.

    With `clear` the other columns become 0.
    """
    if clear:
        target.zero_()
    _tile_store(source, [0, 0], target[..., first::step], valid_shape)
    return target


def _pushers(direction, fifos):
    """Who has yet to push before a pop of these FIFOs (one a lane) can go on."""
    if direction == "to_aiv":
        return "aic"
    return " and ".join(f"aiv{lane}" for lane, fifo in enumerate(fifos) if not fifo)


class _CrossCoreRuntime:
    """Pipes between the cube core (AIC) and its vector lanes (AIV): a FIFO a lane, direction and pipe id.

    They are those of the calling thread's group; threads outside any group share one set. A push copies,
    and a pop does not: `copy` says where a tile may be shared, or is written later.
    `valid_shape` are the valid extents of a pushed tile, None for all of it.
    """

    def __init__(self):
        self._outside = _LaneGroup("outside a group")

    def _group(self):
        return _lane_context.group or self._outside

    def reset(self, no_split_dual_aiv_dispatch=False):
        """Empty the pipes of the calling thread's group, set its dispatch mode."""
        group = self._group()
        with group.lock:
            group.pipes.clear()
            group.no_split_dual_aiv_dispatch = no_split_dual_aiv_dispatch

    def snapshot(self):
        """Queue depths {direction: {id: [lane 0, lane 1]}} and dispatch mode, also of the last group call."""
        return self._group().snapshot()

    def keep(self, group):
        """Let snapshot() tell of a group call that has ended."""
        with self._outside.lock:
            self._outside.pipes = group.pipes
            self._outside.no_split_dual_aiv_dispatch = group.no_split_dual_aiv_dispatch

    def push_to_aiv(self, tile, split, lane_stride=None, *, id=0, valid_shape=None, copy=True):
        """Send a tile of the cube core to the vector lanes: all of it, or by a split code a part to each.

        Lane L gets the valid cells among [L*S, L*S + S), with S = lane_stride or half of the box.
        """
        code, group = _split_mode_to_int(split), self._group()
        lanes = self._lanes(group, code)
        if code and len(lanes) == 2:
            parts = _lane_parts("tpush_to_aiv", tile, code, lane_stride, valid_shape, copy)
        else:
            parts = [self._part("tpush_to_aiv", tile, valid_shape, copy) for _ in lanes]
        self._push("tpush_to_aiv", group, "to_aiv", id, code, lanes, parts)

    def push_to_aic(self, tile, split, *, id=0, valid_shape=None, copy=True):
        """Send this lane's tile to the cube core."""
        code = _even_split("tpush_to_aic", split, tile)
        part = self._part("tpush_to_aic", tile, valid_shape, copy)
        lanes = [_lane_context.subblock_idx]
        self._push("tpush_to_aic", self._group(), "to_aic", id, code, lanes, [part])

    def pop_from_aic(self, split, *, id=0, copy=False):
        """Take the next tile the cube core pushed to the current lane; wait while there is none."""
        code = _split_mode_to_int(split)
        lanes = [_lane_context.subblock_idx]
        (part,) = self._pop("tpop_from_aic", self._group(), "to_aiv", id, code, lanes)
        return _with_region(part.clone(), _region(part)) if copy else part

    def pop_from_aiv(self, split, *, id=0, copy=False):
        """Take the next tile of the vector lanes, joined by a split code; wait until both have pushed."""
        code = _even_split("tpop_from_aiv", split)
        group = self._group()
        lanes = self._lanes(group, code)
        parts = self._pop("tpop_from_aiv", group, "to_aic", id, code, lanes)
        if len(parts) == 2 and code:
            return _merge_lanes("tpop_from_aiv", parts, code)
        return _with_region(parts[0].clone(), _region(parts[0])) if copy else parts[0]

    def initialize_pipe(self, side, dir_mask, slot_num=None, local_slot_num=None, id=0):
        """No effect: pipes have no bounds."""

    def tfree_to_aic(self, *, split=0, id=0):
        """No effect: pipes have no bounds."""

    def tfree_to_aiv(self, *, split=0, id=0):
        """No effect but a check of the split: pipes have no bounds."""
        _even_split("tfree_to_aiv", split)

    def _lanes(self, group, code):
        both = group.aiv_lanes == 2 or group.no_split_dual_aiv_dispatch
        return [0, 1] if both or (code and not group.lane_names) else [0]

    def _part(self, op, tile, valid_shape, copy):
        if valid_shape is None:
            return tile.clone() if copy else tile
        valid = _valid_extents(op, tile, valid_shape)
        return _with_region(tile.clone() if copy else tile.view_as(tile), valid)

    def _push(self, op, group, direction, pipe_id, code, lanes, parts):
        with group.lock:
            group.check_running()
            fifos = group.pipes[direction, pipe_id]
            for lane, part in zip(lanes, parts):
                fifos[lane].append((part, code))
            group.wake()

    def _pop(self, op, group, direction, pipe_id, code, lanes):
        ending = f"(split={code}, id={pipe_id})"
        with group.lock:
            group.check_running()
            fifos = [group.pipes[direction, pipe_id][lane] for lane in lanes]
            if not all(fifos):
                group.wait_until(
                    f"{op}{ending}",
                    ready=lambda: all(fifos),
                    missing=lambda: f"tpush_{direction}{ending} by {_pushers(direction, fifos)}",
                )
            entries = [fifo.popleft() for fifo in fifos]
        for _, pushed in entries:
            if pushed != code and _split_axis(pushed) != _split_axis(code):
                raise ValueError(
                    f"{group.name}: {op}(split={code}) on pipe {pipe_id} meets a tile that was"
                    f" pushed with split {pushed}"
                )
        return [part for part, *_ in entries]


_cross_core_rt = _CrossCoreRuntime()


def _group_value(name, values, wanted):
    """Value of a group call: AIV lane 0's, else the AIC member's; `wanted` may ask for "aic" or "both"."""
    if wanted == "both":
        return values["aic"], values["aiv0"]
    value = values["aiv0" if "aiv0" in values and wanted is None else "aic"]
    others = " and ".join(lane_name for lane_name, other in values.items() if other is not None)
    if value is None and wanted is None and others:
        text = f"only AIV lane 0 may return a value; it returned none, {others} did"
        raise RuntimeError(f"{name}: {text}")
    return value


def _run_mixed_kernels(group_name, meta, *args, aiv_args=None, value=None):
    """Run the members of a group, an entry `meta` of _GROUP_META, concurrently, each on *args.

    A split or dual_aiv_dispatch makes two vector lanes. `aiv_args` are the vector member's arguments, if
    they are others; `value` or the entry may ask for another value, see _group_value.
    """
    split, dual = _split_mode_to_int(meta["split"]), bool(meta["dual_aiv_dispatch"])
    lane_names = ["aic", "aiv0", "aiv1"] if split or dual else ["aic", "aiv0"]
    lane_names = [name for name in lane_names if meta[name[:3]] is not None]
    group = _LaneGroup(f"group {group_name!r}", lane_names)
    if not lane_names:
        raise ValueError(f"{group.name} has neither an AIC nor an AIV member")
    group.no_split_dual_aiv_dispatch = split == 0 and dual
    lanes = []
    for name in lane_names:
        core, index = name[:3], int(name == "aiv1")
        function = _program_frame(sys._getframe(1)).f_globals.get(meta[core])
        if not callable(function):
            raise RuntimeError(f"{group.name}: this script has no function {meta[core]!r}")
        lane_args = args if core == "aic" or aiv_args is None else aiv_args
        lands = _lane_context.writes_land and (index == 0 or meta.get("lane1_writes", True))
        lanes.append(_Lane(group, name, function, lane_args, subblock_idx=index, writes_land=lands))
    try:
        _run_lanes(group, lanes)
    finally:
        if _lane_context.group is None:
            _cross_core_rt.keep(group)
    if any(map(any, group.pipes.values())):
        text = f"{group.name} ended with tiles left in its pipes: {group.snapshot()}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    values = {lane.lane_name: lane.value for lane in lanes}
    return _group_value(group.name, values, value or meta.get("value"))


def _run_group_call(group_name, *args):
    """Call a group by its name in _GROUP_META; see _run_mixed_kernels."""
    groups = _program_frame(sys._getframe(1)).f_globals["_GROUP_META"]
    if group_name not in groups:
        raise ValueError(f"no group {group_name!r} in this script; groups: {sorted(groups)}")
    return _run_mixed_kernels(group_name, groups[group_name], *args)


# The places where values are recorded: (function, IR path, kind, variable, source line, target).
_TRACE_SITES = []


class _TraceStream:
    """What one thread has recorded: the caller's, or that of one lane of one concurrent call.

    `path` says where the thread stands in the order of the run; `share` is what it may keep. Tensors
    in the storage of `others` may be written by other lanes at any time.
    """

    def __init__(self, path=(), share=0, parent=None, lane="caller", others=frozenset()):
        self.path, self.share, self.parent, self.lane = path, share, parent, lane
        self.others = others
        self.count = self.kept_bytes = 0
        self.calls = collections.Counter()  # function -> its calls so far
        self.turns = collections.Counter()  # (site, part, call) -> records so far
        self.last = collections.defaultdict(collections.deque)

    def charge(self, size):
        """Count bytes that are kept (or, if negative, no longer) here and where the thread began."""
        stream = self
        while stream:
            stream.kept_bytes += size
            stream = stream.parent


class _TraceMemory:
    """Which statement was the last to change each cell of the tensors that statements write to.

    Changes are numbered from 1; `changes` has the site and the loop variables of each. A cell that
    none has changed has number 0.
    """

    _BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

    def __init__(self):
        self.lock = threading.Lock()
        self.changes = []
        self.cells = {}  # address, size of an element -> storage, what it held, changes by cell

    def know(self, tensor):
        """Take note of what a tensor holds before it is written to."""
        key = self._key(tensor)
        with self.lock:
            if key not in self.cells and tensor.element_size() in self._BITS:
                bits = torch.empty(0, dtype=self._BITS[key[1]], device=tensor.device)
                bits.set_(tensor.untyped_storage())
                self.cells[key] = (bits, bits.clone(), torch.zeros_like(bits, dtype=torch.int32))

    def change(self, site, tensor, offsets, source, at):
        """Give the cells of a tensor that are not as they were, of a window if it is known, a number."""
        extents = None if source is None else source.shape
        with self.lock:
            self.changes.append((site, [int(index) for index in at]))
            found = self._window(tensor, offsets, extents)
            if found is not None:
                now, before, numbers = found
                numbers.masked_fill_(now != before, len(self.changes))
                before.copy_(now)

    def numbers(self, tensor, offsets, shape):
        """The numbers of the changes that made the cells of a window; None if none did."""
        with self.lock:
            found = self._window(tensor, offsets, shape)
        return None if found is None else found[2]

    def _key(self, tensor):
        return tensor.untyped_storage().data_ptr(), tensor.element_size()

    def _window(self, tensor, offsets, extents):
        known = self.cells.get(self._key(tensor))
        if known is None:
            return None
        layout = (tensor.shape, tensor.stride(), tensor.storage_offset())
        views = [part.as_strided(*layout) for part in known]
        if offsets is not None and len(offsets) == tensor.dim() and min(offsets, default=0) >= 0:
            extents = (
                extents if extents is not None and len(extents) == tensor.dim() else tensor.shape
            )
            window = tuple(slice(int(o), int(o) + int(n)) for o, n in zip(offsets, extents))
            views = [view[window] for view in views]
        return views


class _Trace:
    """Values that the traced statements have computed, in an order that no thread can change.

    Of each statement the first and last so many runs in a call of its function are kept, all if
    neither is set. Values beyond `limit` bytes are left out and counted; lanes that run at the same
    time divide what is left evenly. Of tensors that such lanes share only what they write is told,
    and nothing of a lane whose stores do not count: what it reads depends on how lanes take turns.
    """

    def __init__(self):
        self.keep()

    def keep(self, first=None, last=None, limit=1 << 30):
        """Set what is kept, and forget what was recorded."""
        self.first, self.last, self.limit = first, last, limit
        self.reset()

    def reset(self):
        """Forget everything that was recorded."""
        self.lock = threading.RLock()
        self.caller = _TraceStream(share=self.limit)
        self.streams = {}  # thread of a lane -> its _TraceStream
        self.groups = {}  # id of a group -> (the group, position in its parent, parent, share)
        self.found = []
        self.memory = _TraceMemory()

    def records(self):
        """All records in order, each a dict; `value` is None if it was left out."""
        kept = [record for record in self.found if not record["is_dropped"]]
        return sorted(kept, key=lambda record: record["order"])

    def left_out(self):
        """How many values were not kept because of the limit."""
        return sum(record["value"] is None for record in self.records())

    def call(self, function):
        """Count a call of a function on this thread."""
        self._stream().calls[function] += 1

    def record(self, site, value, valid=None, at=(), window=None):
        """Record a copy of a tensor or number, or of those in a tuple; other things are skipped."""
        if not _lane_context.writes_land:
            return
        parts = value if isinstance(value, tuple) else (value,)
        stream = self._stream()
        for part, item in enumerate(parts):
            if isinstance(item, torch.Tensor):
                is_kept = item.untyped_storage().data_ptr() not in stream.others
            else:
                is_kept = isinstance(item, (bool, int, float))
            if is_kept:
                number = part if isinstance(value, tuple) else None
                self._keep(stream, site, number, item, valid, at, window)

    def _keep(self, stream, site, part, value, valid, at, window):
        stream.count += 1
        call = stream.calls[_TRACE_SITES[site][0]]
        turn = (site, part, call)
        stream.turns[turn] += 1
        record = {
            "order": (*stream.path, stream.count),
            "site": site,
            "part": part,
            "call": call,
            "lane": stream.lane,
            "block": _lane_context.block_idx,
            "at": [int(index) for index in at],
            "valid": None if valid is None else [int(extent) for extent in valid],
            "window": None if window is None else [int(offset) for offset in window],
            "value": None,
            "is_dropped": False,
        }
        is_first = self.first is not None and stream.turns[turn] <= self.first
        if not is_first and (self.first is not None or self.last is not None):
            if self.last is None:
                return
            ring = stream.last[turn]
            ring.append(record)
            if len(ring) > self.last:
                self._drop(stream, ring.popleft())
        size = value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 8
        if stream.kept_bytes + size <= stream.share:
            stream.charge(size)
            is_tensor = isinstance(value, torch.Tensor)
            record["value"] = value.detach().clone() if is_tensor else value
        self.found.append(record)

    def _drop(self, stream, record):
        value = record["value"]
        if isinstance(value, torch.Tensor):
            stream.charge(-value.numel() * value.element_size())
        elif value is not None:
            stream.charge(-8)
        record["value"], record["is_dropped"] = None, True

    def _stream(self, thread=None):
        """The stream of a thread, which is the calling one or waits for lanes that it started."""
        thread = thread or threading.current_thread()
        group = getattr(thread, "group", None)
        if group is None:
            return self.caller
        if thread not in self.streams:
            _, path, parent, share = self._started(group)
            place = (*path, group.lane_names.index(thread.lane_name))
            others = set(parent.others)
            if len(group.lane_names) > 1:
                tensors = (arg for arg in thread.args if isinstance(arg, torch.Tensor))
                others |= {tensor.untyped_storage().data_ptr() for tensor in tensors}
            stream = _TraceStream(place, share, parent, thread.lane_name, others)
            self.streams[thread] = stream
        return self.streams[thread]

    def _started(self, group):
        """Where a concurrent call stands in the order of the thread that made it and now waits."""
        with self.lock:
            if id(group) not in self.groups:
                callers = (t for t in threading.enumerate() if getattr(t, "group", None))
                inner = (t for t in callers if t.group.inner.get(t.lane_name) is group)
                caller = next(inner, None)
                parent = self.caller if caller is None else self._stream(caller)
                parent.count += 1
                share = (parent.share - parent.kept_bytes) // len(group.lane_names)
                self.groups[id(group)] = (group, (*parent.path, parent.count), parent, share)
            return self.groups[id(group)]


_TRACE = _Trace()


def _trace(site, value, valid=None, at=(), window=None):
    """Record a value: its valid extents, the loop variables around, the offsets it is written to."""
    _TRACE.record(site, value, valid, at, window)


def _traced(site, value, at=()):
    """Record a value that has no name, and hand it on."""
    _TRACE.record(site, value, None, at)
    return value


def _trace_read(site, tensor, offsets=None, shape=None, at=()):
    """Record which changes made the cells of a tensor in memory that are about to be read."""
    shape = [1] * tensor.dim() if offsets is not None and shape is None else shape
    _TRACE.record(site, _TRACE.memory.numbers(tensor, offsets, shape), None, at)


def _trace_change(site, tensor, offsets=None, source=None, at=()):
    """Note that a statement has written to a tensor in memory."""
    _TRACE.memory.change(site, tensor, offsets, source, at)


def _trace_call(function):
    """Note that a function is called."""
    _TRACE.call(function)
