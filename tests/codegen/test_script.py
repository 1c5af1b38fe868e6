"""The script as a whole: the same bytes everywhere, tidy text, checks, and the helpers it carries."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import black
import pytest
import torch
from codegen.builders import (
    AIV,
    FP32,
    InCore,
    U,
    assign,
    binary,
    call,
    carry,
    evaluate,
    for_loop,
    function,
    functions_in,
    if_,
    load,
    numbers,
    op,
    program,
    program_part,
    ret,
    run,
    scalar,
    script,
    store,
    tensor,
    tensor_type,
    tile,
    yields,
)
from codegen.kernels import cube, group, vector

from pypto_tmpl import ir
from pypto_tmpl.codegen.preamble import load_preamble
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.debug import emit_script, torch_codegen
from pypto_tmpl.preamble import template_root

ROOT = Path(__file__).resolve().parents[2]
i, n = scalar("i"), scalar("n")
x, out = tensor("x", [4, 8]), tensor("out", [4, 8])


def varied_program() -> ir.Program:
    """Something of everything: three groups, loops, branches, regions, lanes, comments, odd names."""
    functions = []
    for name in ("b", "a", "c"):
        functions += [cube(f"{name}_aic"), vector(f"{name}_aiv"), group(name, f"{name}_aic", f"{name}_aiv")]
    t, u = tile("t", [4, 8], valid=[n, 8]), tile("class", [4, 8])
    acc, result, branch = carry("acc", 0), scalar("result"), scalar("branch")
    where = if_(ir.gt(i, 1), yields(acc + 1), yields(acc), [branch])
    ir.attach_leading_comments(where, ["counts the rounds after the second"])
    kernel = function(
        "kernel",
        [x, out, n],
        assign(t, load(x, [0, 0], [4, 8], [n, 8])),
        assign(u, load(x, [0, 0], [4, 8])),
        for_loop(i, 5, where, yields(branch), carries=[acc], results=[result]),
        ir.SplitAivScopeStmt(
            ir.SplitMode.NONE, body=assign(out, store(binary("tile.muls", u, 0.5), [0, 0], out)), span=U
        ),
        evaluate(store(t, [0, 0], out)),
        ret(out, result),
        type=InCore,
    )
    calls = [evaluate(call(name, [x, out], out.type)) for name in ("c", "a", "b")]
    entry = function("entry", [x, out], *calls, evaluate(call("kernel", [x, out, 2])), ret(out))
    return program(*functions, kernel, entry, name="Varied")


def expected_outcome() -> torch.Tensor:
    return torch.cat([numbers(4, 8)[:2], numbers(4, 8)[2:] / 2])


def outcome(text: str) -> torch.Tensor:
    target = torch.full((4, 8), -1.0)
    assert run(text)["entry"](numbers(4, 8), target) is target
    return target


# The same bytes

EMIT = """
import sys
sys.path[:0] = {path!r}
{first}
from codegen.test_script import varied_program
from pypto_tmpl.debug import torch_codegen
sys.stdout.reconfigure(newline="", encoding="utf-8")
node = varied_program()
checked = {{"check_shapes": True}}
for options in ({{}}, checked, {{**checked, "format": True}}, {{"preamble": "full"}}):
    print(torch_codegen(node, **options), end="=" * 20)
"""


def emission_elsewhere(folder: Path, seed: str, first: str = "") -> subprocess.Popen[bytes]:
    code = EMIT.format(path=[str(ROOT / "tests"), str(ROOT)], first=first)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_the_same_bytes_under_any_seed_import_order_and_folder(tmp_path):
    """Another project's formatter settings lie in the working directory."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.black]\nline-length = 40\nskip-string-normalization = true\ntarget-version = ['py38']\n"
    )
    backwards = (
        "import pypto_tmpl.debug.torch_codegen, pypto_tmpl.codegen.script, pypto_tmpl.ops\n"
        "from pypto_tmpl.debug import torch_codegen\n"
        "from pypto_tmpl import ir\n"
        "S = ir.Span.unknown()\n"
        "for name in ('z', 'main', 'kernel'):\n"
        "    torch_codegen(ir.Function(name, [], [], ir.ReturnStmt(S), S), format=True)\n"
        "sys.modules.pop('pypto_tmpl.codegen.names')\n"
    )
    runs = [
        emission_elsewhere(ROOT, "0"),
        emission_elsewhere(tmp_path, "1", backwards),
        emission_elsewhere(tmp_path, "random", "import black, torch, jinja2"),
    ]
    outputs = []
    for process in runs:
        output, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
        outputs.append(output)
    assert b"def kernel" in outputs[0]
    assert b"\r" not in outputs[0]
    assert [number for number, output in enumerate(outputs) if output != outputs[0]] == []


