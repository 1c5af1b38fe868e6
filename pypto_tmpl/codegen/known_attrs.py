"""Attributes that compiled programs carry and that do not change what a program computes.

An attribute outside these lists could mean anything, so it is refused instead of ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts
from pypto_tmpl.ir.attrs import SCOPE_ATTRS

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
        *SCOPE_ATTRS,
        "__compiler_auto_manual_scope_candidate",
        "__compiler_auto_manual_layer_candidate",
    }
)
_LOOP_ATTRS = frozenset({"pipeline_stages", "pipeline_overlap_stores", "pipeline_double_buffer_c"})
_LOOP_ATTR_PREFIXES = ("iter_arg_rebind_", "iter_arg_array_size_")


def unknown_attrs(facts: BodyFacts) -> Iterator[tuple[ir.IRNode, str]]:
    """Every (node, key) of a function's body whose meaning is not known."""
    for launch in facts.launches:
        for key, value in launch.attrs.items():
            says_it_twice = key in launch.kwargs and launch.kwargs[key] == value  # as builtin collectives do
            if key not in _LAUNCH_ATTRS and not says_it_twice:
                yield launch, key
    for scope in facts.scopes:
        for key in scope.attrs:
            if key not in _SCOPE_ATTRS:
                yield scope, key
    for loop in facts.loops:
        for key in loop.attrs:
            if key not in _LOOP_ATTRS and not key.startswith(_LOOP_ATTR_PREFIXES):
                yield loop, key
