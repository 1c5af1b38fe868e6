"""The page on memory as a browser shows it: a bar for each tile, the kernels, and what is told of them."""

import re
import subprocess

import pytest
from debug.report.conftest import CHROMIUM, FLAGS

from pypto_tmpl.debug.report.memory_page import write_memory_page

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no chromium on PATH, nor in PYPTO_TMPL_CHROMIUM"),
    pytest.mark.xdist_group("browser"),
]
HOSTILE = "</script><script>document.title = 'broken'</script>"


def tile(name, start, first, last):
    return {
        "name": name, "type": "[16, 64] FP32", "start": start, "size": 4096,
        "first": first, "last": last, "is_own": True, "where": "kernel.py:3:5",
    }  # fmt: skip


def buffer(name, kind, *tiles, start=0, first=0, last=4):
    return {
        "name": name, "kind": kind, "start": start, "size": 4096, "first": first, "last": last,
        "tiles": list(tiles),
    }  # fmt: skip


def space(name, *buffers):
    return {
        "space": name, "limit": 188416, "used": 8192, "unshared": 12288, "reuse": 1.5, "peak": 8192,
        "buffers": list(buffers),
    }  # fmt: skip


PIPE = buffer("slots", "pipe")
SHARED = buffer("A", "tiles", tile("a", 4096, 1, 3), tile(HOSTILE, 4096, 3, 4), start=4096, first=1)
KERNELS = [
    {
        "name": name,
        "statements": [[f"t = statement_{at}()", f"kernel.py:{at}:5"] for at in range(5)],
        "loops": [[1, 3]],
        "spaces": [space("Vec", PIPE, SHARED)],
    }
    for name in ("first", "second")
]


@pytest.fixture
def shown(tmp_path):
    """The text of the elements that the page has when its script has run."""

    def render(kernels, place=""):
        path = tmp_path / "memory.html"
        write_memory_page(path, {"kernels": kernels}, title="dump.msgpack", backend="910B")
        command = [CHROMIUM, "--headless", *FLAGS, f"--user-data-dir={tmp_path / 'profile'}"]
        options = ["--virtual-time-budget=2000", "--dump-dom", f"{path.as_uri()}{place}"]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
        return re.sub(r"<(script|style)\b.*?</\1>", "", done.stdout, flags=re.S)

    return render


def test_each_tile_and_each_buffer_of_a_pipe_is_a_bar(shown):
    page = shown(KERNELS)
    assert 'data-ready="yes"' in page and "<title>dump.msgpack: memory</title>" in page
    bars = re.findall(r'<g class="bar ([^"]*)" tabindex="-1" role="img" aria-label="([^"]*)">', page)
    assert [kind for kind, _ in bars] == ["pipe", "hue-1", "hue-1"]
    assert bars[0][1] == "slots, 4 KB at 0 in Vec, a pipe"
    assert bars[1][1] == "a, 4 KB at 4096 in Vec, statements 1 to 3"
    assert bars[2][1].endswith("4 KB at 4096 in Vec, statements 3 to 4")
    assert (
        page.count('class="loop"') == 1 and "8 KB of 184 KB (4.3%); in use at once 8 KB; reuse 1.50×" in page
    )
    selected = re.findall(r'data-kernel="(\d)" aria-selected="true"', page)
    assert selected == ["0"] and "<h2>first</h2>" in page


def test_bars_are_as_high_as_bytes_and_as_wide_as_lifetimes(shown):
    """Both tiles have the upper half; the first one is in use for two of the three statements drawn."""
    rects = re.findall(
        r'<g class="bar hue-1"[^>]*><rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"',
        shown(KERNELS),
    )
    (x1, y1, w1, h1), (x2, y2, w2, h2) = [tuple(map(float, rect)) for rect in rects]
    assert (y1, h1) == (y2, h2) == (14, 32)
    assert x2 == pytest.approx(x1 + w1) and w1 == pytest.approx(2 * w2)


def test_a_place_chooses_the_kernel(shown):
    page = shown(KERNELS, "#1")
    assert re.findall(r'data-kernel="(\d)" aria-selected="true"', page) == ["1"]
    assert "<h2>second</h2>" in page


def test_without_kernels(shown):
    page = shown([])
    assert "No kernel of this program has tiles." in page and 'data-ready="yes"' in page
