"""Reading the dumps that commands take."""

from __future__ import annotations

import ast
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


class DumpError(PyptoTmplError, ValueError):
    """A file is no dump that can be read."""

    slug = "dump"


def read_dump(path: Path, name: str | None = None) -> ir.Program | ir.Function:
    """The program or function of a text dump (``.py``) or a binary one (``.msgpack``).

    A ``.py`` file with more in it than a dump has, such as other imports, is a kernel file: it is run. Of
    what it defines ``name`` chooses one.
    Raises: DumpError for another kind of file; what the readers raise for a broken one; KernelFileError.
    """
    if not path.is_file():
        what = f"{str(path)!r} is no file" if path.exists() else f"there is no file {str(path)!r}"
        raise DumpError(what)
    if path.suffix == ".msgpack":
        node = ir.deserialize_from_file(str(path))
    elif path.suffix == ".py":
        node = _of_text(path, name)
    else:
        raise DumpError(f"{path.name!r} is no dump that can be read", notes=["dumps: *.py, *.msgpack"])
    if not isinstance(node, ir.Program | ir.Function):
        raise DumpError(f"{path.name!r} holds a {type(node).__name__}, not a program or function")
    return node


def _of_text(path: Path, name: str | None) -> ir.IRNode:
    from pypto_tmpl import language
    from pypto_tmpl.cli.kernel_files import program_of

    if name is not None:
        return program_of(path, name)
    try:
        return language.loads(str(path))
    except (language.UnsupportedFeatureError, language.ProgramCountError) as error:
        if not _has_more_than_a_dump(path):
            raise
        try:
            return program_of(path)
        except PyptoTmplError as found:
            found.notes += (f"nor can it be read without being run: {str(error).splitlines()[0]}",)
            raise


def _has_more_than_a_dump(path: Path) -> bool:
    """Whether a text imports other modules, or has statements that no dump has on its level."""
    from pypto_tmpl.language.module import HARMLESS_IMPORTS

    tree = ast.parse(path.read_bytes())
    roots: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    dump_like = ast.Import | ast.ImportFrom | ast.ClassDef | ast.Assign | ast.AnnAssign | ast.Expr
    plain = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    others = [node for node in tree.body if not isinstance(node, dump_like | ast.FunctionDef)]
    return bool(roots - HARMLESS_IMPORTS or plain or others)
