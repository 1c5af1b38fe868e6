"""Have MLIR itself parse and verify ``.pto`` texts.

    python3.12 tests/streams/mlir_check.py FOLDER

The dialect ``pto`` is in no public MLIR: its operations are written in MLIR's generic form, with the types
that their operands were defined with, and pass as unregistered. What MLIR then checks is everything else:
that values are defined before they are used, regions, the operations of func, arith, scf and math. That the
operands of ``pto`` operations are printed with the types of their definitions is checked here. Needs the
package ``mlir`` of the wheel ptoas. Prints a line for each complaint, and how many of the texts pass.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

VALUE = r"%[\w.$]+"
LOCATION = re.compile(r' loc\("(?:[^"\\]|\\.)*":\d+:\d+\)')
GROUP = re.compile(r"\b(?:ins|outs)\((?P<values>.*?) : (?P<types>.*?)\)(?= outs| \{|$)")
COMPARISONS = ("arith.cmpi", "arith.cmpf")
VIEWS = ("pto.partition_view", "pto.subview", "pto.treshape")


def parts(text: str) -> list[str]:
    """What commas separate, those inside of brackets not counted."""
    found, depth = [""], 0
    for char in text:
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [part.strip() for part in found if part.strip()]


class Converter:
    """Turns the lines of one text into MLIR's generic form where they are of the dialect ``pto``."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}
        self.complaints: list[str] = []

    def text(self, source: str) -> str:
        plain = re.sub(r"\n\s+\(", " (", LOCATION.sub("", source))
        return "\n".join(self._line(line) for line in plain.splitlines()) + "\n"

    def _line(self, line: str) -> str:
        head, sign, body = line.strip().partition(" = ")
        names = re.findall(VALUE, head) if sign and re.fullmatch(rf"{VALUE}(, {VALUE})*", head) else []
        body = body if names else line.strip()
        op = re.match(r"[a-z]+\.[\w.]+", body)
        name = op.group() if op else ""
        if name == "func.func":
            self.types = {}
        if name.startswith("pto."):
            return line[: len(line) - len(line.lstrip())] + self._generic(names, name, body[len(name) :])
        self.types.update(self._defined(names, name, body))
        return line

    def _defined(self, names: list[str], op: str, body: str) -> Iterator[tuple[str, str]]:
        """The values that a line of another dialect defines, with their types."""
        if op == "func.func":
            signature = body[body.index("(") + 1 :]
            for part in parts(signature[: signature.rindex(")")]):
                name, _, type_ = part.partition(": ")
                yield name, type_.partition(" {")[0]
        elif body.startswith("^"):
            yield from re.findall(rf"({VALUE}) : (\w+)", body)
        elif op == "scf.for":
            yield re.findall(VALUE, body)[0], "index"
            yield from self._carried(names, re.search(r"iter_args\((.*)\) -> \((.*)\)", body))
        elif op == "scf.while":
            carried = re.search(r"while \((.*?)\) : \(.*?\) -> \((.*?)\)", body)
            yield from self._carried(names, carried)
        elif op == "scf.if" and names:
            yield from zip(names, parts(body[body.index("-> (") + 4 : body.rindex(")")]), strict=True)
        elif names:
            last = body.rsplit(" to ", 1)[-1] if " to " in body else body.rsplit(" : ", 1)[-1]
            yield names[0], "i1" if op in COMPARISONS else last

    def _carried(self, names: list[str], found: re.Match[str] | None) -> Iterator[tuple[str, str]]:
        if found is not None:
            types = parts(found.group(2))
            carries = [part.partition(" = ")[0] for part in parts(found.group(1))]
            yield from zip(carries, types, strict=True)
            yield from zip(names, types, strict=True)

    def _generic(self, names: list[str], op: str, rest: str) -> str:
        values = re.findall(VALUE, rest)
        for value in values:
            if value not in self.types:
                self.complaints.append(f"{value} is not defined: {op}{rest}")
        for group in GROUP.finditer(rest):
            self._check(re.findall(VALUE, group["values"]), parts(group["types"]), op + rest)
        if op in VIEWS:
            self._check(values[:1], [rest.partition(" : ")[2].partition(" -> ")[0]], op + rest)
        result = rest.rsplit(" -> " if " -> " in rest else " : ", 1)[-1] if names else ""
        result = result if result.startswith(("!", "i", "f", "b", "u")) else f"!pto.ptr{result}" * bool(names)
        self.types.update((name, result) for name in names)
        types = ", ".join(self.types.get(value, "none") for value in values)
        bound = f"{names[0]} = " if names else ""
        return f'{bound}"{op}"({", ".join(values)}) : ({types}) -> ({result})'

    def _check(self, values: list[str], types: list[str], line: str) -> None:
        types = [type_ for type_ in types if not type_.startswith('"')]
        if len(values) != len(types):
            self.complaints.append(f"{len(values)} operands, {len(types)} types: {line}")
        for value, printed in zip(values, types, strict=False):
            if self.types.get(value) != printed:
                self.complaints.append(f"{value} is {self.types.get(value)}, printed as {printed}: {line}")


def complaints(source: str) -> list[str]:
    """What is wrong with a text."""
    from mlir.ir import Context, MLIRError, Module

    converter = Converter()
    text = converter.text(source)
    with Context() as context:
        context.allow_unregistered_dialects = True
        try:
            Module.parse(text).operation.verify()
        except MLIRError as error:
            return [*converter.complaints, str(error)]
    return converter.complaints


def main(folder: Path) -> int:
    files = sorted(folder.rglob("*.pto"))
    wrong = {path: found for path in files if (found := complaints(path.read_text()))}
    for path, found in wrong.items():
        print(f"{path.relative_to(folder)}: {' '.join(found[0].split())}")
    print(f"{len(files) - len(wrong)}/{len(files)}")
    return int(bool(wrong) or not files)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
