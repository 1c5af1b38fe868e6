"""What structural equality and hashing do not notice, with the reason (spec: IR, 12.1 and 12.3)."""

FIELDS: dict[str, str] = {
    "IRNode.span": "where a node was written is not what it is",
    "Stmt.leading_comments": "comments mean nothing",
    "Var.name_hint": "a variable is its object; the hint is a label",
    "Function.name": "in a program its key is compared",
    "Program.name": "a label",
    "TensorType.memref": "where a tensor lies is not part of its type",
    "TileType.memref": "where a tile lies is not part of its type",
}
"""``Class.field``, where a class stands for its subclasses too."""

ONE_VALUE: dict[str, str] = {
    "InlineStmt.language": "the enumeration has one member",
}
"""Fields that have no other value to change to."""
