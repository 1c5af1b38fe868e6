"""FlashAttention. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import collections
import ctypes
import linecache
import sys
import threading
import time
import torch
import warnings


def attention(q__ssa_v0, k__ssa_v0, v__ssa_v0, out__ssa_v0):
    """Orchestration function. In: q__ssa_v0, k__ssa_v0, v__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "q__ssa_v0": (q__ssa_v0.shape, [16, 64]),
            "k__ssa_v0": (k__ssa_v0.shape, [256, 64]),
            "v__ssa_v0": (v__ssa_v0.shape, [256, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 64]),
        }
    )
    m__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)  # FP32[16, 1]
    denom__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
    acc__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
    m__ssa_v1, denom__ssa_v1, acc__ssa_v1 = init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0)
    acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v1, denom__ssa_v1, m__ssa_v1
    for s0__idx_v0 in range(0, 256, 64):
        s__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
        s__ssa_v1 = scores(q__ssa_v0, k__ssa_v0, s0__idx_v0, s__ssa_v0)  # FP32[16, 64]
        alpha__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
        p__ssa_v0 = torch.zeros([16, 64], dtype=torch.bfloat16, device=q__ssa_v0.device)
        m__ssa_v4, denom__ssa_v4, alpha__ssa_v1, p__ssa_v1 = online(
            s__ssa_v1, m__iter_v2, denom__iter_v2, alpha__ssa_v0, p__ssa_v0
        )
        gm_pipe_buffer_0 = torch.zeros([1], dtype=torch.float32, device=q__ssa_v0.device)  # FP32[1]
        acc__ssa_v4 = _run_group_call(
            "accumulate",
            p__ssa_v1,
            v__ssa_v0,
            s0__idx_v0,
            alpha__ssa_v1,
            acc__iter_v2,
            gm_pipe_buffer_0,
        )
        acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v4, denom__ssa_v4, m__ssa_v4
    acc__rv_v3, denom__rv_v3 = acc__iter_v2, denom__iter_v2
    out__ssa_v1 = finish(acc__rv_v3, denom__rv_v3, out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v1


def init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0):
    """AIV kernel (vector core). Out: m__ssa_v0, denom__ssa_v0, acc__ssa_v0."""
    t__tile = torch.full([16, 1], -1e30, dtype=torch.float32, device=m__ssa_v0.device)
    m__tile = _tile_store(t__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    t__tile_1 = torch.full([16, 1], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    denom__tile = _tile_store(t__tile_1, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    t__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    acc__tile = _tile_store(t__tile_2, [0, 0], acc__ssa_v0)  # FP32[16, 64]
    return m__ssa_v0, denom__ssa_v0, acc__ssa_v0


def scores(q__ssa_v0, k__ssa_v0, s0__ssa_v0, s__ssa_v0):
    """AIC kernel (cube core). In: q__ssa_v0, k__ssa_v0, s0__ssa_v0. Out: s__ssa_v0."""
    k_blk__tile = k__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    q__ssa_v0_mat = q__ssa_v0[0:16, 0:64]  # BF16[16, 64]
    k_blk__tile_t = k_blk__tile.mT  # BF16[64, 64]
    t__tile = torch.matmul(q__ssa_v0_mat.float(), k_blk__tile_t.float())  # FP32[16, 64]
    s__tile = _tile_store(t__tile, [0, 0], s__ssa_v0)  # FP32[16, 64]
    return s__ssa_v0


def online(s__ssa_v0, m__ssa_v0, denom__ssa_v0, alpha__ssa_v0, p__ssa_v0):
    """AIV kernel (vector core).

    In: s__ssa_v0.
    InOut: m__ssa_v0, denom__ssa_v0.
    Out: alpha__ssa_v0, p__ssa_v0.
    """
    s__tile = _tile_load(s__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    scaled__tile = s__tile * 0.125  # FP32[16, 64]
    m_old__tile = _tile_load(m__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = torch.amax(scaled__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    m_new__rm_a0_tmp_v0 = m_old__tile.reshape([1, 16])  # FP32[1, 16]
    m_new__rm_a1_tmp_v1 = t__tile.reshape([1, 16])  # FP32[1, 16]
    m_new__row_major_tmp_v2 = torch.maximum(m_new__rm_a0_tmp_v0, m_new__rm_a1_tmp_v1)  # FP32[1, 16]
    m_new__tile = m_new__row_major_tmp_v2.reshape([16, 1])  # FP32[16, 1]
    t__tile_1 = scaled__tile - m_new__tile  # FP32[16, 64]
    e__tile = torch.exp(t__tile_1)  # FP32[16, 64]
    t__rm_a0_tmp_v3 = m_old__tile.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v4 = m_new__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v5 = t__rm_a0_tmp_v3 - t__rm_a1_tmp_v4  # FP32[1, 16]
    t__tile_2 = t__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
    a__rm_a0_tmp_v6 = t__tile_2.reshape([1, 16])  # FP32[1, 16]
    a__row_major_tmp_v7 = torch.exp(a__rm_a0_tmp_v6)  # FP32[1, 16]
    a__tile = a__row_major_tmp_v7.reshape([16, 1])  # FP32[16, 1]
    t__tile_3 = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v8 = t__tile_3.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v9 = a__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v10 = t__rm_a0_tmp_v8 * t__rm_a1_tmp_v9  # FP32[1, 16]
    t__tile_4 = t__row_major_tmp_v10.reshape([16, 1])  # FP32[16, 1]
    t__tile_5 = torch.sum(e__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    d_new__rm_a0_tmp_v11 = t__tile_4.reshape([1, 16])  # FP32[1, 16]
    d_new__rm_a1_tmp_v12 = t__tile_5.reshape([1, 16])  # FP32[1, 16]
    d_new__row_major_tmp_v13 = d_new__rm_a0_tmp_v11 + d_new__rm_a1_tmp_v12  # FP32[1, 16]
    d_new__tile = d_new__row_major_tmp_v13.reshape([16, 1])  # FP32[16, 1]
    m__tile = _tile_store(m_new__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    denom__tile = _tile_store(d_new__tile, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    alpha__tile = _tile_store(a__tile, [0, 0], alpha__ssa_v0)  # FP32[16, 1]
    t__tile_6 = e__tile.to(torch.bfloat16)  # BF16[16, 64]
    p__tile = _tile_store(t__tile_6, [0, 0], p__ssa_v0)  # BF16[16, 64]
    return m__ssa_v0, denom__ssa_v0, alpha__ssa_v0, p__ssa_v0


def accumulate(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0, __gm_pipe_buffer):
    """Group of kernels (cube and vector core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    Out: __gm_pipe_buffer.
    """
    return _run_group_call(
        "accumulate", p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0, __gm_pipe_buffer
    )


def accumulate_aic(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0, __gm_pipe_buffer):
    """AIC kernel (cube core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    Out: __gm_pipe_buffer.
    """
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    v_blk__tile = v__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    p__ssa_v0_mat = _tile_load(p__ssa_v0, [0, 0], [16, 64])  # BF16[16, 64]
    pv__tile = torch.matmul(p__ssa_v0_mat.float(), v_blk__tile.float())  # FP32[16, 64]
    _cross_core_rt.push_to_aiv(pv__tile, 0, copy=False)


def accumulate_aiv(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0, __gm_pipe_buffer):
    """AIV kernel (vector core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    Out: __gm_pipe_buffer.
    """
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    if subblock_idx == 0:
        alpha__tile = _tile_load(alpha__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
        old__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
        t__tile = old__tile * alpha__tile  # FP32[16, 64]
        pv__tile_Vec = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64]
        t__tile_1 = t__tile + pv__tile_Vec  # FP32[16, 64]
        _cross_core_rt.tfree_to_aic(split=0)
        acc__tile = _tile_store(t__tile_1, [0, 0], acc__ssa_v0)  # FP32[16, 64]
        return acc__ssa_v0
    else:
        alpha__tile_1 = torch.zeros([16, 1], dtype=torch.float32, device=p__ssa_v0.device)
        old__tile_1 = torch.zeros([16, 64], dtype=torch.float32, device=p__ssa_v0.device)
        t__tile_2 = old__tile_1 * alpha__tile_1  # FP32[16, 64] valid [0, 0]
        pv__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64] valid [0, 0]
        t__tile_3 = t__tile_2 + pv__tile_Vec_1  # FP32[16, 64] valid [0, 0]
        _cross_core_rt.tfree_to_aic(split=0)
        acc__tile_1 = acc__ssa_v0  # FP32[16, 64]
        return acc__ssa_v0


def finish(acc__ssa_v0, denom__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: acc__ssa_v0, denom__ssa_v0. Out: out__ssa_v0."""
    acc__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    denom__tile = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = acc__tile / denom__tile  # FP32[16, 64]
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v0


# Run-time helpers follow.
if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")


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
        """Keep the first error and wake every lane to be cancelled."""
        with self.lock:
            self.failure = self.failure or (lane_name, error)
            for wakeup in self.wakeups.values():
                wakeup.notify_all()
            self.ended.set()

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
            cancel = ctypes.py_object(_LaneCancelled)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(lane.ident), cancel)
    return remaining


def _run_lanes(group, lanes):
    """Run the lanes of a group concurrently until all have ended; the first error cancels the others."""
    timeout = _MIXED_KERNEL_TIMEOUT_SEC
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


def _split_mode_to_int(split):
    """Split code 0..4: 0 none, 1 / 2 halves of dim 0 / dim 1, 3 / 4 the same over an odd extent."""
    code = 0 if split is None else int(split) if str(split).isdecimal() else -1
    if not 0 <= code <= 4:
        raise ValueError(f"split must be 0 (none), 1 or 3 (dim 0), 2 or 4 (dim 1), not {split!r}")
    return code


def _compare_shapes(tensors):
    """Warn of tensors whose extents are not those of their parameters."""
    found = []
    for parameter, (shape, declared) in tensors.items():
        if [*shape] != declared:
            found.append(f"tensor {parameter!r} has shape {[*shape]}, the parameter has {declared}")
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


def _tile_load(tensor, offsets, shape, valid_shape=None):
    """Copy a window of a tensor into a new tile, zero beyond the tensor and outside valid_shape."""
    tile = torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    source, cells = _overlap(tensor, tile, offsets, valid_shape)
    cells.copy_(source)
    return tile


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor."""
    cells, part = _overlap(tensor, tile, offsets, valid_shape)
    cells.copy_(part)
    return tensor


class _CrossCoreRuntime:
    """Pipes between the cube core (AIC) and its vector lanes (AIV): a FIFO a lane, direction and pipe id.

    They are those of the calling thread's group; threads outside any group share one set. A push copies,
    and a pop does not: `copy` says where a tile may be shared, or is written later.
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

    def push_to_aiv(self, tile, split, *, id=0, copy=True):
        """Send a tile of the cube core to the vector lanes."""
        group = self._group()
        lanes = self._lanes(group, split)
        parts = [tile.clone() if copy else tile for _ in lanes]
        self._push("tpush_to_aiv", group, "to_aiv", id, split, lanes, parts)

    def pop_from_aic(self, split, *, id=0, copy=False):
        """Take the next tile the cube core pushed to the current lane; wait while there is none."""
        lanes = [_lane_context.subblock_idx]
        (part,) = self._pop("tpop_from_aic", self._group(), "to_aiv", id, split, lanes)
        return part.clone() if copy else part

    def initialize_pipe(self, *_, **__):
        """No effect, nor has any tfree: pipes have no bounds."""

    tfree_to_aic = tfree_to_aiv = initialize_pipe

    def _lanes(self, group, code):
        both = group.aiv_lanes == 2 or group.no_split_dual_aiv_dispatch
        return [0, 1] if both else [0]

    def _push(self, op, group, direction, pipe_id, code, lanes, parts):
        with group.lock:
            group.check_running()
            fifos = group.pipes[direction, pipe_id]
            for lane, part in zip(lanes, parts):
                fifos[lane].append(part)
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
                    missing=lambda: f"tpush_{direction}{ending} by aic",
                )
            return [fifo.popleft() for fifo in fifos]


_cross_core_rt = _CrossCoreRuntime()


_GROUP_META = {}  # group name -> its members, how they run and whose value it has


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
        function = globals().get(meta[core])
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
    groups = _GROUP_META
    if group_name not in groups:
        raise ValueError(f"no group {group_name!r} in this script; groups: {sorted(groups)}")
    return _run_mixed_kernels(group_name, groups[group_name], *args)


_GROUP_META.update(
    {
        "accumulate": {
            "aic": "accumulate_aic",
            "aiv": "accumulate_aiv",
            "split": 0,
            "dual_aiv_dispatch": True,
            "lane1_writes": True,
        },
    }
)
