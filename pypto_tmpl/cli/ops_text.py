"""An op of the table in words: state, signature, region rule, and the text of its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pypto_tmpl.ops import OpEntry, OpTable


def state(entry: OpEntry) -> str:
    """How the op is emitted: executable, no-op or refused."""
    if entry.refused is not None:
        return "refused"
    return "no-op" if entry.is_noop else "executable"


def signature(entry: OpEntry) -> str:
    """The op's operands and keywords, written like a Python signature."""
    parts = []
    for operand in entry.operands:
        kinds = " | ".join(operand.kinds)
        parts.append(f"{operand.name}: {kinds}{' = None' if operand.optional else ''}")
    if entry.kwargs:
        parts.append("*")
    for kwarg in entry.kwargs:
        default = f" = {kwarg.default!r}" if kwarg.has_default else "" if kwarg.required else " = None"
        parts.append(f"{kwarg.name}: {kwarg.type}{default}")
    return f"{entry.name}({', '.join(parts)})"


def pto(entry: OpEntry) -> str | None:
    """How the op becomes ``.pto`` text: the operation, and the macro where that is not the common form's."""
    spec = entry.pto_spec
    if spec is None:
        return None
    parts = [spec.op] if spec.op else []
    parts += [f"macro {spec.macro}"] if spec.macro != "compute" else []
    if spec.into is not None:
        parts.append(f"into {spec.into}{'' if spec.shares == 'always' else ' where they share storage'}")
    parts += [f"on {', '.join(spec.backends)} only"] if spec.backends else []
    return ", ".join(parts)


def layout(entry: OpEntry) -> str | None:
    """How kernels need the tiles of the op to lie, where they need that at all."""
    return "row by row" if entry.row_major else None


def orchestration(entry: OpEntry) -> str | None:
    """How the op becomes C++ in orchestration code."""
    return None if entry.orchestration is None else f"macro {entry.orchestration}"


def driver(entry: OpEntry) -> str | None:
    """How the op becomes Python in the driver of several chips."""
    return None if entry.driver is None else f"macro {entry.driver}"


def region(entry: OpEntry) -> str | None:
    """The rule for the result's valid region, with its meaning."""
    from pypto_tmpl.ops.typing.words import VALID_RULES, carries_region_of, resolve_result

    rule = resolve_result(entry).valid
    if carries_region_of(entry) is not None:
        return f"that of operand {rule}"
    meaning = VALID_RULES.get(rule or "")
    return f"{rule}: {meaning}" if meaning else rule


def sample_texts(
    table: OpTable, entry: OpEntry, template_dirs: Sequence[Path] | None
) -> Iterator[tuple[str, str]]:
    """Each sample as ``name=value, ...``, and the expression emitted for it."""
    from pypto_tmpl.codegen.environment import OpMacros, create_environment
    from pypto_tmpl.codegen.samples import emit_sample

    macros = OpMacros(table, create_environment(template_dirs))
    for sample in entry.samples:
        given = ", ".join(f"{name}={value}" for name, value in sample.items())
        yield given, emit_sample(macros, entry, sample)
