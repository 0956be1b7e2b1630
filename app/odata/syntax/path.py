"""Resource path to segments: text only, no model (URL Conventions 4).

As with the query options there is a cheap way to the key of a plan, ``shape_path``, and a complete
one to the syntax, ``parse_path``; both start from what ``read_path`` decodes.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from app.odata.errors import QueryError
from app.odata.syntax import nodes
from app.odata.syntax.lexer import DEFAULT_LIMITS, Limits
from app.odata.syntax.literals import DOTTED_NAME, STRING, is_kept_whole, shape
from app.odata.syntax.parser import Parser

# What stands in a path as it is (RFC 3986, 3.3).
IN_PATH: t.Final = "/()',=:@!$&*;-._~"
# Entities of all sets (Protocol 11.2.5).
ALL: t.Final = "$all"
_ENCODED_SLASH: t.Final = "\0"
_DELIMITER: t.Final = re.compile(r"[/'()]")
_NAME: t.Final = re.compile(DOTTED_NAME)
_PLAIN_SEGMENT: t.Final = (
    rf"(?:{DOTTED_NAME}|\$[a-z]++)(?:\((?:[^()'/{_ENCODED_SLASH}]|{STRING})*+\))?+"
)
_PLAIN_PATH: t.Final = re.compile(rf"/?{_PLAIN_SEGMENT}(?:/{_PLAIN_SEGMENT})*+")

_NUMBER_SEGMENT: t.Final = re.compile(r"(?<=[A-Za-z])/(-?[0-9]{1,18})(?=/|$)")

_FIRST_ONLY: t.Final = frozenset(("$metadata", "$batch", "$all", "$entity"))
_LAST_ONLY: t.Final = frozenset(("$metadata", "$batch", "$count", "$ref", "$value", "$query"))
_SYSTEM: t.Final = _FIRST_ONLY | _LAST_ONLY | {"$each"}


@dataclass(frozen=True, slots=True)
class PathText:
    """A percent-decoded path.

    ``text`` has all characters; in ``marked``, of the same length, a slash that was encoded is
    NUL, because it separates nothing. ``is_lifted`` tells whether the literals in parentheses
    have slots: not in paths with a key as segment, which only looks like a literal, or with
    parentheses in parentheses.
    """

    text: str
    marked: str
    is_lifted: bool


def with_keys(raw: str) -> str:
    """A path with ``Clients(1)`` for ``Clients/1``: written so, all such paths share one plan."""
    return _NUMBER_SEGMENT.sub(r"(\1)", raw)


def read_path(raw: str) -> PathText:
    """Decode what comes after the service root, with or without the leading slash.

    Args:
        raw: percent-encoded, as in the request line; in a decoded path ``%2F`` would be lost.
    Raises: QueryError, broken UTF-8 or a NUL.
    """
    if "%00" in raw or "\0" in raw:
        at = raw.index("%00" if "%00" in raw else "\0")
        raise QueryError("the character NUL is not allowed in a path", at)
    marked = text = raw
    if "%" in raw:
        try:
            marked = unquote_to_bytes(re.sub("%2[Ff]", "%00", raw)).decode()
        except UnicodeDecodeError:
            raise QueryError("the path is not UTF-8") from None
        text = marked.replace(_ENCODED_SLASH, "/")
    is_lifted = _PLAIN_PATH.fullmatch(marked) is not None and not is_kept_whole(text)
    return PathText(text, marked, is_lifted)


def shape_path(path: PathText) -> tuple[str, list[nodes.LiteralValue]]:
    """The path with its literals taken out, and their values; see ``shape``.

    A path whose literals stay is marked with two NULs, so that it is no other path's shape.

    Raises: QueryError, a literal that has no value, such as 2024-02-30.
    """
    if not path.is_lifted:
        return "\0\0" + path.marked, []
    return shape(path.text)


def parse_path(path: PathText | str, *, limits: Limits = DEFAULT_LIMITS) -> nodes.ResourcePath:
    """The segments of a path; slots count from 0.

    Args:
        path: what ``read_path`` made, or takes.
        limits: of the expressions in it; twice the depth is the number of segments allowed.
    """
    if isinstance(path, str):
        path = read_path(path)
    segments: list[nodes.Segment] = []
    slot = 0
    for start, end in _split(path.marked):
        if len(segments) == 2 * limits.depth:
            raise QueryError("the path has too many segments", start)
        if start == end:
            raise QueryError("a segment of the path is empty", start)
        segment, slot = _parse_segment(path, start, end, limits, slot)
        _check_place(segment, segments)
        segments.append(segment)
    return nodes.ResourcePath(tuple(segments), slot)


def _split(marked: str) -> Iterator[tuple[int, int]]:
    """Start and end of each segment; slashes in parentheses separate nothing."""
    start = 1 if marked.startswith("/") else 0
    if start == len(marked):
        return
    open_parentheses: list[int] = []
    quote = -1
    for match in _DELIMITER.finditer(marked, start):
        delimiter, offset = match[0], match.start()
        if delimiter == "'":
            if open_parentheses:  # elsewhere it is a character of a key: People/O'Neil
                quote = offset if quote < 0 else -1
        elif quote >= 0:
            continue
        elif delimiter == "(":
            open_parentheses.append(offset)
        elif delimiter == ")":
            if open_parentheses:
                open_parentheses.pop()
        elif not open_parentheses:
            yield start, offset
            start = offset + 1
    if quote >= 0:
        raise QueryError("the string that begins here has no closing quote", quote)
    if open_parentheses:
        raise QueryError("the parenthesis that opens here is not closed", open_parentheses[-1])
    yield start, len(marked)


def _check_place(segment: nodes.Segment, before: list[nodes.Segment]) -> None:
    """Raise QueryError where no model could make sense of ``segment`` after those before it."""
    name = _system_name(segment)
    last = _system_name(before[-1]) if before else ""
    if last in _LAST_ONLY:
        raise QueryError(f"nothing can follow {last}", segment.offset)
    if last in ("$all", "$entity") and not isinstance(segment, nodes.NameSegment):
        raise QueryError(f"only the name of a type can follow {last}", segment.offset)
    if last == "$crossjoin" and name != "$query":
        raise QueryError("only $query can follow $crossjoin(...)", segment.offset)
    is_first = name in _FIRST_ONLY or name == "$crossjoin"
    if before and is_first:
        raise QueryError(f"{name} can only be the first segment", segment.offset)
    if not before and not is_first and not isinstance(segment, nodes.NameSegment):
        raise QueryError("expected an entity set, a singleton or an operation", segment.offset)


def _system_name(segment: nodes.Segment) -> str:
    if isinstance(segment, nodes.CrossJoinSegment):
        return "$crossjoin"
    return segment.name if isinstance(segment, nodes.SystemSegment) else ""


def _parse_segment(
    path: PathText, start: int, end: int, limits: Limits, slot: int
) -> tuple[nodes.Segment, int]:
    """One segment, with offsets in the whole path, and the slot of the next literal."""
    text = path.text[start:end]
    match = _NAME.match(text)
    name = match[0] if match else ""
    rest = text[len(name) :]
    # Only what the grammar of expressions knows is read with it; a key has any characters.
    if not text.startswith("$") and (not name or (rest != "" and not rest.startswith("("))):
        return nodes.KeySegment(text, offset=start), slot
    parser = Parser(
        path.text[:end],
        limits=limits,
        first_slot=slot,
        start=start,
        lifts_literals=path.is_lifted,
    )

    def parse() -> nodes.Segment:
        return _name_segment(parser, name, start) if name else _system_segment(parser)

    return parser.whole(parse, "the end of the segment"), parser.next_slot


def _name_segment(parser: Parser, name: str, start: int) -> nodes.Segment:
    parser.read_on_from(start + len(name))
    arguments = _values(parser) if parser.at("(") else None
    key = _values(parser) if parser.at("(") else None
    return nodes.NameSegment(name, arguments, key, offset=start)


def _system_segment(parser: Parser) -> nodes.Segment:
    token = parser.advance()
    if token.text == "$filter":
        predicate = parser.parse_predicate()
        key = _values(parser) if parser.at("(") else None
        return nodes.FilterPathSegment(predicate, key, offset=token.offset)
    if token.text == "$crossjoin":
        parser.expect_joined("(")
        names = parser.separated(lambda: parser.expect_name("the name of an entity set").text)
        parser.expect(")", " that ends $crossjoin(...)")
        return nodes.CrossJoinSegment(names, offset=token.offset)
    if token.text not in _SYSTEM:
        text = parser.text[token.offset :]
        raise QueryError(f"unknown path segment '{text}'", token.offset)
    return nodes.SystemSegment(token.text, offset=token.offset)


def _values(parser: Parser) -> tuple[nodes.Argument, ...]:
    """Keys and parameters in a path are literals or aliases."""
    arguments = parser.parse_arguments("", parser.token.offset)
    for argument in arguments:
        if not isinstance(argument.value, nodes.Literal | nodes.Alias):
            raise QueryError("expected a literal or a parameter alias", argument.value.offset)
    return arguments
