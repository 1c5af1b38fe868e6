"""Passes that make functions of scopes."""
