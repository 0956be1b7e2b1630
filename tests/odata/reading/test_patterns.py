"""``matchesPattern``: a pattern means the same on every database, or is refused."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from tests.odata.reading.conftest import Client
from tests.odata.reading.model import item_rows

ROWS = item_rows()


def matching(pattern: str) -> str:
    literal = pattern.replace("'", "''")
    return quote(f"matchesPattern(name,'{literal}')")


def found(client: Client, pattern: str) -> list[int]:
    return client.values(f"Items?$filter={matching(pattern)}&$select=id&$orderby=id")


# Pattern of ECMAScript -> the same for Python, where it is spelled in another way there.
PATTERNS: dict[str, str] = {
    "^alpha$|^Alpha$": "^(alpha|Alpha)$",
    "^(al)+pha$": "^alpha$",
    "(?:o|u)ff": "off",
    "(?<first>50)_": "50_",
    "^.$": "^.$",
    "^.{5}$": r"^[^\n]{5}\Z",
    "l{1}p": "lp",
    "a{2,}|f{2}": "ff",
    "f{1,2}$": "f$",
    "^[a-z]+$": r"^[a-z]+\Z",
    "^[^a-z]+$": r"^[^a-z]+\Z",
    r"^[\w ]+$": r"^[A-Za-z0-9_ ]+\Z",
    r"[\s]": r"\s",
    r"\s": r"\s",
    r"^\S+$": r"^\S+\Z",
    r"^\W": "^[^A-Za-z0-9_]",
    r"\D_": "[^0-9]_",
    r"[\d]{2}": "[0-9]{2}",
    r"\bacme\b": r"\bacme\b",
    r"e\Bt|\Be\B": r"(?<=[A-Za-z])e(?=[A-Za-z])",
    r"\t": "\t",
    r"line\nbreak": "line\nbreak",
    r"[\n\t]": "[\n\t]",
    r"\cI": "\t",
    r"\x41": "A",
    r"[\x41-\x42]": "[AB]",
    r"\u00fcrich": "ürich",
    r"[\u00fc]": "ü",
    r"a\\b": r"a\\b",
    r"50\%": "50%",
    r"[\]\-%]": "[%]",
    r"O'Neil": "O'Neil",
    "al?p*h+a": "al?p*h+a",
    "al??pha": "al?pha",
    "^a.*?a$": "^a.*a$",
    "a.b": r"a[^\n\r]b",
    "日本": "日本",
    "[[a]lph": r"[\[a]lph",
    "": "",
}


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items())
def test_a_pattern_finds_what_it_finds_in_javascript(
    client: Client, pattern: str, expected: str
) -> None:
    wanted = re.compile(expected)
    assert found(client, pattern) == [row["id"] for row in ROWS if wanted.search(row["name"])]


def test_a_backspace_inside_a_set_is_the_character(client: Client) -> None:
    assert found(client, r"[\b]") == []


@pytest.mark.parametrize(
    ("pattern", "status", "words"),
    [
        ("x" * 501, 400, "at most 500 characters"),
        ("a\\", 400, "ends with a backslash"),
        ("a)", 400, "a ')' without its '('"),
        ("a(?x)", 400, "malformed group '(?x'"),
        ("[a", 400, "a '[' without its ']'"),
        ("[]", 501, "an empty set"),
        ("[z-a]", 400, "cannot be used"),
        ("*a", 400, "nothing to repeat before '*'"),
        ("a**", 400, "nothing to repeat before '*'"),
        (r"\b+", 400, "nothing to repeat before '+'"),
        ("(+a)", 400, "nothing to repeat before '+'"),
        ("a{256}", 400, "repetitions go up to 255"),
        ("a{3,2}", 400, "repetitions go up to 255"),
        ("(?!a)", 501, "look ahead or behind"),
        ("(?<=a)", 501, "look ahead or behind"),
        ("(?<!a)", 501, "look ahead or behind"),
        (r"(a)\1", 501, r"cannot have \1"),
        (r"\p{L}", 501, r"cannot have \p"),
        (r"[\D]", 501, r"cannot have \D inside a set"),
        (r"\ud800", 400, "a character that no text has"),
        (r"\u0000", 400, "a character that no text has"),
    ],
)
def test_what_is_no_pattern_or_not_offered_is_said(
    client: Client, pattern: str, status: int, words: str
) -> None:
    error = client.refused(f"Items?$filter={matching(pattern)}")
    assert error["status"] == status
    assert words in error["message"]
