"""The shape of a query: its text with the literals taken out, and the literals beside it.

Two queries that differ only in literals have the same shape, so a plan made for one serves the
other with other parameters (docs/adr/0019). The place of a literal in the list is the ``slot`` of
the ``Literal`` that the parser makes of it. This runs on every request, the parser only when no
plan is cached.
"""

from __future__ import annotations

import re
import typing as t
from decimal import Decimal

from app.odata.errors import QueryError
from app.odata.syntax.literals import CONVERTERS, JSON_STRING, STRING, UNQUOTED, to_duration
from app.odata.syntax.nodes import LiteralValue

# A marker is NUL, the sign of a number, and a code. NUL cannot be in a query, so a shape says
# unmistakably which kinds of literal stand where. What the grammar allows for one value of a
# kind and sign (and for decimals, of a scale) it must allow for every other.
_MARKERS: t.Final[dict[str, str]] = {
    "string": "\0s",
    "date": "\0D",
    "datetime": "\0T",
    "timeofday": "\0O",
    "guid": "\0g",
}
# A regular expression is found fast if it begins with a set of characters. So the first one is
# taken, and then looked back at: is it a digit, or a sign and a digit comes next?
_AFTER_FIRST: t.Final[dict[str, str]] = {
    "[0-9A-Fa-f]": "(?<=[0-9A-Fa-f])",
    "[0-9]": "(?<=[0-9])",
    "-?[0-9]": "(?:(?<=[0-9])|(?<=-)[0-9])",
    "[+-]?[0-9]": "(?:(?<=[0-9])|(?<=[+-])[0-9])",
}
_LIFTED_AFTER_FIRST: t.Final = (
    "(?:(?<=')(?P<string>"
    + STRING[1:]
    + ')|(?<=")'
    + JSON_STRING[1:]
    + r"|(?<![\w.].)(?:"
    + "|".join(
        f"(?P<{kind}>{_AFTER_FIRST[first]}{rest})" for kind, (first, rest) in UNQUOTED.items()
    )
    + "))"
)
_LIFTED: t.Final = re.compile("['\"+\\-0-9]" + _LIFTED_AFTER_FIRST)
_LIFTED_OR_GUID: t.Final = re.compile("['\"+\\-0-9A-Fa-f]" + _LIFTED_AFTER_FIRST)
# Text that has one of these is its own shape: here a literal is not a value but decides the
# meaning ('Edm.String' may name a type, $levels a depth), is part of a search word, or cannot be
# told from its neighbours without parsing (10:20 in a case).
_KEPT_WHOLE: t.Final = re.compile(r"(?:cast|isof|case)\(|search|levels", re.IGNORECASE)


def is_kept_whole(text: str) -> bool:
    """Whether no literal of this option may be lifted."""
    return "(" in text and _KEPT_WHOLE.search(text) is not None


def shape(text: str) -> tuple[str, list[LiteralValue]]:
    """The shape of one option's text, and the values of its literals in the order written.

    Says nothing about whether the text is right: a wrong one has a shape that no plan was made
    for, and then the parser tells what is wrong.
    Raises: QueryError, a literal that has no value, such as 2024-02-30.
    """
    literals: list[LiteralValue] = []
    if is_kept_whole(text):
        return text, literals

    def lift(match: re.Match[str]) -> str:
        kind, written, offset = match.lastgroup, match[0], match.start()
        if kind is None:  # a JSON string may be the name of a member
            return written
        if kind == "string" and offset and _is_word(text[offset - 1]):
            if not _has_duration_prefix(text, offset):
                return written  # binary'..', geography'..', an enum literal
            literals.append(to_duration(written[1:-1], offset - len("duration")))
            return "\0P"
        value, _ = CONVERTERS[kind](written, offset)
        literals.append(value)
        return _number_marker(written, value) if kind == "number" else _MARKERS[kind]

    # Only a guid may begin with a letter, and it has four dashes.
    pattern = _LIFTED if text.count("-") < 4 else _LIFTED_OR_GUID
    return pattern.sub(lift, text), literals


def _number_marker(written: str, value: LiteralValue) -> str:
    sign = written[0] if written[0] in "+-" else ""
    if isinstance(value, int):
        return f"\0{sign}i"
    if isinstance(value, Decimal):
        return f"\0{sign}d{-t.cast(int, value.as_tuple().exponent)}"
    return f"\0{sign}f"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _has_duration_prefix(text: str, quote: int) -> bool:
    start = quote - len("duration")
    return (
        start >= 0
        and text[start:quote].lower() == "duration"
        and not (start and (_is_word(text[start - 1]) or text[start - 1] == "."))
    )


def check_characters(text: str, option: str | None = None) -> None:
    """Raise QueryError if ``text`` has a NUL: no value in the database can have one."""
    if "\0" in text:
        raise QueryError("the character NUL is not allowed", text.index("\0"), option)
