"""Run-time helpers

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import bisect
import collections
import contextlib
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
        self.fibers = _ranks.world and _ranks.world.fibers
        self.lock = contextlib.nullcontext() if self.fibers else threading.RLock()
        guarded = () if self.fibers else lane_names
        self.wakeups = {name: threading.Condition(self.lock) for name in guarded}
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
        told = lambda: f"{operation} at {_generated_line(frame)}; missing: {missing()}"
        if self.fibers:
            return self.fibers.block(ready, told)
        wakeup = self.wakeups.get(name) or threading.Condition(self.lock)
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
    if group.fibers:
        runs = [(lambda lane=lane: lane.function(*lane.args)) for lane in lanes]
        parts = [(lane.name, lane.context, run) for lane, run in zip(lanes, runs)]
        for lane, value in zip(lanes, _run_fibers(parts)):
            lane.value = value
        return
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


class _DistributedDeadlock(RuntimeError):
    """Every rank waits, and nothing that could end a wait is left to run."""


_DistributedDeadlock.__name__ = _DistributedDeadlock.__qualname__ = "DistributedDeadlock"


class _FiberCancelled(SystemExit):
    """Ends a fiber whose host call has failed; as a SystemExit it ends the thread without a word."""


class _Fiber(threading.Thread):
    """A thread that runs only while it has the baton of its fibers.

    `title` says whose work it is, `order` (a tuple) its place among the others, and `ready()` when it may
    start or go on; `told()` says what it waits for.
    """

    def __init__(self, fibers, title, order, function, ready, rank=None):
        super().__init__(name=title, daemon=True)
        self.fibers, self.title, self.order, self.rank = fibers, title, order, rank
        self.function, self.ready, self.told = function, ready, None
        self.turn = threading.Lock()  # free while the fiber has been given its turn
        self.turn.acquire()
        self.value, self.is_done, self.after = None, False, ()
        self.tasks, self.launched = (
            [],
            0,
        )  # of an orchestrator: those that may not be complete, and how many
        self.task, self.running = None, None  # the one that the fiber is, or runs in place
        self.context = dict(vars(_lane_context))
        self.grad_modes = (torch.is_inference_mode_enabled(), torch.is_grad_enabled())

    def run(self):
        vars(_lane_context).update(self.context)
        inference, grad = self.grad_modes
        try:
            self.ready = None
            with torch.inference_mode(inference), torch.set_grad_enabled(grad):
                self.value = self.function()
        except BaseException as error:  # whatever ends a fiber ends the host call
            self.fibers.fail(self, error)
        self.fibers.finish(self)


class _Fibers:
    """The fibers of one host call. The calling thread is the first of them, `root`.

    When none of them can go on, `idle()` may wait for what comes from elsewhere; it tells whether that can.
    """

    def __init__(self, title, idle):
        self.idle = idle
        self.root = self.current = _Fiber(self, title, (-1,), None, None)
        self.live = [self.root]  # by their order
        self.started = []
        self.failure = None  # (fiber, the first error)
        self.report = lambda lines: lines()  # what a deadlock is told with

    def add(self, fiber):
        """Let a fiber start when it is ready and its turn has come."""
        bisect.insort(self.live, fiber, key=lambda one: one.order)
        return fiber

    def block(self, ready, told, first=None):
        """Hand over to other fibers until ready(); told() says in a report what the caller waits for.

        A caller that waits for own fibers only has nothing to tell: None. `first` goes on first, if it can.
        Raises: DistributedDeadlock if no fiber can go on.
        """
        me = self.current
        me.ready, me.told = ready, told
        self._switch(me, first)
        me.ready = None
        if self.failure:
            raise _FiberCancelled

    def hand_over(self):
        """Let another fiber run first, where it is drawn who does."""

    def _switch(self, me, first=None):
        can_first = first is not None and not self.failure and first.ready()
        following = first if can_first else self._next(me)
        if following is None:
            self.fail(None, _DistributedDeadlock(self._deadlock()))
            following = self._next(me)
        if following is me:
            return
        self.current = following
        if following.ident is None and following is not self.root:
            self.started.append(following)
            following.start()
        else:
            following.turn.release()
        if not me.is_done:
            self._await_turn(me)

    def _await_turn(self, me):
        try:
            me.turn.acquire()
        except BaseException:  # an interrupt from the keyboard must not leave fibers behind
            self.fail(me, _FiberCancelled())
            running, cancel = self.current, ctypes.py_object(_FiberCancelled)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running.ident), cancel)
            me.turn.acquire()
            raise

    def _next(self, me):
        """The fiber that goes on: the next ready one in their order, or one of these that is drawn."""
        if self.failure:  # those that have started unwind, the root last
            self.live = [one for one in self.live if one is self.root or one.ident is not None]
            return next((one for one in self.live if one is not self.root), self.root)
        able = [one for one in self.live if one.ready()]
        while not able:
            if not self.idle():
                return None
            if self.failure:
                return self._next(me)
            able = [one for one in self.live if one.ready()]
        return next((one for one in able if one.order > me.order), able[0])

    def fail(self, fiber, error):
        """Keep the first error; all fibers are cancelled."""
        if isinstance(error, _FiberCancelled) and self.failure:
            return
        self.failure = self.failure or (fiber, error)

    def finish(self, fiber):
        """End the fiber that runs, and pass the baton on."""
        fiber.is_done = True
        if fiber in self.live:
            self.live.remove(fiber)
        self._switch(fiber)

    def run_out(self):
        """As the root, let all other fibers end; raises the first error."""
        try:
            self.block(lambda: len(self.live) == 1, lambda: "waits for its ranks")
        except _FiberCancelled:
            self.raise_failure()
        finally:
            for fiber in self.started:  # which have passed the baton on, and end
                fiber.join()

    def raise_failure(self):
        """Raise the first error, with the rank that it arose on; who exits by itself has failed as well."""
        fiber, error = self.failure
        if isinstance(error, SystemExit) and not isinstance(error, _FiberCancelled):
            title = fiber.title if fiber else self.root.title
            raise RuntimeError(f"{title} ended by itself: exit({error.code!r})") from error
        if (
            fiber is not None
            and fiber.rank is not None
            and error.args
            and isinstance(error.args[0], str)
        ):
            error.args = (f"rank {fiber.rank}: {error.args[0]}", *error.args[1:])
        raise error

    def _deadlock(self):
        return "\n  ".join(
            ["deadlock: every rank waits and none can be woken", *self.report(self._waiting)]
        )

    def _waiting(self):
        waiting = [one for one in self.live if one.ident is not None and one is not self.root]
        told = [(one.title, one.told and one.told()) for one in waiting]
        lines = [f"{title}: {text}" for title, text in told if text]
        return lines + [
            f"{one.title} has not started"
            for one in self.live
            if one.ident is None and one is not self.root
        ]


class _Domain:
    """Devices that share windows; a rank of the domain is the place of a device among them."""

    def __init__(self, devices):
        self.devices = devices

    def __len__(self):
        return len(self.devices)

    def rank_of(self, device):
        if device not in self.devices:
            raise ValueError(f"rank {device} is none of {[*self.devices]}, which share the window")
        return self.devices.index(device)


class _WindowBuffer:
    """One allocation: `size` zeroed bytes on every rank of a domain, rounded up to 32.

    `memory` has the bytes of the ranks that this process runs, by rank of the domain, and `cells` the same
    as INT32 numbers, for signals.
    """

    def __init__(self, name, size, domain):
        self.name, self.size, self.domain = name, size, domain
        self.memory, self.cells = {}, {}
        self.dtype = None  # of the first view

    def hold(self, rank, memory):
        """Take memory for a rank of the domain: a writable buffer of bytes."""
        self.memory[rank] = torch.frombuffer(memory, dtype=torch.uint8)
        self.cells[rank] = memoryview(memory).cast("B").cast("i")

    def told(self, memory):
        """What the memory of a rank holds, in a few words: elements as the first view has them."""
        dtype = self.dtype or torch.uint8
        values = memory[: self.size // dtype.itemsize * dtype.itemsize].view(dtype)
        values = values.to(torch.float64 if dtype.is_floating_point else torch.int64)
        places = values.nonzero().flatten().tolist()
        if not places:
            return "all 0"
        shown = [f"{value:g}" for value in values[places[0] :][:8].tolist()]
        more = ", ..." if len(values) > places[0] + 8 else ""
        count = f"{len(places)} of {len(values)} elements are not 0"
        return f"{count}; from {places[0]} on: {', '.join(shown)}{more}"


class _Window:
    """A view of a buffer as the host names it; `on(device)` is the instance of a device, a tensor."""

    def __init__(self, buffer, shape, dtype):
        self.buffer, self.shape, self.dtype = buffer, [*shape], dtype
        buffer.dtype = buffer.dtype or dtype
        size = math.prod(shape) * dtype.itemsize
        if size > buffer.size:
            text = f"a window {self.shape} of {dtype} needs {size} bytes"
            raise ValueError(f"{text}, its buffer {buffer.name!r} has {buffer.size}")

    def reshape(self, *shape):
        """The same bytes as another shape."""
        return _Window(self.buffer, shape, self.dtype)

    def on(self, device):
        return self.shown(self.buffer.memory[self.buffer.domain.rank_of(device)])

    def shown(self, memory):
        """The bytes of a rank as a tensor."""
        size = math.prod(self.shape) * self.dtype.itemsize
        return memory[:size].view(self.dtype).view(self.shape)


class _CommContext:
    """A domain, and the rank in it that asks; the host's has no rank yet."""

    def __init__(self, domain, rank=None):
        self.domain, self.rank = domain, rank

    def on(self, device):
        return _CommContext(self.domain, self.domain.rank_of(device))


