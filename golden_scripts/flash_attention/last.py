"""FlashAttention

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

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
    acc__rv_v3, denom__rv_v3, m__rv_v3 = acc__iter_v2, denom__iter_v2, m__iter_v2
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
    k_blk__tile = _tile_slice(k__ssa_v0, [64, 64], [s0__ssa_v0, 0])  # BF16[64, 64]
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
    v_blk__tile = _tile_slice(v__ssa_v0, [64, 64], [s0__ssa_v0, 0])  # BF16[64, 64]
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


_FIRST_HELPER_LINE = sys._getframe().f_lineno  # the program stands above


def _program_frame(frame):
    """The innermost frame of the program, from a given one outwards: not of a helper, nor of a library."""
    while frame:
        code, scope = frame.f_code, frame.f_globals
        is_helper = scope is globals() and code.co_firstlineno >= _FIRST_HELPER_LINE
        is_library = scope.get("__name__", "").startswith(("torch", "pypto_tmpl."))
        if not is_helper and not is_library:
            return frame
        frame = frame.f_back


def _generated_line(frame):
    """The line of the program that a frame has come from, and its source line if _SOURCE_MAP has it."""
    frame = _program_frame(frame)
    if frame is None:
        return "its end"
    path, number = frame.f_code.co_filename, frame.f_lineno
    lines = frame.f_globals.get("_SOURCE_MAP")
    source = (lines or {}).get(str(number))
    text = linecache.getline(path, number).partition("  # from ")[0].strip()
    place = f"{path}:{number}: {text}" if text else f"{path}:{number}"
    return f"{place} (from {source})" if source else place


# Seconds that one pipe operation may wait for its peer.
_PIPE_WAIT_TIMEOUT_SEC = 10


# Seconds that all lanes of one group call may take.
_MIXED_KERNEL_TIMEOUT_SEC = 30


class _LaneContext(threading.local):
    """What the calling thread stands for: by default lane 0 of block 0, outside any group."""

    subblock_idx = 0
    block_idx = 0
    block_num = 1
    lane_name = "caller"
    writes_land = True
    group = None  # the _LaneGroup whose lane this thread is


_lane_context = _LaneContext()


def _get_subblock_idx():
    """Vector lane of the calling thread, 0 or 1; 0 on the AIC thread and outside a group."""
    return _lane_context.subblock_idx


class _Wait:
    """What a blocked lane waits for; ready() and missing() are called under the group's lock."""

    def __init__(self, operation, ready, missing):
        self.operation, self.ready, self.missing = operation, ready, missing
        self.lane_name = _lane_context.lane_name
        self.frame = sys._getframe(2)  # stands still while the lane waits

    def __str__(self):
        return f"{self.operation} at {_generated_line(self.frame)}; missing: {self.missing()}"


class _Pipe:
    """One direction of one pipe id: a FIFO a vector lane."""

    def __init__(self):
        self.fifos = (collections.deque(), collections.deque())


class _LaneCancelled(SystemExit):
    """Ends a lane whose group has failed; as a SystemExit it ends the thread without a word."""


