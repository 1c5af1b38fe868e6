"""Arithmetic of scalars: what is known of values, and simpler forms of expressions."""
