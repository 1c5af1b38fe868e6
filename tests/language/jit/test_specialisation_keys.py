"""What a specialisation is made for: values by bits and type, and what containers hold when they are read."""

import math
import struct
from types import SimpleNamespace

import pytest
import torch

import pypto_tmpl.language as pl

FACTOR: float | int | bool = 0.0
PAIR: tuple | list = (0.0, 1)
TABLE = {"a": [1.0, 2.0]}
CONFIG = SimpleNamespace(factor=1.0, inner=SimpleNamespace(rows=[8, 16]))
X = torch.ones(8, 16)


@pl.jit
def recip_of_product(x: pl.Tensor, a: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.recip(pl.mul(x, a))
    return out


@pl.jit
def recip_of_global(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.recip(pl.mul(x, FACTOR))
    return out


@pl.jit
def recip_of_pair(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.recip(pl.mul(x, PAIR[0]))
    return out


@pl.jit
def times_entry(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.mul(x, TABLE["a"][1])
    return out


@pl.jit
def times_attribute(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.mul(x, CONFIG.factor)
    return out


@pl.jit
def filled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.full(CONFIG.inner.rows, dtype=pl.FP32, value=3.0)
        out = pl.assemble(out, t, [0, 0])
    return out


def result(kernel, *scalars, x=X):
    out = torch.zeros_like(x)
    kernel(x, *scalars, out)
    return out


def nan_of(payload: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0000 | payload))[0]


def test_the_sign_of_a_zero_argument_counts():
    assert (result(recip_of_product, 0.0) == math.inf).all()
    assert (result(recip_of_product, -0.0) == -math.inf).all()
    assert (result(recip_of_product, 0.0) == math.inf).all()


def test_the_sign_of_a_global_zero_counts(monkeypatch):
    for factor in (0.0, -0.0, 0.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        assert (result(recip_of_global) == math.copysign(math.inf, factor)).all()


def test_the_sign_of_a_zero_in_a_container_counts(monkeypatch):
    for factor in (0.0, -0.0):
        monkeypatch.setitem(globals(), "PAIR", (factor, 1))
        assert (result(recip_of_pair) == math.copysign(math.inf, factor)).all()


def test_a_nan_has_one_specialisation_a_payload():
    args = X, nan_of(0), X
    first = recip_of_product.specialisation(*args)
    assert recip_of_product.specialisation(X, nan_of(0), X) is first
    assert recip_of_product.specialisation(X, nan_of(1), X) is not first


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), (2**53, float(2**53))])
def test_equal_values_of_other_types_are_not_one(monkeypatch, one, other):
    monkeypatch.setitem(globals(), "FACTOR", one)
    first = recip_of_global.specialisation(X, X)
    assert recip_of_global.specialisation(X, X) is first
    monkeypatch.setitem(globals(), "FACTOR", other)
    try:
        assert recip_of_global.specialisation(X, X) is not first
    except pl.ParserError:
        assert isinstance(other, bool)  # a truth value is no factor, which only a new reading tells


def test_an_entry_that_changes_in_place_is_read_again(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", {"a": [1.0, 2.0]})
    assert torch.equal(result(times_entry), X * 2)
    first = times_entry.specialisation(X, X)
    TABLE["a"][0] = 9.0  # which the kernel does not read
    assert times_entry.specialisation(X, X) is first
    TABLE["a"][1] = 5.0
    assert torch.equal(result(times_entry), X * 5)


def test_an_attribute_that_changes_is_read_again(monkeypatch):
    assert torch.equal(result(times_attribute), X)
    first = times_attribute.specialisation(X, X)
    assert times_attribute.specialisation(X, X) is first
    monkeypatch.setattr(CONFIG, "factor", 3.0)
    assert torch.equal(result(times_attribute), X * 3)


def test_a_list_that_changes_in_place_is_read_again(monkeypatch):
    monkeypatch.setattr(CONFIG.inner, "rows", [8, 16])
    out = torch.zeros(8, 16)
    filled(X, out)
    assert (out == 3).all()
    CONFIG.inner.rows[0] = 4
    out = torch.zeros(8, 16)
    filled(X, out)
    assert (out[:4] == 3).all() and not out[4:].any()


def test_a_list_in_itself_is_a_value_like_any_other(monkeypatch):
    own: list = [1.0]
    own.append(own)
    monkeypatch.setitem(globals(), "PAIR", own)
    assert torch.equal(result(recip_of_pair), X)
