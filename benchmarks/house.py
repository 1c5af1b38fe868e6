"""How large the house is and how fast it emits, to be compared between commits.

    python benchmarks/house.py

Prints modules and lines of pypto_tmpl/ and templates/, the largest module, circles of modules that import
each other, without imports for types alone and with them, and the milliseconds that it takes to emit
tests/corpus, best of three. It reads the tree that it stands in; copy it into an older one to measure that.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402

PACKAGE = "pypto_tmpl"
Graph = Mapping[str, set[str]]


def modules() -> dict[str, Path]:
    """The modules of the package by name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((ROOT / PACKAGE).rglob("*.py"))
    }


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imports(tree: ast.AST, *, for_types: bool) -> Iterator[str]:
    """Names that a module imports, at any depth of its code; those under TYPE_CHECKING only ``for_types``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from imports(node, for_types=for_types)


def import_graph(found: Mapping[str, Path], *, for_types: bool) -> Graph:
    """Which modules import which; a package is no import of what is in it."""
    return {
        name: {
            other
            for other in imports(ast.parse(path.read_text(encoding="utf-8")), for_types=for_types)
            if other in found and other != PACKAGE and not f"{name}.".startswith(f"{other}.")
        }
        for name, path in found.items()
    }


def circles(graph: Graph) -> list[set[str]]:
    """The largest sets of modules of which each leads to every other, largest first."""
    reached = {name: _reached(graph, name) for name in graph}
    found = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted((set(circle) for circle in found if len(circle) > 1), key=len, reverse=True)


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        todo += graph[todo.pop()] - seen
        seen |= set(todo)
    return seen


def emit_milliseconds() -> tuple[int, float]:
    """How many dumps there are, and the milliseconds that emitting all of them takes."""
    paths = sorted((ROOT / "tests/corpus/dumps").rglob("*.msgpack"))
    nodes = [ir.deserialize_from_file(str(path)) for path in paths]
    times = []
    for _ in range(4):  # the first round reads templates
        start = time.perf_counter()
        for node in nodes:
            torch_codegen(node)
        times.append(time.perf_counter() - start)
    return len(nodes), min(times[1:]) * 1000


def main() -> None:
    """Print the figures, one a line."""
    found = modules()
    lines = {name: line_count(path) for name, path in found.items()}
    largest = max(lines, key=lambda name: lines[name])
    templates = [path for path in sorted((ROOT / "templates").rglob("*")) if path.is_file()]
    print(f"modules           {len(found)}")
    print(f"lines             {sum(lines.values())}")
    print(f"largest           {largest} {lines[largest]}")
    print(f"over 300 lines    {sum(count > 300 for count in lines.values())}")
    print(f"template lines    {sum(map(line_count, templates))}")
    for what, for_types in (("circles", False), ("with types", True)):
        sizes = [len(circle) for circle in circles(import_graph(found, for_types=for_types))]
        print(f"{what:<17} {len(sizes)} {sizes or ''}".rstrip())
    count, milliseconds = emit_milliseconds()
    print(f"emit              {milliseconds:.0f} ms for {count} dumps")


if __name__ == "__main__":
    main()
