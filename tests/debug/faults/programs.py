"""Programs of the corpus: their dumps, their inputs and golden outputs, and running a stage."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from corpus_check import Tensors, default_corpus, load_program, prepared_inputs

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.codegen.options import variable_of
from pypto_tmpl.compare.tensors import Rules, compare_tensors
from pypto_tmpl.debug import ScriptError, Stage, find_stages
from pypto_tmpl.debug.stages.dumps import StageContent
from pypto_tmpl.debug.stages.preparation import Request, prepare
from pypto_tmpl.execution.run import run_entry

BACKEND = "Ascend910B"


@dataclass(frozen=True, slots=True)
class CorpusProgram:
    """A program with its stages in pass order, its arguments, and what it is to compute from them."""

    name: str
    entry: str
    stages: tuple[Stage, ...]
    inputs: Tensors
    expected: Tensors

    def outcome(self, stage: str, text: str, options: Mapping[str, int]) -> str:
        """How the outputs of a stage differ from golden beyond validation's tolerance, or what it raises.

        Empty for a stage that is right. Raises PyptoTmplError for a text of which no script can be made.
        """
        content = StageContent(stage, f"{stage}.py", text.encode(), "", None)
        with script_options({**options, "schedule_seed": 0}):  # lanes that race do so in one order
            prepared = prepare(content, Request(frozenset(self.inputs), self.entry))
        try:
            got = run_entry(prepared.script, prepared.name, prepared.entry, self.inputs, self.expected)
        except ScriptError as error:
            return f"raises {error.what.splitlines()[0]}"
        for name, wanted in self.expected.items():
            verdict = compare_tensors(name, got[name], wanted, Rules())
            if not verdict.passed:
                return f"{name}: max_abs_diff {verdict.max_abs_diff:.3g}"
        return ""


@contextmanager
def script_options(options: Mapping[str, int]) -> Iterator[None]:
    """Options of scripts emitted meanwhile, in worker processes that start meanwhile too."""
    variables = {variable_of(name): str(int(value)) for name, value in options.items()}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@cache
def corpus_program(name: str) -> CorpusProgram:
    root = default_corpus()
    program = load_program(root / "programs" / f"{name}.py")
    inputs = prepared_inputs(program)
    golden: dict[str, torch.Tensor] = {key: tensor.clone() for key, tensor in inputs.items()}
    program.golden(golden)
    stages = tuple(find_stages(root / "dumps" / name / BACKEND))
    return CorpusProgram(name, program.entry, stages, inputs, {key: golden[key] for key in program.outputs})


@cache
def corpus_programs() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in (default_corpus() / "dumps").glob(f"*/{BACKEND}")))


@cache
def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def read_stage(path: Path) -> ir.Program:
    """The program of a text dump."""
    node = pl.parse(read_text(path), path.name)
    assert isinstance(node, ir.Program)
    return node