class _LaneGroup:
    """The lanes of one concurrent call, their pipes, and one lock over all of it.

    When every live lane waits and no wait is over, the call fails at once instead of by timeout.
    """

    def __init__(self, name, lane_names=()):
        self.name = name
        self.lane_names = lane_names
        self.lanes = {}  # lane name -> _Lane
        self.live = set(lane_names)  # empty outside a group: nobody knows which threads will come
        self.aiv_lanes = 2 if "aiv1" in lane_names else 1
        self.cuts = self.aiv_lanes == 2 or not lane_names  # whether a split code cuts tiles
        self.no_split_dual_aiv_dispatch = False
        self.pipes = {}  # (direction, id) -> _Pipe
        self.waits = []  # a _Wait for each waiting lane
        self.failure = None  # (lane name or None, the first error)
        self.inner = {}  # lane name -> the group that this lane is running
        self.lock = threading.RLock()
        self.wakeups = {name: threading.Condition(self.lock) for name in lane_names}
        self.ended = threading.Event()

    def pipe(self, direction, pipe_id):
        """The pipe of a direction and id, made on first use."""
        pipe = self.pipes.get((direction, pipe_id))
        if pipe is None:
            pipe = self.pipes[direction, pipe_id] = _Pipe()
        return pipe

    def snapshot(self):
        """Queue depths: {direction: {id: [lane 0, lane 1]}}, and the dispatch mode."""
        with self.lock:
            state = {"no_split_dual_aiv_dispatch": self.no_split_dual_aiv_dispatch}
            for (direction, pipe_id), pipe in sorted(self.pipes.items()):
                state.setdefault(direction, {})[pipe_id] = [len(fifo) for fifo in pipe.fifos]
            return state

    def wait_until(self, wait):
        """Block the calling lane, which holds the lock, until wait.ready(); RuntimeError on timeout."""
        name, timeout = wait.lane_name, _PIPE_WAIT_TIMEOUT_SEC
        wait.wakeup = self.wakeups.get(name) or threading.Condition(self.lock)
        self.waits.append(wait)
        self._fail_if_stuck()
        in_time = wait.wakeup.wait_for(lambda: self.failure or wait.ready(), timeout)
        self.waits.remove(wait)
        self.check_running()
        if not in_time:
            raise RuntimeError(
                f"{self.name}: lane {name} timed out (pipe wait timeout {timeout} s) in {wait};"
                f" queue depths: {self.snapshot()}"
            )

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
            lines = [f"  {name}: {self._state(name)}" for name in self.lane_names]
            return "\n".join([*lines, f"  queue depths: {self.snapshot()}"])

    def _state(self, name):
        if name not in self.live:
            return "finished"
        for wait in self.waits:
            if wait.lane_name == name:
                return str(wait)
        frame = sys._current_frames().get(self.lanes[name].ident)
        return f"running at {_generated_line(frame)}"

    def _fail_if_stuck(self):
        if self.failure or not self.live or len(self.waits) < len(self.live):
            return
        if not any(wait.ready() for wait in self.waits):
            problem = f"deadlock in {self.name}: every live lane waits and none can be woken"
            self.fail(None, RuntimeError(f"{problem}\n{self.report()}"))


class _Lane(threading.Thread):
    """The thread of one core of a group, in the SPMD block and gradient mode of the one that made it."""

    def __init__(self, group, name, function, args, subblock_idx=0, writes_land=True):
        super().__init__(name=f"{group.name} {name}", daemon=True)
        group.lanes[name] = self
        self.group, self.lane_name = group, name
        self.function, self.args, self.value = function, args, None
        self.inherited = {
            "group": group,
            "lane_name": name,
            "subblock_idx": subblock_idx,
            "writes_land": writes_land and _lane_context.writes_land,
            "block_idx": _lane_context.block_idx,
            "block_num": _lane_context.block_num,
        }
        self.grad_modes = (torch.is_inference_mode_enabled(), torch.is_grad_enabled())

    def run(self):
        for field, value in self.inherited.items():
            setattr(_lane_context, field, value)
        inference, grad = self.grad_modes
        try:
            with torch.inference_mode(inference), torch.set_grad_enabled(grad):
                self.value = self.function(*self.args)
        except _LaneCancelled:
            pass
        except BaseException as error:  # whatever ends a lane ends its group
            self.group.fail(self.lane_name, error)
        finally:
            self.group.finish(self.lane_name)


def _join_lanes(lanes, seconds):
    """Join threads within `seconds` altogether."""
    deadline = time.monotonic() + seconds
    for lane in lanes:
        lane.join(max(0.0, deadline - time.monotonic()))


