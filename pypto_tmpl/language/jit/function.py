"""A function with a JIT decorator: nothing of it is read before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pypto_tmpl import ir
from pypto_tmpl.language.jit.cache import Specialisation, specialised
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.tracebacks import without_frames


class JITFunction(Declared):
    """A kernel that is specialised for the shapes, dtypes and scalar values of its arguments.

    Tensors have a shape and a dtype; those of torch do, also on the device ``meta``, where they hold no
    data. Scalars are Python numbers, which are baked in, or ``pl.RUNTIME``. Without any tensor the
    annotations say it all ("signature mode").
    """

    maker: ClassVar[Callable[[str], Any]]
    """What lowers, compiles and runs kernels, by name. It is built on the language: the package says it."""

    def specialisation(self, *args: Any, **kwargs: Any) -> Specialisation:
        """The program for these arguments, with its text; made once for arguments that are alike."""
        self._must_be_entry()
        return without_frames(lambda: specialised(self, args, kwargs))

    def specialize(self, *args: Any, **kwargs: Any) -> ir.Program:
        """The program for these arguments, before any pass.

        Raises: TypeError and ValueError for arguments that do not fit, OSError where the source cannot be
        read, ParserError, in the user's file, for what the language does not have.
        """
        return self.specialisation(*args, **kwargs).program

    def lower(self, *args: Any, buffers: bool | None = None, **kwargs: Any) -> ir.Program:
        """The program for these arguments, after the passes; nothing is written.

        With ``buffers`` the last pass is LowerToBuffers; None is as the active ``PassContext`` has it.
        """
        specialised = self.specialize(*args, **kwargs)
        program: ir.Program = JITFunction.maker("lower_kernel")(specialised, buffers)
        return program

    def compile(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        """Compile the program for these arguments into a build directory: an ``ir.CompiledProgram``.

        ``config`` is a ``RunConfig``: its platform, ``save_kernels_dir`` (the directory), ``dump_passes`` and
        ``compile_profiling`` count.
        """
        return JITFunction.maker("compile_kernel")(self.specialize(*args, **kwargs), config)

    def __call__(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run the kernel: outputs are written into the given tensors.

        Where pure outputs are left out they are created and returned. ``config`` is a ``RunConfig``.
        Raises what ``specialize`` raises, and HardwareNeededError for a platform that is a device.
        """
        self._must_be_entry()
        return JITFunction.maker("run_kernel")(self, args, kwargs, config)

    def _must_be_entry(self) -> None:
        if not self.kind.is_entry:
            raise TypeError(
                f"{self.__name__!r} is a @{self.kind.value} function: JIT functions call it, "
                "Python calls @pl.jit and @pl.jit.host functions"
            )
