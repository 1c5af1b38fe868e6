"""The one Jinja environment, and calls into it whose errors end at the template's line."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import BuiltinMethodType
from typing import Any, NoReturn

import jinja2
from jinja2.runtime import Context, Macro

from pypto_tmpl.codegen.bytecode import bytecode_cache
from pypto_tmpl.codegen.filters import FILTERS
from pypto_tmpl.codegen.operands import Attributes, Constants, Operands, UnknownNameError
from pypto_tmpl.codegen.plain_macros import plain_functions
from pypto_tmpl.errors import Location, PyptoTmplError, allowed_note, closest
from pypto_tmpl.ops.model import MacroKey, OpEntry
from pypto_tmpl.ops.table import OpTable
from pypto_tmpl.overlays import all_folders

_SCOPES = frozenset({"_loop_vars", "_block_vars"})  # what Jinja passes on from within a loop or block
_UNDEFINED_NAME = re.compile(r"'(?P<name>\w+)' is undefined")


class TemplateError(PyptoTmplError, RuntimeError):
    """A template did not yield text; the error says which one, at which line and for which op."""

    slug = "template"


class UndefinedNameError(TemplateError, jinja2.UndefinedError):
    """A template names something that nobody gives it."""

    slug = "undefined-name"


class _PlainContext(Context):
    """Names of a template, which calls macros with all of their parameters at once."""

    def call(__self, __obj: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not kwargs or kwargs.keys() <= _SCOPES:
            if type(__obj) is Macro and len(args) == len(__obj.arguments):
                return _function_of(__obj)(*args)
            if type(__obj) is BuiltinMethodType:  # of a text, or of a dictionary
                return __obj(*args)
        return super().call(__obj, *args, **kwargs)


def _function_of(macro: Macro) -> Callable[..., str]:
    """The compiled function of a macro, to be called with all of its parameters and nothing else.

    Most of the time of a small macro goes into sorting out arguments, which a full call has no need of.
    """
    function: Callable[..., str] | None = getattr(macro, "_func", None)
    takes_more = macro.catch_kwargs or macro.catch_varargs or macro.caller
    return macro if function is None or takes_more else function


def create_environment(
    template_dirs: Sequence[Path] | None = None, *, cache_folder: Path | None = None
) -> jinja2.Environment:
    """The environment of all templates; the earliest folder that has a template wins.

    ``template_dirs`` are by default those in use; compiled templates are kept in
    ``cache_folder``, by default the user's.
    """
    folders = all_folders() if template_dirs is None else template_dirs
    # Text mode reads CR LF as LF, and utf-8-sig drops a byte-order mark.
    loaders = [jinja2.FileSystemLoader(folder, encoding="utf-8-sig") for folder in folders]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
        bytecode_cache=bytecode_cache(cache_folder),
    )
    environment.context_class = _PlainContext
    environment.filters.update(FILTERS)
    return environment


def render(environment: jinja2.Environment, name: str, context: Mapping[str, Any]) -> str:
    """The text of the template ``name`` for ``context``.

    Raises: TemplateError, UndefinedNameError for a name that the context lacks.
    """
    try:
        return environment.get_template(name).render(context)
    except Exception as error:  # Template.render has rewritten the traceback already
        _fail(error, f"template {name!r}", candidates=context)


class TemplateMacros:
    """The macros of one template as methods: ``macros.assign("x", "1")``.

    Like ``template.module``, but an error names template and line, and a macro must get all of its
    parameters: one left out would be undefined, and ``parameter is none`` then quietly false.
    """

    def __init__(self, environment: jinja2.Environment, name: str) -> None:
        self._environment = environment
        self._name = name
        try:
            self._module = environment.get_template(name).module
            self._plain = plain_functions(environment, name, self._in_full)
        except Exception as error:
            _fail(error, f"template {name!r}")

    def __getattr__(self, macro_name: str) -> Callable[..., str]:
        found = self._plain.get(macro_name) or self._in_full(macro_name)
        setattr(self, macro_name, found)
        return found

    def _in_full(self, macro_name: str) -> Callable[..., str]:
        """A macro as Jinja runs it, whose errors end at the template's line."""
        macro = getattr(self._module, macro_name, None)
        subject = f"macro {macro_name!r}"
        if not isinstance(macro, Macro):
            known = sorted(name for name, value in vars(self._module).items() if isinstance(value, Macro))
            note = allowed_note("macros", known, macro_name)
            raise TemplateError(f"{self._name} has no {subject}", slug="missing-macro", notes=(note,))

        function, count = _function_of(macro), len(macro.arguments)

        def call(*args: Any) -> str:
            try:
                if len(args) != count:
                    raise TypeError(f"it takes ({', '.join(macro.arguments)}), {len(args)} given")
                try:
                    return function(*args)
                except Exception:
                    self._environment.handle_exception()
            except Exception as error:
                place = "" if _template_location(error) else self._name
                _fail(error, subject, place=place, candidates=macro.arguments)

        return call


