"""Ranks as processes that MPI has started, over its one-sided windows."""
