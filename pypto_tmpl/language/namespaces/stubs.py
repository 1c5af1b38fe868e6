"""The ``.pyi`` files of the op namespaces, from the op table, for editors and type checkers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType

from pypto_tmpl.generated import is_made_of_table, write_generated
from pypto_tmpl.language.mask_patterns import MaskPattern
from pypto_tmpl.language.namespaces.objects import names_in, user_forms
from pypto_tmpl.ops import KwargSpec, resolve_result
from pypto_tmpl.ops.calls.describe import default_text
from pypto_tmpl.ops.calls.overloads import Form
from pypto_tmpl.ops.calls.scalars import SCALAR_PARAMETERS
from pypto_tmpl.ops.signatures import Parameter, SameAs
from pypto_tmpl.ops.vocabulary import HANDLES

MODULES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unified": ("pl",),
        "tensor": ("pl", "tensor"),
        "tile": ("pl", "tile"),
        "system": ("pl", "system"),
        "array": ("pl", "array"),
        "prefetch": ("pl", "prefetch"),
        "distributed": ("pld",),
        "distributed_tensor": ("pld", "tensor"),
        "distributed_tile": ("pld", "tile"),
        "distributed_system": ("pld", "system"),
    }
)
_WIDTH = 110
_HEAD = "# Made from the op table by `pypto-tmpl ops stubs --write`.\n"
_SOURCES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "collections.abc": ("Sequence",),
        "enum": ("Enum", "IntEnum"),
        "typing": ("Any", "TypeAlias", "overload"),
        "pypto_tmpl.ir": ("DataType", "MemorySpace", "PadValue", "TensorLayout", "TileLayout"),
        "pypto_tmpl.language.annotations": (
            "Array",
            "AsyncEvent",
            "AsyncSession",
            "CommCtx",
            "DistributedTensor",
            "DynVar",
            "PrefetchAsyncContext",
            "Ptr",
            "Scalar",
            "Tensor",
            "Tile",
        ),
    }  # fmt: skip
)
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "_Tensor": "Tensor | DistributedTensor",
        "_Scalar": "int | float | Scalar | DynVar | MemorySpace",
        "_Extents": "Sequence[int | Scalar | DynVar]",
        "_Handle": " | ".join(HANDLES),
    }
)
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_OPERANDS: Mapping[str, str] = MappingProxyType(
    {
        "tensor": "_Tensor",
        "tile": "Tile",
        "scalar": "_Scalar",
        "tuple": "_Extents",
        "ptr": "Ptr",
        "array": "Array",
        "handle": "_Handle",
        "any": "Any",
    }  # fmt: skip
)
_RESULTS: Mapping[str, str] = MappingProxyType(
    {
        "tensor": "Tensor",
        "tile": "Tile",
        "distributed_tensor": "DistributedTensor",
        "scalar": "Any",
        "ptr": "Ptr",
        "array": "Array",
        "none": "None",
        "same": "Any",
    }  # fmt: skip
)
_NUMBERS: Mapping[str, str] = MappingProxyType({"float": "float", "bool": "bool", "str": "str"})


def stub_texts() -> dict[Path, str]:
    """The text of every stub file by its path."""
    folder = Path(__file__).parent
    return {folder / f"{module}.pyi": _module_text(module) for module in MODULES}


def write_stubs() -> list[Path]:
    """Bring the stub files up to date; yields those that changed."""
    stale = stale_stubs()
    for path in stale:
        write_generated(path, stub_texts()[path], is_made_of_table)
    return stale


def stale_stubs() -> list[Path]:
    """The stub files that are missing or not those of the op table."""
    return [
        path
        for path, text in stub_texts().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def _module_text(module: str) -> str:
    namespace = MODULES[module]
    body = _mask_patterns() if module == "tile" else ""
    for name in sorted(names_in(namespace)):
        body += "\n" + "\n".join(_function(namespace, name)) + "\n"
    code = re.sub(r'"""[^"]*"""', "", body)
    aliases = "".join(f"{name}: TypeAlias = {text}\n" for name, text in _ALIASES.items() if name in code)
    used = {*_NAME.findall(code + aliases)}
    imports = "\n".join(line for source in _SOURCES for line in _imports(source, used)).lstrip()
    return "\n\n".join(part for part in (_HEAD + imports, aliases) if part) + body


def _mask_patterns() -> str:
    members = "".join(f"    {pattern.name} = {pattern.value}\n" for pattern in MaskPattern)
    return f"\nclass {MaskPattern.__name__}(IntEnum):\n{members}"


def _imports(source: str, used: set[str]) -> Iterator[str]:
    if source == "pypto_tmpl.ir":
        yield ""  # the project's own modules stand apart
    names = [name for name in _SOURCES[source] if name in used]
    if not names:
        return
    line = f"from {source} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"from {source} import ("
    yield from (f"    {name}," for name in names)
    yield ")"


def _function(namespace: tuple[str, ...], name: str) -> Iterator[str]:
    forms = user_forms((*namespace, name))
    heads = [_signature_text(name, form) for form in forms]
    if namespace == ("pl",) and name in SCALAR_PARAMETERS:
        heads.append(_scalar_text(name))
    heads = list(dict.fromkeys(heads))
    for place, head in enumerate(heads):
        if place:
            yield ""
        if len(heads) > 1:
            yield "@overload"
        summary = forms[place].entry.summary if place < len(forms) else "On scalars: a scalar expression."
        yield f"{head}:"
        yield from _docstring(summary)


def _docstring(summary: str) -> Iterator[str]:
    text = " ".join(summary.split()).replace("\\", "\\\\")
    lines = wrap(text, _WIDTH - 10)
    if len(lines) == 1:
        yield f'    """{lines[0]}"""'
        return
    yield f'    """{lines[0]}'
    yield from (f"    {line}" for line in lines[1:])
    yield '    """'


def _scalar_text(name: str) -> str:
    if name == "cast":
        return "def cast(input: _Scalar, target_type: DataType, mode: int | str = ...) -> Any"
    return f"def {name}(lhs: _Scalar, rhs: _Scalar) -> Any"


def _signature_text(name: str, form: Form) -> str:
    """The head of one form, in one line if it fits and a parameter a line if not."""
    parameters: list[str] = []
    for parameter in form.signature.parameters:
        if parameter.keyword_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(_parameter(form, parameter))
    result = _result(form)
    line = f"def {name}({', '.join(parameters)}) -> {result}"
    if len(line) < _WIDTH:
        return line
    body = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"def {name}(\n{body}) -> {result}"


def _parameter(form: Form, parameter: Parameter) -> str:
    operand, keyword = form.operand_spec(parameter.name), form.specs.get(parameter.name)
    if operand is not None:
        kinds = list(operand.kinds)
        if parameter.name in form.call.wraps:
            kinds.append("scalar")
        if parameter.name == form.call.counted:
            kinds.append("tuple")
        type_ = " | ".join(_OPERANDS[kind] for kind in kinds)
    elif keyword is not None:
        type_ = _keyword(keyword)
    else:
        type_ = _STATED.get(parameter.name, "bool")
    name = form.shown.get(parameter.name, parameter.name)
    if parameter.required:
        return f"{name}: {type_}"
    if parameter.default is None:
        return f"{name}: {type_} | None = None"
    is_plain = isinstance(parameter.default, (bool, int, float))
    default = default_text(parameter) if is_plain and not isinstance(parameter.default, SameAs) else "..."
    optional = " | None" if isinstance(parameter.default, SameAs) else ""
    return f"{name}: {type_}{optional} = {default}"


_STATED: Mapping[str, str] = MappingProxyType(
    {"shape": "_Extents", "dtype": "DataType", "out_dtype": "DataType", "deps": "Sequence[Any]"}
)


def _keyword(keyword: KwargSpec) -> str:
    if keyword.values:
        return "int | str | Enum"
    if keyword.type == "int":
        return "int | Enum"
    if keyword.type == "PadValue":
        return "PadValue | float"
    return _NUMBERS.get(keyword.type, keyword.type)


def _result(form: Form) -> str:
    spec = resolve_result(form.entry)
    kind = spec.kind or form.entry.namespace.rpartition(".")[2]
    if kind == "tuple":
        items = [_RESULTS[item.kind or ""] for item in spec.items]
        return f"tuple[{', '.join(items)}]"
    if kind == "handle":
        return spec.handle or "Any"
    return _RESULTS[kind]
