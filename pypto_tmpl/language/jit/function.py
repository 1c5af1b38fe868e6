"""A function with a JIT decorator: nothing of it is read before it is used."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pypto_tmpl.language.jit.kinds import Kind, Options
from pypto_tmpl.language.jit.parameters import Parameter, read_parameters
from pypto_tmpl.language.jit.user_source import Surroundings, UserSource, read_source
from pypto_tmpl.language.tracebacks import without_frames

if TYPE_CHECKING:
    from pypto_tmpl import ir
    from pypto_tmpl.compile.compiled_program import CompiledProgram
    from pypto_tmpl.language.jit.cache import Specialisation


class JITFunction:
    """A kernel that is specialised for the shapes, dtypes and scalar values of its arguments.

    Tensors have a shape and a dtype; those of torch do, also on the device ``meta``, where they hold no
    data. Scalars are Python numbers, which are baked in, or ``pl.RUNTIME``. Without any tensor the
    annotations say it all ("signature mode").
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: FunctionType, options: Options) -> None:
        self._function = function
        self.options = options
        self._source: UserSource | None = None
        self._parameters: list[Parameter] | None = None
        self.around = Surroundings(function)
        update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<{self.options.kind.value} {self.__qualname__}>"

    @property
    def kind(self) -> Kind:
        return self.options.kind

    @property
    def source(self) -> UserSource:
        """The text of the function. Raises OSError where it cannot be read."""
        if self._source is None:
            self._source = read_source(self._function)
        return self._source

    def parameters(self) -> list[Parameter]:
        """The parameters as their annotations declare them. Raises ParserTypeError for one that is none."""
        if self._parameters is None:
            self._parameters = read_parameters(self._function, self.source, self.around)
        return self._parameters

    def defaults(self) -> Mapping[str, Any]:
        """The default values of parameters."""
        parameters = inspect.signature(self._function).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}

    def signature(self) -> inspect.Signature:
        """The Python signature of the function."""
        return inspect.signature(self._function)

    def specialisation(self, *args: Any, **kwargs: Any) -> Specialisation:
        """The program for these arguments, with its text; made once for arguments that are alike."""
        from pypto_tmpl.language.jit.cache import specialised

        self._must_be_entry()
        return without_frames(lambda: specialised(self, args, kwargs))

    def specialize(self, *args: Any, **kwargs: Any) -> ir.Program:
        """The program for these arguments, before any pass.

        Raises: TypeError and ValueError for arguments that do not fit, OSError where the source cannot be
        read, ParserError, in the user's file, for what the language does not have.
        """
        return self.specialisation(*args, **kwargs).program

    def lower(self, *args: Any, **kwargs: Any) -> ir.Program:
        """The program for these arguments, after the passes; nothing is written."""
        from pypto_tmpl.language.jit.lowering import lowered

        return lowered(self.specialize(*args, **kwargs))

    def compile(self, *args: Any, config: Any = None, **kwargs: Any) -> CompiledProgram:
        """Compile the program for these arguments into a build directory.

        ``config`` is a ``RunConfig``: its platform, ``save_kernels_dir`` (the directory), ``dump_passes`` and
        ``compile_profiling`` count.
        """
        from pypto_tmpl.language.jit.running import compile_for

        return compile_for(self.specialize(*args, **kwargs), config)

    def __call__(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run the kernel: outputs are written into the given tensors.

        Where pure outputs are left out they are created and returned. ``config`` is a ``RunConfig``.
        Raises what ``specialize`` raises, and HardwareNeededError for a platform that is a device.
        """
        from pypto_tmpl.language.jit.running import run

        self._must_be_entry()
        return run(self, args, kwargs, config)

    def _must_be_entry(self) -> None:
        if not self.kind.is_entry:
            raise TypeError(
                f"{self.__name__!r} is a @{self.kind.value} function: JIT functions call it, "
                "Python calls @pl.jit and @pl.jit.host functions"
            )
