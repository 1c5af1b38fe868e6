"""Ops of a user's folders, emitted once for each of their samples: the text must be Python that can run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from pathlib import Path

from pypto_tmpl.codegen.environment import OpMacros, TemplateError
from pypto_tmpl.codegen.preamble import Preamble
from pypto_tmpl.codegen.samples import emit_sample
from pypto_tmpl.errors import Diagnostic, PyptoTmplError
from pypto_tmpl.ops import OpEntry, OpTable, OpTableError

# What every script has besides its helpers.
_MODULES = frozenset({"torch", "math"})


def check_ops(table: OpTable, macros: OpMacros, preamble: Preamble, folders: Sequence[Path]) -> None:
    """Check the ops whose entries or macros lie in these folders. Raises OpTableError with every problem."""
    problems = [
        problem
        for name, entry in table.items()
        if entry.is_executable and _lies_in(table, name, folders)
        for problem in op_problems(table, entry, macros, preamble)
    ]
    if problems:
        raise OpTableError(problems)


def op_problems(table: OpTable, entry: OpEntry, macros: OpMacros, preamble: Preamble) -> Iterator[Diagnostic]:
    """What is wrong with the texts of an op's samples."""
    macro = table.macro(entry.name)
    assert macro is not None
    where = f"{macro.location}      op table: {table.location(entry.name)}"
    helpers = preamble.closure(entry.uses)
    known = {*vars(builtins), *entry.operand_names, *helpers.names, *_MODULES}
    known |= {module.rpartition(" as ")[2].partition(".")[0] for module in helpers.imports}
    for index, sample in enumerate(entry.samples):
        try:
            text = emit_sample(macros, entry, sample)
        except TemplateError as error:
            yield error.diagnostic
            return
        except PyptoTmplError as error:
            yield Diagnostic(error.error_slug, f"{entry.name}: samples[{index}]: {error.what}", where)
            continue
        note = f"samples[{index}] gives: {' '.join(text.split())}"
        if "<" in text and ">" in text:  # what the operands do not tell stands in angle brackets
            continue
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError as error:
            what = f"{entry.name}: macro {entry.emit!r} makes no Python expression: {error.msg}"
            yield Diagnostic("invalid-python", what, where, (note,))
            return
        for name in sorted(_free_names(tree) - known):
            what = f"{entry.name}: macro {entry.emit!r} makes a text that names {name!r}, which no script has"
            yield Diagnostic("undefined-name", what, where, (note,))
            return


def _lies_in(table: OpTable, name: str, folders: Sequence[Path]) -> bool:
    macro = table.macro(name)
    files = [table.location(name).file, *([] if macro is None else [macro.location.file])]
    return any(file.parent.parent == folder for file in files for folder in folders)


def _free_names(tree: ast.AST) -> set[str]:
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - bound
