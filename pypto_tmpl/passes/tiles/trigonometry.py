"""Sine and cosine: the angle less whole turns, then an odd polynomial of degree 9."""

from __future__ import annotations

import struct

from pypto_tmpl import ir
from pypto_tmpl.passes.tiles.recipe import Recipe


def _in_fp32(value: float) -> float:
    """The FP32 number next to a value: the device has no other."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


_ONE_BY_PI = _in_fp32(0.31830988732818603515625)
_PI_PARTS = tuple(
    map(
        _in_fp32,
        (
            3.140625,
            0.0009670257568359375,
            6.2771141529083251953125e-7,
            1.21644916362129151821e-10,
            -1.0290623200529979163e-13,
        ),
    )
)
"""Pi in parts, so that each product with a small integer is nearly exact."""
_HALF_PI, _HALF_PI_REST = _in_fp32(1.57079637050628662109375), _in_fp32(-4.371139000189375e-8)
_COEFFICIENTS = tuple(map(_in_fp32, (2.604926501e-6, -1.980894471e-4, 8.333049340e-3, -1.666665792e-1)))


def sine(recipe: Recipe, angle: ir.Expr) -> ir.Call:
    """The sine of a tile: ``(-1)**k * sin(angle - k * pi)``, k the next integer to ``angle / pi``."""
    return _turned(recipe, angle, is_cosine=False)


def cosine(recipe: Recipe, angle: ir.Expr) -> ir.Call:
    """The cosine of a tile, which is the sine of the angle and a quarter of a turn."""
    return _turned(recipe, angle, is_cosine=True)


def _turned(recipe: Recipe, angle: ir.Expr, *, is_cosine: bool) -> ir.Call:
    let, emit = recipe.let, recipe.emit
    turns: ir.Expr = let("pi_inv_x", emit("tile.muls", angle, _ONE_BY_PI))
    if is_cosine:
        turns = let("k_pre", emit("tile.adds", turns, 0.5))
    mode = "rint" if is_cosine else "round"
    whole = let("k_i", emit("tile.cast", turns, target_type=ir.DataType.INT32, mode=mode))
    turns = let("k_f", emit("tile.cast", whole, target_type=ir.DataType.FP32, mode="none"))
    rest = angle
    for place, part in enumerate(_PI_PARTS):
        product = let("k_pi_v2" if place == 0 else f"k_pi_c{place}", emit("tile.muls", turns, part))
        rest = let(f"t{place}", emit("tile.sub", rest, product))
        if is_cosine and place == 1:
            rest = let("t1h", emit("tile.adds", rest, _HALF_PI))
    if is_cosine:
        rest = let("t4t", emit("tile.adds", rest, _HALF_PI_REST))
    sign = _sign(recipe, turns)
    return emit("tile.mul", sign, _polynomial(recipe, rest))


def _sign(recipe: Recipe, turns: ir.Expr) -> ir.Expr:
    """-1 for an odd number of half turns, else 1: ``4 * floor(k / 2) - 2 * k + 1``."""
    let, emit = recipe.let, recipe.emit
    half = let("half_k", emit("tile.muls", turns, 0.5))
    whole = let("floor_hk_i", emit("tile.cast", half, target_type=ir.DataType.INT32, mode="floor"))
    floor = let("floor_hk_f", emit("tile.cast", whole, target_type=ir.DataType.FP32, mode="none"))
    fourfold = let("floor_x4", emit("tile.muls", floor, 4.0))
    minus_two = let("neg2_k", emit("tile.muls", turns, -2.0))
    before = let("sign_pre", emit("tile.add", fourfold, minus_two))
    return let("sign", emit("tile.adds", before, 1.0))


def _polynomial(recipe: Recipe, angle: ir.Expr) -> ir.Expr:
    """The sine of a small angle."""
    let, emit = recipe.let, recipe.emit
    square = let("t2sq", emit("tile.mul", angle, angle))
    value: ir.Expr = let("p_r0", emit("tile.muls", square, _COEFFICIENTS[0]))
    for place, coefficient in enumerate(_COEFFICIENTS[1:], 1):
        value = let(f"p_r{place}", emit("tile.adds", value, coefficient))
        value = let(f"p_t2_r{place}", emit("tile.mul", value, square))
    value = let("p_one", emit("tile.adds", value, 1.0))
    return let("t_p", emit("tile.mul", angle, value))
