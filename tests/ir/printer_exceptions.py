"""What printed text does not tell, and why that is right. The tests fail on anything else."""

_COMPUTED = "computed from the operands"

FIELDS: dict[str, str] = {
    # Positions
    "IRNode.span": "where a node came from is no part of its text",
    # Types that follow from something that is printed
    "IterArg.type": "the reader gives a carry the type of its initial value; upstream prints none",
    "MemRef.type": "always MemRefType",
    "WindowBuffer.type": "always WindowBufferType",
    "ConstBool.type": "always BOOL",
    "Call.type": "inferred from the op and its operands, or the annotation of the assigned variable",
    "Submit.type": "the annotation of the assigned variable, or the callee's results and a task id",
    "MakeTuple.type": _COMPUTED,
    "TupleGetItemExpr.type": _COMPUTED,
    "BinaryExpr.type": "the promoted dtype of the operands, or BOOL",
    "Abs.type": _COMPUTED,
    "Neg.type": _COMPUTED,
    "Not.type": "always BOOL",
    "BitNot.type": _COMPUTED,
    # Names of things that are printed under the name of their base
    "MemRef.name_hint": "printed under the name of its base",
    "WindowBuffer.name_hint": "printed under the name of its base",
    # Communication domains: the language has no form for them, they are comments (spec: DSL, 12.8)
    "CommDomainScopeStmt.name_hint": "upstream's comment on a communication domain does not say it",
    "WindowBuffer.size": "the operand of the allocation; the window itself only shows in a comment",
    "WindowBuffer.load_from_host": "upstream's comment on a communication domain does not say it",
    "WindowBuffer.store_to_host": "upstream's comment on a communication domain does not say it",
    # Others
    "SeqStmts.leading_comments": "a sequence carries no comments, its statements do",
}
"""``Class.field``, where a class stands for its subclasses too."""

ENUMS: dict[str, str] = {
    "ArgEffect": "a property of ops, not stored in IR",
    "WriteChannel": "a property of ops, not stored in IR",
    "ScopeKind": "told by the class of a scope, each of which has its own text",
    "InlineLanguage": "there is one language",
    "BackendType": "chosen for a process, not stored in IR",
}
"""Enumerations whose members are not written."""

NUMBERS: dict[str, str] = {
    "CoreType": "stored as an int under `core_type`, which other ops use for strings",
    "NotifyOp": "stored as an int under `op`; upstream prints the number",
    "WaitCmp": "stored as an int under `cmp`; upstream prints the number",
    "ReduceOp": "stored as an int under `op`; upstream prints the number",
}
"""Enumerations whose members are written as their numbers (spec: DSL, 12.6)."""
