"""Mixed

Emitted by pypto_tmpl: change the IR or a template, not this text.
Run-time helpers come first, the program after them.
"""

import collections
import contextlib
import ctypes
import json
import linecache
import os
import random
import sys
import threading
import time
import torch
import torch.utils._python_dispatch
import warnings

if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")


class _Options:
    """Debug options: before a call, _OPTIONS.poison = True sets _POISON, which says what that does.

    When this script starts, the environment may set them: PYPTO_TMPL_POISON=1.
    """

    __slots__ = ()
    names = (
        *("pipe_wait_timeout_sec", "mixed_kernel_timeout_sec", "bounded_pipes", "strict_leftovers"),
        *("schedule_seed", "race_check", "poison", "packed_scales"),
    )

    def __getattr__(self, name):
        return globals().get(self._constant(name))

    def __setattr__(self, name, value):
        globals()[self._constant(name)] = value

    def _constant(self, name):
        if name not in self.names:
            raise AttributeError(f"no option {name!r}; options: {', '.join(self.names)}")
        return f"_{name.upper()}"

    def start(self, name, default):
        """The value that an option starts with: what the environment says, else the default."""
        variable = f"PYPTO_TMPL{self._constant(name)}"
        text = os.environ.get(variable) or json.dumps(default)
        try:
            return json.loads(text.lower())
        except ValueError:
            raise ValueError(f"{variable} must be 1, 0 or a number, not {text!r}") from None


_OPTIONS = _Options()


# Seconds that one pipe operation may wait for its peer.
_PIPE_WAIT_TIMEOUT_SEC = _OPTIONS.start("pipe_wait_timeout_sec", 10)


# Seconds that all lanes of one group call may take.
_MIXED_KERNEL_TIMEOUT_SEC = _OPTIONS.start("mixed_kernel_timeout_sec", 30)


# A push waits while all slots that the kernel declared for the pipe are in use, until a tfree.
_BOUNDED_PIPES = _OPTIONS.start("bounded_pipes", False)


# Tiles left in a pipe when a group ends are an error instead of a warning.
_STRICT_LEFTOVERS = _OPTIONS.start("strict_leftovers", False)


# A number runs one lane at a time and draws at each pipe operation which lane goes on: the same
# seed gives the same order. None leaves it to the threads.
_SCHEDULE_SEED = _OPTIONS.start("schedule_seed", None)


# Two lanes that touch the same cells of a tensor, one of them writing, are an error unless a pipe
# transfer orders them.
_RACE_CHECK = _OPTIONS.start("race_check", False)


# Padding and new buffers hold NaN (integers: the lowest value) instead of zeros, and an op that
# lets such NaN into a valid cell is an error.
_POISON = _OPTIONS.start("poison", False)


# The NaN that poison is, as integers: no computation makes it, and FP32 computes on with it.
_POISON_NAN = {
    torch.float32: (torch.int32, 0x7FDE0000),
    torch.bfloat16: (torch.int16, 0x7FDE),
    torch.float16: (torch.int16, 0x7EF0),
}


def _fresh(buffer):
    """A new buffer, whose cells hold nothing yet; under _POISON it is filled with poison."""
    if _POISON and buffer.dtype in _POISON_NAN:
        integers, bits = _POISON_NAN[buffer.dtype]
        buffer.view(integers).fill_(bits)
    elif _POISON and not buffer.dtype.is_floating_point and buffer.dtype != torch.bool:
        buffer.fill_(torch.iinfo(buffer.dtype).min)
    return buffer


def _is_poison(cells):
    """Which cells hold the NaN of poison; arithmetic may have set its sign."""
    if cells.dtype not in _POISON_NAN:
        return torch.zeros_like(cells, dtype=torch.bool)
    integers, bits = _POISON_NAN[cells.dtype]
    return cells.view(integers) & torch.iinfo(integers).max == bits


def _name_of(value, frame):
    """What a frame calls a value."""
    names = [name for name, other in frame.f_locals.items() if other is value]
    return " or ".join(names) or "a value without name"


def _refuse_poison(cells, value, verb):
    """Refuse to read or write valid cells of a value if they hold poison.

    Raises: RuntimeError naming the variable and the line.
    """
    count = int(_is_poison(cells).sum())
    if count:
        frame = sys._getframe(2)
        while frame.f_globals is globals() and frame.f_code.co_name in _HELPERS:
            frame = frame.f_back
        raise RuntimeError(
            f"poison: line {frame.f_lineno}, in {frame.f_code.co_name}, {verb} {count} valid cells"
            f" of {_name_of(value, frame)} that are padding or were never written"
        )


def _check_poison(name, value, valid, *sources, mixes=False):
    """Refuse NaN that an op let from padding, or from cells never written, into valid cells.

    `valid` are the valid extents of the value, None for all of it; `sources` are pairs of an
    operand and its valid extents, None for a buffer that nobody has written. A cell of the value
    comes from the cells at its place or, with `mixes`, from any.
    Raises: RuntimeError naming variable, operand and line.
    """
    if not _POISON:
        return
    inside = tuple(slice(0, max(extent, 0)) for extent in valid or value.shape)
    for source, extents in sources:
        poisoned = _is_poison(source) if extents is None else source.isnan()
        if extents is not None:
            cells = tuple(slice(0, max(extent, 0)) for extent in extents)
            if mixes and poisoned[cells].any():
                continue  # NaN of the operand's own may explain it
            poisoned[cells] = False
        reached = value.isnan() & (poisoned.any() if mixes else poisoned)
        if count := int(reached[inside].sum()):
            frame = sys._getframe(1)
            what = "what was never written of" if extents is None else "the padding of"
            raise RuntimeError(
                f"poison: {what} {_name_of(source, frame)} gets into {count} valid cells of {name},"
                f" made just before line {frame.f_lineno}, in {frame.f_code.co_name}"
            )


