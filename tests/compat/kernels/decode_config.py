"""Shapes of the small decoder that the files of this folder are parts of."""

import sys
from dataclasses import dataclass


def _flag(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


@dataclass(frozen=True)
class ModelConfig:
    name: str
    hidden: int = 256
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 64
    batch: int = 16
    block_size: int = 32
    max_seq: int = 128
    eps: float = 1e-6

    @property
    def q_dim(self):
        return self.heads * self.head_dim

    @property
    def kv_dim(self):
        return self.kv_heads * self.head_dim


SMALL = ModelConfig("small", batch=_flag("--batch", 16))
