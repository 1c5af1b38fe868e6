"""The main job in one go: a dump becomes a script, the script runs, its result agrees with the golden.

    python examples/demo.py [PROGRAM] [STAGE]

PROGRAM is a program of tests/corpus, STAGE part of a dump's file name. By default a matrix product is
shown after ExpandMixedKernel: a cube kernel and two vector lanes that run concurrently.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpus_check import compare_with_golden, load_program, tolerance  # noqa: E402

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402


def main(name: str = "mixed_c2v_up_down", stage: str = "ExpandMixedKernel") -> int:
    corpus = ROOT / "tests" / "corpus"
    dumps = sorted((corpus / "dumps" / name / "Ascend910B").glob(f"*{stage}*.msgpack"))
    if not dumps:
        print(f"no dump of {name!r} matches {stage!r}; programs: tests/corpus/programs", file=sys.stderr)
        return 2
    script = torch_codegen(ir.deserialize_from_file(str(dumps[0])), check_shapes=True, format=True)
    print(script)

    program = load_program(corpus / "programs" / f"{name}.py")
    namespace: dict = {}
    exec(compile(script, f"<{name} {dumps[0].stem}>", "exec"), namespace)
    difference = compare_with_golden(program, namespace[program.entry])

    print(f"# {dumps[0].relative_to(ROOT)} became the {len(script.splitlines())} lines above.")
    if difference:
        print(f"# {program.entry}(...) ran and DIFFERS from the golden: {difference}")
        return 1
    inputs = program.make_inputs()
    for output in program.outputs:
        limits = tolerance(inputs[output].dtype)
        print(f"# {program.entry}(...) ran: {output!r} agrees with the golden within {limits}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