def _tensors(value):
    """The tensors of a value: itself, or those in a list or tuple."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


class _RaceCheck:
    """Which lane touched which cells of the tensors that lanes share, for race_check.

    Every lane has a vector clock: how far it knows itself and the others to have come. A pipe
    transfer brings the clock of the lane that pushes to the one that pops: what the one did before
    the push is then in order with what the other does after the pop. Tensors that lanes make are
    not looked at: only one lane has them at a time.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.clocks = {}  # thread -> {thread: time}
        self.own = set()  # addresses of storages that lanes made
        self.last = {}  # address of a shared storage -> {(thread, kind): access number a byte}
        self.accesses = [None]  # by number: (thread, time, kind, line)

    def fork(self, lanes, args):
        """Before the calling thread starts lanes that share arguments."""
        self.own -= {tensor.untyped_storage().data_ptr() for tensor in _tensors(args)}
        clock = self.send()
        self.clocks.update({lane: {**clock, lane: 1} for lane in lanes})

    def join(self, lanes):
        """After the lanes that the calling thread started have ended."""
        for lane in lanes:
            self.receive(self.clocks[lane])

    def send(self):
        """The clock of the calling thread, for which a new period begins."""
        thread = threading.current_thread()
        clock = self.clocks.setdefault(thread, {thread: 1})
        sent = dict(clock)
        clock[thread] += 1
        return sent

    def receive(self, sent):
        """Put the calling thread after all that a clock knows of."""
        clock = self.clocks[threading.current_thread()]
        clock.update({thread: max(time, clock.get(thread, 0)) for thread, time in sent.items()})

    def touch(self, tensor, kind):
        """Note that the calling lane "reads", "writes" or "adds to" the cells of a tensor.

        Raises: RuntimeError if another lane's access to one of them is in no order with this one.
        """
        storage = tensor.untyped_storage()
        if storage.data_ptr() in self.own or not tensor.numel():
            return
        thread = threading.current_thread()
        access = (thread, self.clocks[thread][thread], kind, _generated_line(sys._getframe()))
        with self.lock:
            last = self.last.setdefault(storage.data_ptr(), {})
            for (other, other_kind), numbers in last.items():
                if other is not thread and (kind != other_kind or kind == "writes"):
                    self._check_order(self.accesses[self._bytes(numbers, tensor).max()], access)
            if (thread, kind) not in last:
                last[thread, kind] = torch.zeros(storage.nbytes(), dtype=torch.int32)
            self._bytes(last[thread, kind], tensor).fill_(len(self.accesses))
            self.accesses.append(access)

    def _bytes(self, numbers, tensor):
        """The part of a storage's numbers that stands for the cells of a tensor."""
        size, axes = tensor.element_size(), zip(tensor.shape, tensor.stride())
        extents = [extent if stride else 1 for extent, stride in axes]
        strides = [stride * size for stride in tensor.stride()]
        start = tensor.storage_offset() * size
        return numbers.as_strided([*extents, size], [*strides, 1], start)

    def _check_order(self, before, now):
        if before is None or self.clocks[now[0]].get(before[0], 0) >= before[1]:
            return
        text = "race: no pipe transfer orders two accesses to cells that lanes share"
        for thread, _, kind, line in (before, now):
            text += f"\n  {thread.name} {kind} them at {line}"
        raise RuntimeError(text)


class _RaceWatch(torch.utils._python_dispatch.TorchDispatchMode):
    """Tells a _RaceCheck what every torch call of the calling lane reads and writes."""

    def __init__(self, race):
        super().__init__()
        self.race = race

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch first imports its compiler, for seconds

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        formal = function._schema.arguments
        actual = [*args, *(kwargs.get(argument.name) for argument in formal[len(args) :])]
        for argument, value in zip(formal, actual):
            alias = argument.alias_info  # of views and written operands
            if alias is None or alias.is_write:
                for tensor in _tensors(value):
                    self.race.touch(tensor, self._kind(alias))
        result = function(*args, **kwargs)
        given = {tensor.untyped_storage().data_ptr() for tensor in _tensors(actual)}
        made = {tensor.untyped_storage().data_ptr() for tensor in _tensors(result)}
        self.race.own |= made - given
        return result

    def _kind(self, alias):
        if alias is None:
            return "reads"
        caller = sys._getframe(2)
        while caller and caller.f_code.co_name != "_tile_store_add":
            caller = caller.f_back
        return "adds to" if caller else "writes"


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


def _source_line(path, number):
    """Name a line of the script: path, number and, where known, its text and its source line.

    Source lines, {"12": "kernel.py:34"}, are in the _SOURCE_MAP that who loads the script may leave
    in it, or beside the script in a file that ends in .map.json.
    """
    lines, beside = globals().get("_SOURCE_MAP"), f"{os.path.splitext(path)[0]}.map.json"
    if lines is None and os.path.isfile(beside):
        with open(beside, encoding="utf-8") as file:
            lines = json.load(file)
    source = (lines or {}).get(str(number))
    text = linecache.getline(path, number).partition("  # from ")[0].strip()
    place = f"{path}:{number}: {text}" if text else f"{path}:{number}"
    return f"{place} (from {source})" if source else place


