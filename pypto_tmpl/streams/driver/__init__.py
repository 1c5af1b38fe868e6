"""The Python driver of several chips: what the host does on which of them, and with which windows."""

from pypto_tmpl.streams.driver.functions import driver_of

__all__ = ["driver_of"]
