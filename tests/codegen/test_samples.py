"""The text that the reference shows for a sample: its result has the dtype and shape of the rule."""

import pytest

from pypto_tmpl.codegen.environment import OpMacros, create_environment
from pypto_tmpl.codegen.samples import emit_sample
from pypto_tmpl.ops import load_table

TABLE = load_table()
MACROS = OpMacros(TABLE, create_environment())


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tensor.add", {"lhs": "INT32[4, 8]", "rhs": "FP32[4, 8]"}, "(lhs.to(torch.float32) + rhs)"),
        ("tensor.add", {"lhs": "FP16[4, 8]", "rhs": "FP32[4, 8]"}, "(lhs.to(torch.float32) + rhs)"),
        ("tensor.add", {"lhs": "FP32[4, 8]", "rhs": "INT8[4, 8]"}, "(lhs + rhs.to(torch.float32))"),
        ("tensor.add", {"lhs": "INT16[4, 8]", "rhs": "INT32[4, 8]"}, "(lhs.to(torch.int32) + rhs)"),
        (
            "tile.sel",
            {"mask": "UINT8[8, 32]", "lhs": "FP32[8, 40]", "rhs": "FP32[1, 40]", "tmp": "UINT8[1, 32]"},
            "torch.where(_unpack_mask(mask, 40), lhs, rhs)",
        ),
        (
            "tile.load",
            {"tensor": "UINT16[8, 32]", "offsets": [0, 0], "shapes": [4, 32], "valid_shape": [4, 32]},
            "_tile_load(tensor, [0, 0], [4, 32]).to(torch.uint16)",
        ),
        (  # bytes in a space of scales are scales
            "tile.move",
            {"tile": "UINT8[8, 32]", "target_memory": "LeftScale"},
            "tile.view(torch.float8_e8m0fnu)",
        ),
    ],
)
def test_operands_are_converted_to_what_the_rule_says(op, sample, text):
    assert emit_sample(MACROS, TABLE[op], sample) == text
