"""``pmu.csv``: the work of every task on every core.

There are no counters of hardware here: whatever the event group, the columns are what the script computed
(``work.py`` says how that is counted), and the cycles are host time in cycles of the device's clock.
"""

from __future__ import annotations

import csv
import io

from pypto_tmpl.runtime.records.model import Records
from pypto_tmpl.runtime.records.swimlane import CLOCK_HZ

_KEYS = ("thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles")
COUNTERS = ("elements", "bytes_moved", "flops")
_OP_KEYS = ("task_id", "core_id", "func_id", "op", "calls", *COUNTERS)
_CORE_TYPES = {"aic": 0, "aiv": 1}


def pmu_csv(records: Records, event: int, backend: str) -> str:
    """A row for each stretch of a task on a core."""
    rows: list[tuple[object, ...]] = []
    for row in records.core_records:
        work = row.work
        if work is not None:
            cycles = (row.end - row.start) * CLOCK_HZ[backend] // 1_000_000_000
            keys = (0, row.core_id, hex_id(row.task_id), row.func_id, _CORE_TYPES[row.core_type], cycles)
            rows.append((*keys, work.elements, work.bytes_moved, work.flops, event))
    return _table((*_KEYS, *COUNTERS, "event_type"), rows)


def pmu_ops_csv(records: Records) -> str:
    """``pmu_ops.csv``: the same by torch op, a row for each op of a stretch."""
    rows = [
        (hex_id(row.task_id), row.core_id, row.func_id, op, *amounts)
        for row in records.core_records
        if row.work is not None
        for op, amounts in sorted(row.work.ops.items())
    ]
    return _table(_OP_KEYS, rows)


def hex_id(task_id: int) -> str:
    """A task id as the run time prints it: 16 hexadecimal digits."""
    return f"0x{task_id:016x}"


def _table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
