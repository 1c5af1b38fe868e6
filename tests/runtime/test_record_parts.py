"""Parts of the recording on hand-made records: timelines, views of memory, layouts, counts of work."""

import itertools
import random
import re
from html.parser import HTMLParser

import pytest
import torch

from pypto_tmpl.runtime.records.graph_layout import HEIGHT, WIDTH, direct_edges, lay_out
from pypto_tmpl.runtime.records.graph_page import graph_page
from pypto_tmpl.runtime.records.model import FIRST_TASK, CoreRecord, Edge, Records, Task, Work
from pypto_tmpl.runtime.records.swimlane import chip_swimlane_records, l2_perf_records
from pypto_tmpl.runtime.records.tensors import Buffers, dtype_name, torch_dtype
from pypto_tmpl.runtime.records.trace_events import merged_swimlane
from pypto_tmpl.runtime.records.work import WorkCounter


def on_cores(task_id, function, first_number, cores, start):
    return [
        CoreRecord(first_number + i, task_id, function, core, "aic", i, start + i, start + 100 + i)
        for i, core in enumerate(cores)
    ]


def test_every_part_of_a_task_has_a_bar_and_arrows_of_its_own():
    """Task 7 on cores 0, 1 and 2, its successor on cores 1 and 5: three and two bars, six arrows."""
    seven, eight = FIRST_TASK + 7, FIRST_TASK + 8
    first = Task(seven, "a", records=on_cores(seven, 0, 0, (0, 1, 2), 1000), dispatched=900, finished=1200)
    second = Task(eight, "b", edges=[Edge(seven, eight)], dispatched=1300, finished=1600)
    second.records = on_cores(eight, 1, 3, (1, 5), 1400)
    records = Records([first, second], ["a", "b"])
    events = merged_swimlane(records)["traceEvents"]
    bars = [(event["name"], event["tid"]) for event in events if event["ph"] == "X"]
    assert bars == [("a(r1t7)", 0), ("a(r1t7)", 1), ("a(r1t7)", 2), ("b(r1t8)", 1), ("b(r1t8)", 5)]
    tails = {event["id"]: event["tid"] for event in events if event["ph"] == "s"}
    heads = {event["id"]: event["tid"] for event in events if event["ph"] == "f"}
    arrows = sorted((tails[number], heads[number]) for number in tails)
    assert arrows == sorted(itertools.product((0, 1, 2), (1, 5)))
    # Lanes that ran nothing are absent, the others keep their ids.
    lanes = [event["tid"] for event in events if event["name"] == "thread_name"]
    assert lanes == [0, 1, 2, 5]
    perf = l2_perf_records(records)["tasks"]
    assert [(row["task_id"], row["core_id"], row["start_time_us"]) for row in perf] == [
        *((seven, core, round(0.1 + core / 1000, 3)) for core in (0, 1, 2)),
        (eight, 1, 0.5),
        (eight, 5, 0.501),
    ]
    assert [row["fanout"] for row in perf] == [[eight]] * 3 + [[]] * 2


def test_two_blocks_on_one_core_are_two_rows():
    task = Task(FIRST_TASK, "a", records=on_cores(FIRST_TASK, 0, 0, (3, 3), 0), dispatched=0, finished=500)
    data = chip_swimlane_records(Records([task], ["a"]), 2, "Ascend950")  # a cycle is a nanosecond
    assert data["aicore_tasks"] == [[3, FIRST_TASK, 0, 0, 100], [3, FIRST_TASK, 1, 1, 101]]
    assert data["aicpu_tasks"] == [[3, 0, 0, 500], [3, 1, 0, 500]]


def test_arrows_lead_through_a_task_that_runs_nothing():
    one, barrier, two = (FIRST_TASK + n for n in range(3))
    records = Records(
        [
            Task(one, "a", records=on_cores(one, 0, 0, (0,), 10)),
            Task(barrier, "dummy", is_dummy=True, edges=[Edge(one, barrier)]),
            Task(two, "a", records=on_cores(two, 0, 1, (4,), 300), edges=[Edge(barrier, two)]),
        ],
        ["a"],
    )
    events = merged_swimlane(records)["traceEvents"]
    assert [(event["ph"], event["tid"]) for event in events if event["ph"] in "sf"] == [("s", 0), ("f", 4)]


def test_views_share_cells_exactly_when_their_elements_do():
    """Random windows of one matrix, against the sets of cells that they hold."""
    choose, buffers = random.Random(3), Buffers()
    numbers = torch.arange(6 * 8).reshape(6, 8)
    for _ in range(300):
        views = []
        for _ in range(2):
            r, c = choose.randrange(6), choose.randrange(8)
            views.append(numbers[r : r + choose.randrange(1, 7), c : c + choose.randrange(1, 9)])
        one, other = (buffers.view(view) for view in views)
        cells, others = ({*view.flatten().tolist()} for view in views)
        assert one.overlaps(other) == bool(cells & others)
        assert one.covers(other) == (others <= cells)


