"""docs/review.md: what it shows is real."""

from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import program_part
from pypto_tmpl.debug import torch_codegen

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/review.md").read_text()
DUMP = ROOT / "tests/corpus/dumps/mixed_c2v_up_down/Ascend910B/22_after_ExpandMixedKernel.msgpack"


def blocks():
    return [part.partition("```")[0].splitlines() for part in PAGE.split("```python\n")[1:]]


def is_part_of(shown, lines):
    """Whether all lines that are shown are there, in the same order."""
    rest = iter(lines)
    return all(line in rest for line in shown if line)


def test_the_kernel_is_the_one_of_the_corpus():
    source = (ROOT / "tests/corpus/programs/mixed_c2v_up_down.py").read_text().splitlines()
    assert is_part_of([line.strip() for line in blocks()[0]], [line.strip() for line in source])


def test_the_script_is_the_one_that_is_emitted():
    program = program_part(torch_codegen(ir.deserialize_from_file(str(DUMP)), format=True, comments=True))
    assert is_part_of(blocks()[1], program.splitlines())


def test_other_pages_and_files_that_it_names_are_there():
    for part in PAGE.split("](")[1:]:
        link = part.partition(")")[0]
        assert link.startswith("#") or (ROOT / "docs" / link).exists(), link