def test_the_same_bytes_from_the_same_process():
    assert len({torch_codegen(varied_program(), check_shapes=True, format=True) for _ in range(3)}) == 1


def test_the_text_says_nothing_of_when_and_where():
    text = torch_codegen(varied_program(), check_shapes=True, preamble="full")
    for word in (str(ROOT), "/tmp", " at 0x", sys.version.split()[0], "2026"):
        assert word not in text
    assert os.uname().nodename not in re.findall(r"[\w.-]+", text)


# Format


def test_formatted_text_is_black_s():
    text = torch_codegen(varied_program(), check_shapes=True)
    mode = black.Mode(target_versions={black.TargetVersion.PY311}, line_length=100)
    assert torch_codegen(varied_program(), check_shapes=True, format=True) == black.format_str(
        text, mode=mode
    )


def by_black(text: str) -> str:
    return black.format_str(
        text, mode=black.Mode(target_versions={black.TargetVersion.PY311}, line_length=100)
    )


@pytest.mark.parametrize(
    "form",
    [
        {"preamble": "full"},
        {"preamble": "import"},
        {"trace": True},
        {"options": {"poison": True, "race_check": True}},
        {"trace": True, "options": {"poison": True}, "check_shapes": True},
    ],
)
def test_every_form_of_a_script_is_formatted_as_black_does_it(form):
    stores, idle = ret(store(x, [0, 0], out)), ret()
    for node in (
        varied_program(),
        function("main", [x, out], stores, type=InCore),
        function("main", [], idle, type=InCore),
    ):
        assert torch_codegen(node, format=True, **form) == by_black(torch_codegen(node, **form))


def test_helpers_of_users_are_formatted_too(tmp_path):
    own = tmp_path / "preamble"
    own.mkdir()
    source = (template_root() / "preamble" / "regions.py.jinja").read_text()
    (own / "regions.py.jinja").write_text(source.replace("return ", "return   "))
    text = torch_codegen(varied_program(), template_dirs=tmp_path)
    assert "return   " in text
    assert torch_codegen(varied_program(), template_dirs=tmp_path, format=True) == by_black(text)


def test_the_lines_of_a_formatted_script_are_known():
    node = varied_program()
    plain, script = (emit_script(node, check_shapes=True, format=format) for format in (False, True))
    defined = {stmt.name: stmt for stmt in ast.parse(script.text).body if isinstance(stmt, ast.FunctionDef)}
    for found in script.functions:
        stmt = defined[found.name]
        assert (found.first, found.last) == (stmt.lineno, stmt.end_lineno)
    starts = {stmt.lineno for stmt in ast.walk(ast.parse(script.text)) if isinstance(stmt, ast.stmt)}
    assert set(script.heads.values()) <= starts
    heads = [
        {stmt: one.lines[line - 1].split("(")[0] for stmt, line in one.heads.items()}
        for one in (plain, script)
    ]
    assert heads[0] == heads[1]


FORMS = [{}, {"format": True}, {"preamble": "full"}, {"preamble": "import"}, {"check_shapes": True}]


@pytest.mark.parametrize("options", FORMS)
def test_every_form_of_the_text_computes_the_same(options):
    assert torch.equal(outcome(torch_codegen(varied_program(), **options)), expected_outcome())


@pytest.mark.parametrize("check_shapes", [False, True])
@pytest.mark.parametrize("preamble", ["script", "import", "full"])
def test_unformatted_text_is_tidy(check_shapes, preamble):
    text = torch_codegen(varied_program(), check_shapes, preamble=preamble)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[ \t]\n", text)
    assert "\n\n\n\n" not in text
    assert "\t" not in text
    assert "\r" not in text
    assert text.startswith('"""Varied. ')


def test_two_blank_lines_around_functions():
    text = torch_codegen(varied_program())
    for name in functions_in(text):
        assert re.search(rf"(?<!\n)\n\n\ndef {name}\(", text), name