def _end_lanes(group, lanes):
    """Join the lanes of a group that has ended; return those that would not end.

    After a failure, one that computes on without reaching a pipe is interrupted, except while it ends
    an inner group.
    """
    started = [lane for lane in lanes if lane.ident is not None]
    if group.failure:
        _join_lanes(started, 0.2)
        for lane in started:
            if lane.is_alive() and lane.lane_name not in group.inner:
                cancel = ctypes.py_object(_LaneCancelled)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(lane.ident), cancel)
    _join_lanes(started, _MIXED_KERNEL_TIMEOUT_SEC)
    return [lane for lane in started if lane.is_alive()]


def _group_timeout(group, timeout):
    """The error for a group call that took too long: live threads, where they are, queue depths."""
    with group.lock:
        names = ", ".join(group.lanes[name].name for name in group.lane_names if name in group.live)
        problem = f"{group.name} timed out (group timeout {timeout} s); alive threads: {names}"
        return RuntimeError(f"{problem}\n{group.report()}")


def _raise_failure(group, remaining):
    """Raise the first error of a group; one that arose in a lane is the cause of what is raised."""
    lane_name, error = group.failure
    if remaining:
        error.add_note(f"could not be stopped: {', '.join(lane.name for lane in remaining)}")
    if lane_name is None:
        raise error
    text = f"{group.name} lane {lane_name} failed: {type(error).__name__}: {error}"
    raise RuntimeError(text) from error


def _run_lanes(group, lanes):
    """Run the lanes of a group concurrently until all have ended; the first error cancels the others."""
    outer, timeout = _lane_context.group, _MIXED_KERNEL_TIMEOUT_SEC
    if outer:
        with outer.lock:
            outer.check_running()
            outer.inner[_lane_context.lane_name] = group
    try:
        for lane in lanes:
            lane.start()
        if not group.ended.wait(timeout):
            group.fail(None, _group_timeout(group, timeout))
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


def _split_mode_to_int(split):
    """Split code 0..4: 0 none, 1 / 2 halves of dim 0 / dim 1, 3 / 4 the same over an odd extent."""
    if type(split) is int and 0 <= split <= 4:
        return split
    code = 0 if split is None else split
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= 4:
        raise ValueError(f"split must be 0 (none), 1 or 3 (dim 0), 2 or 4 (dim 1), not {split!r}")
    return int(code)


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
    axis = _split_axis(code)
    if parts[0].shape != parts[1].shape or parts[0].dtype != parts[1].dtype:
        first, second = (f"{[*part.shape]} of {part.dtype}" for part in parts)
        raise ValueError(
            f"{op}(split={code}): lanes 0 and 1 bring different tiles: {first} and {second}"
        )
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


