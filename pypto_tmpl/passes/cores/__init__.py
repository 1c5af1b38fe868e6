"""Passes that divide kernels between the cores of a cluster, and what goes from core to core."""
