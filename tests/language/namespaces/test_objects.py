"""The ops as Python objects: named, documented, with signatures, and not callable."""

import inspect
import re

import pytest

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.ops import load_table

NAMESPACES = [pl, pl.tensor, pl.tile, pl.system, pl.array, pl.prefetch, pld, pld.tensor, pld.tile, pld.system]

# The DSL's names, as its description lists them: unified ones, those promoted from tensors, tiles, systems.
UNIFIED = frozenset(
    re.findall(
        r"\w+",
        """
add sub mul div fmod maximum minimum cmp and_ or_ shl shr ands ors shls shrs xor xors exp log sin cos neg
abs recip sqrt rsqrt not_ row_max row_sum row_min row_prod row_argmax row_argmin col_argmax col_argmin
col_sum col_max col_min col_prod row_expand row_expand_mul row_expand_div row_expand_add row_expand_sub
row_expand_max row_expand_min row_expand_expdif col_expand col_expand_mul col_expand_div col_expand_add
col_expand_sub col_expand_max col_expand_min col_expand_expdif part_add part_mul part_max part_min
reshape transpose concat slice cast fillpad fillpad_expand matmul matmul_acc batch_matmul read write
assemble expands reinterpret_view set_validshape gather_row scatter_update sort32 mrgsort create_tensor
create_l1 dim expand_clone full gather scatter random arange paged_gather get_block_idx get_block_num
get_subblock_idx create_tile load store move addc addsc subc subsc aic_gather aiv_shard cmps gatherb gemv
gemv_acc gemv_bias lrelu prelu relu matmul_bias matmul_mx matmul_mx_acc matmul_mx_bias max min maximums
minimums mgather mscatter rem rems sel sels tri tpush_to_aiv tpush_to_aic tpop_from_aic tpop_from_aiv
tfree_to_aic tfree_to_aiv aic_initialize_pipe aiv_initialize_pipe reserve_buffer import_peer_buffer
""",
    )
)
SHORT = {
    "alloc_window_buffer",
    "get_comm_ctx",
    "nranks",
    "rank",
    "remote_load",
    "remote_store",
    "window",
    "world_size",
}


def test_the_names_of_the_language_are_all_there():
    assert set(dir(pl)) >= UNIFIED
    assert {"tensor", "tile", "system", "array", "prefetch"} <= set(dir(pl))
    assert SHORT | {"tensor", "tile", "system"} <= set(dir(pld))
    assert {"arange", "ci"} <= set(dir(pl.tile)) & set(dir(pl.tensor))
    assert "MaskPattern" in dir(pl.tile)
    for namespace in NAMESPACES:
        for name in dir(namespace):
            assert getattr(namespace, name) is not None


def test_every_op_with_a_spelling_is_reachable():
    for entry in load_table().values():
        for spelling in entry.dsl:
            root, *path = spelling.split(".")
            found = pl if root == "pl" else pld
            for name in path:
                found = getattr(found, name)
            assert entry.name in found.__doc__
            assert entry.summary in found.__doc__


@pytest.mark.parametrize(
    ("op", "signature"),
    [
        (pl.add, "(lhs, rhs)"),
        (
            pl.tile.load,
            "(tensor, offsets, shapes, valid_shape=None, target_memory=<MemorySpace.Vec: 1>, clamp=False)",
        ),
        (pl.matmul, "(lhs, rhs, out_dtype=None, a_trans=False, b_trans=False, c_matrix_nz=False)"),
        (pl.row_max, "(input, tmp_tile=None)"),
        (pl.cast, "(input, target_type, mode='round')"),
        (pl.min, "(lhs, rhs)"),
        (pl.tensor.create, "(shape, dtype, layout=<TensorLayout.ND: 0>, manual_dep=False, init_value=None)"),
        (pl.system.reserve_buffer, "(name, size, base=-1)"),
        (pld.tensor.window, "(buf, shape, *, dtype)"),
    ],
)
def test_signatures(op, signature):
    assert str(inspect.signature(op)) == signature


def test_names_and_documentation():
    assert (pl.add.__name__, pl.add.__qualname__, pl.add.__module__) == (
        "add",
        "pl.add",
        "pypto_tmpl.language",
    )
    assert pl.tile.and_.__qualname__ == "pl.tile.and_"
    lines = pl.tile.row_sum.__doc__.splitlines()
    assert lines[0] == "pl.tile.row_sum(tile: tile, tmp_tile: tile): tile.row_sum"
    assert lines[1].strip() == load_table()["tile.row_sum"].summary
    assert lines[2].strip().startswith("Element dtypes: INT8,")
    assert "pl.add(lhs: tile, rhs: scalar): tile.adds" in pl.add.__doc__


@pytest.mark.parametrize("op", [pl.add, pl.tile.load, pl.system.bar_all, pld.window, pld.tensor.put, pl.max])
def test_an_op_that_python_calls_says_that_it_is_translated(op):
    with pytest.raises(RuntimeError) as raised:
        op(1, 2)
    expected = (
        f"{op.__qualname__} is an op of kernels: they are translated, not executed, and Python cannot call it"
    )
    assert str(raised.value) == expected


@pytest.mark.parametrize(
    ("namespace", "name", "message"),
    [
        (pl, "row_summ", "pl has no 'row_summ'; did you mean pl.row_sum?"),
        (pl.tile, "lod", "pl.tile has no 'lod'; did you mean pl.tile.load?"),
        (pld, "windw", "pld has no 'windw'; did you mean pld.window?"),
    ],
)
def test_unknown_names(namespace, name, message):
    with pytest.raises(AttributeError) as raised:
        getattr(namespace, name)
    assert str(raised.value) == message


def test_an_op_can_be_imported_by_name():
    from pypto_tmpl.language import matmul
    from pypto_tmpl.language.distributed import window

    assert (matmul, window) == (pl.matmul, pld.window)
