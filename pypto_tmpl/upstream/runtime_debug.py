"""PyPTO's package ``pypto.runtime.debug``, of which there is the part that runs builds again."""

from pypto_tmpl.upstream import replay

__all__ = ["replay"]
