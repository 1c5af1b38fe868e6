"""Tiles in the form that the hardware has: two axes, casts of one instruction, products that fit."""
