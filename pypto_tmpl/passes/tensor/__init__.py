"""Passes over the tensors of orchestration."""
