"""Which kernels share a file."""

from streams import pto_kernels as k

from pypto_tmpl import ir
from pypto_tmpl.streams import names_in_folders, paths_of, units_of


def function(name: str, kind: ir.FunctionType, *calls: str) -> ir.Function:
    stmts = [ir.EvalStmt(ir.Call(ir.GlobalVar(callee), [], k.SPAN), k.SPAN) for callee in calls]
    return ir.Function(name, [], [], ir.SeqStmts(stmts, k.SPAN), k.SPAN, kind)


def test_members_of_a_group_share_its_file_and_all_others_have_their_own() -> None:
    kinds = ir.FunctionType
    made = ir.Program(
        [
            function("pair_aiv", kinds.AIV),
            function("pair_aic", kinds.AIC),
            function("pair", kinds.Group, "pair_aiv", "pair_aic"),
            function("alone", kinds.AIV),
            function("main", kinds.Orchestration, "pair", "alone"),
        ],
        "program",
        k.SPAN,
    )
    found = {unit.name: [member.name for member in unit.functions] for unit in units_of(made)}
    assert found == {"alone": ["alone"], "pair": ["pair_aic", "pair_aiv"]}


def test_each_of_several_orchestrations_has_a_folder_with_what_it_launches() -> None:
    kinds = ir.FunctionType
    made = ir.Program(
        [
            function("scale", kinds.AIV),
            function("shift", kinds.AIV),
            function("spread", kinds.Spmd, "shift"),
            function("first", kinds.Orchestration, "scale"),
            function("second", kinds.Orchestration, "spread", "scale"),
        ],
        "program",
        k.SPAN,
    )
    assert list(paths_of(made)) == [
        "next_levels/first/ptoas/scale.pto",
        "next_levels/second/ptoas/scale.pto",
        "next_levels/second/ptoas/shift.pto",
    ]


def test_an_orchestration_has_not_what_another_one_launches_that_it_calls() -> None:
    kinds = ir.FunctionType
    made = ir.Program(
        [
            function("scale", kinds.AIV),
            function("shift", kinds.AIV),
            function("first", kinds.Orchestration, "scale"),
            function("second", kinds.Orchestration, "first", "shift"),
        ],
        "program",
        k.SPAN,
    )
    assert list(paths_of(made)) == ["next_levels/first/ptoas/scale.pto", "next_levels/second/ptoas/shift.pto"]
    assert names_in_folders(made) == {
        "next_levels/first/": {"first", "scale"},
        "next_levels/second/": {"second", "shift"},
    }


def test_without_ptoas_texts_stand_where_the_kernels_would() -> None:
    kinds = ir.FunctionType
    made = ir.Program(
        [
            function("pair_aiv", kinds.AIV),
            function("pair_aic", kinds.AIC),
            function("pair", kinds.Group, "pair_aiv", "pair_aic"),
            function("cube", kinds.AIC),
            function("alone", kinds.AIV),
        ],
        "program",
        k.SPAN,
    )
    assert list(paths_of(made, skip_ptoas=True)) == [
        "kernels/aiv/alone.pto",
        "kernels/aic/cube.pto",
        "kernels/pair.pto",
    ]
