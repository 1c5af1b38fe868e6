"""The vocabulary of results."""

import msgspec
import pytest

from pypto_tmpl.ops import OpEntry, carries_region_of, resolve_result
from pypto_tmpl.ops.typing import words


def entry(result: object) -> OpEntry:
    data = {
        "name": "tile.some_op",
        "summary": "An op.",
        "operands": [{"name": "lhs", "kind": "tile"}, {"name": "full", "kind": "tile"}],
        "kwargs": [{"name": "out_dtype", "type": "DataType"}],
        "result": result,
        "emit": "noop",
    }
    return msgspec.convert(data, OpEntry)


@pytest.mark.parametrize(
    ("valid", "operand"), [("lhs", "lhs"), ("same_or_full", None), ("declared", None), ("reduce_last", None)]
)
def test_carried_region(valid: str, operand: str | None) -> None:
    assert carries_region_of(entry({"dtype": "lhs", "shape": "lhs", "valid": valid})) == operand


def test_an_operand_wins_over_a_rule_of_its_name() -> None:
    assert carries_region_of(entry({"valid": "full"})) == "full"


def test_no_result_carries_no_region() -> None:
    assert carries_region_of(entry("none")) is None


def test_a_named_result_is_written_out() -> None:
    assert resolve_result(entry("matmul_acc")).valid == "acc"


@pytest.mark.parametrize(
    ("part", "rule", "unknown"),
    [
        ("dtype", "promote", []),
        ("dtype", "promote(lhs, full)", []),
        ("dtype", "out_dtype or lhs", []),
        ("dtype", "BF16", []),
        ("dtype", "bf16", ["bf16"]),
        ("dtype", "out_dtyp or lsh", ["out_dtyp", "lsh"]),
        ("shape", "broadcast(lhs, rhs)", ["rhs"]),
        ("shape", "reduce_last", []),
        ("shape", "[M, N]", ["[M, N]"]),
        ("memory", "Acc", []),
        ("memory", "L0", ["L0"]),
        ("valid", "", [""]),
    ],
)
def test_terms_of_a_rule(part: str, rule: str, unknown: list[str]) -> None:
    assert list(words.unknown_terms(entry("none"), part, rule)) == unknown


@pytest.mark.parametrize("name", words.NAMED_RESULTS)
def test_named_results_use_the_vocabulary(name: str) -> None:
    names = {"acc", "lhs", "rhs"}
    for part in words.VOCABULARY:
        rule = getattr(words.NAMED_RESULTS[name], part)
        unknown = () if rule is None else words.unknown_terms(entry("none"), part, rule)
        assert not set(unknown) - names


def test_dtype_names_are_those_of_the_ir() -> None:
    from typing import get_args

    from pypto_tmpl.ir.dtypes import DataType
    from pypto_tmpl.ops.model import DTypeName

    constants = [value for value in vars(DataType).values() if isinstance(value, DataType)]
    assert {constant.name for constant in constants} == set(get_args(DTypeName))
