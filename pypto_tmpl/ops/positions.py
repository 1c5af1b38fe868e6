"""YAML files of the op table: strict values, and the line of each part of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pypto_tmpl.errors import Diagnostic, Location

_TAG = "tag:yaml.org,2002:"
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_LOOKS_LIKE_FLOAT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+")
_PATH_STEP = re.compile(r"\.(?P<key>\w+)|\[(?P<index>\d+)\]|\[(?P<any>\.\.\.)\]")
_OP_NAME = re.compile(r"\bname:\s+[\"']?(\w+\.[\w.]+)")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class YamlFile:
    """A parsed file: its plain data, its node tree for positions, and what is wrong with the text."""

    path: Path
    text: str
    data: Any = None
    root: yaml.Node | None = None
    problems: list[Diagnostic] = field(default_factory=list)

    def report(self, slug: str, what: str, line: int, *notes: str) -> None:
        """Add a problem with the text; the op is the last one named up to that line."""
        above = "\n".join(self.text.splitlines()[:line])
        names = _OP_NAME.findall(above)
        op = names[-1] if names else self.path.stem
        self.problems.append(Diagnostic(slug, f"{op}: {what}", str(Location(self.path, line)), notes))

    def line_of(self, path: Sequence[str | int], start: yaml.Node | None = None) -> int:
        """The line of the deepest part of ``path`` that exists; a key stands for its value."""
        node, line = start or self.root, 1
        if node is not None:
            line = node.start_mark.line + 1
        for step in path:
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == step), None)
                if found is None:
                    break
                line, node = found[0].start_mark.line + 1, found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                break
        return line


def parse_yaml(path: Path, text: str) -> YamlFile:
    """Read a file of the op table; what is wrong with it stands in ``problems``."""
    file = YamlFile(path, text)
    try:
        file.root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        _report_syntax(file, error)
        return file
    if file.root is not None:
        file.data = _Construction(file).value(file.root)
    return file


def split_path(path: str) -> list[str | int]:
    """``$.operands[3].kind`` as ["operands", 3, "kind"]; a step that msgspec leaves open is "?"."""
    steps = _PATH_STEP.finditer(path)
    return [step["key"] or ("?" if step["any"] else int(step["index"])) for step in steps]


def _report_syntax(file: YamlFile, error: yaml.YAMLError) -> None:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None)
    line = mark.line + 1 if mark is not None else 1
    notes = (context,) if context else ()
    file.report("yaml-syntax", f"not valid YAML: {what}", line, *notes)


class _Construction:
    """Turns nodes into plain data, refusing what YAML 1.1 reads differently from how it looks."""

    def __init__(self, file: YamlFile) -> None:
        self.file = file
        self.readers: dict[str, Callable[[yaml.ScalarNode], Any]] = {
            f"{_TAG}str": self._text,
            f"{_TAG}int": self._integer,
            f"{_TAG}float": self._float,
            f"{_TAG}bool": self._boolean,
            f"{_TAG}null": lambda node: None,
        }

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            reader = self.readers.get(node.tag)
            if reader is None:
                return self._refuse(node, f"{node.value!r} is read as {node.tag.removeprefix(_TAG)}")
            return reader(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        return [self.value(item) for item in node.value]

    def _mapping(self, node: yaml.MappingNode) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        lines: dict[Any, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag != f"{_TAG}str":
                what = f"the key {key_node.value!r} is read as {key_node.tag.removeprefix(_TAG)}, not as text"
                self._refuse(key_node, what)
                continue
            key = key_node.value
            if key in result:
                note = f"first: line {lines[key]}"
                self.file.report("duplicate-key", f"the key {key!r} is given twice", line, note)
            result[key] = self.value(value_node)
            lines[key] = line
        return result

    def _text(self, node: yaml.ScalarNode) -> str:
        value: str = node.value
        if not node.style and value[:1] in "+-0123456789" and _LOOKS_LIKE_FLOAT.fullmatch(value):
            self._refuse(node, f"{value!r} is read as text, not as a number", "write 1.0e-3, or quote it")
        return value

    def _integer(self, node: yaml.ScalarNode) -> int:
        if _DECIMAL.fullmatch(node.value):
            return int(node.value)
        value = yaml.SafeLoader("").construct_yaml_int(node)
        what = f"{node.value!r} is read as the integer {value}"
        self._refuse(node, what, "write it in decimal, or quote it")
        return int(value)

    def _float(self, node: yaml.ScalarNode) -> float:
        value = yaml.SafeLoader("").construct_yaml_float(node)
        if ":" in node.value or "_" in node.value:
            self._refuse(node, f"{node.value!r} is read as the number {value}")
        return float(value)

    def _boolean(self, node: yaml.ScalarNode) -> bool:
        value = node.value.lower() in ("true", "yes", "on")
        if node.value not in ("true", "false"):
            meaning = "true" if value else "false"
            self._refuse(node, f"{node.value!r} is read as {meaning}", f"write {meaning}, or quote it")
        return value

    def _refuse(self, node: yaml.Node, what: str, note: str = "quote it") -> None:
        self.file.report("ambiguous-value", what, node.start_mark.line + 1, note)
