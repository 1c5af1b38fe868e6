"""What a JIT kernel is turned into for some arguments, before it is parsed."""

from textwrap import dedent

from pypto_tmpl.language.jit.arguments import argument_infos, bound_arguments
from pypto_tmpl.language.jit.program import Specialiser
from pypto_tmpl.language.jit.user_source import Reads


def program_text(kernel, *args, **kwargs):
    """The generated text without its two import lines."""
    infos = argument_infos(kernel, bound_arguments(kernel, args, kwargs))
    text = Specialiser(kernel, Reads()).text(infos).text
    return text.split("\n", 2)[2].lstrip("\n")


def body_text(kernel, *args):
    """The generated body of the last function: the entry's."""
    text = program_text(kernel, *args)
    last = text[text.rindex("    def ") :]
    return dedent("\n".join(last.split("\n")[1:]))


def expected(text):
    """A text as it stands in a test."""
    return dedent(text).lstrip("\n")
