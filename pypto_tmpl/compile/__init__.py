"""Compiling programs into build directories, and taking up earlier ones."""

from pypto_tmpl.compile.build import Build, compile_program
from pypto_tmpl.compile.directory import make_build_directory
from pypto_tmpl.compile.options import CompileOptions, compile_options
from pypto_tmpl.compile.reuse import Finding, StaleBuildError, reuse_build
from pypto_tmpl.execution.entry import EntryError
from pypto_tmpl.passes.dumping import PassDumpLevel
from pypto_tmpl.runtime.entry import find_entry

__all__ = [
    "Build",
    "CompileOptions",
    "EntryError",
    "Finding",
    "PassDumpLevel",
    "StaleBuildError",
    "compile_options",
    "compile_program",
    "find_entry",
    "make_build_directory",
    "reuse_build",
]
