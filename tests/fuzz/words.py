"""Pieces that mutations put into a text, and what they wrap an expression in."""

CHARACTERS = [
    *"\0\r\n\t\f\v\b\x1a\x7f\\\"'#()[]{}:;,.=+-*/%@!~^&|<>_ aZ09",
    *"\ufeff\xa0\x85\u2028\u200d\u0301\xe9\xb2\u0660\u6f22\u0131\ufb01\uff30\U0001f600\ud800\udfff",
]
TOKENS = [
    "None", "True", "False", "...", "self", "pl", "pld", "inf", "nan", "x__FREE_VAR", "lambda", "yield",
    "await", "async", "return", "break", "continue", "pass", "while", "for", "if", "else", "elif",
    "with", "as", "not", "and", "or", "in", "is", "del", "global", "try", "raise", "assert", "import",
    "from", "class", "def", "match", "pl.Tensor", "pl.Tile", "pl.Scalar", "pl.Tuple", "pl.Array",
    "pl.Ptr", "pl.MemRef", "pl.TensorView", "pl.TileView", "pl.const", "pl.cast", "pl.min", "pl.max",
    "pl.range", "pl.parallel", "pl.pipeline", "pl.unroll", "pl.while_", "pl.cond", "pl.yield_", "pl.at",
    "pl.submit", "pl.spmd_submit", "pl.dynamic", "pl.func_attr", "pl.split_aiv", "pl.spmd",
    "pl.manual_scope", "pl.FP32", "pl.BF16", "pl.INDEX", "pl.BOOL", "pl.FP4", "pl.TASK_ID", "pl.Mem.Vec",
    "pl.Mem.Acc", "pl.PadValue.zero", "pl.TileLayout.col_major", "pl.SplitMode.UP_DOWN",
    "pl.FunctionType.InCore", "pl.Level.HOST", "pl.Role.SubWorker", "pl.adir.input", "pl.tensor.add",
    "pl.tile.load", "pl.tile.store", "pl.no_dep", "pl.Out", "pl.InOut", "tuple", "abs", "min", "max",
    "print", "int", "attrs", "init_values", "dtype", "valid_shape", "0", "1", "-1", "1.5", '""', '"x"',
    'f"{x}"', 'b"x"', "1j", "0x10", "1_000", "{}", "[]", "()", "//", "**", "->", ":=", "==", "!=", "<=",
    ">=", "<<", ">>", "@", "*", "~",
]  # fmt: skip
LITERALS = [
    "0", "-1", "7", "1024", "2147483648", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1" + "0" * 400, "1" * 5000, "0x" + "f" * 5000,
    "1e999", "-1e999", "1e-400", "0.0", "-0.0", "1.5", "(1e999 - 1e999)", "2 ** 100000",
    "10 ** 10 ** 10", "1 << 100000", "1 << 10 ** 12", "1 / 0", "1 // 0", "1 % 0", "0 ** -1",
    "'x' * 10 ** 9", "[1] * 10 ** 9", "'x' % 1", "2.5 ** 1e9", "True", "False", "None", "...", "''",
    "'x'", "'\\x00'", "'\\ud800'", "b'x'", "1j", "f'{x}'", "[]", "()", "{}", "{'a': 1}", "[1, 2]",
    "(1,)", "[None]", "[*x]", "lambda: 0", "x if x else x", "[x for x in x]", "x[0]", "x[0:1]", "-True",
    "not 1", "~1.5", "+1", "1 < 2 < 3", "1 and 2", "pl.const(1, pl.FP32)", "pl.const(1.5, pl.INDEX)",
    "pl.const(True, pl.BOOL)", "pl.const(2 ** 64, pl.INT64)", "pl.cast(x, pl.BF16)", "pl.min(1)",
    "pl.FP32", "pl.Mem.Vec", "pl.Mem.Nowhere", "pl", "self", "self.f", "self.f()", "pl.tensor.add(1, 2)",
    "pl.nothing()",
]  # fmt: skip
WRAPPERS: list[tuple[str, str]] = [
    ("(", ")"), ("[", "]"), ("[", ", 1]"), ("{", "}"), ("-", ""), ("not ", ""), ("~", ""), ("1 + ", ""),
    ("", " + 1"), ("2 ** ", ""), ("", "[0]"), ("", ".x"), ("", "()"), ("pl.min(1, ", ")"),
    ("pl.cast(", ", pl.FP32)"), ("pl.Tuple[", "]"), ("pl.tensor.add(", ", 1.0)"), ("self.f(", ")"),
    ("lambda: ", ""), ("x if x else ", ""), ("", " and True"), ("", " < 1"), ("f'{", "}'"),
    ("pl.Tensor[[", "], pl.FP32]"),
]  # fmt: skip
