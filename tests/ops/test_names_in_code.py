"""What an op is, the op table says: no code asks for an op, or a family of ops, by name.

Names handed to what builds a call are fine, and so are the constants of a pass: which ops a pass is about, it
says itself. Whatever else names an op is listed here with the reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.fact_model import LOWERING_RULES
from pypto_tmpl.ops.typing import words

PACKAGE = Path(__file__).resolve().parents[2] / "pypto_tmpl"
BELOW = "the folder ir is below the op table"
TEXT = "how printed text spells what the table calls otherwise"
# Module, and the constant or function in it ("" is all of it), with the reason.
ALLOWED = {
    ("ir/printer/spellings.py", ""): f"{TEXT}; {BELOW}",
    ("ir/printer/calls.py", "CallPrinter"): f"{TEXT}; {BELOW}",
    ("ir/attrs.py", "FLOAT_KEYWORDS"): f"{BELOW}; a test below holds it against the table",
    ("ir/verifier/outputs.py", "_DESTINATIONS"): f"{BELOW}; a test below holds it against the table",
    ("ir/verifier/outputs.py", "out_param_not_shadowed"): BELOW,
    ("ir/verifier/launching.py", "acc_to_gm_store_valid"): BELOW,
    ("ir/op/tile_ops.py", ""): "the function of that op, which has a form of its own",
    ("ir/destinations.py", ""): BELOW,
    ("language/calls.py", "_DISTRIBUTED"): TEXT,
    (
        "language/jit/local_info.py",
        "_TASKS",
    ): "spellings in the source of kernels",
    ("language/calls.py", "OPERAND_KEYWORDS"): TEXT,
    ("language/calls.py", "op_call"): TEXT,
    ("ops/calls/unified_names.py", "UNIFIED_NAMES"): "what users call parameters, which differs from the ops",
    ("domains/host.py", ""): "what programs of several ranks are about, as the constants of a pass",
    ("codegen/pipe_use.py", "_METHODS"): "methods of the preamble, two of them called as ops are",
    ("passes/tensor_to_tile/rules.py", "product"): "a part of the names that it makes",
}
BUILDERS = {"call", "emit", "let", "_op", "_index_assignment"}
KNOWS_FAMILIES = ("ops/", "cli/", "codegen/environment.py")  # show the table, find the file of a macro
WRITERS = "hunt/programs/"  # write programs as text, in which ops have names
MODULES = [
    module
    for path in sorted(PACKAGE.rglob("*.py"))
    if not (module := path.relative_to(PACKAGE).as_posix()).startswith(WRITERS)
]
TABLE = load_table()
SHORT = {name.rpartition(".")[2] for name in TABLE}
STARTS = {name[:end] for name in TABLE for end in range(name.index(".") + 2, len(name) + 1)}
NAMESPACES = {entry.namespace for entry in TABLE.values()}
RULES = {rule for rules in words.VOCABULARY.values() for rule in rules}  # some are called as ops are
RULES |= {*words.NAMED_RESULTS, *LOWERING_RULES}
CUTTERS = ("endswith", "removesuffix", "startswith", "removeprefix")
CONSTANT = re.compile(r"[(]?_?[A-Z][A-Z_]*(, _?[A-Z][A-Z_]*)*[)]?")
PART_OF_OP = re.compile(r"\bop\b|\bop_name\b|partition\(|split\(")


def named_places(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every node with the constant or function at the top of the module that it stands in."""
    for stmt in tree.body:
        if isinstance(stmt, ast.Assign | ast.AnnAssign):
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else stmt.target
            name = ast.unparse(target)
        else:
            name = getattr(stmt, "name", "")
        for node in ast.walk(stmt):
            yield name, node


def is_op_name(value: object) -> bool:
    """Whether a literal is the name of an op, the beginning of some, or a telling one without namespace."""
    if not isinstance(value, str):
        return False
    return (value in STARTS and value.rstrip(".") not in NAMESPACES) or (
        value in SHORT - RULES and "_" in value
    )


