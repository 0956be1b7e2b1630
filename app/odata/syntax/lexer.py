"""Text of a query option to tokens, one at a time, with one compiled expression."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from app.odata.errors import QueryError
from app.odata.syntax.literals import DOTTED_NAME, JSON_STRING, NAME, STRING, UNQUOTED

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
