"""PyPTO's paths and names for which the project has no place of its own; only users import them.

What has a counterpart here is built on it. What stands for hardware or device code is there too, and refuses
to be called or made, with one error that says what is missing (``runtime/refusals.py``).
"""
