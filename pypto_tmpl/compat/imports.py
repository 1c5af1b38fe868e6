"""Answering imports of PyPTO's modules with this project's, for one process."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import MappingProxyType, ModuleType

from pypto_tmpl.compat.spawned import leave_children, prepare_children
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.faces import FACES

# Every module that is answered, and by which. A name outside of this table is never made up.
ANSWERED: Mapping[str, str] = MappingProxyType(
    {
        "pypto": "pypto_tmpl",
        "pypto.arith": "pypto_tmpl.upstream.arith",
        "pypto.backend": "pypto_tmpl.backend",
        "pypto.backend.pto_backend": "pypto_tmpl.upstream.pto_backend",
        "pypto.compile_profiling": "pypto_tmpl.upstream.compile_profiling",
        "pypto.debug": "pypto_tmpl.debug",
        "pypto.debug.torch_codegen": "pypto_tmpl.upstream.torch_codegen",
        "pypto.ir": "pypto_tmpl.ir",
        "pypto.ir.compile": "pypto_tmpl.upstream.ir_compile",
        "pypto.ir.compiled_program": "pypto_tmpl.upstream.compiled_program",
        "pypto.ir.directions": "pypto_tmpl.ir.directions",
        "pypto.ir.distributed_compiled_program": "pypto_tmpl.compile.distributed",
        "pypto.ir.instruments": "pypto_tmpl.passes.round_trip",
        "pypto.ir.op": "pypto_tmpl.ir.op",
        "pypto.ir.op.array_ops": "pypto_tmpl.ir.op.array_ops",
        "pypto.ir.op.distributed": "pypto_tmpl.ir.op.distributed",
        "pypto.ir.op.distributed.system_ops": "pypto_tmpl.ir.op.distributed.system_ops",
        "pypto.ir.op.distributed.tensor_ops": "pypto_tmpl.ir.op.distributed.tensor_ops",
        "pypto.ir.op.distributed.tile_ops": "pypto_tmpl.ir.op.distributed.tile_ops",
        "pypto.ir.op.prefetch_ops": "pypto_tmpl.ir.op.prefetch_ops",
        "pypto.ir.op.system_ops": "pypto_tmpl.ir.op.system_ops",
        "pypto.ir.op.tensor_ops": "pypto_tmpl.ir.op.tensor_ops",
        "pypto.ir.op.tile_ops": "pypto_tmpl.ir.op.tile_ops",
        "pypto.ir.pass_manager": "pypto_tmpl.ir.pass_manager",
        "pypto.ir.printer": "pypto_tmpl.ir.printer",
        "pypto.jit": "pypto_tmpl.language.jit",
        "pypto.language": "pypto_tmpl.language",
        "pypto.language.distributed": "pypto_tmpl.language.distributed",
        "pypto.language.distributed.op": "pypto_tmpl.language.distributed",
        "pypto.language.distributed.typing": "pypto_tmpl.language.annotations",
        "pypto.language.op": "pypto_tmpl.language",
        "pypto.language.parser": "pypto_tmpl.language.parser",
        "pypto.language.parser.diagnostics": "pypto_tmpl.language.diagnostics",
        "pypto.language.parser.diagnostics.error_codes": "pypto_tmpl.language.error_codes",
        "pypto.language.parser.diagnostics.exceptions": "pypto_tmpl.language.diagnostics",
        "pypto.language.parser.diagnostics.renderer": "pypto_tmpl.language.renderer",
        "pypto.language.typing": "pypto_tmpl.language.annotations",
        "pypto.passes": "pypto_tmpl.passes",
        "pypto.pypto_core": "pypto_tmpl.upstream.core",
        "pypto.pypto_core.arith": "pypto_tmpl.upstream.arith",
        "pypto.pypto_core.backend": "pypto_tmpl.backend",
        "pypto.pypto_core.codegen": "pypto_tmpl.upstream.codegen",
        "pypto.pypto_core.ir": "pypto_tmpl.ir",
        "pypto.pypto_core.passes": "pypto_tmpl.passes",
        "pypto.runtime": "pypto_tmpl.runtime",
        "pypto.runtime.bench": "pypto_tmpl.upstream.bench",
        "pypto.runtime.debug": "pypto_tmpl.upstream.runtime_debug",
        "pypto.runtime.debug.replay": "pypto_tmpl.upstream.replay",
        "pypto.runtime.device_tensor": "pypto_tmpl.upstream.device_tensor",
        "pypto.runtime.distributed_runner": "pypto_tmpl.upstream.distributed_runner",
        "pypto.runtime.execute_artifact": "pypto_tmpl.upstream.execute_artifact",
        "pypto.runtime.golden_writer": "pypto_tmpl.upstream.golden_writer",
        "pypto.runtime.runner": "pypto_tmpl.upstream.runner",
        "pypto.runtime.tensor_spec": "pypto_tmpl.upstream.tensor_spec",
        "pypto.runtime.worker": "pypto_tmpl.upstream.worker",
        "pypto.testing": "pypto_tmpl.upstream.testing",
        "pypto.tools": "pypto_tmpl.upstream.tools",
        "pypto.tools.ir_trace": "pypto_tmpl.upstream.tools.ir_trace",
        "pypto.tools.memory_map": "pypto_tmpl.upstream.tools.memory_map",
        "golden": "pypto_tmpl.golden",
        "golden.runner": "pypto_tmpl.golden.runner",
        "golden.spec": "pypto_tmpl.golden.spec",
        "golden.validation": "pypto_tmpl.golden.validation",
    }
)
# Modules whose name is that of a function in their parent. They come with it, as in PyPTO: the import system
# sets what it imports later as an attribute of the parent, in the place of the function.
_SHADOWED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"pypto.debug": ("torch_codegen",), "pypto.ir": ("compile",)}
)
_ROOTS = frozenset(name.partition(".")[0] for name in ANSWERED)
_PYPTO = "pypto"


def answered_names() -> dict[str, list[str]]:
    """The public names that every answered module has, by the module's upstream name."""
    found = {}
    for name, target in ANSWERED.items():
        module = import_module(target)
        listed = dir(module) if "__dir__" in vars(module) else getattr(module, "__all__", None)
        found[name] = sorted({*(listed or _own_names(module)), *FACES.get(target, ())})
    return found


