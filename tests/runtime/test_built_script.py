"""What a build keeps of its script: whoever runs it emits nothing again, and knows as much."""

import json

import pytest
import torch
from corpus_check import default_corpus, find_dumps
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import formatted
from pypto_tmpl.codegen.script import ScriptBuilder, generator
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.kept_record import kept_record, record_path, record_text
from pypto_tmpl.runtime import RunConfig, execute_compiled


@pytest.fixture
def emitted(monkeypatch):
    """The titles of the scripts that are emitted."""
    titles = []
    build = ScriptBuilder.build

    def counted(self, mode):
        titles.append(self.title)
        return build(self, mode)

    monkeypatch.setattr(ScriptBuilder, "build", counted)
    return titles


def compiled(program, folder, **options):
    return CompiledProgram(compile_program(program, folder, compile_options(options)))


def numbers():
    return torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)


def test_a_build_that_records_is_emitted_once(emitted, tmp_path):
    made = compiled(kernels.diamond(), tmp_path)
    edges = [("grow", "grow")] * 2 + [("grow", "join")] * 2
    for run in (
        lambda: made(*numbers(), config=RunConfig(enable_dep_gen=True)),
        lambda: execute_compiled(tmp_path, numbers(), enable_dep_gen=True),
    ):
        run()
        found = json.loads((tmp_path / "dfx_outputs/deps.json").read_text())
        names = {task["task_id"]: task["name"] for task in found["tasks"]}
        assert [(names[edge["pred"]], names[edge["succ"]]) for edge in found["edges"]] == edges
    assert emitted == ["Diamond"]


def test_a_build_that_fails_is_emitted_once(emitted, tmp_path):
    made = compiled(kernels.dynamic_sum(), tmp_path)
    args = [torch.ones(3), torch.ones(2), torch.zeros(3)]
    for run in (lambda: made(*args), lambda: execute_compiled(tmp_path, args)):
        with pytest.raises(RuntimeError, match="must match the size") as caught:
            run()
        assert caught.value.__notes__[-1] == "  source: dynamicsum.py:12"
    assert emitted == ["DynamicSum"]


def test_source_lines_are_known_without_dumps(tmp_path):
    compiled(kernels.dynamic_sum(), tmp_path, dump_passes=False)
    with pytest.raises(RuntimeError) as caught:
        execute_compiled(tmp_path, [torch.ones(3), torch.ones(2), torch.zeros(3)])
    assert caught.value.__notes__[-1] == "  source: dynamicsum.py:12"


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_text("[]")])
def test_a_record_that_is_gone_is_made_again(emitted, tmp_path, spoil):
    compiled(kernels.dynamic_sum(), tmp_path)
    spoil(record_path(tmp_path / "torch/main.py"))
    with pytest.raises(RuntimeError) as caught:
        execute_compiled(tmp_path, [torch.ones(3), torch.ones(2), torch.zeros(3)])
    assert caught.value.__notes__[-1] == "  source: dynamicsum.py:12"
    assert len(emitted) > 1


def test_a_record_counts_for_its_text_alone(tmp_path):
    script = generator().script(kernels.diamond())
    path = tmp_path / "main.py"
    assert kept_record(path, script.text) is None
    record_path(path).write_text(record_text(script, functions_of(kernels.diamond())))
    assert kept_record(path, script.text + "#\n") is None
    assert kept_record(path, script.text) is not None


def outlined(script):
    """All that a record tells; of nodes their text, as they come from different copies of a program."""
    print_ = ir.python_print
    return {
        "text": script.text,
        "names": dict(script.names),
        "functions": script.functions,
        "helpers": script.helpers,
        "program_line": script.program_line,
        "sources": dict(script.sources),
        "statements": [(line, print_(stmt)) for line, stmt in sorted(script.statements.items())],
        "heads": sorted((line, print_(stmt)) for stmt, line in script.heads.items()),
        "notes": sorted((print_(stmt), repr(note)) for stmt, note in script.notes.items()),
    }


@pytest.mark.corpus
@pytest.mark.parametrize("dump", find_dumps(default_corpus(), ".msgpack")[::9], ids=str)
def test_a_kept_record_tells_what_the_emitter_did(dump, tmp_path):
    node, copy = (ir.deserialize_from_file(str(dump.path)) for _ in range(2))
    script = formatted(generator().script(node, takes_notes=True))
    path = tmp_path / "main.py"
    record_path(path).write_text(record_text(script, functions_of(node)))
    found = kept_record(path, script.text, functions_of(copy))
    assert outlined(found) == outlined(script)
