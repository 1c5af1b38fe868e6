"""A grammar in EBNF over Python's tokens, as docs/buffers.md has it, and texts parsed by it."""

import io
import re
import token
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

_WORD = re.compile(r'"[^"]*"|[A-Za-z]+|[=|;()\[\]{}]')
_KINDS = {kind: getattr(token, kind) for kind in ("NAME", "NUMBER", "STRING", "NEWLINE", "INDENT", "DEDENT")}
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_KEYWORDS = {
    "and",
    "as",
    "break",
    "class",
    "continue",
    "def",
    "else",
    "for",
    "if",
    "import",
    "in",
    "not",
    "or",
}
_KEYWORDS |= {"pass", "return", "while", "with"}

Ends = Iterator[int]
Match = Callable[["Parse", int], Ends]


class Grammar:
    """The rules of a block of EBNF; the first one is where a text begins."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Match] = {}
        for rule in text.split(";\n"):
            words = _WORD.findall(rule)
            if words:
                name, equals, *rest = words
                assert equals == "=", rule
                self.rules.setdefault(name, self._choice(rest))
                assert not rest, rest
        self.first = next(iter(self.rules))

    def _choice(self, words: list[str]) -> Match:
        options = [self._sequence(words)]
        while words and words[0] == "|":
            words.pop(0)
            options.append(self._sequence(words))
        return lambda parse, at: (end for option in options for end in option(parse, at))

    def _sequence(self, words: list[str]) -> Match:
        items: list[Match] = []
        while words and words[0] not in ("|", ")", "]", "}"):
            items.append(self._item(words))

        def match(parse: "Parse", at: int, number: int = 0) -> Ends:
            if number == len(items):
                yield at
                return
            for end in items[number](parse, at):
                yield from match(parse, end, number + 1)

        return match

    def _item(self, words: list[str]) -> Match:
        word = words.pop(0)
        if word in _CLOSING:
            inner = self._choice(words)
            assert words.pop(0) == _CLOSING[word]
            return {"(": inner, "[": _optional(inner), "{": _repeated(inner)}[word]
        if word.startswith('"'):
            return lambda parse, at: parse.literal(at, word[1:-1])
        if word in _KINDS:
            return lambda parse, at: parse.kind(at, word)
        return lambda parse, at: parse.rule(at, word)

    def problem(self, text: str) -> str | None:
        """Where a text stops to follow the grammar; None where all of it does."""
        parse = Parse(self, text)
        if any(end == len(parse.tokens) for end in parse.rule(0, self.first)):
            return None
        found = parse.tokens[min(parse.furthest, len(parse.tokens) - 1)]
        return f"line {found.start[0]}: {found.string!r} in {found.line.strip()!r}"


class Parse:
    """One text; what a rule matches at a token is found once."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self.grammar = grammar
        found = tokenize.generate_tokens(io.StringIO(text).readline)
        self.tokens = [one for one in found if one.type not in _SKIPPED]
        self.furthest = 0
        self._known: dict[tuple[int, str], int | None] = {}

    def literal(self, at: int, wanted: str) -> Ends:
        """The end of a token that reads as wanted."""
        return self._step(at, at < len(self.tokens) and self.tokens[at].string == wanted)

    def kind(self, at: int, wanted: str) -> Ends:
        """The end of a token of a kind; keywords are no names."""
        found = self.tokens[at] if at < len(self.tokens) else None
        fits = found is not None and found.type == _KINDS[wanted]
        return self._step(at, fits and not (wanted == "NAME" and found.string in _KEYWORDS))

    def rule(self, at: int, name: str) -> Ends:
        """The end of what a rule matches first."""
        if (at, name) not in self._known:
            self._known[at, name] = next(self.grammar.rules[name](self, at), None)
        end = self._known[at, name]
        return iter(() if end is None else (end,))

    def _step(self, at: int, fits: bool) -> Ends:
        self.furthest = max(self.furthest, at)
        return iter((at + 1,) if fits else ())


def _optional(inner: Match) -> Match:
    def match(parse: Parse, at: int) -> Ends:
        yield from inner(parse, at)
        yield at

    return match


def _repeated(inner: Match) -> Match:
    def match(parse: Parse, at: int) -> Ends:
        ends = [at]
        while (end := next(inner(parse, ends[-1]), None)) is not None:
            ends.append(end)
        yield from reversed(ends)

    return match


def documented() -> Grammar:
    """The grammar of docs/buffers.md."""
    page = Path(__file__).resolve().parents[2] / "docs" / "buffers.md"
    return Grammar(re.search(r"```ebnf\n(.*?)```", page.read_text(), re.DOTALL)[1])