def test_a_title_that_would_end_the_docstring():
    for name in ('a"""b', "back\\", "two\nlines ", "end ", '"', "\ud800"):
        text = torch_codegen(program(function("f", [], ret(1)), name=name))
        assert run(text)["f"]() == 1
        text.encode()
        assert not re.search(r"[ \t]\n", text)


# Helpers


def test_a_script_carries_the_helpers_it_uses():
    t = tile("t", [4, 8])
    kernel = function(
        "main", [x, out], assign(t, load(x, [0, 0], [4, 8])), ret(store(t, [0, 0], out)), type=AIV
    )
    text = torch_codegen(kernel)
    windows = ["_overlap", "_note_edge", "_drop_edge", "_tile_load", "_tile_store"]
    assert functions_in(text) == ["main", *windows]
    assert re.findall(r"^import (\w+)$", text, re.MULTILINE) == ["torch"]
    assert "_tile_store_add" in torch_codegen(
        function(
            "main",
            [x, out],
            assign(t, load(x, [0, 0], [4, 8])),
            evaluate(op("tile.store", [t, [0, 0], out], out.type, atomic=1)),
        )
    )


def test_a_script_without_helpers():
    assert torch_codegen(function("f", [n], ret(n + 1))) == (
        '"""f. Emitted by pypto_tmpl: change the IR or a template, not this text."""\n\n'
        "import torch\n\n\n"
        "def f(n):\n"
        '    """Opaque function. In: n."""\n'
        "    return n + 1\n"
    )