def _generated_line(frame):
    """The line of a generated function that a frame has come from, be it by way of helpers."""
    outside = None
    while frame:
        if frame.f_globals is not globals():
            is_torch = frame.f_globals.get("__name__", "").startswith("torch")
            outside = outside or (None if is_torch else frame)
        elif frame.f_code.co_qualname.partition(".")[0] not in _HELPERS:
            return _source_line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return _source_line(outside.f_code.co_filename, outside.f_lineno) if outside else "its end"


class _Wait:
    """What a blocked lane waits for; ready() and missing() are called under the group's lock."""

    def __init__(self, operation, ready, missing):
        self.operation = operation
        self.ready = ready
        self.missing = missing
        self.lane_name = _lane_context.lane_name
        self.frame = sys._getframe(2)  # stands still while the lane waits

    def __str__(self):
        line = _generated_line(self.frame)
        return f"{self.operation} at {line}; missing: {self.missing()}"


class _Pipe:
    """One direction of one pipe id: a FIFO a vector lane."""

    def __init__(self):
        self.fifos = (collections.deque(), collections.deque())
        self.slots = None  # the _PipeSlots of a bounded pipe


class _SeededSchedule:
    """The order of a group under schedule_seed: one lane runs until its next pipe operation.

    All methods are called under the lock of the group.
    """

    def __init__(self, group, seed):
        self.group = group
        self.random = random.Random(seed)
        self.steps = []  # (lane name, operation), in the order in which lanes came to them
        self.running = None
        self.choose()

    def choose(self):
        """Draw the lane that goes on, among the live ones that do not wait for a peer."""
        blocked = {wait.lane_name for wait in self.group.waits if not wait.ready()}
        able = [name for name in self.group.lane_names if name in self.group.live - blocked]
        self.running = self.random.choice(able) if able else None
        if able:
            self.group.wakeups[self.running].notify()

    def step(self, lane_name, operation):
        """Note a pipe operation; go on with it when it is the lane's turn."""
        self.steps.append((lane_name, operation))
        self.choose()
        self.wait_for_turn(lane_name)

    def wait_for_turn(self, lane_name):
        """Block until the lane is drawn or the group fails."""
        self.group.wakeups[lane_name].wait_for(
            lambda: self.group.failure or self.running == lane_name
        )
        self.group.check_running()


class _LaneCancelled(SystemExit):
    """Ends a lane whose group has failed; as a SystemExit it ends the thread without a word."""


