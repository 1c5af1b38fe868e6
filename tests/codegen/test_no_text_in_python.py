"""Every character of a script comes from templates: the emitter's Python builds no text.

The sources are searched for what makes text out of text: f-strings, ``%``, ``+`` and ``.format`` on string
literals, and ``.join`` of a literal. Texts of errors are the exception, and the places listed below.
"""

import ast
import keyword
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto_tmpl import codegen

FOLDER = Path(codegen.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))

# (file, function): why it may build text
ALLOWED = {
    ("filters.py", "py_literal"): "the filter that writes literals for templates",
    ("filters.py", "torch_dtype"): "the filter that writes dtypes for templates",
    ("filters.py", "indent"): "the filter that indents blocks for templates",
    ("plain_macros.py", "_macro_name"): "the name of a function that no script has",
    ("plain_macros.py", "_full_name"): "the name of a function that no script has",
    ("plain_macros.py", "_filter_name"): "the name of a function that no script has",
    ("plain_macros.py", "_parameter_name"): "the name of a parameter that no script has",
    ("names.py", "identifier"): "names are data: which characters of a hint an identifier can keep",
    ("names.py", "NameTable.unique"): "names are data: the suffix that tells two apart",
    ("script.py", "_one_line"): "the title is data: without what would end the docstring",
    ("statements.py", "printable"): "comments are data: without what would end the line",
    ("inline.py", "inline_source"): "inline statements are data; only problems with them are worded here",
    ("bytecode.py", "bytecode_cache"): "the name of a folder",
    ("kernels.py", "KernelMap.group_members"): "the name that a function of the program may have",
    ("preamble.py", "_TopicLoader.get_source.cut"): "what stands for a marker until the topic is cut there",
    ("preamble.py", "_cut_topic"): "helpers cut out of topics",
    ("options.py", "variable_of"): "the name of an environment variable",
    ("options.py", "constant_of"): "the name of a constant of the script, which a template defines",
    ("environment.py", "OpMacros._load"): "the name of a template",
    ("environment.py", "OpMacros._place"): "where an error stands",
    ("tracing.py", "TraceSelection.has_statement"): "names of places are data",
    ("tracing.py", "FunctionTrace.site"): "names of places are data",
    ("tracing.py", "located_statements"): "names of places are data",
    ("unsupported.py", "Unsupported.__str__"): "a line of an error",
    ("samples.py", "_shaped"): "the region of a sample is data: the list of its extents",
    ("marks.py", "Marks.taken_out"): "the text of templates, put together again without marks",
    ("record.py", "Script.sources"): "names of places are data",
    ("record.py", "Script.program"): "lines of a script as they are",
    ("layout.py", "formatted"): "parts of a script that were formatted, put together again",
    ("layout.py", "program_part"): "lines of a script as they are",
    ("wrapping.py", "wrapped"): "lines of a script as they are, or as they were formatted",
    ("wrapping.py", "_formatted"): "statements of a script, to be formatted and put back",
    ("edges.py", "Edges._hold"): "names are data: what a variable for the start of another is called",
    ("handovers.py", "_text"): "a warning",
    ("handovers.py", "_at"): "a warning",
}
REPORTERS = {
    "report",
    "allowed_note",
    "_call_error",
    "_fail",
    "_refuse_elements",
}  # functions that take the text of an error


def is_error(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in REPORTERS or name.endswith("Error") or name in ("Diagnostic", "add_note")


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def builds_text(node: ast.AST) -> bool:
    """Whether the node makes a string out of others."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod | ast.Mult):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("format", "join", "format_map") and is_text(node.func.value)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format"


def error_names(function: ast.AST) -> set[str]:
    """Variables of a function that are used in errors only."""
    uses: dict[str, list[bool]] = {}

    def visit(node: ast.AST, in_error: bool) -> None:
        in_error |= isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and is_error(node))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id, []).append(in_error)
        for child in ast.iter_child_nodes(node):
            visit(child, in_error)

    visit(function, False)
    return {name for name, places in uses.items() if all(places)}


def text_builders(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(function, line) of every place that builds text which is not an error's."""

    def visit(node: ast.AST, where: tuple[str, ...], for_errors: set[str]) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and is_error(node)):
            return
        if isinstance(node, ast.ClassDef):
            if any(isinstance(base, ast.Name) and base.id.endswith("Error") for base in node.bases):
                return
            where = (*where, node.name)
        if isinstance(node, ast.FunctionDef):
            where, for_errors = (*where, node.name), error_names(node)
        if isinstance(node, ast.Assign) and all(
            isinstance(target, ast.Name) and target.id in for_errors for target in node.targets
        ):
            return
        if builds_text(node):
            yield ".".join(where), node.lineno
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, where, for_errors)

    yield from visit(tree, (), set())