def _own_names(module: ModuleType) -> list[str]:
    """The public names that a module defines itself."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", module.__name__) == module.__name__
    ]


def installed_pypto() -> str | None:
    """Where PyPTO itself is installed, None where it is not; a folder that is only named so is no package."""
    module = sys.modules.get(_PYPTO)
    if module is not None:
        return None if module.__name__ != _PYPTO else str(getattr(module, "__file__", "in this process"))
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        places.add(site.getusersitepackages())
    found = PathFinder.find_spec(_PYPTO, sorted(places))
    return found.origin if found is not None else None


class _Answer(Loader):
    """Gives the answering module itself, so that both names are one module with the same classes."""

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        name = module.__spec__.name
        answer = sys.modules[name] = import_module(self._target)
        if module.__spec__.submodule_search_locations is not None and not hasattr(answer, "__path__"):
            answer.__path__ = []  # only what has one may have modules below it
        for child in _SHADOWED.get(name, ()):
            sys.modules[f"{name}.{child}"] = import_module(ANSWERED[f"{name}.{child}"])


class _Finder(MetaPathFinder):
    """Stands before all other finders, for the answered packages only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in _ROOTS:
            return None
        if fullname not in ANSWERED:
            parent = fullname.rpartition(".")[0]
            beside = [name for name in ANSWERED if name.rpartition(".")[0] == parent]
            note = allowed_note(f"below {parent} it answers", beside, fullname)
            what = f"pypto_tmpl does not answer the import of {fullname!r}; {note}"
            raise ModuleNotFoundError(what, name=fullname)
        is_package = any(name.startswith(f"{fullname}.") for name in ANSWERED)
        return ModuleSpec(fullname, _Answer(ANSWERED[fullname]), is_package=is_package)


_FINDER = _Finder()


def install() -> bool:
    """Answer the imports of this process from now on; a package that is already imported stays as it is.

    Where PyPTO itself is installed nothing is answered, not even its harness: returns False.
    """
    if installed_pypto() is not None:
        return False
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    prepare_children(install)
    return True


def uninstall() -> None:
    """Undo ``install``; modules that were answered are forgotten under PyPTO's names."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    leave_children()
    for name, target in ANSWERED.items():
        if name in sys.modules and sys.modules[name] is sys.modules.get(target):
            del sys.modules[name]


@contextmanager
def answering() -> Iterator[None]:
    """Answer imports inside the block."""
    was_installed = _FINDER in sys.meta_path
    install()
    try:
        yield
    finally:
        if not was_installed:
            uninstall()
