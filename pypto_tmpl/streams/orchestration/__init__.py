"""The C++ and the configuration that a device build has beside its kernels' own texts."""

from pypto_tmpl.streams.orchestration.texts import HostTexts, host_texts, wrapper_texts
from pypto_tmpl.streams.orchestration.wrappers import own_part

__all__ = ["HostTexts", "host_texts", "own_part", "wrapper_texts"]