def texts_in(root: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(root):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def short_names_asked(node: ast.AST) -> Iterator[ast.Constant]:
    """Ends of names of ops that something is cut at, or that a part of the name of an op is compared with."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CUTTERS:
        yield from (text for text in texts_in(node) if text.value.startswith("."))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for side in sides:
            others = " ".join(ast.unparse(other) for other in sides if other is not side)
            is_in_name = isinstance(node.ops[0], ast.In | ast.NotIn) and re.search(r"\bname$", others)
            if PART_OF_OP.search(others) or (is_in_name and side is node.left):
                yield from texts_in(side)


def literals_in(source: str) -> set[tuple[str, str]]:
    """Names of ops in a module, each with the place; those that a call is built of are left out."""
    tree = ast.parse(source)
    compared = {
        id(node) for root in ast.walk(tree) if isinstance(root, ast.Compare) for node in ast.walk(root)
    }
    built = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BUILDERS
        for arg in node.args
        for part in ast.walk(arg)
        if id(node) not in compared
    }
    found = set()
    for place, node in named_places(tree):
        if isinstance(node, ast.Constant) and id(node) not in built and is_op_name(node.value):
            found.add((place, node.value))
        found |= {(place, text.value) for text in short_names_asked(node) if text.value.lstrip(".") in SHORT}
    return found


def families_in(source: str) -> set[str]:
    """Places that ask for the family of an op."""
    tree = ast.parse(source)
    compared = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)
    }
    return {
        place
        for place, node in named_places(tree)
        if isinstance(node, ast.Attribute)
        and (node.attr in ("family_of", "families") or (node.attr == "family" and id(node) in compared))
    }


def lists_of_ops(source: str) -> set[str]:
    """Places with a set, list, tuple or keys that are short names of ops, or of families, two at least."""
    known = (SHORT, set(TABLE.families) - NAMESPACES)
    found = set()
    for place, node in named_places(ast.parse(source)):
        elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        values = {element.value if isinstance(element, ast.Constant) else None for element in elements}
        is_vocabulary = isinstance(node, ast.Dict) and values <= RULES
        if len(values) > 1 and not is_vocabulary and any(values <= names for names in known):
            found.add(place)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_no_op_is_named(module: str) -> None:
    found = literals_in((PACKAGE / module).read_text())
    if module.startswith("passes/"):
        found = {(place, name) for place, name in found if not CONSTANT.fullmatch(place)}
    allowed = {place for name, place in ALLOWED if name == module}
    assert {(place, name) for place, name in found if not allowed & {"", place}} == set()


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(KNOWS_FAMILIES)])
def test_no_family_is_asked_for(module: str) -> None:
    assert families_in((PACKAGE / module).read_text()) == set()


def test_no_lists_of_ops() -> None:
    found = {(module, place) for module in MODULES for place in lists_of_ops((PACKAGE / module).read_text())}
    assert found - ALLOWED.keys() == set()


def test_every_exception_is_needed() -> None:
    assert len(ALLOWED) < 17
    for module, place in ALLOWED:
        source = (PACKAGE / module).read_text()
        found = {where for where, _ in literals_in(source)} | lists_of_ops(source)
        assert found if place == "" else place in found, (module, place)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f(c): return c.op.name == "tile.move"', {("f", "tile.move")}),
        ('X = frozenset({"tile.move"})', {("X", "tile.move")}),
        ('def f(c): return c.op.name.startswith("tile.tpush_")', {("f", "tile.tpush_")}),
        ('def f(n): return n.startswith("tile.")', set()),
        ('def f(x): return ops.call("tile.move", x)', set()),
        ('def f(x, n): return _op(x, f"{n}.slice")', set()),
        ('def f(c): return c.op == ir.Op("tile.move")', {("f", "tile.move")}),
        ('def f(c): return c.op == ops.call("tile.move", c).op', {("f", "tile.move")}),
        ('def f(c): return c.op.name.endswith(".matmul")', {("f", ".matmul")}),
        ('def f(c): return c.op.name.split(".")[1] == "matmul"', {("f", "matmul")}),
        ('def f(name): return "matmul" in name', {("f", "matmul")}),
        ('def f(op): return op in ("full", "other")', {("f", "full")}),
        ('X = {"tile.move": 1}', {("X", "tile.move")}),
        ('X = ("pl", "system", "task_dummy")', {("X", "task_dummy")}),
        ('def f(p): return p.endswith(".py") or p.name == "full"', set()),
    ],
)
def test_what_counts_as_a_name(source: str, found: set[tuple[str, str]]) -> None:
    assert literals_in(source) == found


def test_lists_that_count() -> None:
    source = 'X = {"tpush_to_aic", "tpop_from_aiv"}\nY = {"elementwise", "unary"}\nZ = ("a", "full")'
    source += '\nU = {"exp": 1, "log": 2}\nV = {"window": 1, "reshape": 2}'
    assert lists_of_ops(source) == {"X", "Y", "U"}


@pytest.mark.parametrize("source", ["entry.family == 'unary'", "t.family_of(n)", "t.families['unary']"])
def test_what_asks_for_a_family(source: str) -> None:
    assert families_in(f"def f(entry, t, n): return {source}") == {"f"}


def test_atomic_destinations_are_those_of_the_table() -> None:
    from pypto_tmpl.ir.verifier.outputs import _DESTINATIONS

    atomic = {name: TABLE.facts(name).written[0] for name in TABLE if "atomic" in TABLE[name].kwarg_names}
    assert atomic == _DESTINATIONS


def test_float_keywords_are_those_of_the_table() -> None:
    from pypto_tmpl.ir.attrs import FLOAT_KEYWORDS

    floats = {(name, kwarg.name) for name in TABLE for kwarg in TABLE[name].kwargs if kwarg.type == "float"}
    assert floats == FLOAT_KEYWORDS