class _LaneGroup:
    """The lanes of one concurrent call, their pipes, and one lock over all of it.

    A lane that has to wait enters itself in `waits`. When every live lane waits and no wait is
    over, nothing can wake one any more, and the call fails at once instead of by timeout.
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
        self.race = self.schedule = None
        if lane_names and _RACE_CHECK:
            outer = _lane_context.group
            self.race = outer.race if outer and outer.race else _RaceCheck()
        if lane_names and _SCHEDULE_SEED is not None:
            with self.lock:
                self.schedule = _SeededSchedule(self, _SCHEDULE_SEED)

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
                if pipe.slots:
                    unreleased = state.setdefault(f"{direction} unreleased", {})
                    unreleased[pipe_id] = [*pipe.slots.unreleased]
            return state

    def wait_until(self, wait):
        """Block the calling lane until wait.ready(); the caller holds the lock.

        Raises: RuntimeError after _PIPE_WAIT_TIMEOUT_SEC seconds; _LaneCancelled if the group
            fails.
        """
        name, timeout = wait.lane_name, _PIPE_WAIT_TIMEOUT_SEC
        wait.wakeup = self.wakeups.get(name) or threading.Condition(self.lock)
        self.waits.append(wait)
        self._fail_if_stuck()
        if self.schedule:
            self.schedule.choose()
        in_time = wait.wakeup.wait_for(lambda: self.failure or self._may_go_on(wait), timeout)
        self.waits.remove(wait)
        self.check_running()
        if not in_time:
            raise RuntimeError(
                f"{self.name}: lane {name} timed out (pipe wait timeout {timeout} s) in {wait};"
                f" queue depths: {self.snapshot()}"
            )

    def _may_go_on(self, wait):
        has_turn = self.schedule is None or self.schedule.running == wait.lane_name
        return has_turn and wait.ready()

    def wake(self):
        """Wake the lanes whose wait is over; the caller holds the lock."""
        for wait in self.waits:
            if wait.ready():
                wait.wakeup.notify()

    def check_running(self):
        """Raise _LaneCancelled if the group has failed."""
        if self.failure:
            raise _LaneCancelled

    def begin(self, lane_name):
        """Let a lane start; under a schedule when it is its turn."""
        if self.schedule:
            with self.lock:
                self.schedule.wait_for_turn(lane_name)

    def watch(self):
        """A context that looks for races in what the calling lane does, if that counts."""
        is_on = self.race and _lane_context.writes_land
        return _RaceWatch(self.race) if is_on else contextlib.nullcontext()

    def step(self, operation):
        """Start a pipe operation of the calling lane, which holds the lock."""
        self.check_running()
        if self.schedule:
            self.schedule.step(_lane_context.lane_name, operation)

    def fail(self, lane_name, error):
        """Keep the first error and wake every lane, those of inner groups too, to be cancelled."""
        with self.lock:
            self.failure = self.failure or (lane_name, error)
            for wakeup in self.wakeups.values():
                wakeup.notify_all()
            self.ended.set()
            for group in self.inner.values():
                group.fail(None, _LaneCancelled())

    def enter(self, inner):
        """Note that the calling lane runs an inner group, which fails if this one does."""
        with self.lock:
            self.check_running()
            self.inner[_lane_context.lane_name] = inner

    def leave(self):
        """Forget the inner group of the calling lane, which has ended."""
        with self.lock:
            del self.inner[_lane_context.lane_name]

    def finish(self, lane_name):
        """Count a lane as ended; the rest may now wait in vain."""
        with self.lock:
            self.live.discard(lane_name)
            self._fail_if_stuck()
            if not self.live:
                self.ended.set()
            elif self.schedule:
                self.schedule.choose()

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
    """The thread of one core of a group: runs function(*args) and keeps its value.

    It takes over the SPMD block and the gradient mode of the thread that made it.
    """

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
                self.group.begin(self.lane_name)
                with self.group.watch():
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

    After a failure, waiting lanes are already cancelled. One that computes on without reaching a
    pipe is interrupted, except while it ends an inner group. One inside a single long call ends
    after it, and is waited for as long as a group call may take.
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
    """Run the lanes of a group concurrently until all have ended.

    Units: waits _MIXED_KERNEL_TIMEOUT_SEC seconds at most.
    Raises: RuntimeError from the first error in a lane, or because no lane can go on, or on
        timeout; all other lanes are then cancelled.
    """
    outer, timeout = _lane_context.group, _MIXED_KERNEL_TIMEOUT_SEC
    if outer:
        outer.enter(group)
    if group.race:
        group.race.fork(lanes, [lane.args for lane in lanes])
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
            outer.leave()
    if group.failure:
        _raise_failure(group, remaining)
    if group.race:
        group.race.join(lanes)


def _split_mode_to_int(split):
    """Split code 0..4: 0 none, 1 / 2 halves of dim 0 / dim 1, 3 / 4 the same over an odd extent.

    None stands for 0 and a decimal text such as "0" for its number.
    Raises: ValueError for anything else.
    """
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
        if _POISON:
            whole, cells = tile, tuple(map(slice, valid))
            tile = _fresh(torch.zeros_like(whole))
            tile[cells] = whole[cells]
        tile._pypto_valid_shape = valid
    return tile


def _valid_extents(op, tile, valid_shape):
    """The valid extents of a tile as a list of ints within its box; None stands for the whole box.

    Raises: ValueError if there is not one extent a dimension.
    """
    if valid_shape is None:
        return [*tile.shape]
    if len(valid_shape) != tile.dim():
        raise ValueError(f"{op}: valid_shape {valid_shape} for a tile of shape {[*tile.shape]}")
    return [min(max(int(v), 0), box) for v, box in zip(valid_shape, tile.shape, strict=True)]


def _lane_extents(valid, stride):
    """Valid cells of lanes 0 and 1, where lane L owns the cells [L*stride, L*stride + stride)."""
    return [min(max(valid - lane * stride, 0), stride) for lane in (0, 1)]


def _lane_stride(op, tile, code, lane_stride):
    """Cells between the starts of the two lanes: lane_stride, or half of the box, rounded up.

    Raises: ValueError for a tile without the axis and for a stride outside 1..ceil(extent/2).
    """
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
    """Refuse a split code that the extents contradict.

    1 and 2 need an even extent of the box; 3 and 4 need lane 0 to hold exactly one valid cell more
    than lane 1, whatever the box is.   Raises: ValueError naming the extents.
    """
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
    """What a lane owns of a tile: the cells from lane*stride on, along the split axis.

    Shapes: ceil(extent/2) along the axis on both lanes, padded where the tile ends earlier.
    Valid region: clamp(valid - lane*stride, 0, stride) along the axis, the other dims' unchanged.
    Without `copy` it may be a view of the tile.
    """
    axis = _split_axis(code)
    half = (tile.shape[axis] + 1) // 2
    start = lane * stride
    length = min(half, tile.shape[axis] - start)
    part = tile.narrow(axis, start, length)
    if length < half:
        box = [*tile.shape]
        box[axis] = half
        padded = _fresh(tile.new_zeros(box))
        padded.narrow(axis, 0, length).copy_(part)
        part = padded
    elif copy:
        part = part.clone()
    extent = _lane_extents(valid[axis], stride)[lane]
    return _with_region(part, [*valid[:axis], extent, *valid[axis + 1 :]])


def _lane_parts(op, tile, code, lane_stride=None, valid_shape=None, copy=True):
    """What lanes 0 and 1 own of a tile; see _lane_part.

    Raises: ValueError if code, stride and extents do not fit.
    """
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
    """Join the parts of lanes 0 and 1 along the split axis.

    Valid region: that of lane 0 if lane 1 is empty; both together if lane 0 is full along the axis.
    Raises: ValueError if the boxes differ; RuntimeError if the valid cells are not one rectangle.
    """
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


def _clip(offset, size, extent):
    """Start and stop of the cells offset .. offset+size in 0 .. extent; equal if there is none."""
    start = min(max(offset, 0), extent)
    return start, max(start, min(offset + size, extent))


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of a tensor and of a block laid on it at offsets: the cells that both have.

    Of the block only the part inside valid_shape counts. It keeps its place: what lies beyond the
    tensor's edge, also before 0, is left out. A block of lower rank lies on the trailing axes.
    """
    rank = max(tensor.dim(), block.dim())
    valid = [1] * (rank - block.dim()) + [*(block.shape if valid_shape is None else valid_shape)]
    offsets = [0] * (rank - len(offsets)) + [*offsets]
    tensor = tensor[(None,) * (rank - tensor.dim())]
    block = block[(None,) * (rank - block.dim())]
    for axis, offset in enumerate(offsets):
        size = min(valid[axis], block.shape[axis])
        start, stop = _clip(offset, size, tensor.shape[axis])
        tensor = tensor.narrow(axis, start, stop - start)
        block = block.narrow(axis, start - offset if stop > start else 0, stop - start)
    return tensor, block


