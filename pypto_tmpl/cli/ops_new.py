"""Stubs of new ops: an entry and a macro that are added to the files of a family, or begin them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ops import OpTable, load_table
from pypto_tmpl.ops.sources import template_files

_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
_FAMILY = re.compile(r"[a-z_][a-z0-9_]*")
_HEAD = "# yaml-language-server: $schema=../op_table.schema.json\nfamily: {family}\nops:\n"
_ENTRY = """\
  - name: {name}
    summary: To be written.
    operands:
      - {{name: {operand}, kind: {operand}}}
    result: {result}
    emit: {macro}
{pto}"""
_PTO = """\
    # pto: pto.{last}  # its .pto text, of the common form; without it kernels with the op have none
"""
_MACRO = """\
{{#- To be written: until then this name, which no operand has, stops generation here. -#}}
{{% macro {macro}(a, attr, emit) -%}}
{{{{ a.to_be_written }}}}
{{%- endmacro %}}
"""
_RESULTS = {
    "tile": "{dtype: tile, shape: tile, valid: tile, memory: Vec}",
    "tensor": "{dtype: tensor, shape: tensor, valid: tensor}",
}


class NewOpError(PyptoTmplError, ValueError):
    """A stub cannot be written."""

    slug = "new-op"


def write_stub(name: str, family: str, folder: Path, template_dirs: Sequence[Path]) -> tuple[Path, Path]:
    """Add an op to a family in ``folder``; what the files hold already stays as it is.

    Raises: NewOpError for a name that is taken or is none and a family that another folder has; FileError.
    """
    table = load_table(template_dirs)
    _check(name, family, folder, table, template_dirs)
    entry_path, macro_path = folder / f"ops/{family}.yaml", folder / f"ops/{family}.py.jinja"
    old = {path: path.read_bytes() if path.is_file() else b"" for path in (entry_path, macro_path)}
    namespace, _, last = name.rpartition(".")
    macro = _macro_name(last.lower(), namespace, old[macro_path].decode("utf-8-sig"))
    operand = namespace if namespace in _RESULTS else "scalar"
    pto = _PTO.format(last=last.lower()) if namespace == "tile" else ""
    entry = _ENTRY.format(
        name=name, operand=operand, macro=macro, result=_RESULTS.get(namespace, "none"), pto=pto
    )
    texts = {
        entry_path: _joined(old[entry_path] or _HEAD.format(family=family).encode(), entry),
        macro_path: _joined(old[macro_path], _MACRO.format(macro=macro), between=b"\n"),
    }
    written: list[Path] = []
    try:
        for path, data in texts.items():
            write_bytes(path, data, make_folders=True)
            written.append(path)
        load_table([*template_dirs])
    except BaseException:
        for path in written:
            if old[path]:
                write_bytes(path, old[path])
            else:
                path.unlink(missing_ok=True)
        raise
    return entry_path, macro_path


def _check(name: str, family: str, folder: Path, table: OpTable, template_dirs: Sequence[Path]) -> None:
    if not _NAME.fullmatch(name):
        raise NewOpError(f"{name!r} is no op name", notes=("a namespace and a name, such as tile.row_sum",))
    if not _FAMILY.fullmatch(family):
        raise NewOpError(f"{family!r} is no family name", notes=("lower-case letters, digits, underscores",))
    if name in table:
        note = f"{table[name].name} stands at {table.location(name)}"
        raise NewOpError(f"the op table has {name!r} already", notes=(note,))
    for suffix in (".yaml", ".py.jinja"):
        path = template_files(template_dirs, "ops", suffix).get(family)
        if path is not None and path.parent.parent != folder:
            note = f"{path} would be hidden by a file of the same name in {folder}; choose another family"
            raise NewOpError(f"the family {family!r} lies in another folder", notes=(note,))


def _macro_name(last: str, namespace: str, macros: str) -> str:
    taken = set(re.findall(r"macro\s+(\w+)", macros))
    candidates = (last, f"{namespace.replace('.', '_')}_{last}", f"emit_{last}")
    for candidate in candidates:
        if candidate not in taken and candidate != "noop":
            return candidate
    raise NewOpError(f"the family has macros {', '.join(candidates)} already")


def _joined(old: bytes, new: str, between: bytes = b"") -> bytes:
    """What stands there, unchanged, and the new text behind it, with the line ends of the old."""
    if not old:
        return new.encode()
    data = b"" if old.endswith((b"\n", b"\r")) else b"\n"
    data += between + new.encode()
    return old + (data.replace(b"\n", b"\r\n") if b"\r\n" in old else data)
