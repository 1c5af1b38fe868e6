"""Attributes that compiled programs carry and that do not change what a program computes.

An attribute outside these lists could mean anything, so it is refused instead of ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir

_LAUNCH_ATTRS = frozenset(
    {
        "arg_directions",
        "arg_direction_overrides",
        "manual_dep_edges",
        "compiler_manual_dep_edges",
        "dummy_task",
        "dump_vars",
        "device",
        "core_num",  # honoured: the launch's block count
        "sync_start",
        "predicate",  # honoured: the launch's condition
        "allow_early_resolve",
        "pipeline_membership",
        "core_placement",
        "__compiler_tensor_to_tile_mat_bridge",
        "__auto_no_dep_candidate_indices",
        "__auto_output_existing_candidate_indices",
    }
)
_SCOPE_ATTRS = frozenset(
    {
        "task_id_var",
        "manual_dep_edges",
        "arg_direction_overrides_vars",
        "dump_vars",
        "predicate",
        "slot_num",
        "windowize",
        "allow_early_resolve",
        "__compiler_auto_manual_scope_candidate",
        "__compiler_auto_manual_layer_candidate",
    }
)
_LOOP_ATTRS = frozenset({"pipeline_stages", "pipeline_overlap_stores", "pipeline_double_buffer_c"})
_LOOP_ATTR_PREFIXES = ("iter_arg_rebind_", "iter_arg_array_size_")


def unknown_attrs(body: ir.Stmt) -> Iterator[tuple[ir.IRNode, str]]:
    """Every (node, key) below ``body`` whose meaning is not known."""
    for node in ir.walk(body):
        if isinstance(node, ir.Call | ir.Submit):
            known = _LAUNCH_ATTRS
        elif isinstance(node, ir.ScopeStmt):
            known = _SCOPE_ATTRS
        elif isinstance(node, ir.ForStmt):
            known = _LOOP_ATTRS
        else:
            continue
        for key in node.attrs:
            if key not in known and not (
                isinstance(node, ir.ForStmt) and key.startswith(_LOOP_ATTR_PREFIXES)
            ):
                yield node, key
