"""What a script says of parameters whose shapes do not go together: with checks an error, else a warning."""

import warnings

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen

TEXT = """
import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.{kind})
    def main(
        self,
        x: pl.Tensor[[M, 4], pl.FP32],
        y: pl.Tensor[[M, 4], pl.FP32],
        z: pl.Out[pl.Tensor[[8, 4], pl.FP32]],
    ) -> pl.Tensor[[8, 4], pl.FP32]:
        z = pl.assemble(z, x, [0, 0])
        return z
"""
SCALAR = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n, 4], pl.FP32]) -> pl.Tensor[[n, 4], pl.FP32]:
        return x
"""
PACKED = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[2, 16], pl.FP4]) -> pl.Tensor[[2, 16], pl.FP4]:
        return x
"""
DIFFER = "dimension M is 7 in axis 0 of x, and 6 in axis 0 of y"


def entry(check_shapes, text=TEXT, kind="Orchestration"):
    script = torch_codegen(pl.parse(text.format(kind=kind)), check_shapes=check_shapes)
    namespace = {}
    exec(script, namespace)
    return namespace["main"]


def given(rows_of_x=7, rows_of_y=7, rows_of_z=8):
    return torch.ones(rows_of_x, 4), torch.ones(rows_of_y, 4), torch.zeros(rows_of_z, 4)


def test_with_checks_parameters_agree():
    with pytest.raises(ValueError, match=DIFFER):
        entry(True)(*given(rows_of_y=6))
    assert entry(True)(*given())[:7].all()


def test_with_checks_fixed_extents_are_those_of_the_parameter():
    with pytest.raises(ValueError, match=r"z: got shape \[4, 4\], expected \[8, 4\]"):
        entry(True)(*given(rows_of_z=4))


def test_without_checks_one_warning_is_given_and_the_call_goes_on():
    with pytest.warns(UserWarning, match=DIFFER) as found:
        z = entry(False)(*given(rows_of_y=6))
    assert len(found) == 1 and z[:7].all() and found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry(False)(*given())


def test_without_checks_fixed_extents_are_looked_at_too():
    with pytest.warns(UserWarning) as found:
        entry(False)(*given(rows_of_y=6, rows_of_z=7))
    (warning,) = found
    wrong = "tensor 'z' has shape [7, 4], the parameter has [8, 4]"
    assert str(warning.message) == f"{wrong}; {DIFFER}" and warning.filename == __file__
    with pytest.warns(UserWarning, match=r"tensor 'x' has shape \[7\], the parameter has \[M, 4\]"):
        entry(False, TEXT.replace("z, x, [", "z, y, ["))(torch.ones(7), *given()[1:])


def test_two_numbers_of_four_bits_share_an_element():
    x = torch.zeros(2, 8, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry(False, PACKED)(x)
    with pytest.warns(UserWarning, match=r"tensor 'x' has shape \[2, 8\], the parameter has \[2, 16\]"):
        entry(False, PACKED)(x[:, :4])


def test_a_scalar_is_an_extent_too():
    with pytest.raises(ValueError, match="dimension n is 5 in n, and 6 in axis 0 of x"):
        entry(True, SCALAR)(5, torch.ones(6, 4))
    assert entry(True, SCALAR)(6, torch.ones(6, 4)).shape == (6, 4)
    with pytest.warns(UserWarning, match="dimension n is 5 in n, and 6 in axis 0 of x"):
        entry(False, SCALAR)(5, torch.ones(6, 4))


def test_kernels_may_get_tiles_at_the_edge():
    for check_shapes in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            entry(check_shapes, kind="InCore")(*given(rows_of_y=6, rows_of_z=8 if check_shapes else 7))


def test_nothing_is_written_of_dimensions_that_stand_alone():
    text = SCALAR.replace("n: pl.Scalar[pl.INDEX], ", "").replace("[n, 4]", "[M, N]")
    text = text.replace("@pl.program", 'M, N = pl.dynamic("M"), pl.dynamic("N")\n@pl.program')
    script = torch_codegen(pl.parse(text), check_shapes=False)
    assert "_compare_shapes" not in script and "warnings" not in script
