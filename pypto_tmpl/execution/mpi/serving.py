"""The processes that are not the first one: they make the calls that it tells them of, and end with it."""

from __future__ import annotations

import atexit
import time
import traceback
import warnings
from collections.abc import Sequence

import torch

from pypto_tmpl.execution.engines import LISTENER, ranks_of, use_engine
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.execution.mpi.arguments import received
from pypto_tmpl.execution.mpi.engine import MpiEngine, check_processes
from pypto_tmpl.execution.mpi.team import CALL, Call, Team

_PAUSE = 0.002  # seconds between two looks for a call


class _Joined:
    """The team of this process."""

    team: Team | None = None


def join_team(devices: Sequence[int] | None = None) -> None:
    """Make this process one of those that run ranks; only the first returns, the others end with it.

    Raises: EngineError for another number of devices than of processes.
    """
    team = _Joined.team
    if team is None:
        team = _Joined.team = Team()
        if team.comm.rank == 0:
            atexit.register(team.end)
    found = team
    use_engine(lambda world: MpiEngine(found, world))
    if team.comm.rank:
        _serve(team)
        raise SystemExit(0)
    if devices is not None:
        check_processes(devices, team.comm.size)


def _serve(team: Team) -> None:
    """Make the calls that the first process sends, until it ends."""
    warnings.simplefilter("ignore")  # the first process tells them
    torch.set_num_threads(1)
    while (call := _next_call(team)) is not None:
        number = team.calls + 1
        try:
            _make(team, call)
        except BaseException as error:  # which the first process raises too, once the call has begun
            if team.calls != number:
                traceback.print_exc()
                team.abort(f"process {team.comm.rank} has not begun a call: {error}")
    team.free()


def _next_call(team: Team) -> Call | None:
    while not team.comm.iprobe(0, CALL):
        time.sleep(_PAUSE)
    call: Call | None = team.comm.recv(None, 0, CALL)
    return call


def _make(team: Team, call: Call) -> None:
    arguments = received(team.comm, call.arguments)
    names = team.scripts.get(call.number) if call.number is not None else None
    if names is None:
        mark = None if call.listener is None else call.listener.mark
        names = load_script(call.script.text, call.script.name, call.sources, mark)
        if call.listener is not None:
            call.listener.attach(names)
            names[LISTENER] = call.listener
    ranks = ranks_of(names)
    if call.number is not None:
        team.scripts[call.number] = names
        ranks.kept = {} if ranks.kept is None else ranks.kept
    ranks.device_ids, ranks.resets = call.devices, call.resets
    names["_run_host"](names[call.program], *arguments, ranks=len(call.devices))
