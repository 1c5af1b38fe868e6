"""PyPTO's tracing of IR, of which users name the error; here `pypto-tmpl trace` does that."""

from pypto_tmpl.errors import PyptoTmplError


class IRTraceError(PyptoTmplError):
    """A trace that cannot be made; nothing here raises it."""

    slug = "ir-trace"