def _inside(tensor, offsets, shape):
    """View of a window of a tensor, None if some of it lies outside or it has fewer axes."""
    extents = tensor.shape
    if not len(offsets) == len(shape) == len(extents):
        return None
    for axis, offset in enumerate(offsets):
        size, extent = shape[axis], extents[axis]
        if offset or size != extent:
            if offset < 0 or offset + size > extent:
                return None
            tensor = tensor.narrow(axis, offset, size)
    return tensor


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


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor.

    What falls outside the tensor is dropped, and what a load found outside of its own. The tensor's
    dtype is kept: wider floats round half to even.
    """
    part, offsets, valid_shape = _drop_edge(tile, offsets, valid_shape)
    cells = _inside(tensor, offsets, part.shape) if valid_shape is None else None
    if cells is None:
        cells, part = _overlap(tensor, part, offsets, valid_shape)
    if _POISON:
        _refuse_poison(part, tile, "writes")
    cells.copy_(part)
    if hasattr(tensor, "found"):  # a tile: what is written into it counts
        del tensor.found
    return tensor


def _pushers(direction, fifos):
    """Who has yet to push before a pop of these FIFOs (one a lane) can go on."""
    if direction == "to_aiv":
        return "aic"
    return " and ".join(f"aiv{lane}" for lane, fifo in enumerate(fifos) if not fifo)


class _PipeSlots:
    """The slots of one direction of a bounded pipe: in use from the push of a tile to its tfree.

    Each vector lane has slots of its own. All methods are called under the lock of the group.
    """

    def __init__(self, group, direction, pipe_id):
        to_aiv = direction == "to_aiv"
        self.group = group
        self.name = f"{group.name}: pipe {pipe_id} {direction}"
        self.consumer, tfree = ("aiv", "tfree_to_aic") if to_aiv else ("aic", "tfree_to_aiv")
        self.tfree = f"{tfree}(id={pipe_id})"
        self.fifos = group.pipe(direction, pipe_id).fifos
        self.unreleased = [0, 0]  # tiles a lane: popped, but not released
        self.slot_num = None
        self.local_slot_num = None

    def declare(self, side, slot_num, local_slot_num):
        """Take what one side declares; of both local_slot_num, the consumer's counts."""
        if slot_num < 1 or (local_slot_num is not None and local_slot_num < 1):
            raise ValueError(f"{self.name} with {slot_num} slots (local: {local_slot_num})")
        if self.slot_num not in (None, slot_num):
            raise ValueError(f"{self.name} with {self.slot_num} slots and with {slot_num}")
        self.slot_num = slot_num
        if side == self.consumer:
            self.local_slot_num = local_slot_num

    def wait_to_push(self, operation, lanes):
        """Wait until each lane has a free slot."""
        self._wait_while(self._full, lanes, f"push blocked: {operation}")

    def wait_to_pop(self, operation, lanes):
        """Wait until the consumer may hold one more tile, then count it as held."""
        self._wait_while(self._holding, lanes, f"pop blocked: {operation}")
        for lane in lanes:
            self.unreleased[lane] += 1

    def release(self, lanes):
        """Free the slots of one popped tile.   Raises: RuntimeError if there is none."""
        if not all(self.unreleased[lane] for lane in lanes):
            raise RuntimeError(f"{self.name}: {self.tfree} without a popped tile to release")
        for lane in lanes:
            self.unreleased[lane] -= 1
        self.group.wake()

    def _full(self, lane):
        return len(self.fifos[lane]) + self.unreleased[lane] >= self.slot_num

    def _holding(self, lane):
        return self.local_slot_num is not None and self.unreleased[lane] >= self.local_slot_num

    def _wait_while(self, blocked, lanes, operation):
        if any(map(blocked, lanes)):
            wait = _Wait(
                operation,
                ready=lambda: not any(map(blocked, lanes)),
                missing=lambda: " and ".join(map(self._missing, filter(blocked, lanes))),
            )
            self.group.wait_until(wait)

    def _missing(self, lane):
        queued, popped = len(self.fifos[lane]), self.unreleased[lane]
        counts = f"{queued} queued, {popped} popped, of {self.slot_num} slots"
        return f"{self.tfree} of a tile of aiv{lane} ({counts})"


