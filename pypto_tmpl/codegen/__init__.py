"""Turns IR into scripts: names, order and nesting in Python, every character from templates."""