def test_memory_that_is_used_again_is_another_buffer():
    buffers, addresses, numbers = Buffers(), set(), set()
    for _ in range(20):
        view = buffers.view(torch.zeros(1000))
        addresses.add(view.buffer.address)
        numbers.add(view.buffer.number)
    assert len(numbers) == 20
    kept = torch.zeros(4)
    assert buffers.view(kept[1:]).buffer is buffers.view(kept[:2]).buffer


def test_dtype_names():
    names = {"float32": "FLOAT32", "bfloat16": "BFLOAT16", "int8": "INT8", "uint16": "UINT16", "bool": "BOOL"}
    for torch_name, name in (names | {"float8_e4m3fn": "FP8E4M3FN", "int64": "INT64"}).items():
        assert dtype_name(getattr(torch, torch_name)) == name
        assert torch_dtype(name) is getattr(torch, torch_name)
    with pytest.raises(ValueError, match="'WORD' is no dtype"):
        torch_dtype("WORD")


def test_counting_work():
    work = Work()
    a, b = torch.ones(4, 8, dtype=torch.bfloat16), torch.ones(8, 16, dtype=torch.bfloat16)
    with WorkCounter(work):
        tile = torch.zeros(4, 8)
        tile[1:3].copy_(a[1:3])  # 2 * 8 * 4 bytes; views and new buffers are nothing
        left, right = a.float(), b.float()  # 32 and 128 elements, no FLOP
        product = torch.matmul(left, right)  # 64 elements, 2 * 4 * 8 * 16 FLOPs
        torch.amax(product, dim=-1)  # 64 elements are looked at
        torch.exp(product)  # 64
    assert (work.elements, work.bytes_moved, work.flops) == (32 + 128 + 64 + 64 + 64, 64, 1024 + 64 + 64)
    assert work.ops["_to_copy"] == [2, 160, 0, 0]
    assert work.ops["mm"] == [1, 64, 0, 1024]


def reachable(tasks, edges):
    found = {task: set() for task in tasks}
    for task in tasks:
        for pred, succ in edges:
            if succ == task:
                found[task] |= {pred, *found[pred]}
    return found


def test_edges_that_others_imply_are_not_drawn():
    assert direct_edges([0, 1, 2, 3], [(0, 1), (1, 2), (0, 2), (0, 2), (2, 3), (0, 3)]) == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    choose = random.Random(5)
    for _ in range(50):
        tasks = list(range(10))
        edges = [(a, b) for a in tasks for b in tasks if a < b and choose.random() < 0.3]
        kept = direct_edges(tasks, edges)
        assert reachable(tasks, kept) == reachable(tasks, edges)
        for edge in kept:
            assert reachable(tasks, [e for e in kept if e != edge]) != reachable(tasks, edges)


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded, self.nodes = [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.tags.append(tag)
        self.loaded += [known[key] for key in ("src", "href") if key in known]
        if tag == "g" and known.get("class", "").startswith("node "):
            x, y = map(int, re.findall(r"\d+", known["transform"]))
            self.nodes[known["id"]] = (x, y)


def test_a_page_of_500_tasks():
    """No two tasks lie on each other, edges lead down, and the page loads nothing."""
    choose, records = random.Random(1), Records()
    for number in range(500):
        task = Task(FIRST_TASK + number, f"<kernel> & {number % 7}", kernel_ids={"AIC": 0})
        preds = choose.sample(range(max(0, number - 40), number), min(number, 2))
        task.edges = [Edge(FIRST_TASK + pred, task.task_id) for pred in preds]
        records.tasks.append(task)
    text = graph_page(records, "Five & hundred")
    page = Page(text)
    assert len(page.nodes) == 500
    assert page.loaded == []
    assert "http" not in text and "@import" not in text and "<kernel>" not in text
    for (x, y), (u, v) in itertools.combinations(page.nodes.values(), 2):
        assert abs(x - u) >= WIDTH or abs(y - v) >= HEIGHT
    tasks = [task.task_id for task in records.tasks]
    layout = lay_out(tasks, [(edge.pred, edge.succ) for task in records.tasks for edge in task.edges])
    assert all(layout.corners[pred][1] < layout.corners[succ][1] for pred, succ in layout.edges)
    assert layout.width < 2500


def test_a_page_without_tasks():
    assert "0 tasks, 0 dependencies" in graph_page(Records(), "Nothing")


def test_parts_that_nothing_connects_stand_beside_each_other():
    """Thirty diamonds, their tasks launched in turns: each keeps its shape, none reaches into another."""
    tasks = list(range(120))  # task n is corner n // 30 of diamond n % 30
    edges = [(d + 30 * a, d + 30 * b) for d in range(30) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3), (0, 3))]
    layout = lay_out(tasks, edges)
    assert len(layout.edges) == 4 * 30  # top to bottom is implied
    boxes = []
    for diamond in range(30):
        corners = [layout.corners[diamond + 30 * corner] for corner in range(4)]
        (top, left, right, bottom) = corners
        assert left[1] == right[1] and top[1] < left[1] < bottom[1]
        assert left[0] < top[0] == bottom[0] < right[0]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        boxes.append((min(xs), min(ys), max(xs) + WIDTH, max(ys) + HEIGHT))
    for a, b in itertools.combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert max(box[2] for box in boxes) <= layout.width < 2500
    assert max(box[3] for box in boxes) <= layout.height < 1500