class OpMacros:
    """The macros of an op table, called by op."""

    def __init__(self, table: OpTable, environment: jinja2.Environment) -> None:
        self._table = table
        self._environment = environment
        self._callables: dict[tuple[str, MacroKey], tuple[Any, Constants]] = {}

    def call(self, entry: OpEntry, operands: Operands, attributes: Attributes) -> str:
        """The Python expression that the op's macro makes of a call.

        Raises: TemplateError that names the op, the macro and the template's line.
        """
        text = self._made("emit", entry, operands, attributes)
        if not text:
            what = f"macro {entry.emit!r} yields no text for {entry.name}"
            raise TemplateError(what, where=self._place("emit", entry), slug="empty-expression")
        return text

    def into(self, entry: OpEntry, operands: Operands, attributes: Attributes) -> str:
        """The expression that writes the result of a call into a tile; empty where it has no such form.

        Raises: TemplateError as ``call`` does.
        """
        return self._made("into", entry, operands, attributes)

    def _made(self, key: MacroKey, entry: OpEntry, operands: Operands, attributes: Attributes) -> str:
        found = self._callables.get((entry.name, key))
        if found is None and key not in entry.macros:
            place = self._place(key, entry)
            raise TemplateError(f"{entry.name} has no macro", where=place, slug="not-executable")
        try:
            try:
                macro, constants = found or self._load(key, entry)
                text: str = macro(operands, attributes, constants)
            except Exception:
                self._environment.handle_exception()  # so that the traceback ends at the template's line
        except Exception as error:
            self._fail(error, key, entry)
        return text.strip()

    def _load(self, key: MacroKey, entry: OpEntry) -> tuple[Any, Constants]:
        template = self._environment.get_template(f"ops/{self._table.family_of(entry.name)}.py.jinja")
        macro = getattr(template.module, entry.macros[key])
        takes_three = len(macro.arguments) == 3  # the load of the table says so of those that it knows
        found = _function_of(macro) if takes_three else macro, Constants(entry.name, entry.constants)
        self._callables[entry.name, key] = found
        return found

    def _place(self, key: MacroKey, entry: OpEntry, template: Location | None = None) -> str:
        macro = self._table.macro(entry.name, key)
        template = template or (None if macro is None else macro.location)
        table_place = f"op table: {self._table.location(entry.name)}"
        return table_place if template is None else f"{template}      {table_place}"

    def _fail(self, error: Exception, key: MacroKey, entry: OpEntry) -> NoReturn:
        macro = self._table.macro(entry.name, key)
        candidates = {"a", "attr", "emit"} | (macro.names if macro is not None else set())
        subject = f"macro {entry.macros.get(key)!r}"
        place = self._place(key, entry, _template_location(error))
        _fail(error, subject, f" for {entry.name}", place, candidates)


def _fail(
    error: Exception, subject: str, purpose: str = "", place: str = "", candidates: Iterable[str] = ()
) -> NoReturn:
    """Raise ``error`` as a TemplateError about ``subject``, but for a time limit that is over."""
    if isinstance(error, TimeoutError):
        raise error
    place = place or str(_template_location(error) or "")
    if isinstance(error, UnknownNameError):
        what = f"{subject} reads {error.reads}, but {error.problem}"
        raise TemplateError(what, slug=error.error_slug, where=place, notes=error.notes) from error
    if isinstance(error, PyptoTmplError):
        what = f"{subject} fails{purpose}: {error.what}"
        raise TemplateError(what, slug=error.error_slug, where=place, notes=error.notes) from error
    message = str(error).strip() or "no message"
    if isinstance(error, jinja2.UndefinedError):
        name = _UNDEFINED_NAME.fullmatch(message)
        others = [other for other in candidates if name is None or other != name["name"]]
        guess = closest(name["name"], sorted(others)) if name is not None else None
        notes = (f"did you mean {guess!r}?",) if guess else ()
        raise UndefinedNameError(f"{subject} fails{purpose}: {message}", where=place, notes=notes) from error
    if isinstance(error, jinja2.TemplateSyntaxError):
        what = f"{subject} cannot be read{purpose}: {error.message}"
        raise TemplateError(what, slug="template-syntax", where=place) from error
    if isinstance(error, jinja2.TemplateNotFound):
        raise TemplateError(f"{subject} does not exist", slug="no-template", where=place) from error
    what = f"{subject} fails{purpose}: {type(error).__name__}: {message}"
    raise TemplateError(what, where=place) from error


def _template_location(error: BaseException) -> Location | None:
    """The innermost template line that ``error`` came from."""
    if isinstance(error, jinja2.TemplateSyntaxError) and error.filename:
        return Location(Path(error.filename), error.lineno)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [Location(Path(frame.filename), frame.lineno or 1) for frame in frames if _is_template(frame)]
    return lines[-1] if lines else None


def _is_template(frame: traceback.FrameSummary) -> bool:
    return frame.filename.endswith(".jinja")
