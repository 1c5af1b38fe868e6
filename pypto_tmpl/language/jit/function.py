"""A function with a JIT decorator: nothing of it is read before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pypto_tmpl import ir
from pypto_tmpl.faces import find_face
from pypto_tmpl.language.jit.cache import Specialisation, specialised
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.tracebacks import without_frames

if TYPE_CHECKING:
    from pypto_tmpl.compile.compiled_program import CompiledProgram


class JITFunction(Declared):
    """A kernel that is specialised for the shapes, dtypes and scalar values of its arguments.

    Tensors have a shape and a dtype; those of torch do, also on the device ``meta``, where they hold no
    data. Scalars are Python numbers, which are baked in, or ``pl.RUNTIME``. Without any tensor the
    annotations say it all ("signature mode").
    """

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

    def lower(self, *args: Any, **kwargs: Any) -> ir.Program:
        """The program for these arguments, after the passes; nothing is written."""
        program: ir.Program = find_face(__name__, "lower")(self.specialize(*args, **kwargs))
        return program

    def compile(self, *args: Any, config: Any = None, **kwargs: Any) -> CompiledProgram:
        """Compile the program for these arguments into a build directory.

        ``config`` is a ``RunConfig``: its platform, ``save_kernels_dir`` (the directory), ``dump_passes`` and
        ``compile_profiling`` count.
        """
        compiled: CompiledProgram = find_face(__name__, "compile_kernel")(
            self.specialize(*args, **kwargs), config
        )
        return compiled

    def __call__(self, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run the kernel: outputs are written into the given tensors.

        Where pure outputs are left out they are created and returned. ``config`` is a ``RunConfig``.
        Raises what ``specialize`` raises, and HardwareNeededError for a platform that is a device.
        """
        self._must_be_entry()
        return find_face(__name__, "run_kernel")(self, args, kwargs, config)

    def _must_be_entry(self) -> None:
        if not self.kind.is_entry:
            raise TypeError(
                f"{self.__name__!r} is a @{self.kind.value} function: JIT functions call it, "
                "Python calls @pl.jit and @pl.jit.host functions"
            )
