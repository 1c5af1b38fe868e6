"""The worked example of docs/debugging.md: its commands give the output that the page shows."""

import re
import shlex
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from corpus_check import load_program

from pypto_tmpl.cli import main

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "tests/corpus"
RIGHT, WRONG = "row_sum(t__tile_4, tmp_tile_3)", "row_sum(t__tile, tmp_tile_3)"
BAD_STAGES = ("46_after_MaterializeRuntimeScopes", "47_after_ClassifyIterArgCarry")


def sessions():
    """The commands of the section, each with the lines that follow it."""
    page = (ROOT / "docs/debugging.md").read_text()
    section = page[page.index("## A worked example") : page.index("## The first wrong statement")]
    for block in re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        for part in block.split("$ pypto-tmpl ")[1:]:
            command, _, shown = part.partition("\n")
            yield shlex.split(command), shown.splitlines()


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("passes_dump").mkdir()
    for path in sorted((CORPUS / "dumps/layer_norm_pipeline/Ascend910B").glob("*.py")):
        text = path.read_text()
        assert path.stem not in BAD_STAGES or text.count(RIGHT) == 1
        is_bad = path.stem in BAD_STAGES
        Path("passes_dump", path.name).write_text(text.replace(RIGHT, WRONG) if is_bad else text)
    program = load_program(CORPUS / "programs/layer_norm_pipeline.py")
    inputs = program.make_inputs()
    golden = {name: tensor.clone() for name, tensor in inputs.items()}
    program.golden(golden)
    for folder, tensors in (("in", inputs), ("out", {name: golden[name] for name in program.outputs})):
        Path(folder).mkdir()
        for name, tensor in tensors.items():
            torch.save(tensor, Path(folder, f"{name}.pt"))


def shows(shown, output):
    """Whether the lines of the page are those of the output, where `...` stands for any text or lines.

    Numbers of generated lines move with every change of a helper.
    """
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in shown
    )
    pattern = re.sub(r"line\\ \d+:", r"line\\ \\d+:", pattern)
    return re.fullmatch(pattern, output) is not None


def test_the_commands_give_what_the_page_shows(example):
    commands = list(sessions())
    assert [command[0] for command, _ in commands] == ["validate", "bisect", *["trace"] * 3, "validate"]
    for number, (command, shown) in enumerate(commands):
        if number == len(commands) - 1:
            path = Path("passes_dump", f"{BAD_STAGES[0]}.py")
            path.write_text(path.read_text().replace(WRONG, RIGHT))
        result = CliRunner().invoke(main, command)
        assert shows(shown, result.output), f"{command}:\n{result.output}"


def test_what_the_page_does_not_show_is_told_apart():
    assert shows(["a 1", "...", "c ... d"], "a 1\nx\ny\nc 3 4 d\n")
    assert not shows(["a 1"], "a 2\n")
    assert not shows(["a 1"], "a 1\nb\n")
    assert shows(["generated: line 7: x"], "generated: line 12: x\n")