class _CrossCoreRuntime:
    """Pipes between the cube core (AIC) and its vector lanes (AIV).

    Every direction of every pipe id has one FIFO a vector lane: push order is pop order. Pushing
    copies, so that a later write into the tile is not seen; copy=False says that there will be
    none. A lane that writes into what it pops asks for copy=True, for the other lane may have it
    too. The pipes are those of the group call the calling thread is a lane of; threads outside any
    group share one set.
    """

    def __init__(self):
        self._outside = _LaneGroup("outside a group")
        self._steps = []

    def _group(self):
        return _lane_context.group or self._outside

    def reset(self, no_split_dual_aiv_dispatch=False, *, group=None):
        """Empty the pipes of a group (by default the calling thread's), set its dispatch mode."""
        group = group or self._group()
        with group.lock:
            group.pipes.clear()
            group.no_split_dual_aiv_dispatch = no_split_dual_aiv_dispatch

    def snapshot(self):
        """Queue depths {direction: {id: [lane 0, lane 1]}} and the dispatch mode.

        Outside a group: what the last group call of this script left.
        """
        return self._group().snapshot()

    def interleaving(self):
        """The pipe operations of the last group call under _SCHEDULE_SEED, as (lane, operation)."""
        return self._steps

    def keep(self, group):
        """Let snapshot() and interleaving() tell of a group call that has ended."""
        self._steps = group.schedule.steps if group.schedule else []
        with self._outside.lock:
            self._outside.pipes = group.pipes
            self._outside.no_split_dual_aiv_dispatch = group.no_split_dual_aiv_dispatch

    def push_to_aiv(self, tile, split, lane_stride=None, *, id=0, valid_shape=None, copy=True):
        """Send a tile of the cube core to the vector lanes.

        Shapes: split 0 sends the whole tile to every lane of the group; 1 and 3 send each lane its
            half of dim 0, 2 and 4 of dim 1, both in boxes of ceil(extent/2). The only lane of a
            group gets the whole tile by any code.
        Valid region: lane L gets the valid cells among [L*S, L*S + S), with S = lane_stride or half
            of the box. `valid_shape` are the valid extents of the tile, None for all of it.
        Raises: ValueError if split, stride and extents do not fit.
        """
        code, group = _split_mode_to_int(split), self._group()
        if code and group.cuts:
            parts = _lane_parts("tpush_to_aiv", tile, code, lane_stride, valid_shape, copy)
        else:
            lanes = 2 if group.no_split_dual_aiv_dispatch else group.aiv_lanes
            parts = [self._part("tpush_to_aiv", tile, valid_shape, copy) for _ in range(lanes)]
        self._push("tpush_to_aiv", group, "to_aiv", id, code, enumerate(parts))

    def push_to_aic(self, tile, split, *, id=0, valid_shape=None, copy=True):
        """Send this lane's tile to the cube core.

        Valid region: `valid_shape`, None for all of the tile.
        Raises: ValueError for split 3 and 4: there is no odd transport to the cube core.
        """
        code = _even_split("tpush_to_aic", split, tile)
        part = self._part("tpush_to_aic", tile, valid_shape, copy)
        parts = [(_lane_context.subblock_idx, part)]
        self._push("tpush_to_aic", self._group(), "to_aic", id, code, parts)

    def pop_from_aic(self, split, *, id=0, copy=False):
        """Take the next tile the cube core pushed to the current lane; wait while there is none.

        Shapes: split 0 a whole tile, and so for the only lane of a group; otherwise its half, in a
            box of ceil(extent/2).
        Valid region: that of the pushed part.
        Units: waits _PIPE_WAIT_TIMEOUT_SEC seconds at most.
        Raises: RuntimeError on timeout (op, split, lane, queue depths); ValueError if the tile was
            pushed with a split of another axis.
        """
        code = _split_mode_to_int(split)
        lanes = [_lane_context.subblock_idx]
        part = self._pop("tpop_from_aic", self._group(), "to_aiv", id, code, lanes)[0]
        return _with_region(part.clone(), _region(part)) if copy else part

    def pop_from_aiv(self, split, *, id=0, copy=False):
        """Take the next tile of the vector lanes; wait until each of them has pushed one.

        Shapes: split 1 / 2 the tiles of both lanes joined along dim 0 / 1; split 0, and in a group
            of one lane, lane 0's tile (that of lane 1 is dropped).
        Valid region: lane 0's, and lane 1's after it if lane 0's part is full.
        Units: waits _PIPE_WAIT_TIMEOUT_SEC seconds at most.
        Raises: RuntimeError on timeout and if the valid parts are not one rectangle; ValueError for
            split 3 and 4 and if a tile was pushed with a split of another axis.
        """
        code = _even_split("tpop_from_aiv", split)
        lanes = self._popped_lanes(code)
        parts = self._pop("tpop_from_aiv", self._group(), "to_aic", id, code, lanes)
        if len(parts) == 2 and code:
            return _merge_lanes("tpop_from_aiv", parts, code)
        return _with_region(parts[0].clone(), _region(parts[0])) if copy else parts[0]

    def initialize_pipe(self, side, dir_mask, slot_num=None, local_slot_num=None, id=0):
        """Declare the slots of a pipe; no effect unless _BOUNDED_PIPES.

        `side` ("aic" or "aiv") is the core that declares, `dir_mask` 1 for the tiles to AIV, 2 for
        those to AIC, 3 for both. At most `slot_num` tiles of a lane may be pushed and not yet
        released; the consumer may hold `local_slot_num` of them. None is no limit.
        Raises: ValueError if a number is below 1, or unlike what the other side declares.
        """
        if not _BOUNDED_PIPES or slot_num is None:
            return
        group = self._group()
        with group.lock:
            for bit, direction in ((1, "to_aiv"), (2, "to_aic")):
                if dir_mask & bit:
                    pipe = group.pipe(direction, id)
                    pipe.slots = pipe.slots or _PipeSlots(group, direction, id)
                    pipe.slots.declare(side, slot_num, local_slot_num)

    def tfree_to_aic(self, *, split=0, id=0):
        """Release the oldest tile that this lane has popped from the cube core.

        No effect on a pipe without bounds.   Raises: RuntimeError if the lane holds no tile.
        """
        self._release("to_aiv", id, [_lane_context.subblock_idx])

    def tfree_to_aiv(self, *, split=0, id=0):
        """Release the oldest tile that the cube core has popped from the vector lanes.

        No effect on a pipe without bounds.   Raises: RuntimeError if it holds no tile.
        """
        self._release("to_aic", id, self._popped_lanes(_even_split("tfree_to_aiv", split)))

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
            if group.failure or group.schedule:
                group.step(op)
            pipe = group.pipe(direction, pipe_id)
            if pipe.slots:
                parts = dict(parts)
                pipe.slots.wait_to_push(f"{op}(split={code}, id={pipe_id})", parts)
                parts = parts.items()
            clock = group.race and group.race.send()
            for lane, part in parts:
                pipe.fifos[lane].append((part, code, clock))
            if group.waits:
                group.wake()

    def _pop(self, op, group, direction, pipe_id, code, lanes):
        with group.lock:
            if group.failure or group.schedule:
                group.step(op)
            pipe = group.pipe(direction, pipe_id)
            fifos = [pipe.fifos[lane] for lane in lanes]
            if not all(fifos):
                ending = f"(split={code}, id={pipe_id})"
                wait = _Wait(
                    f"{op}{ending}",
                    ready=lambda: all(fifos),
                    missing=lambda: f"tpush_{direction}{ending} by {_pushers(direction, fifos)}",
                )
                group.wait_until(wait)
            if pipe.slots:
                pipe.slots.wait_to_pop(f"{op}(split={code}, id={pipe_id})", lanes)
            entries = [fifo.popleft() for fifo in fifos]
        for _, pushed, clock in entries:
            if pushed != code and _split_axis(pushed) != _split_axis(code):
                raise ValueError(
                    f"{group.name}: {op}(split={code}) on pipe {pipe_id} meets a tile that was"
                    f" pushed with split {pushed}"
                )
            if group.race:
                group.race.receive(clock)
        return [part for part, _, _ in entries]

    def _release(self, direction, pipe_id, lanes):
        if not _BOUNDED_PIPES:
            return
        group = self._group()
        with group.lock:
            slots = group.pipe(direction, pipe_id).slots
            if slots:
                group.step(slots.tfree)
                slots.release(lanes)


