"""The main job in one go: a kernel, the program that it became, and that its result agrees with the golden.

    python examples/demo.py [PROGRAM] [STAGE]

PROGRAM is a program of tests/corpus, STAGE part of a dump's file name: by default a softmax after all passes.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpus_check import compare_with_golden, load_program, tolerance  # noqa: E402

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.codegen.layout import program_part  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402


def main(name: str = "softmax_rows", stage: str = "ClassifyIterArgCarry") -> int:
    corpus = ROOT / "tests" / "corpus"
    dumps = sorted((corpus / "dumps" / name / "Ascend910B").glob(f"*{stage}*.msgpack"))
    if not dumps:
        print(f"no dump of {name!r} matches {stage!r}; programs: tests/corpus/programs", file=sys.stderr)
        return 2
    source = corpus / "programs" / f"{name}.py"
    print(f"# The kernel, as it was written: {source.relative_to(ROOT)}\n")
    print(kernel_source(source.read_text(encoding="utf-8")))

    script = torch_codegen(ir.deserialize_from_file(str(dumps[0])), format=True)
    print(f"\n# What it has become: {dumps[0].relative_to(ROOT)}\n")
    print(program_part(script))

    program = load_program(source)
    namespace: dict = {}
    exec(compile(script, f"<{name} {dumps[0].stem}>", "exec"), namespace)
    difference = compare_with_golden(program, namespace[program.entry])
    if difference:
        print(f"# {program.entry}(...) ran and DIFFERS from the golden: {difference}")
        return 1
    inputs = program.make_inputs()
    for output in program.outputs:
        limits = tolerance(inputs[output].dtype)
        print(f"# {program.entry}(...) ran: {output!r} agrees with the golden within {limits}.")
    return 0


def kernel_source(text: str) -> str:
    """The definitions of a file that are in PyPTO's language: those with decorators."""
    found = [
        "\n".join(text.splitlines()[node.decorator_list[0].lineno - 1 : node.end_lineno])
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.decorator_list
    ]
    return "\n\n\n".join(found)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
