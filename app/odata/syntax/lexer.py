"""Text of a query option to tokens, one at a time, with one compiled expression; and where a parser
stands among them, what it may spend, and how it complains.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from app.odata.errors import QueryError
from app.odata.syntax.literals import (
    DOTTED_NAME,
    JSON_STRING,
    NAME,
    STRING,
    UNQUOTED,
    check_characters,
    is_kept_whole,
)
from app.odata.syntax.nodes import height

TokenKind: t.TypeAlias = t.Literal[
    "guid", "datetime", "date", "timeofday", "number", "nonfinite", "string", "prefixed",
    "json", "wildcard", "name", "at", "dollar", "mark", "end",
]  # fmt: skip


@dataclass(slots=True)
class Token:
    """One word of a query.

    ``text`` is as written; ``spaced`` tells whether blanks or tabs stand before it; ``end`` is the
    offset of the first character after it.
    """

    kind: TokenKind
    text: str
    offset: int
    end: int
    spaced: bool


# Names come first because most tokens are names; a guid may begin with a letter.
_TOKEN: t.Final = re.compile(
    r"[ \t]*+(?:"
    + "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "name": rf"(?![0-9A-Fa-f]{{8}}-[0-9A-Fa-f]{{4}}-){DOTTED_NAME}(?!'|\.\*)",
            "string": STRING,
            **{kind: first + rest for kind, (first, rest) in UNQUOTED.items()},
            "nonfinite": r"-INF(?!\w)",
            "mark": r"[(),:;=/\-*{}\[\]]",
            "prefixed": DOTTED_NAME + STRING,
            "wildcard": DOTTED_NAME + r"\.\*",
            "at": rf"@{DOTTED_NAME}(?:\#{NAME})?",
            "dollar": r"\$\w++",
            "json": JSON_STRING,
        }.items()
    )
    + ")"
)
_BLANKS: t.Final = re.compile(r"[ \t]*+")
_WORD: t.Final = re.compile(r"[\w.:+-]++")
_DATE_LIKE: t.Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]")


class Lexer:
    """Reads tokens of ``text`` from ``position`` on."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self._not_times: set[int] = set()

    def next(self) -> Token:
        """The next token; kind ``end`` once the text is used up.

        Raises: QueryError, no token can begin here.
        """
        position = self.position
        match = _TOKEN.match(self.text, position)
        if match is None:
            return self._end()
        kind: t.Any = match.lastgroup
        start, end = match.span(kind)
        if kind == "timeofday" and start in self._not_times:
            kind, end = "number", start + 2
        self.position = end
        return Token(kind, self.text[start:end], start, end, start > position)

    def split_time(self, offset: int) -> None:
        """From now on read the ``hh:mm`` at ``offset`` as a number, a colon and what follows."""
        self._not_times.add(offset)

    def _end(self) -> Token:
        blanks = _BLANKS.match(self.text, self.position)
        start = blanks.end() if blanks else self.position
        if start == len(self.text):
            return Token("end", "", start, start, start > self.position)
        raise QueryError(_complaint(self.text, start), start)


def _complaint(text: str, start: int) -> str:
    """Why no token begins at ``start``."""
    character = text[start]
    if character in "'\"":
        return "the string that begins here has no closing quote"
    word = _WORD.match(text, start)
    if word is None or not ("0" <= character <= "9" or character in "+-."):
        return f"unexpected character {character!r}"
    if _DATE_LIKE.match(text, start) is None:
        return f"'{word[0]}' is neither a number nor a name"
    return (
        f"'{word[0]}' is not a date such as 2024-05-31, nor a date and time with an offset such as"
        " 2024-05-31T10:00:00Z"
    )


