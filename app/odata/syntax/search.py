"""``$search`` text to a tree: words, phrases, NOT, AND, OR (URL Conventions 5.1.7)."""

from __future__ import annotations

import re
import typing as t
from functools import partial

from app.odata.errors import QueryError
from app.odata.syntax import nodes
from app.odata.syntax.lexer import DEFAULT_LIMITS, Limits

_BLANKS: t.Final = re.compile(r"[ \t]*+")
_PHRASE: t.Final = re.compile(r'"((?:[^"\\]|\\.)++)"')
_QUOTED: t.Final = re.compile(r"'((?:[^']|'')*+)'")
_ESCAPED: t.Final = re.compile(r'\\(["\\])')
_WORD: t.Final = re.compile(r"[^\s\"();'][^\s\"();]*+")
_WORD_WITH_SEMICOLON: t.Final = re.compile(r"[^\s\"()'][^\s\"()]*+")


def parse_search(text: str, *, limits: Limits = DEFAULT_LIMITS) -> nodes.Node:
    """The tree of a whole ``$search``; a percent-encoded semicolon may be part of a word.

    Blanks around it are allowed: people type these texts.
    """
    text = text.rstrip(" \t")
    parser = SearchParser(text, 0, limits, _WORD_WITH_SEMICOLON)
    node = parser.parse_or()
    if parser.position != len(text):
        raise QueryError(
            "expected a blank, AND, OR or the end of the search expression", parser.position
        )
    return node


def parse_nested_search(text: str, start: int, *, limits: Limits) -> tuple[nodes.Node, int]:
    """The search expression that begins at ``start`` of a longer text, and where it ends.

    It ends before a semicolon or before a parenthesis that it did not open.
    """
    parser = SearchParser(text, start, limits, _WORD)
    return parser.parse_or(), parser.position


class SearchParser:
    """NOT binds tightest, then AND (also by mere juxtaposition), then OR.

    The three are operators only in upper case and where an operand follows; elsewhere they are
    words: ``AND OR`` looks for both words.
    """

    def __init__(self, text: str, start: int, limits: Limits, word: re.Pattern[str]) -> None:
        self.text = text
        self.position = self._after_blanks(start)
        self._word = word
        self._limits = limits
        self._depth = 0
        self._nodes_left = limits.nodes

    def parse_or(self) -> nodes.Node:
        return self._chain(self.parse_and, partial(self._accept_operator, "OR"), "OR")

    def parse_and(self) -> nodes.Node:
        return self._chain(self.parse_not, self._next_conjunct, "AND")

    def _chain(
        self, parse: t.Callable[[], nodes.Node], next_offset: t.Callable[[], int | None],
        op: t.Literal["OR", "AND"],
    ) -> nodes.Node:  # fmt: skip
        operands, offsets = [parse()], []
        while (offset := next_offset()) is not None:
            offsets.append(offset)
            operands.append(parse())
        return nodes.balance(operands, offsets, lambda a, b, at: nodes.Binary(op, a, b, offset=at))

    def parse_not(self) -> nodes.Node:
        start = self.position
        if self._accept_operator("NOT", first=True) is None:
            return self.parse_operand()
        self._deeper()
        operand = self.parse_not()
        self._depth -= 1
        return nodes.Unary("NOT", operand, offset=start)

    def parse_operand(self) -> nodes.Node:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise QueryError(f"the search has more than {self._limits.nodes} parts", self.position)
        start, text = self.position, self.text
        if text.startswith("(", start):
            return self._parse_parentheses()
        if phrase := _PHRASE.match(text, start):
            self.position = phrase.end()
            return nodes.SearchPhrase(_ESCAPED.sub(r"\1", phrase[1]), offset=start)
        if quoted := _QUOTED.match(text, start):  # taken as it stands, operators and all
            self.position = quoted.end()
            return nodes.SearchPhrase(quoted[1].replace("''", "'"), offset=start)
        word = self._word.match(text, start)
        if word is None:
            raise QueryError(self._complaint(), start)
        self.position = word.end()
        return nodes.SearchTerm(word[0], offset=start)

    def _parse_parentheses(self) -> nodes.Node:
        self._deeper()
        self.position = self._after_blanks(self.position + 1)
        inner = self.parse_or()
        self.position = self._after_blanks(self.position)
        if not self.text.startswith(")", self.position):
            raise QueryError("expected ')' in the search expression", self.position)
        self.position += 1
        self._depth -= 1
        return inner

    def _next_conjunct(self) -> int | None:
        """Go to the next operand of AND; return where the operator is or would be."""
        if (offset := self._accept_operator("AND")) is not None:
            return offset
        following = self._after_blanks(self.position)
        if following == self.position or not self._operand_begins(following):
            return None
        if self._operator_at(following, "OR") is not None:
            return None
        self.position = following
        return following

    def _accept_operator(self, operator: str, *, first: bool = False) -> int | None:
        """Take ``operator`` and the blanks around it if it stands here as an operator."""
        start = self._after_blanks(self.position)
        if start == self.position and not first:
            return None
        after = self._operator_at(start, operator)
        if after is None:
            return None
        self.position = after
        return start

    def _operator_at(self, start: int, operator: str) -> int | None:
        """Where the operand of the operator at ``start`` begins; None if none stands there."""
        end = start + len(operator)
        if not self.text.startswith(operator, start):
            return None
        after = self._after_blanks(end)
        return after if after > end and self._operand_begins(after) else None

    def _operand_begins(self, position: int) -> bool:
        return position < len(self.text) and (
            self.text[position] in "(\"'" or self._word.match(self.text, position) is not None
        )

    def _after_blanks(self, position: int) -> int:
        blanks = _BLANKS.match(self.text, position)
        return blanks.end() if blanks else position

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > self._limits.depth:
            raise QueryError(
                f"the search is nested more than {self._limits.depth} levels deep", self.position
            )

    def _complaint(self) -> str:
        if self.text.startswith('"', self.position):
            return "the phrase that begins here has no closing double quote, or no words"
        if self.text.startswith("'", self.position):
            return "the text that begins here has no closing quote"
        return "expected a word, a phrase in double quotes, NOT or '('"