_cross_core_rt = _CrossCoreRuntime()


# {group name: {"aic", "aiv" (function names), "split", "dual_aiv_dispatch", "lane1_writes"}}, and
# "value": "aic" where only the cube member returns a value
_GROUP_META = {}


def _group_member(group_name, function_name):
    """Function of this script that a group runs on one kind of core.

    Raises: RuntimeError if the script has none of that name.
    """
    function = globals().get(function_name)
    if not callable(function):
        raise RuntimeError(f"group {group_name!r}: this script has no function {function_name!r}")
    return function


def _group_value(name, values, wanted=None):
    """Value of a group call: AIV lane 0's, or the AIC member's if the group has no other.

    `wanted` may be "aic" for the AIC member's, and "both" for a pair of that and lane 0's.
    Raises: RuntimeError if lane 0 returned nothing, but another lane did.
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
    """Warn if a group ended with tiles in its pipes that nobody popped or, if bounded, released.

    Raises: RuntimeError instead if _STRICT_LEFTOVERS.
    """
    pipes = group.pipes.values()
    if any(any(pipe.fifos) or (pipe.slots and any(pipe.slots.unreleased)) for pipe in pipes):
        text = f"{group.name} ended with tiles left in its pipes: {group.snapshot()}"
        if _STRICT_LEFTOVERS:
            raise RuntimeError(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _run_mixed_kernels(group_name, meta, *args, aiv_args=None, value=None):
    """Run the cube member and the vector member of a group concurrently, each on *args.

    `meta` is an entry of _GROUP_META; aic or aiv may be None. There are two vector lanes if the
    group has a split or dual_aiv_dispatch. With `aiv_args` the vector member gets these instead of
    *args. With lane1_writes off, the stores of lane 1 do not count.
    Returns lane 0's value, or what `value` or the entry asks for: see _group_value.
    Raises: RuntimeError if a lane fails, waits in vain or takes too long, or if only other lanes
        return a value; ValueError for a group without members.
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
    if group_name not in _GROUP_META:
        raise ValueError(f"no group {group_name!r} in this script; groups: {sorted(_GROUP_META)}")
    return _run_mixed_kernels(group_name, _GROUP_META[group_name], *args)


