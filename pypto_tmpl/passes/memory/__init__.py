"""Passes that give values storage, and share it."""