# How tightly binary operators bind (URL Conventions 5.1.1.17); between the last two stand ``not``
# and the minus sign. Those in capitals are of ``$search``.
PRECEDENCE: t.Final[dict[str, int]] = {
    operator: level
    for level, operators in {
        1: "or OR", 2: "and AND", 3: "eq ne", 4: "gt ge lt le", 5: "add sub",
        6: "mul div divby mod", 8: "has in",
    }.items()
    for operator in operators.split()
}  # fmt: skip
UNARY_PRECEDENCE: t.Final = 7
_START: t.Final = Token("mark", "", 0, 0, False)
Parsed = t.TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the text of one option may cost: levels of nesting, and nodes of its tree."""

    depth: int = 50
    nodes: int = 500


DEFAULT_LIMITS: t.Final = Limits()


class Cursor:
    """One token of lookahead over the text of an option.

    ``token`` is the next one, ``previous`` the last one taken, and ``operator`` the lower-case
    name of a binary operator when ``token`` can be one (a word with a blank before it).
    """

    def __init__(
        self,
        text: str,
        *,
        limits: Limits = DEFAULT_LIMITS,
        first_slot: int = 0,
        start: int = 0,
        lifts_literals: bool | None = None,
    ) -> None:
        """Stand at ``start``; by default the text itself says whether its literals have slots."""
        check_characters(text)
        self.text = text
        self.limits = limits
        self.next_slot = first_slot
        self._lifts_literals = not is_kept_whole(text) if lifts_literals is None else lifts_literals
        self._parts_left = limits.nodes + 1  # the end is no part
        self._text_and_end = text + "\0"
        self._depth = 0
        self.lexer = Lexer(text, start)
        self.previous = _START
        self.token = _START
        self.operator: str | None = None
        self.advance()

    def advance(self) -> Token:
        taken = self.previous = self.token
        token = self.token = self.lexer.next()
        self.operator = None
        if token.kind != "mark":
            self.spend()
            if token.kind == "name" and token.spaced and (word := token.text.lower()) in PRECEDENCE:
                self.operator = word
        return taken

    def read_on_from(self, position: int) -> None:
        """Forget the lookahead and go on at ``position``, before or behind."""
        self.lexer.position = position
        before = self.previous
        self.advance()
        self.previous = before

    def whole(self, parse: t.Callable[[], Parsed], end: str = "") -> Parsed:
        """What ``parse`` makes of all the text; the grammar allows no blanks around it.

        Args:
            end: what is expected behind it where no operator could follow.
        """
        if self.token.spaced and self.token.kind != "end":
            raise QueryError("unexpected blank before the first character", 0)
        try:
            parsed = parse()
        except RecursionError:  # Limits that allow more than the stack does
            raise QueryError("the expression is nested too deeply") from None
        if self.token.kind != "end":
            raise self.expected(end) if end else self._unexpected()
        if self.token.spaced:
            raise QueryError("unexpected blank after the last character", self.previous.end)
        self._check_height(parsed)
        return parsed

    # --- looking ahead and taking

    def at(self, *marks: str) -> bool:
        return self.token.kind == "mark" and self.token.text in marks

    def at_word(self, word: str) -> bool:
        """Whether the next token is this word, in any case, with a blank before it."""
        token = self.token
        return token.kind == "name" and token.spaced and token.text.lower() == word

    def follows(self, characters: str) -> bool:
        """Whether the next token is itself followed at once by one of ``characters``."""
        return self._text_and_end[self.token.end] in characters

    def accept(self, mark: str) -> Token | None:
        return self.advance() if self.at(mark) else None

    def accept_joined(self, mark: str) -> Token | None:
        """Take ``mark`` if no blank stands before it."""
        return self.advance() if self.at(mark) and not self.token.spaced else None

    def expect(self, mark: str, purpose: str = "") -> Token:
        if not self.at(mark):
            raise self.expected(f"'{mark}'{purpose}")
        return self.advance()

    def expect_joined(self, mark: str) -> Token:
        if self.token.spaced or not self.at(mark):
            raise self.expected(f"'{mark}'")
        return self.advance()

    def expect_kind(self, kind: TokenKind, what: str) -> Token:
        if self.token.kind != kind:
            raise self.expected(what)
        return self.advance()

    def expect_name(self, what: str) -> Token:
        """A name without dots."""
        if self.token.kind != "name" or "." in self.token.text:
            raise self.expected(what)
        return self.advance()

    def separated(self, parse: t.Callable[[], Parsed]) -> tuple[Parsed, ...]:
        """``parse *( "," parse )``; blanks around the commas are allowed."""
        items = [parse()]
        while self.accept(","):
            items.append(parse())
        return tuple(items)

    # --- budgets

    def spend(self) -> None:
        """Pay for one part; ``advance`` has paid for every name, operator and literal."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise QueryError(
                f"the expression has more than {self.limits.nodes} parts", self.token.offset
            )

    def deeper(self) -> None:
        """Enter a level of nesting; errors end the parse, so only a normal end calls shallower."""
        self._depth += 1
        if self._depth > self.limits.depth:
            raise QueryError(
                f"the expression is nested more than {self.limits.depth} levels deep",
                self.token.offset,
            )

    def shallower(self) -> None:
        self._depth -= 1

    def inside(self, parse: t.Callable[[], Parsed], mark: str, purpose: str = "") -> Parsed:
        """What ``parse`` makes of one more level of nesting, which ``mark`` ends."""
        self.deeper()
        parsed = parse()
        self.shallower()
        self.expect(mark, purpose)
        return parsed

    def _check_height(self, parsed: t.Any) -> None:
        """Refuse long chains such as ``a add b add c ...``, which nest without parentheses.

        Whoever walks the tree by recursion may rely on twice the nesting as its height; one with
        fewer parts than that needs no look.
        """
        highest = 2 * self.limits.depth
        if self.limits.nodes - self._parts_left < highest:
            return
        roots = parsed if isinstance(parsed, tuple) else (parsed,)
        if max(map(height, roots)) > highest:
            raise QueryError("the expression is a chain of too many operators or steps")

    def take_slot(self) -> int | None:
        if not self._lifts_literals:
            return None
        self.next_slot += 1
        return self.next_slot - 1

    # --- complaints

    def expected(self, what: str) -> QueryError:
        """The error that ``what`` was expected in place of the next token."""
        after = f" after '{self.previous.text}'" if self.previous.text else ""
        return QueryError(f"expected {what}{after}{self._instead()}", self.token.offset)

    def _unexpected(self) -> QueryError:
        """The error that the text should have ended, or gone on with an operator."""
        previous = self.previous
        if previous.kind == "name" and previous.spaced and previous.text.lower() in PRECEDENCE:
            return QueryError(f"expected an operand before '{previous.text}'", previous.offset)
        return QueryError(
            f"expected an operator or the end after '{previous.text}'{self._instead()}",
            self.token.offset,
        )

    def _instead(self) -> str:
        return "" if self.token.kind == "end" else f", found '{self.token.text}'"