class _ThreadEngine:
    """Ranks as fibers of this process, which sees the windows of all of them.

    Another engine has the same methods, and `_ranks.engine` makes it. Cells of a peer are told by the own
    tensor that shows the same place: windows are symmetric.
    """

    def __init__(self, world):
        self.world = world

    def open(self, program, args):
        """Begin a call of a host program."""

    def runs(self, device):
        """Whether this process runs a rank."""
        return True

    def allocate(self, buffer):
        """Give a buffer its memory, zeroed."""
        for rank in range(len(buffer.domain)):
            buffer.hold(rank, bytearray(-(-buffer.size // 32) * 32 or 32))

    def _at(self, cells, buffer, peer):
        storage = buffer.memory[peer].untyped_storage()
        place = cells.storage_offset(), cells.shape, cells.stride()
        return torch.empty(0, dtype=cells.dtype).set_(storage, *place)

    def memory(self, buffer, rank):
        """The bytes that a rank has."""
        return buffer.memory[rank]

    def fetch(self, cells, buffer, peer):
        """Copy of what a peer has where own cells are."""
        return self._at(cells, buffer, peer).clone()

    def store(self, cells, buffer, peer, values):
        """Write values where own cells are to a peer's window."""
        self._at(cells, buffer, peer).copy_(values)

    def add(self, cells, buffer, peer, values):
        """Add values where own cells are in a peer's window, each element atomically."""
        _add_to(self._at(cells, buffer, peer), values)

    def notify(self, buffer, index, peer, value, is_add):
        """Set the signal cell of a peer, or add to it; a sum wraps."""
        cells = buffer.cells[peer]
        total = cells[index] + value if is_add else value
        cells[index] = (total + 2**31) % 2**32 - 2**31

    def waited(self, cell, expected):
        """An own signal cell has come to a number that a wait asks for."""

    def asked(self, cell, signal):
        """The most that waits have asked for since the cell was set or counted down; None for no wait."""
        return signal.asked

    def idle(self):
        """Wait for other processes, when no fiber of this one can go on; whether there was hope."""
        return False

    def start(self, dispatch, after):
        """Before a dispatch runs here: let this process see what those that it follows wrote."""

    def finish(self, dispatch, value):
        """When a dispatch has run here: let other processes see what it wrote, and returns."""

    def has_ended(self, dispatch):
        """Whether a dispatch has ended that another process runs."""
        return False

    def share(self, dispatches):
        """Let the host see what dispatches wrote to tensors of the host, when they have ended."""

    def value(self, dispatch):
        """What a dispatch that has ended returned."""
        return dispatch.fiber.value

    def elsewhere(self, what):
        """What `what()` is in other processes, which all come here, in the order of ranks."""
        return []

    def agree(self, error=None):
        """End the ranks of a call; raises what came first on any of them."""
        if error is not None:
            raise error

    def close(self):
        """End a call: nobody asks for its windows any more."""


def _add_to(cells, values):
    """Add values to cells, rounded once to the dtype of the cells."""
    cells.add_(values)


class _World:
    """One call of a host program: its devices, windows, fibers and signals."""

    def __init__(self, device_ids, title):
        self.device_ids = device_ids
        self.engine = (_ranks.engine and _ranks.engine(self)) or _ThreadEngine(self)
        self.fibers = _Fibers(title, self.engine.idle)
        self.buffers, self.at = [], {}  # `at`: address of a storage -> (buffer, rank of the domain)
        self.domains = {}
        self.signals = {}  # (buffer, rank, index) -> _Signal
        self.queues = {}  # rank -> its dispatches, in program order
        self.submitted = self.submitted_without_device = 0
        self.is_submitted = False  # whether the host has called all that it will
        self.fibers.report = self.report

    def report(self, waiting):
        """What a deadlock is told with: who waits, who has finished, and what signals and windows hold."""
        self.learn_signals()
        lines = waiting()
        lines += [line for others in self.engine.elsewhere(lines.copy) for line in others]
        lines.sort(key=lambda line: line.endswith("has not started"))
        calls = self.queues.items()
        done = [
            self.rank_name(device) for device, queue in calls if all(one.is_done() for one in queue)
        ]
        lines += [f"finished: {', '.join(done)}"] if done else []
        signals = {buffer for buffer, _, _ in self.signals}
        for buffer in self.buffers:
            for rank in range(len(buffer.domain)):
                memory = self.engine.memory(buffer, rank)
                if buffer not in signals:
                    what = f"window {buffer.name}, {buffer.size} bytes, rank {rank}"
                    lines.append(f"{what}: {buffer.told(memory)}")
                    continue
                cells = memory.view(torch.int32).tolist()[: buffer.size // 4]
                held = [f"cell {at} = {cell}" for at, cell in enumerate(cells) if cell]
                told = ", ".join(held[:16]) or "all 0"
                lines.append(f"signal {buffer.name}, rank {rank}: {told}")
        return lines

    def learn_signals(self):
        """Take over what other processes know of notifies and waits."""

        def known():
            return [
                (self.buffers.index(buffer), rank, index, one.notifies, one.told())
                for (buffer, rank, index), one in self.signals.items()
            ]

        for others in self.engine.elsewhere(known):
            for buffer, rank, index, notifies, told in others:
                one = self.signals.setdefault((self.buffers[buffer], rank, index), _Signal())
                one.learn(notifies, told)

    def rank_name(self, device):
        """How reports call a rank; None is the host."""
        if device is None:
            return "host"
        return f"rank {device} (device {self.device_ids[device]})"

    def allocate(self, name, size, devices):
        """A buffer on the given devices, all of them if there are none."""
        devices = tuple(range(len(self.device_ids))) if devices is None else tuple(devices)
        for device in devices:
            self.check_device(device, f"the window {name!r}")
        domain = self.domains.setdefault(devices, _Domain(devices))
        kept = {} if _ranks.kept is None else _ranks.kept
        buffer = kept.get((name, size, devices))
        if buffer is None:
            buffer = kept[name, size, devices] = _WindowBuffer(name, size, domain)
            self.engine.allocate(buffer)
        for rank, memory in buffer.memory.items():
            self.at[memory.untyped_storage().data_ptr()] = buffer, rank
        self.buffers.append(buffer)
        return buffer

    def dispatches(self):
        """All dispatches so far, in program order."""
        return sorted(
            (one for calls in self.queues.values() for one in calls), key=lambda one: one.number
        )

    def check_device(self, device, what):
        if not 0 <= device < len(self.device_ids):
            count = f"{len(self.device_ids)} ranks, device_ids {[*self.device_ids]}"
            raise ValueError(f"{what} is for rank {device}, but there are {count}")


class _Ranks:
    """The ranks that host programs run on.

    `device_ids` are the devices, one a rank; None leaves it to the script. `engine` makes what runs the ranks
    of a _World; without one, or if it gives None, it is threads. `kept` are windows that outlive a call, None
    if each call has new ones; each call zeroes them if it `resets`. `world` is the call that runs.
    """

    def __init__(self):
        self.device_ids, self.engine, self.kept, self.world = None, None, None, None
        self.resets = False
        self.lock = threading.Lock()

    def located(self, tensor, op):
        """The buffer that a tensor of a kernel is a window of, and the rank in its domain."""
        at = self.world.at if self.world else {}
        found = at.get(tensor.untyped_storage().data_ptr())
        if found is None:
            text = "is no window: these exist while a host program runs"
            raise ValueError(f"{op}: a tensor {[*tensor.shape]} {text}")
        return found


_ranks = _Ranks()


def _world_size():
    """Number of devices of the host program that runs."""
    return len(_ranks.world.device_ids)


def _window_buffer(name, size, devices=None):
    """Allocate `size` bytes on each of the devices, which then share a domain; on all, if none are given."""
    return _ranks.world.allocate(name, size, devices)


def _window_view(buffer, shape, dtype):
    """View of a buffer, from its first byte on.   Raises: ValueError if the buffer is smaller."""
    return _Window(buffer, shape, dtype)


def _comm_context(window):
    """Domain and rank of a window: of a host's view, or of a kernel's tensor."""
    if isinstance(window, _Window):
        return _CommContext(window.buffer.domain)
    buffer, rank = _ranks.located(window, "get_comm_ctx")
    return _CommContext(buffer.domain, rank)


def _run_fibers(parts):
    """Run parts, (title, context, function) each, as fibers of the calling one until all have ended.

    The context is what the thread of a part stands for, besides what the calling one does.
    """
    fibers = _ranks.world.fibers
    me, started = fibers.current, []
    for title, context, function in parts:
        order = (*me.order, len(started))
        one = _Fiber(fibers, f"{me.title}, {title}", order, function, lambda: True, me.rank)
        one.context.update(context)
        started.append(fibers.add(one))
    fibers.block(lambda: all(one.is_done for one in started), None)
    return [one.value for one in started]


def _run_blocks(core_num, function, *args):
    """Run function(*args) for the blocks 0..core_num-1, each as a fiber; return the last block's value.

    The result is None if core_num is 0.   Raises: ValueError if core_num is negative.
    """
    if core_num < 0:
        raise ValueError(f"core_num must be at least 0, not {core_num}")
    barrier = {"arrived": 0}
    parts = [
        (
            f"block {block_idx}",
            {"block_idx": block_idx, "block_num": core_num, "barrier": barrier},
            lambda: function(*args),
        )
        for block_idx in range(core_num)
    ]
    values = _run_fibers(parts)
    return values[-1] if values else None


def _meet_blocks():
    """Wait until every block of the launch has come to the barrier; of one block it is none."""
    barrier = getattr(_lane_context, "barrier", None)
    if barrier is None:
        return _sync_all()
    frame, count = sys._getframe(1), _lane_context.block_num
    barrier["arrived"] += 1
    wanted = -(-barrier["arrived"] // count) * count
    told = (
        lambda: f"barrier of {count} blocks, {barrier['arrived'] % count} there, at {_generated_line(frame)}"
    )
    world = _ranks.world
    world.fibers.block(lambda: barrier["arrived"] >= wanted, told)


class _Task:
    """A launch of an orchestrator: what it touches, and the conditions for it to be complete."""

    def __init__(self, number, name, args):
        self.number, self.name, self.fiber, self.conditions = number, name, None, []
        given = [arg if isinstance(arg, _Argument) else _Argument(arg, None) for arg in args]
        self.values = [arg.value for arg in given]
        pairs = [(arg.value, arg.reads) for arg in given if isinstance(arg.value, torch.Tensor)]
        self.touched = [value for value, _ in pairs]
        self.writes = [value for value, reads in pairs if reads is not None]

    def is_complete(self):
        return (self.fiber is None or self.fiber.is_done) and all(
            ready() for ready, _, _ in self.conditions
        )

    def touches(self, tensors):
        return any(_share_cells(mine, other) for mine in self.writes for other in tensors)


def _launch(function, *args, returns=(), deps=(), manual=False, waits=False):
    """Launch a task of the orchestrator that runs: function(*args), when the tasks before it let it.

    It follows the tasks `deps`, and unless it is `manual` those that write what it touches, in program order.
    One that `waits` for other ranks runs while the orchestrator goes on. Returns the arguments at the places
    `returns`, which results alias, None as the value of the function itself, which is then waited for; one as
    it is, several as a tuple.
    """
    return _launched(function, args, returns, deps, manual, waits)[0]


def _submit_task(function, *args, returns=(), deps=(), manual=False, waits=False):
    """Launch a task as _launch does; return a tuple of its results and its task id."""
    value, number = _launched(function, args, returns, deps, manual, waits)
    values = () if not returns else value if len(returns) > 1 else (value,)
    return (*values, number)


def _launched(function, args, returns, deps, manual, waits):
    """Results and id of a task; see _launch."""
    world, me = _ranks.world, _ranks.world.fibers.current
    me.launched += 1
    task = _Task(me.launched, getattr(function, "__name__", "task"), args)
    me.tasks = [one for one in me.tasks if not one.is_complete()]
    wanted = {*_flat_ids(deps)}
    after = [
        one for one in me.tasks if one.number in wanted or not manual and one.touches(task.touched)
    ]
    run = lambda: function(*task.values)
    if after or waits:
        me.tasks.append(task)
        start = lambda: all(one.is_complete() for one in after)
        title = f"{me.title}, task {task.number} {task.name}"
        task.fiber = _Fiber(world.fibers, title, (*me.order, task.number), run, start, me.rank)
        task.fiber.task = task
        world.fibers.add(task.fiber)
        world.fibers.block(lambda: True, None, first=task.fiber)
        if None in returns:
            world.fibers.block(task.is_complete, None)
        value = task.fiber.value
    else:
        me.running, outer = task, me.running
        value = run()
        me.running = outer
        if task.conditions:
            me.tasks.append(task)
    values = tuple(value if place is None else task.values[place] for place in returns)
    return (values if len(values) > 1 else values[0] if values else None), task.number


def _flat_ids(deps):
    """The task ids in a list of ids and arrays of them."""
    for one in deps:
        if isinstance(one, int):
            yield one
        else:
            yield from _flat_ids(one if isinstance(one, (list, tuple)) else one.tolist())


def _join_tasks(deps):
    """The id of a task that does nothing, and is complete when others are."""
    return _submit_task(_nothing, deps=deps, manual=True)[-1]


def _nothing():
    """What a task does that only depends on others."""


def _ready(tensor):
    """A tensor of an orchestrator when the tasks that write it are complete."""
    fibers = _ranks.world.fibers
    pending = [one for one in fibers.current.tasks if one.touches([tensor])]
    if not all(one.is_complete() for one in pending):
        names = ", ".join(f"task {one.number} {one.name}" for one in pending)
        fibers.block(
            lambda: all(one.is_complete() for one in pending), lambda: f"waits for {names}"
        )
    return tensor


def _complete_tasks():
    """As an orchestrator at its end: wait for its tasks."""
    fibers = _ranks.world.fibers
    tasks = fibers.current.tasks

    def told():
        waiting = [text for one in tasks for ready, text, _ in one.conditions if not ready()]
        return "; ".join(text() for text in waiting) if waiting else None

    if not all(one.is_complete() for one in tasks):
        fibers.block(lambda: all(one.is_complete() for one in tasks), told)


class _Signal:
    """What has happened to a signal cell: who notified it, and the most that a wait has asked for."""

    def __init__(self):
        self.notifies, self.last, self.asked = 0, None, None  # `last`: rank and _Place
        self.elsewhere = []  # who notified last in other processes, and where

    def told(self):
        """Who notified last, and where; None if nobody did."""
        told = [*self.elsewhere]
        if self.last is not None:
            rank, place = self.last
            told.insert(0, f"rank {rank} at {_generated_line(place)}")
        return " and ".join(told) or None

    def learn(self, notifies, told):
        """Take over what another process knows of the cell."""
        self.notifies += notifies
        self.elsewhere += [] if told is None else [told]


# What is kept of a frame of the program, for a report that may come later.
_Place = collections.namedtuple("_Place", "f_code f_lineno f_globals f_back")


def _signal_cell(op, signal, offsets, peer=None):
    """Buffer and own rank of a signal, the index of a cell in its memory, and how reports call the cell.

    Raises: IndexError for a cell or a peer that there is not; ValueError for other dtypes than INT32.
    """
    buffer, rank = _ranks.located(signal, op)
    shape, name = [*signal.shape], f"{buffer.name}[{', '.join(map(str, offsets))}]"
    if signal.element_size() != 4 or signal.is_floating_point():
        raise ValueError(f"{op}: signal must have INT32 element type, got dtype {signal.dtype}")
    if len(offsets) != len(shape):
        text = f"offsets rank ({len(offsets)}) must match target tensor rank ({len(shape)})"
        raise ValueError(f"{op}: {text}")
    if not all(0 <= offset < extent for offset, extent in zip(offsets, shape)):
        raise IndexError(f"{op}: {name} is no cell of the signal {shape}")
    if peer is not None and not 0 <= peer < len(buffer.domain):
        raise IndexError(f"{op} {name}: peer {peer} is none of the {len(buffer.domain)} ranks")
    steps = (offset * stride for offset, stride in zip(offsets, signal.stride()))
    return buffer, rank, signal.storage_offset() + sum(steps), name


def _notify(target, peer, offsets, value, op):
    """Set ("Set") a signal cell of a peer, or add to it ("AtomicAdd"); sums wrap."""
    buffer, rank, index, _ = _signal_cell("notify", target, offsets, peer)
    world = _ranks.world
    signal = world.signals.setdefault((buffer, peer, index), _Signal())
    signal.notifies += 1
    frame = _program_frame(sys._getframe(1))
    signal.last = rank, _Place(frame.f_code, frame.f_lineno, frame.f_globals, None)
    world.engine.notify(buffer, index, peer, value, op == "AtomicAdd")
    if op == "Set" or value < 0:
        signal.asked = None
    world.fibers.hand_over()


def _wait(signal, offsets, expected, cmp):
    """Block until the own signal cell is ("Eq"), or is at least ("Ge"), a number; the cell stays as it is."""
    ready, told, receive = _signal_condition(
        "wait", signal, offsets, expected, cmp, sys._getframe(1)
    )
    if not ready():
        _ranks.world.fibers.block(ready, told)
    receive()


def _signal_condition(op, signal, offsets, expected, cmp, frame):
    """Whether an own signal cell has come to a number, what a report says of that, and what to do then."""
    buffer, rank, index, name = _signal_cell(op, signal, offsets)
    world, cells = _ranks.world, buffer.cells[rank]
    is_equal = cmp == "Eq"
    state = world.signals.setdefault((buffer, rank, index), _Signal())

    def ready():
        if cells[index] != expected if is_equal else cells[index] < expected:
            return False
        state.asked = max(expected, expected if state.asked is None else state.asked)
        world.engine.waited((buffer, rank, index), expected)
        return True

    def told():
        wanted = f"{'==' if is_equal else '>='} {expected}"
        place = f"{_program_frame(frame).f_code.co_name} at {_generated_line(frame)}"
        by = (
            f"notified {state.notifies} time{'s' * (state.notifies != 1)}, last by {state.told()}"
            if state.notifies
            else "nobody notified it"
        )
        return f"signal `{name}` = {cells[index]}, waits for {wanted} in {place}; {by}"

    def receive():
        """Come after those who have notified the cell."""

    return ready, told, receive


def _defer_wait(signal, offsets, expected, cmp):
    """Let the task that runs complete only when the own signal cell is at least a number.

    Raises: ValueError for another comparison.
    """
    if cmp != "Ge":
        raise ValueError(f"defer_wait only supports WaitCmp.Ge, got {cmp}")
    me = _ranks.world.fibers.current
    task = me.task or me.running
    if task is None:
        raise ValueError("defer_wait is for the body of a task")
    task.conditions.append(
        _signal_condition("defer_wait", signal, offsets, expected, cmp, sys._getframe(1))
    )


def _check_signals(world):
    """Warn of signal cells that have been notified and hold more than any wait has asked for."""
    world.learn_signals()
    left = []
    for (buffer, rank, index), signal in world.signals.items():
        value = buffer.cells[rank][index] if rank in buffer.cells else 0  # else told where it is
        asked = world.engine.asked((buffer, rank, index), signal)
        if signal.notifies and value > (asked or 0):
            by_waits = "no wait asked for it" if asked is None else f"waits asked for {asked}"
            name = f"`{buffer.name}` cell {index} of rank {rank}"
            left.append(f"  {name} = {value}: {by_waits}; last notified by {signal.told()}")
    left += [line for others in world.engine.elsewhere(left.copy) for line in others]
    if left:
        text = "\n".join(["signals are left over that no wait has used up:", *left])
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _remote_cells(op, target, peer, offsets, extents):
    """Buffer of a window, and its own cells at the place that an op means at the peer.

    Missing leading offsets are 0 and extents 1.   Raises: IndexError for a peer or cells that there are not.
    """
    buffer, rank = _ranks.located(target, op)
    axes = target.dim()
    offsets = [0] * (axes - len(offsets)) + [*offsets]
    extents = [1] * (axes - len(extents)) + [*extents]
    if not 0 <= peer < len(buffer.domain):
        text = f"peer {peer} is none of the {len(buffer.domain)} ranks that share {buffer.name!r}"
        raise IndexError(f"{op} by rank {rank}: {text}")
    return buffer, _region_of(f"{op} by rank {rank}, peer {peer}", target, offsets, extents)


def _region_of(op, tensor, offsets, extents):
    """View of a region of a tensor.   Raises: IndexError if it does not lie inside."""
    axes = zip(offsets, extents, tensor.shape)
    if len(extents) != tensor.dim() or not all(
        0 <= at and 0 <= size and at + size <= of for at, size, of in axes
    ):
        text = f"offsets {[*offsets]} and extents {[*extents]} leave the shape {[*tensor.shape]}"
        raise IndexError(f"{op}: {text}")
    return tensor[tuple(slice(at, at + size) for at, size in zip(offsets, extents))]


def _remote_load(target, peer, offsets, shape, valid_shape=None, pads_tail=False):
    """A tile of a peer's window; cells outside the valid extents are zero.

    With `pads_tail` so are those beyond the end of the window.
    """
    extents = [*shape] if valid_shape is None else [*map(min, shape, valid_shape)]
    if pads_tail:
        extents = [
            max(min(size, of - at), 0) for size, of, at in zip(extents, target.shape, offsets)
        ]
    buffer, cells = _remote_cells("remote_load", target, peer, offsets, extents)
    _ranks.world.fibers.hand_over()
    values = _ranks.world.engine.fetch(cells, buffer, peer)
    if [*values.shape] == [*shape]:
        return values
    tile = torch.zeros(shape, dtype=target.dtype)
    tile[tuple(map(slice, values.shape))] = values
    return tile


def _remote_store(source, target, peer, offsets, valid_shape=None, add=False):
    """Write the valid part of a tile or tensor to a peer's window, or add it; it lies in the last axes."""
    if valid_shape is not None:
        source = source[tuple(slice(max(extent, 0)) for extent in valid_shape)]
    while source.dim() > target.dim():
        source = source.squeeze(0) if source.shape[0] == 1 else source
        if source.dim() > target.dim() and source.shape[0] != 1:
            raise ValueError(
                f"remote_store: src leading dimension must be 1, got {[*source.shape]}"
            )
    buffer, cells = _remote_cells("remote_store", target, peer, offsets, source.shape)
    _move("remote_store", buffer, cells, peer, source.reshape(cells.shape), add)


def _move(op, buffer, cells, peer, values, add):
    """Write values to a peer, or add them."""
    if values.dtype != cells.dtype:
        raise ValueError(
            f"{op}: src dtype ({values.dtype}) must match target dtype ({cells.dtype})"
        )
    if not cells.numel():
        return
    world = _ranks.world
    move = world.engine.add if add else world.engine.store
    move(
        cells,
        buffer,
        peer,
        values.clone() if _share_cells(values, buffer.memory.get(peer, values)) else values,
    )
    world.fibers.hand_over()


def _put_to_peer(dst, peer, src, dst_offsets=None, src_offsets=None, shape=None, add=False):
    """Copy a region of an own tensor to a peer's window, or add it; without regions the whole tensors."""
    if shape is None:
        dst_offsets, src_offsets, shape = [0] * dst.dim(), [0] * src.dim(), [*src.shape]
        if [*dst.shape] != shape:
            text = (
                f"full-slice dst and src must have the same shape; got {[*dst.shape]} and {shape}"
            )
            raise ValueError(f"put: {text}")
    buffer, cells = _remote_cells("put", dst, peer, dst_offsets, shape)
    values = _region_of("put, src", src, src_offsets, shape)
    _move("put", buffer, cells, peer, values, add)


def _get_from_peer(dst, peer, src, dst_offsets=None, src_offsets=None, shape=None):
    """Copy a region of a peer's window to an own tensor; without regions the whole tensors.

    Cells are not copied to themselves: as a write that would be a race with those who read them meanwhile.
    """
    if shape is None:
        dst_offsets, src_offsets, shape = [0] * dst.dim(), [0] * src.dim(), [*src.shape]
        if [*dst.shape] != shape:
            text = (
                f"full-slice dst and src must have the same shape; got {[*dst.shape]} and {shape}"
            )
            raise ValueError(f"get: {text}")
    buffer, cells = _remote_cells("get", src, peer, src_offsets, shape)
    place = _region_of("get, dst", dst, dst_offsets, shape)
    if dst.dtype != src.dtype:
        raise ValueError(f"get: src dtype ({src.dtype}) must match dst dtype ({dst.dtype})")
    _ranks.world.fibers.hand_over()
    is_itself = _ranks.located(src, "get")[1] == peer and place.data_ptr() == cells.data_ptr()
    if cells.numel() and not is_itself:
        place.copy_(_ranks.world.engine.fetch(cells, buffer, peer))


class _Meeting:
    """The barriers of one collective on the cells of a signal, one a rank."""

    def __init__(self, op, signal):
        self.buffer, self.rank = _ranks.located(signal, op)
        self.signal, self.count, self.ranks = signal, 0, len(self.buffer.domain)
        self.lane = [0] if signal.dim() > 1 else []
        if signal.shape[0] < self.ranks:
            text = f"signal shape[0] ({signal.shape[0]}) must be at least the rank count ({self.ranks})"
            raise ValueError(f"{op}: {text}")

    def others(self):
        """The other ranks, in ascending order."""
        return [rank for rank in range(self.ranks) if rank != self.rank]

    def meet(self):
        """Wait until every rank has come here."""
        self.count += 1
        for peer in self.others():
            _notify(self.signal, peer, [self.rank, *self.lane], 1, "AtomicAdd")
        for peer in self.others():
            _wait(self.signal, [peer, *self.lane], self.count, "Ge")

    def end(self):
        """Take the counts back."""
        for peer in self.others():
            _notify(self.signal, self.rank, [peer, *self.lane], -self.count, "AtomicAdd")


_REDUCTIONS = {"Sum": torch.add, "Max": torch.maximum, "Min": torch.minimum, "Prod": torch.mul}


def _peer_values(cells, peer):
    """What a peer has where own cells of a window are."""
    buffer, _ = _ranks.located(cells, "collective")
    return _ranks.world.engine.fetch(cells, buffer, peer)


def _allreduce(target, signal, op, valid_shape=None, lanes=1):
    """Reduce a window over all ranks in place: the own values, then those of the others in ascending order.

    It moves as a whole, where a device has `lanes` blocks move it by chunks: that shows in no value.
    Returns the target.   Raises: ValueError for a signal of fewer lanes, or too large a part of a window.
    """
    cells = target if valid_shape is None else target[tuple(map(slice, valid_shape))]
    if cells.numel() < target.numel() and cells.numel() * target.element_size() > 16384:
        raise ValueError("allreduce: partial valid_shape must fit within one 16384-byte mesh chunk")
    columns = signal.shape[1] if signal.dim() > 1 else 1
    if columns < lanes:
        text = f"signal lanes ({columns}) must be at least the required lane count ({lanes})"
        raise ValueError(f"allreduce: {text}")
    meeting = _Meeting("allreduce", signal)
    meeting.meet()
    total = cells.clone()
    for peer in meeting.others():
        total = _REDUCTIONS[op](total, _peer_values(cells, peer))
    meeting.meet()
    cells.copy_(total)
    meeting.end()
    return target


def _ring_bounds(count, ranks, itemsize, is_even):
    """Where the segments of a ring begin and end: of 16 elements where these have 2 bytes, or all alike."""
    if is_even:
        return [index * (count // ranks) for index in range(ranks)] + [count]
    if itemsize == 2:
        return [min(count, -(-index * count // (16 * ranks)) * 16) for index in range(ranks + 1)]
    return [index * count // ranks for index in range(ranks + 1)]


def _allreduce_ring(target, signal, op, valid_shape=None, is_even=False):
    """Reduce a window over all ranks in place, each segment around the ring, from the rank after its own.

    All ranks have the same bits afterwards. `is_even` wants a multiple of the rank count.
    Returns the target.
    """
    cells = target if valid_shape is None else target[tuple(map(slice, valid_shape))]
    if not cells.is_contiguous():
        raise ValueError("allreduce: target valid_shape must be a contiguous row-major prefix")
    flat = cells.view(-1)
    if len(_ranks.located(target, "allreduce")[0].domain) == 1:
        return target
    meeting = _Meeting("allreduce", signal.view(-1)[: signal.shape[-1]])
    ranks, me = meeting.ranks, meeting.rank
    bounds = _ring_bounds(flat.numel(), ranks, target.element_size(), is_even)
    segments = [flat[start:stop] for start, stop in zip(bounds, bounds[1:])]
    meeting.meet()
    order = [(me + step) % ranks for step in range(1, ranks + 1)]
    total = _peer_values(segments[me], order[0])
    for peer in order[1:]:
        total = _REDUCTIONS[op](_peer_values(segments[me], peer), total)
    meeting.meet()
    segments[me].copy_(total)
    meeting.meet()
    for peer in meeting.others():
        segments[peer].copy_(_peer_values(segments[peer], peer))
    meeting.meet()
    meeting.end()
    return target


def _reduce_scatter(target, signal):
    """Sum the own row of a window over all ranks, the own values first; other rows stay.

    Returns the target.
    """
    meeting = _Meeting("reduce_scatter", signal)
    row = target[meeting.rank]
    meeting.meet()
    total = row.clone()
    for peer in meeting.others():
        total = total + _peer_values(row, peer)
    meeting.meet()
    row.copy_(total)
    meeting.end()
    return target


def _broadcast_window(target, signal, root):
    """Copy the window of the root rank to all.   Returns the target; raises ValueError for no such rank."""
    meeting = _Meeting("broadcast", signal)
    if not 0 <= root < meeting.ranks:
        raise ValueError(f"broadcast root ({root}) must be a valid rank in [0, {meeting.ranks})")
    meeting.meet()
    if meeting.rank != root:
        target.copy_(_peer_values(target, root))
    meeting.end()
    return target


def _push_rows(op, target, signal, rows):
    """Write rows[q] to the place of this rank in the target of each rank q, then meet."""
    meeting = _Meeting(op, signal)
    buffer, me = _ranks.located(target, op)
    size = rows[0].shape[0] if rows[0].dim() == target.dim() else 1
    for peer in range(meeting.ranks):
        values = rows[peer].reshape(size, *target.shape[1:])
        _move(op, buffer, target[me * size : (me + 1) * size], peer, values, False)
    meeting.meet()
    meeting.end()
    return target


def _allgather(local, target, signal):
    """Write the row of this rank to every rank's target, at the place of this rank.   Returns the target."""
    ranks = len(_ranks.located(target, "allgather")[0].domain)
    return _push_rows("allgather", target, signal, [local] * ranks)


def _all_to_all(rows, target, signal):
    """Write row q to the target of rank q, at the place of this rank.   Returns the target."""
    return _push_rows("all_to_all", target, signal, [row[None] for row in rows])


def _all_to_all_v(rows, target, signal, send_counts, recv_counts):
    """Write block q of M rows to the target of rank q, and how many of them count to its recv_counts.

    All M rows move; a count above M is M.   Returns the target.
    """
    buffer, me = _ranks.located(recv_counts, "all_to_all_v")
    ranks = len(buffer.domain)
    size = target.shape[0] // ranks
    for peer in range(ranks):
        place = recv_counts[me : me + 1]
        count = send_counts[peer : peer + 1].clamp(max=size).reshape(place.shape)
        _move("all_to_all_v", buffer, place, peer, count, False)
    blocks = [rows[peer * size : (peer + 1) * size] for peer in range(ranks)]
    return _push_rows("all_to_all_v", target, signal, blocks)


def _rank_barrier(signal):
    """Wait until every rank has come here.   Returns the signal."""
    meeting = _Meeting("barrier", signal)
    meeting.meet()
    meeting.end()
    return signal


class _Argument:
    """An argument of a dispatch that it writes: `reads` tells whether it reads it, too."""

    def __init__(self, value, reads):
        self.value, self.reads = value, reads


def _out(value):
    """An argument that a dispatch writes and does not read."""
    return _Argument(value, False)


def _inout(value):
    """An argument that a dispatch reads and writes."""
    return _Argument(value, True)


class _Dispatch:
    """One call of a function on a rank (None: on the host), and the host tensors that it touches.

    `is_asked`: the host may ask for its value.
    """

    def __init__(self, number, function, args, device):
        self.number, self.device, self.fiber, self.is_asked = number, device, None, False
        self.name = getattr(function, "__name__", str(function))
        given = [arg if isinstance(arg, _Argument) else _Argument(arg, None) for arg in args]
        self.values = [arg.value for arg in given]
        pairs = [(arg.value, arg.reads) for arg in given if isinstance(arg.value, torch.Tensor)]
        self.reads = [value for value, reads in pairs if reads is not False]
        self.writes = [value for value, reads in pairs if reads is not None]

    def is_done(self):
        return self.fiber.is_done if self.fiber else _ranks.world.engine.has_ended(self)

    def touches(self, tensors):
        """Whether a call has written, or will, a byte of tensors."""
        return any(_share_cells(mine, other) for mine in self.writes for other in tensors)


def _run_host(program, *args, ranks):
    """Run a host program on emulated ranks: those of `_ranks.device_ids`, else `ranks` of them.

    Windows that it returns come as tensors, an instance a rank along a new first axis.
    Raises: what a rank raises first; DistributedDeadlock; ValueError for devices that there are not.
    """
    with _ranks.lock:
        ids = _ranks.device_ids
        ids = tuple(range(ranks) if ids is None else ids)
        if not ids or len({*ids}) < len(ids) or min(ids) < 0:
            raise ValueError(f"device_ids must be distinct non-negative numbers, got {[*ids]}")
        world = _ranks.world = _World(ids, program.__name__)
        for buffer in (_ranks.kept or {}).values() if _ranks.resets else ():
            for memory in buffer.memory.values():
                memory.zero_()
        try:
            world.engine.open(program, args)
            try:
                value = program(*args)
            except BaseException as error:  # no fiber may outlive the call
                world.fibers.fail(None, error)
            _end_ranks(world)
            _check_signals(world)
            return _stacked(value)
        finally:
            world.engine.close()
            _ranks.world = None


def _end_ranks(world):
    """Let all ranks end, those of other processes too; raises the first error of any."""
    world.is_submitted = True
    try:
        world.fibers.run_out()
        world.engine.share(world.dispatches())
    except BaseException as error:
        world.engine.agree(error)
    world.engine.agree()


def _stacked(value):
    """What a host program returns, without windows: their instances of all ranks, one after the other."""
    if isinstance(value, tuple):
        return tuple(map(_stacked, value))
    if not isinstance(value, _Window):
        return value
    buffer, memory = value.buffer, _ranks.world.engine.memory
    return torch.stack([value.shown(memory(buffer, rank)) for rank in range(len(buffer.domain))])


def _dispatch(device, function, *args, returns=()):
    """Submit a call to a rank, which runs it when it is free and what it reads has been written.

    A rank runs its dispatches in program order. Returns the arguments at the places `returns`, since
    results alias arguments: one as it is, several as a tuple.   Raises: ValueError for a rank that there
    is not.
    """
    dispatch = _submit_to_rank(device, function, args)
    values = tuple(dispatch.values[place] for place in returns)
    return values[0] if len(values) == 1 else values or None


def _submit_to_rank(device, function, args):
    """The dispatch of a call to a rank; without a device it is the next one's turn."""
    world = _ranks.world
    if device is None:
        device = world.submitted_without_device % len(world.device_ids)
        world.submitted_without_device += 1
    world.check_device(device, f"the call of {function.__name__!r}")
    dispatch = _Dispatch(world.submitted, function, args, device)
    _submit(world, dispatch, function)
    return dispatch


def _sub_work(function, *args, returns=()):
    """Submit a call of Python on the host, which follows the calls that write what it reads.

    Returns arguments as _dispatch does.
    """
    dispatch = _Dispatch(_ranks.world.submitted, function, args, None)
    _submit(_ranks.world, dispatch, function)
    values = tuple(dispatch.values[place] for place in returns)
    return values[0] if len(values) == 1 else values or None


def _submit(world, dispatch, function):
    """Queue a dispatch behind those that it has to follow."""
    device, number = dispatch.device, dispatch.number
    world.submitted += 1
    queue = world.queues.setdefault(device, [])
    others = [one for one in world.dispatches() if one.device != device]
    after = queue[-1:] + [one for one in others if one.touches(dispatch.reads)]
    for one in others:
        if one not in after and not one.is_done() and one.touches(dispatch.writes):
            who = ["the host" if rank is None else f"rank {rank}" for rank in (one.device, device)]
            text = f"{who[0]} and {who[1]} write the same cells of a tensor of the host"
            frame = _program_frame(sys._getframe(1))
            place = frame.f_code.co_filename, frame.f_lineno
            warnings.warn_explicit(f"{text} ({one.name}, {dispatch.name})", RuntimeWarning, *place)
    queue.append(dispatch)
    if not world.engine.runs(device):
        return
    args = [
        value.on(device) if isinstance(value, (_Window, _CommContext)) else value
        for value in dispatch.values
    ]
    title = f"{world.rank_name(device)}, dispatch {len(queue) - 1} {dispatch.name}"
    place = len(world.device_ids) if device is None else device
    order, start = (place, number), lambda: all(one.is_done() for one in after)

    def run():
        world.engine.start(dispatch, after)
        value = function(*args)
        _complete_tasks()
        world.engine.finish(dispatch, value)
        return value

    dispatch.fiber = _Fiber(world.fibers, title, order, run, start, rank=device)
    world.fibers.add(dispatch.fiber)


def _on_every_rank(collective, *args, target=0, **options):
    """Dispatch a collective to each rank of the domain of the window at the place `target`; return that.

    A signal that is None is made for it.
    """
    if None in args:
        signal = _signal_for(args[target], options.get("lanes", 1))
        args = [signal if arg is None else arg for arg in args]
    for device in args[target].buffer.domain.devices:
        _dispatch_collective(device, collective, *args, **options)
    return args[target]


def _dispatch_collective(device, collective, *args, target=0, **options):
    """Dispatch the part of one rank in a collective; return the argument at the place `target`."""
    function = functools.partial(collective, **options)
    function.__name__ = collective.__name__.strip("_")
    _dispatch(device, function, *args)
    return args[target]


def _signal_for(window, lanes=1):
    """A signal of the domain of a window, for a collective that is given none: a column for each lane."""
    devices = window.buffer.domain.devices
    buffer = _window_buffer(f"signal of {window.buffer.name}", len(devices) * lanes * 4, devices)
    return _window_view(buffer, [len(devices), lanes], torch.int32)


def _settled(tensor):
    """A tensor of the host when the calls that write it have ended."""
    world = _ranks.world
    pending = [one for one in world.dispatches() if one.touches([tensor])]
    if not all(one.is_done() for one in pending):
        names = ", ".join(f"{one.name} on rank {one.device}" for one in pending)
        world.fibers.block(
            lambda: all(one.is_done() for one in pending), lambda: f"waits for {names}"
        )
    world.engine.share(pending)
    return tensor


def _runtime_tensor(count, dtype):
    """A tensor of `count` zeros.   Raises: ValueError for a negative count."""
    if count < 0:
        raise ValueError(f"make_tensor: the count must not be negative, got {count}")
    return torch.zeros(count, dtype=dtype)


def _tree_reduce(leaves):
    """The sum of the leaves, by pairs: ((0 + 1) + (2 + 3)) + ((4 + 5) + 6); an odd one waits a round.

    Leaves are numbers, or tensors of one shape and dtype, to which each sum is rounded; they wait for the
    calls that write them.   Raises: ValueError for no leaves, or such that differ; TypeError for others.
    """
    values = [_settled(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    kinds = [
        (leaf.dtype, [*leaf.shape]) if isinstance(leaf, torch.Tensor) else type(leaf)
        for leaf in values
    ]
    if not values:
        raise ValueError("tree_reduce: there are no leaves")
    for place, (kind, leaf) in enumerate(zip(kinds, values)):
        if not isinstance(leaf, (torch.Tensor, int, float)):
            raise TypeError(f"tree_reduce: leaf {place} is {leaf}, no tensor and no number")
        if kind != kinds[0]:
            raise ValueError(f"tree_reduce: leaf {place} is {kind}, leaf 0 is {kinds[0]}")
    while len(values) > 1:
        pairs = [first + second for first, second in zip(values[::2], values[1::2])]
        values = pairs + values[len(pairs) * 2 :]
    return values[0].clone() if isinstance(values[0], torch.Tensor) else values[0]


def _as_parameter(value, shape, dtype):
    """A tensor of the runtime as a parameter has it: the same cells in that shape.

    Raises: TypeError for no tensor; ValueError for another dtype, or another number of elements.
    """
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"a parameter of shape {shape} takes a tensor, got {value}")
    if value.dtype != dtype or value.numel() != math.prod(shape):
        given = f"{value.numel()} elements of {value.dtype}"
        raise ValueError(f"a parameter of shape {shape} and {dtype} does not take {given}")
    return value if [*value.shape] == shape else value.view(shape)


class _Future:
    """What a call that runs beside the host will return."""

    def __init__(self, dispatch):
        self.dispatch = dispatch
        dispatch.is_asked = True

    def __repr__(self):
        return f"a future of {self.dispatch.name}"


def _submit_orchestrator(device, function, *args):
    """Submit a call to a rank as _dispatch does; return a future of its value."""
    return _Future(_submit_to_rank(device, function, args))


def _submit_worker(function, *args):
    """Submit a call of Python on the host, behind those that write what it reads; return its future."""
    dispatch = _Dispatch(_ranks.world.submitted, function, args, None)
    _submit(_ranks.world, dispatch, function)
    return _Future(dispatch)


def _future_value(future):
    """What the call of a future has returned; other calls run until it has.

    Raises: TypeError for no future.
    """
    if not isinstance(future, _Future):
        raise TypeError(f"future_get takes what a submit has given, got {future}")
    world, dispatch = _ranks.world, future.dispatch
    if not dispatch.is_done():
        where = f"{dispatch.name} on {world.rank_name(dispatch.device)}"
        world.fibers.block(dispatch.is_done, lambda: f"waits for the value of {where}")
    world.engine.share([dispatch])
    return world.engine.value(dispatch)


# The functions of sub-workers that have no body, by name; who runs the script puts them here.
_callbacks = {}


def _callback(name, *args):
    """Call the function that stands for a sub-worker without a body: it takes all arguments as one tuple.

    Raises: ValueError where there is none.
    """
    if name not in _callbacks:
        what = f"SubWorkers [{name!r}] are runtime-bound callbacks (declared with a `...` body)"
        raise ValueError(what + " and must be supplied via callbacks={...}.")
    return _callbacks[name](args)


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
    """The first `count` columns of a block, at least one, repeated up to that many columns."""
    return block[..., torch.arange(columns, device=block.device) % max(count, 1)]


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
    return _fp4_decoded(_unpack_halves(data))


def _fp4_decoded(codes):
    """The FP4 numbers of codes of four bits, one in a byte."""
    table = torch.tensor(_FP4_CODES, dtype=torch.uint8, device=codes.device)
    return (table[(codes & 7).long()] | (codes & 8) << 4).view(torch.float8_e4m3fn)


def _fp4_bytes(numbers):
    """FP4 numbers packed into bytes, as _fp4_numbers reads them."""
    return _pack_halves(_fp4_encoded(numbers))


def _fp4_encoded(numbers):
    """The codes of FP4 numbers, one in a byte."""
    bits = numbers.contiguous().view(torch.uint8)
    table = torch.tensor(_FP4_CODES, dtype=torch.uint8, device=bits.device)
    return (torch.bucketize(bits & 0x7F, table) | (bits & 0x80) >> 4).to(torch.uint8)


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


def _unpack_halves(data):
    """The codes of four bits that lie in bytes along the last axis, the low half of a byte first."""
    return torch.stack([data & 15, data >> 4], dim=-1).flatten(-2)


def _pack_halves(codes):
    """Codes of four bits, two in a byte, as _unpack_halves reads them."""
    return codes[..., ::2] | codes[..., 1::2] << 4


def _int4_decoded(codes):
    """The numbers from -8 to 7 of codes of four bits, in int8."""
    return (codes ^ 8).view(torch.int8).sub_(8)


def _int4_encoded(numbers):
    """The codes of numbers from -8 to 7 in int8."""
    return numbers.view(torch.uint8) & 15


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

    def __init__(self, path=(), share=0, parent=None, lane="caller", others=frozenset(), rank=None):
        self.path, self.share, self.parent, self.lane = path, share, parent, lane
        self.rank = rank
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
            "rank": stream.rank,
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
        rank = getattr(thread, "rank", None)
        if rank is not None:
            return self._stream_of_rank(rank)
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

    def _stream_of_rank(self, rank):
        """The stream of a rank, whose records come before those of the next, or of the calling lane of it."""
        key, group = (rank, None), _lane_context.group
        if key not in self.streams:
            share = self.limit // len(_ranks.world.device_ids)
            self.streams[key] = _TraceStream((1, rank), share, self.caller, rank=rank)
        parent = self.streams[key]
        if group is None:
            return parent
        if id(group) not in self.groups:
            parent.count += 1
            share = (parent.share - parent.kept_bytes) // len(group.lane_names)
            self.groups[id(group)] = (group, (*parent.path, parent.count), parent, share)
        lane, key = _lane_context.lane_name, (id(group), _lane_context.lane_name)
        if key not in self.streams:
            _, path, parent, share = self.groups[id(group)]
            place = (*path, group.lane_names.index(lane))
            self.streams[key] = _TraceStream(place, share, parent, lane, rank=rank)
        return self.streams[key]

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