def test_the_full_preamble_has_every_helper():
    text = torch_codegen(function("f", [n], ret(n + 1)), preamble="full")
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assigned = {
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert load_preamble().names <= defined | assigned
    assert run(text)["f"](1) == 2


def test_an_unknown_preamble_mode():
    with pytest.raises(ValueError, match="^preamble is one of 'script', 'import', 'full', got 'none'$"):
        torch_codegen(function("f", [], ret()), preamble="none")


# Checks


def checks_in(*body, params=(x, out), **options):
    text = torch_codegen(function("main", list(params), *body, **options), check_shapes=True)
    return re.findall(r"(_check_\w+\(.*\))$", program_part(text), re.MULTILINE)


def test_parameters_are_checked_for_their_dtype():
    tiles = tile("p", [2, 2], ir.DataType.BF16)
    assert checks_in(ret(), params=[x, n, tiles], type=InCore) == [
        '_check_dtype("x", x, torch.float32)',
        '_check_dtype("p", p, torch.bfloat16)',
    ]


def test_assigned_tensors_and_tiles_are_checked():
    rows = scalar("rows")
    source = tensor("source", [rows, 8])
    t, u, s = tile("t", [4, 8]), tensor("u", [rows, 8]), scalar("s")
    body = [
        assign(t, load(source, [0, 0], [4, 8])),
        assign(u, op("tensor.assemble", [source, source, [0, 0]], source.type)),
        assign(s, rows + 1),
    ]
    assert checks_in(*body, params=[source], type=InCore) == [
        '_check_dtype("source", source, torch.float32)',
        '_check_tensor("t", t, [4, 8], torch.float32)',
        '_check_tensor("u", u, [None, 8], torch.float32)',
    ]


def test_carries_and_results_of_loops_and_branches_are_not_checked():
    """Their declared types are not to be trusted."""
    a, r, p = ir.IterArg("a", tensor_type([99, 8]), x, U), tensor("r", [99, 8]), tensor("p", [99, 8])
    branch = if_(ir.gt(i, 0), yields(a), yields(x), [p])
    loop = for_loop(i, 2, branch, yields(p), carries=[a], results=[r])
    assert checks_in(loop, ret(r), type=InCore) == [
        '_check_dtype("x", x, torch.float32)',
        '_check_dtype("out", out, torch.float32)',
    ]
    entry = function("main", [x], loop, ret(r))
    source = numbers(4, 8)
    assert run(torch_codegen(entry, check_shapes=True))["main"](source) is source


def test_a_window_of_orchestration_may_be_clipped():
    part = tensor("part", [4, 8])
    cut = assign(part, op("tensor.slice", [x, [4, 8], [2, 0]], part.type))
    assert checks_in(cut, params=[x])[1:] == ['_check_tensor("part", part, [None, None], torch.float32)']
    assert checks_in(cut, params=[x], type=InCore)[1:] == [
        '_check_tensor("part", part, [4, 8], torch.float32)'
    ]


@pytest.mark.parametrize(
    ("declared", "error", "message"),
    [
        (
            tensor_type([4, 8], ir.DataType.BF16),
            TypeError,
            "t: got a tensor of torch.float32, expected torch.bfloat16",
        ),
        (tensor_type([5, 8]), ValueError, r"t: got shape \[4, 8\], expected \[5, 8\]"),
        (tensor_type([scalar("k"), 9]), ValueError, r"t: got shape \[4, 8\], expected \[any, 9\]"),
        (tensor_type([4, 8, 1]), ValueError, r"t: got shape \[4, 8\], expected \[4, 8, 1\]"),
        (tensor_type([4, 8]), None, ""),
        (tensor_type([scalar("k"), 8]), None, ""),
    ],
)
def test_a_wrong_value_fails_its_check(declared, error, message):
    t = ir.Var("t", declared, U)
    entry = function("main", [x], assign(t, x), ret(t))
    source = numbers(4, 8)
    assert run(torch_codegen(entry))["main"](source) is source
    checked = run(torch_codegen(entry, check_shapes=True))["main"]
    if error is None:
        assert checked(source) is source
    else:
        with pytest.raises(error, match=f"^{message}$"):
            checked(source)


def test_a_wrong_argument_fails_its_check():
    checked = run(torch_codegen(function("main", [x], ret(x)), check_shapes=True))["main"]
    with pytest.raises(TypeError, match="^x: got a tensor of torch.int32, expected torch.float32$"):
        checked(torch.zeros(4, 8, dtype=torch.int32))
    with pytest.raises(TypeError, match="^x: got int, expected a tensor of torch.float32$"):
        checked(3)
    with pytest.raises(ValueError, match=r"^x: got shape \[1, 1\], expected \[4, 8\]$"):
        checked(torch.zeros(1, 1))
    kernel = function("kernel", [x], ret(x), type=InCore)
    # Extents of a kernel's parameters are not checked: tiles at an edge are smaller.
    run(torch_codegen(kernel, check_shapes=True))["kernel"](torch.zeros(1, 1))


# Devices


def test_buffers_lie_where_the_arguments_do():
    a, b = tensor("a", [2]), tensor("b", [2])
    body = [assign(b, op("tensor.create", [[2]], b.type, dtype=FP32)), ret(b)]
    assert "torch.zeros([2], dtype=torch.float32, device=a.device)" in torch_codegen(
        function("f", [n, a], *body)
    )
    assert "torch.zeros([2], dtype=torch.float32)\n" in torch_codegen(function("f", [n], *body))
    found = script(function("f", [n, a], *body))["f"](1, torch.zeros(2, device="meta"))
    assert found.device.type == "meta"


# Templates of one's own


def test_own_templates_replace_the_project_s(tmp_path):
    folder = tmp_path / "script"
    folder.mkdir()
    original = (
        generator().environment.loader.get_source(generator().environment, "script/statements.py.jinja")
    )[0]
    (folder / "statements.py.jinja").write_text(
        original.replace('kind ~ " function"', '"A " ~ kind ~ ", mine"')
    )
    f = function("f", [n], ret(n))
    assert '"""A Opaque, mine. In: n."""' in torch_codegen(f, template_dirs=[tmp_path])
    assert '"""Opaque function. In: n."""' in torch_codegen(f)


def test_a_typo_in_a_script_template_names_its_line(tmp_path):
    folder = tmp_path / "script"
    folder.mkdir()
    source = generator().environment.loader.get_source(
        generator().environment, "script/expressions.py.jinja"
    )[0]
    (folder / "expressions.py.jinja").write_text(
        source.replace("{{ left }} + {{ right }}", "{{ left }} + {{ rihgt }}")
    )
    line = source[: source.index("{{ left }} + {{ right }}")].count("\n") + 1
    with pytest.raises(Exception, match="macro 'Add' fails: 'rihgt' is undefined") as caught:
        torch_codegen(function("f", [n], ret(n + 1)), template_dirs=[tmp_path])
    assert f"expressions.py.jinja:{line}" in str(caught.value)
    assert "did you mean 'right'?" in str(caught.value)


def test_the_program_of_these_tests_has_what_it_says():
    text = torch_codegen(varied_program())
    for part in ("_run_split_lanes", "# counts the rounds", "class_1 = ", "_GROUP_META.update", ", [n, 8])"):
        assert part in text