def found_in(source: str) -> list[tuple[str, int]]:
    return list(text_builders(ast.parse(source)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_text_is_built_outside_of_templates(path):
    found = found_in(path.read_text(encoding="utf-8"))
    assert [(name, line) for name, line in found if (path.name, name) not in ALLOWED] == []


def test_every_exception_is_still_needed():
    used = {(path.name, name) for path in FILES for name, _ in found_in(path.read_text(encoding="utf-8"))}
    assert set(ALLOWED) - used == set()


def test_the_files_are_there():
    assert {"functions.py", "statements.py", "expressions.py", "scalars.py"} <= {path.name for path in FILES}


# Code in a plain literal: only in the modules that emit, where literals are keys and names.

EMITTERS = [
    "assignments", "calls", "context", "control_flow", "expressions", "facts", "functions", "groups",
    "kernels", "launches", "operators", "parameters", "poison", "regions", "scalars", "scopes", "script",
    "statements", "storage", "unchanged", "valid_regions", "values", "variables",
]  # fmt: skip
NAME = re.compile(r"[\w.-]*|script/[\w.]+|error\[.*")
PLAIN = {
    ("script", ""): "a search pattern",
    ("script", "build"): "the name of a mode",
    ("script", "_one_line"): "characters that a docstring cannot have",
    ("script", "_module_names"): "it takes an import apart",
    ("statements", "printable"): "a character that a comment can have",
    ("control_flow", "_is_comment"): "it looks at a text",
}


def code_literals(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(function, line) of every string literal that could be Python text."""

    def visit(node: ast.AST, where: tuple[str, ...], for_errors: set[str]) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.Raise | ast.arg) or (isinstance(node, ast.Call) and is_error(node)):
            return
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            where = (*where, node.name)
        if isinstance(node, ast.FunctionDef):
            for_errors = error_names(node)
        if isinstance(node, ast.Assign) and all(
            isinstance(target, ast.Name) and target.id in for_errors for target in node.targets
        ):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if keyword.iskeyword(node.value) or not NAME.fullmatch(node.value):
                yield ".".join(where), node.lineno
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, where, for_errors)

    yield from visit(tree, (), set())


def literals_of(module: str) -> list[tuple[str, int]]:
    return list(code_literals(ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))))


@pytest.mark.parametrize("module", EMITTERS)
def test_no_literal_is_code(module):
    found = literals_of(module)
    assert [item for item in found if (module, item[0].rpartition(".")[2]) not in PLAIN] == []


def test_every_plain_literal_is_still_there():
    used = {(module, name.rpartition(".")[2]) for module in EMITTERS for name, _ in literals_of(module)}
    assert set(PLAIN) - used == set()


@pytest.mark.parametrize("text", ["pass", "None", "x = 1", "return", "()", "[]", "True", "a b", "x,", "#"])
def test_a_planted_literal_is_found(text):
    assert list(code_literals(ast.parse(f"def emit():\n    return [{text!r}]\n"))) == [("emit", 2)]


PLANTED = {
    "an f-string": 'f"{target} = {value}"',
    "an f-string in a call": 'self.lines.append(f"x = {value}")',
    "a sum": '"x = " + value',
    "a sum on the right": 'value + " = x"',
    "percent": '"%s = 1" % value',
    "format": '"{} = 1".format(value)',
    "a join": '", ".join(values)',
    "a product": '"    " * depth',
    "the format function": 'format(value, ">4")',
    "a chain": '"x" + value + "y"',
}


@pytest.mark.parametrize("text", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_line_is_found(text):
    source = f"class Emitter:\n    def emit(self, value):\n        return {text}\n"
    assert found_in(source) == [("Emitter.emit", 3)]
    assert found_in(f"TEXT = {text}\n") == [("", 1)]


@pytest.mark.parametrize(
    "text",
    [
        'raise ValueError(f"no {value}")',
        'self.report(f"no {value}", node.span)',
        'error = SplitError(f"no {value}")',
        'what = f"no {value}"\n        raise ValueError(what)',
        'what = f"no {value}"\n        if value:\n            self.report(what, None)',
        '"""A docstring with %s and {}.""" ',
        'return self.macros.assign(target, "x")',
        'return [*lines, "pass"]',
        "return value + 1",
        'return f"plain"',
    ],
)
def test_errors_and_plain_values_are_not(text):
    assert found_in(f"class Emitter:\n    def emit(self, value):\n        {text}\n") == []
    assert found_in('class BadError(ValueError):\n    def text(self):\n        return f"no {self}"\n') == []


def test_a_text_for_an_error_that_is_also_emitted_is_found():
    source = 'def emit(value):\n    what = f"no {value}"\n    report(what)\n    return what\n'
    assert found_in(source) == [("emit", 2)]