# Names of the run-time helpers, which stand above: what comes below is the program.
_HELPERS = frozenset(name for name in globals() if name.startswith("_"))

_GROUP_META.update(
    {
        "main_incore_0": {
            "aic": "main_incore_0_aic",
            "aiv": "main_incore_0_aiv",
            "split": 0,
            "dual_aiv_dispatch": True,
            "lane1_writes": True,
        },
    }
)


def main(a__ssa_v0, b__ssa_v0, c__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 64], torch.float32)
    _check_tensor("b__ssa_v0", b__ssa_v0, [64, 256], torch.float32)
    _check_tensor("c__ssa_v0", c__ssa_v0, [32, 256], torch.float32)
    gm_pipe_buffer_0 = _fresh(torch.zeros([1], dtype=torch.float32, device=a__ssa_v0.device))
    _check_tensor("gm_pipe_buffer_0", gm_pipe_buffer_0, [1], torch.float32)
    c__rv_v2 = _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0, gm_pipe_buffer_0)
    _check_tensor("c__rv_v2", c__rv_v2, [32, 256], torch.float32)
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """Group function."""
    return _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer)


def main_incore_0_aic(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """AIC function."""
    _check_dtype("c__ssa_v0", c__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    _cross_core_rt.initialize_pipe("aic", 3, 2)
    for n__idx_v0 in range(0, 256, 64):
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64].clone()
        _check_tensor("bt__tile", bt__tile, [64, 64], torch.float32)
        scaled__tile_Left_mat = _cross_core_rt.pop_from_aiv(0)
        scaled__tile_Left_mat_valid = _region(scaled__tile_Left_mat)
        _check_tensor("scaled__tile_Left_mat", scaled__tile_Left_mat, [32, 64], torch.float32)
        scaled__tile_Left = scaled__tile_Left_mat
        scaled__tile_Left_valid = scaled__tile_Left_mat_valid
        _check_tensor("scaled__tile_Left", scaled__tile_Left, [32, 64], torch.float32)
        _cross_core_rt.tfree_to_aiv(split=0)
        bt__tile_Right = bt__tile
        _check_tensor("bt__tile_Right", bt__tile_Right, [64, 64], torch.float32)
        t__tile = torch.matmul(
            scaled__tile_Left[..., : max(scaled__tile_Left_valid[1], 0)],
            bt__tile_Right[..., : max(scaled__tile_Left_valid[1], 0), :],
        ).float()
        _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile, 0, copy=False)


def main_incore_0_aiv(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """AIV function."""
    _check_dtype("c__ssa_v0", c__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 3, 2)
    if subblock_idx == 0:
        a__tile = a__ssa_v0[0:32, 0:64].clone()
        _check_tensor("a__tile", a__tile, [32, 64], torch.float32)
        c__iter_v1 = c__ssa_v0
        for n__idx_v0 in range(0, 256, 64):
            prev__tile = c__iter_v1[0:32, n__idx_v0 : n__idx_v0 + 64].clone()
            _check_tensor("prev__tile", prev__tile, [32, 64], torch.float32)
            scaled__tile = a__tile * 0.25
            _check_tensor("scaled__tile", scaled__tile, [32, 64], torch.float32)
            _cross_core_rt.push_to_aic(scaled__tile, 0, copy=False)
            t__tile_Vec = _cross_core_rt.pop_from_aic(0)
            t__tile_Vec_valid = _region(t__tile_Vec)
            _check_tensor("t__tile_Vec", t__tile_Vec, [32, 64], torch.float32)
            nxt__tile = prev__tile + t__tile_Vec
            _check_poison("nxt__tile", nxt__tile, None, (t__tile_Vec, t__tile_Vec_valid))
            _check_tensor("nxt__tile", nxt__tile, [32, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            c__tile = _tile_store(nxt__tile, [0, n__idx_v0], c__iter_v1)
            _check_tensor("c__tile", c__tile, [32, 256], torch.float32)
            c__iter_v1 = c__tile
        c__rv_v2 = c__iter_v1
        return c__ssa_v0
    else:
        a__tile_1 = _fresh(torch.zeros([32, 64], dtype=torch.float32, device=c__ssa_v0.device))
        _check_tensor("a__tile_1", a__tile_1, [32, 64], torch.float32)
        c__iter_v1_1 = c__ssa_v0
        for n__idx_v0_1 in range(0, 256, 64):
            prev__tile_1 = _fresh(
                torch.zeros([32, 64], dtype=torch.float32, device=c__ssa_v0.device)
            )
            _check_tensor("prev__tile_1", prev__tile_1, [32, 64], torch.float32)
            scaled__tile_1 = a__tile_1 * 0.25
            _check_tensor("scaled__tile_1", scaled__tile_1, [32, 64], torch.float32)
            _cross_core_rt.push_to_aic(scaled__tile_1, 0, valid_shape=[0, 0], copy=False)
            t__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)
            _check_tensor("t__tile_Vec_1", t__tile_Vec_1, [32, 64], torch.float32)
            nxt__tile_1 = prev__tile_1 + t__tile_Vec_1
            _check_tensor("nxt__tile_1", nxt__tile_1, [32, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            c__tile_1 = c__iter_v1_1
            _check_tensor("c__tile_1", c__tile_1, [32, 256], torch.float32)
        c__rv_v2_1 = c__iter_v1_1
        return c__ssa_v0
