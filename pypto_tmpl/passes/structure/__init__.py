"""Passes that give programs their form: no helpers, no jumps, one assignment a variable, no nested calls."""
