"""Comparing tensors: which elements are wrong, how wrong, and where."""
