"""One module reads the text of scripts: whoever emits one has its record."""

import ast
from pathlib import Path

import pypto_tmpl

ROOT = Path(pypto_tmpl.__file__).parent
FOLDERS = ("codegen", "compile", "debug", "execution", "golden", "runtime", "snapshots")
ALLOWED = {
    "codegen/inline.py": "statements that a user wrote",
    "codegen/op_checks.py": "what a user's macros make of samples",
    "compile/compiled_program.py": "a kernel_config.py, which is not executed",
    "codegen/layout.py": "formatted texts, and scripts of which only the text was kept",
    "codegen/wrapping.py": "statements that are to be formatted",
    "execution/load.py": "a tree is changed to be executed in place of the text",
    "snapshots/code.py": "Python files that a user wrote",
    "snapshots/first_config.py": "Python files that a user wrote",
    "runtime/records/rewrite.py": "expressions to be put into that tree",
}
READERS = {("ast", "parse"), ("ast", "dump"), ("tokenize", "generate_tokens")}


def readers(source: str) -> list[int]:
    """Lines with calls that take Python text apart."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in READERS
    ]


def test_one_module_reads_scripts():
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix() for path in files if readers(path.read_text("utf-8"))}
    assert found == set(ALLOWED)


def test_helpers_and_heads_are_not_looked_for_in_texts():
    """The mark behind the helpers, and how functions begin."""
    signs = ("_HELPERS", "helpers follow", "^def ", 'with("def ', "def _run_lanes(")
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {path.name for path in files if any(sign in path.read_text("utf-8") for sign in signs)}
    assert found == {"layout.py"}  # for committed files


def test_a_reader_is_found():
    assert readers("import ast\n\ndef f(script):\n    return ast.parse(script).body\n") == [4]
