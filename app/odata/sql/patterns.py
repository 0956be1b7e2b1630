"""``matchesPattern``: ECMAScript patterns spelled for RE2 (which SQLite calls) and PostgreSQL.

A pattern is taken apart and written anew in what both understand alike: classes as explicit sets,
no laziness (whether there is a match does not depend on it). RE2 runs in time linear to the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

import re2  # type: ignore[import-untyped]

from app.odata.errors import QueryError, UnsupportedError

_MOST_CHARACTERS = 500
_MOST_REPETITIONS = 255  # PostgreSQL's limit
_HEX = r"u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}"
_TOKEN = re.compile(
    rf"""\\(?P<escape>{_HEX}|c[A-Za-z]|.)
      | (?P<open>\((?:\?(?P<kind>:|=|!|<=|<!|<[A-Za-z_]\w*>|.))?)
      | (?P<close>\))
      | (?P<set>\[(?P<negated>\^?))
      | (?P<repeat>\{{(?P<least>[0-9]{{1,9}})(?P<comma>,(?P<most>[0-9]{{1,9}})?)?\}}|[*+?])\??
      | (?P<special>[.^$|])
      | (?P<plain>[^\\])""",
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(rf"\\(?P<escape>{_HEX}|c[A-Za-z]|.)|(?P<end>\])|(?P<plain>[^\\])", re.DOTALL)
_BLANKS = "\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _BLANKS}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_NO_LINE_END = "[^\n\r\u2028\u2029]"
_QUIET = re2.Options()
_QUIET.log_errors = False
_NEEDS_BACKSLASH = frozenset(r"\.^$*+?()[]{}|-/&~#")


@lru_cache(maxsize=256)
def spelled_pattern(pattern: str) -> tuple[str, str]:
    """``pattern`` for RE2 and for PostgreSQL.

    Raises: QueryError, it is no pattern; UnsupportedError, it has a part that RE2 or PostgreSQL
        does not know: looking ahead or behind, back references, properties of characters.
    """
    if len(pattern) > _MOST_CHARACTERS:
        raise QueryError(f"a pattern has at most {_MOST_CHARACTERS} characters")
    written = _Writer(pattern).write()
    ours = written.replace("\0b", r"\b").replace("\0B", r"\B")
    try:
        re2.compile(ours, _QUIET)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise QueryError(f"the pattern cannot be used: {reason}") from None
    # "***:" says that the flavour is the advanced one, whatever the pattern begins with.
    return ours, "***:" + written.replace("\0b", r"\y").replace("\0B", r"\Y")


class _Writer:
    """Rewrites a pattern from left to right; NUL stands before the letter of a word boundary."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0
        self.repeatable = False  # whether a quantifier may stand here

    def write(self) -> str:
        pieces = []
        while self.position < len(self.pattern):
            match = _TOKEN.match(self.pattern, self.position)
            if match is None:
                raise QueryError("the pattern ends with a backslash")
            self.position = match.end()
            pieces.append(self._token(match))
        if self.depth:
            raise QueryError("the pattern has a '(' without its ')'")
        return "".join(pieces)

    def _token(self, match: re.Match[str]) -> str:
        if match["repeat"]:
            return self._repeat(match)
        if match["open"]:
            return self._open(match)
        if match["close"]:
            self.depth -= 1
            if self.depth < 0:
                raise QueryError("the pattern has a ')' without its '('")
            self.repeatable = True
            return ")"
        if match["special"] and match["special"] != ".":
            self.repeatable = False
            return match["special"]
        if match["escape"] in ("b", "B"):
            self.repeatable = False
            return "\0" + match["escape"]
        self.repeatable = True
        if match["special"]:
            return _NO_LINE_END
        if match["set"]:
            return self._set(bool(match["negated"]))
        if match["escape"]:
            return _escape(match["escape"])
        return _literal(match["plain"])

    def _repeat(self, match: re.Match[str]) -> str:
        if not self.repeatable:
            raise QueryError(f"the pattern has nothing to repeat before '{match['repeat']}'")
        self.repeatable = False
        if match["least"] is None:
            return match["repeat"]
        bounds = [int(number) for number in (match["least"], match["most"]) if number]
        if max(bounds) > _MOST_REPETITIONS or bounds != sorted(bounds):
            raise QueryError(f"{match['repeat']}: repetitions go up to {_MOST_REPETITIONS}")
        return match["repeat"]

    def _open(self, match: re.Match[str]) -> str:
        kind = match["kind"]
        if kind in ("=", "!", "<=", "<!"):
            raise UnsupportedError("a pattern cannot look ahead or behind")
        if kind is not None and kind != ":" and not kind.startswith("<"):
            raise QueryError(f"the pattern has a malformed group '(?{kind}'")
        self.depth += 1
        self.repeatable = False
        return "(?:"

    def _set(self, negated: bool) -> str:
        pieces = []
        while True:
            match = _IN_SET.match(self.pattern, self.position)
            if match is None:
                raise QueryError("the pattern has a '[' without its ']'")
            self.position = match.end()
            if match["end"]:
                break
            pieces.append(_in_set(match))
        if not pieces:
            raise UnsupportedError("a pattern cannot have an empty set")
        return f"[{'^' if negated else ''}{''.join(pieces)}]"


def _in_set(match: re.Match[str]) -> str:
    escape = match["escape"]
    if escape is None:
        plain = match["plain"]
        return plain if plain == "-" else _literal(plain)
    if escape in _CLASSES:
        return _CLASSES[escape]
    if escape == "b":
        return "\x08"
    if escape in ("D", "W", "S"):
        raise UnsupportedError(f"a pattern cannot have \\{escape} inside a set")
    return _literal(_character(escape))


def _escape(escape: str) -> str:
    if escape in _CLASSES:
        return f"[{_CLASSES[escape]}]"
    if escape.lower() in _CLASSES and escape.isupper():
        return f"[^{_CLASSES[escape.lower()]}]"
    return _literal(_character(escape))


def _character(escape: str) -> str:
    """The character that an escape stands for."""
    if escape[0] in "ux" and len(escape) > 1:
        return chr(int(escape[1:], 16))
    if escape[0] == "c" and len(escape) == 2:
        return chr(ord(escape[1]) % 32)
    if escape in _CONTROLS:
        return _CONTROLS[escape]
    if escape.isalnum():
        raise UnsupportedError(f"a pattern cannot have \\{escape}")
    return escape


def _literal(character: str) -> str:
    if "\ud800" <= character <= "\udfff" or character == "\0":
        raise QueryError("the pattern has a character that no text has")
    return "\\" + character if character in _NEEDS_BACKSLASH else character
