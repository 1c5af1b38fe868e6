"""The C++ and the configuration that a device build has beside its kernels' own texts."""

from pypto_tmpl.streams.orchestration.texts import HostTexts, host_texts, wrapper_texts

__all__ = ["HostTexts", "host_texts", "wrapper_texts"]