def _compare_shapes(tensors):
    """Warn of tensors whose extents are not those of their parameters."""
    found = []
    for parameter, (shape, declared) in tensors.items():
        differs = len(shape) != len(declared)
        for extent, want in zip(shape, declared):
            differs = differs or isinstance(want, int) and extent != want
        if differs:
            wanted = ", ".join("?" if want is None else str(want) for want in declared)
            found.append(f"tensor {parameter!r} has shape {[*shape]}, the parameter has [{wanted}]")
    if found:
        warnings.warn("; ".join(found), UserWarning, stacklevel=3)


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of the cells that a tensor and the valid part of a block laid on it have in common."""
    rank = max(tensor.dim(), block.dim())
    valid = [1] * (rank - block.dim()) + [*(block.shape if valid_shape is None else valid_shape)]
    tensor = tensor[(None,) * (rank - tensor.dim())]
    block = block[(None,) * (rank - block.dim())]
    for axis, offset in enumerate([0] * (rank - len(offsets)) + [*offsets]):
        start = max(offset, 0)
        stop = min(offset + min(valid[axis], block.shape[axis]), tensor.shape[axis])
        if stop <= start:
            start = stop = offset = 0
        tensor = tensor.narrow(axis, start, stop - start)
        block = block.narrow(axis, start - offset, stop - start)
    return tensor, block


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


def _tile_slice(tile, shape, offsets):
    """View of a window of a tile or tensor; over the edge a copy, with zeros beyond."""
    window = [slice(offset, offset + size) for offset, size in zip(offsets, shape)]
    is_inside = all(w.start >= 0 and w.stop <= extent for w, extent in zip(window, tile.shape))
    if is_inside and len(window) == tile.dim():
        return tile[tuple(window)]
    return _tile_load(tile, offsets, shape)


def _pushers(direction, fifos):
    """Who has yet to push before a pop of these FIFOs (one a lane) can go on."""
    if direction == "to_aiv":
        return "aic"
    return " and ".join(f"aiv{lane}" for lane, fifo in enumerate(fifos) if not fifo)


class _CrossCoreRuntime:
    """Pipes between the cube core (AIC) and its vector lanes (AIV).

    Every direction of every pipe id has one FIFO a vector lane: push order is pop order. The pipes are
    those of the group call the calling thread is a lane of; threads outside any group share one set.
    `valid_shape` are the valid extents of a pushed tile, None for all of it. A push copies, and a pop
    does not: copy=False and copy=True say where a tile may be shared, or is written later.
    """

    def __init__(self):
        self._outside = _LaneGroup("outside a group")

    def _group(self):
        return _lane_context.group or self._outside

    def reset(self, no_split_dual_aiv_dispatch=False, *, group=None):
        """Empty the pipes of a group (by default the calling thread's), set its dispatch mode."""
        group = group or self._group()
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
        if code and group.cuts:
            parts = _lane_parts("tpush_to_aiv", tile, code, lane_stride, valid_shape, copy)
        else:
            lanes = 2 if group.no_split_dual_aiv_dispatch else group.aiv_lanes
            parts = [self._part("tpush_to_aiv", tile, valid_shape, copy) for _ in range(lanes)]
        self._push("tpush_to_aiv", group, "to_aiv", id, code, enumerate(parts))

    def push_to_aic(self, tile, split, *, id=0, valid_shape=None, copy=True):
        """Send this lane's tile to the cube core."""
        code = _even_split("tpush_to_aic", split, tile)
        part = self._part("tpush_to_aic", tile, valid_shape, copy)
        parts = [(_lane_context.subblock_idx, part)]
        self._push("tpush_to_aic", self._group(), "to_aic", id, code, parts)

    def pop_from_aic(self, split, *, id=0, copy=False):
        """Take the next tile the cube core pushed to the current lane; wait while there is none."""
        code = _split_mode_to_int(split)
        lanes = [_lane_context.subblock_idx]
        part = self._pop("tpop_from_aic", self._group(), "to_aiv", id, code, lanes)[0]
        return _with_region(part.clone(), _region(part)) if copy else part

    def pop_from_aiv(self, split, *, id=0, copy=False):
        """Take the next tile of the vector lanes, joined by a split code; wait until both have pushed."""
        code = _even_split("tpop_from_aiv", split)
        lanes = self._popped_lanes(code)
        parts = self._pop("tpop_from_aiv", self._group(), "to_aic", id, code, lanes)
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

    def _popped_lanes(self, code):
        group = self._group()
        both = (code and group.cuts) or group.no_split_dual_aiv_dispatch or group.aiv_lanes == 2
        return [0, 1] if both else [0]

    def _part(self, op, tile, valid_shape, copy):
        if valid_shape is None:
            return tile.clone() if copy else tile
        valid = _valid_extents(op, tile, valid_shape)
        return _with_region(tile.clone() if copy else tile.view_as(tile), valid)

    def _push(self, op, group, direction, pipe_id, code, parts):
        with group.lock:
            group.check_running()
            pipe = group.pipe(direction, pipe_id)
            for lane, part in parts:
                pipe.fifos[lane].append((part, code))
            if group.waits:
                group.wake()

    def _pop(self, op, group, direction, pipe_id, code, lanes):
        ending = f"(split={code}, id={pipe_id})"
        with group.lock:
            group.check_running()
            pipe = group.pipe(direction, pipe_id)
            fifos = [pipe.fifos[lane] for lane in lanes]
            if not all(fifos):
                wait = _Wait(
                    f"{op}{ending}",
                    ready=lambda: all(fifos),
                    missing=lambda: f"tpush_{direction}{ending} by {_pushers(direction, fifos)}",
                )
                group.wait_until(wait)
            entries = [fifo.popleft() for fifo in fifos]
        for _, pushed in entries:
            if pushed != code and _split_axis(pushed) != _split_axis(code):
                raise ValueError(
                    f"{group.name}: {op}(split={code}) on pipe {pipe_id} meets a tile that was"
                    f" pushed with split {pushed}"
                )
        return [part for part, *_ in entries]


_cross_core_rt = _CrossCoreRuntime()


# {group name: {"aic", "aiv" (function names), "split", "dual_aiv_dispatch", "lane1_writes"}}, and
# "value": "aic" where only the cube member returns a value
_GROUP_META = {}


def _group_member(group_name, function_name):
    """Function of this script that a group runs on one kind of core."""
    function = globals().get(function_name)
    if not callable(function):
        raise RuntimeError(f"group {group_name!r}: this script has no function {function_name!r}")
    return function


def _group_value(name, values, wanted=None):
    """Value of a group call: AIV lane 0's, or the AIC member's if the group has no other.

    `wanted` may be "aic" for the AIC member's, and "both" for a pair of that and lane 0's.
    """
    if wanted is not None:
        return values["aic"] if wanted == "aic" else (values["aic"], values["aiv0"])
    value = values.pop("aiv0" if "aiv0" in values else "aic")
    others = [lane_name for lane_name, other in values.items() if other is not None]
    if value is None and others:
        raise RuntimeError(
            f"{name}: only AIV lane 0 may return a value;"
            f" it returned none, {' and '.join(others)} did"
        )
    return value


def _check_leftovers(group):
    """Warn if a group ended with tiles in its pipes that nobody popped."""
    pipes = group.pipes.values()
    if any(any(pipe.fifos) for pipe in pipes):
        text = f"{group.name} ended with tiles left in its pipes: {group.snapshot()}"
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _run_mixed_kernels(group_name, meta, *args, aiv_args=None, value=None):
    """Run the cube member and the vector member of a group concurrently, each on *args.

    `meta` is an entry of _GROUP_META. There are two vector lanes if the group has a split or
    dual_aiv_dispatch; with lane1_writes off, the stores of lane 1 do not count. With `aiv_args` the
    vector member gets these instead of *args. Returns what `value` or the entry asks of _group_value.
    """
    split, dual = _split_mode_to_int(meta["split"]), bool(meta["dual_aiv_dispatch"])
    aiv_names = [] if meta["aiv"] is None else ["aiv0", "aiv1"] if split or dual else ["aiv0"]
    aic_names = [] if meta["aic"] is None else ["aic"]
    group = _LaneGroup(f"group {group_name!r}", [*aic_names, *aiv_names])
    if not group.lane_names:
        raise ValueError(f"{group.name} has neither an AIC nor an AIV member")
    _cross_core_rt.reset(no_split_dual_aiv_dispatch=(split == 0 and dual), group=group)
    lanes = [_Lane(group, name, _group_member(group_name, meta["aic"]), args) for name in aic_names]
    for index, name in enumerate(aiv_names):
        function = _group_member(group_name, meta["aiv"])
        writes_land = index == 0 or meta.get("lane1_writes", True)
        lane_args = args if aiv_args is None else aiv_args
        lanes.append(_Lane(group, name, function, lane_args, index, writes_land))
    try:
        _run_lanes(group, lanes)
    finally:
        if _lane_context.group is None:
            _cross_core_rt.keep(group)
    _check_leftovers(group)
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
