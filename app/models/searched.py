"""What records are found by: their texts in one plain form, indexed.

The plain form has no case, no accents and no punctuation; every word has a blank on both sides,
every field ends with a line feed: ``" müller & söhne gmbh "`` is ``" muller sohne gmbh "``. So one
index of trigrams finds beginnings of words, parts of them, and words with a typing error.

PostgreSQL keeps it in the generated column ``text_trigrams`` with a GIN index, made by the function
``<table>_plain_text`` (docs/adr/0027); SQLite in the FTS5 table ``<table>_text_trigrams`` and, for
the rows that have changed since, in the table beside it that ends with ``_waiting``
(migrations/search_index.py). The search of customer relations reads it (docs/adr/0027), and so do
``contains``, ``endswith`` and ``$search``, before their exact predicates (docs/adr/0027). Who
changes the form makes functions and indexes anew by a migration.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

Fields = Sequence[Sequence[str]]
# Table -> fields in the order of their weight; columns of one field are read as one text.
SEARCHED: dict[str, Fields] = {
    "clients": (
        ("name",), ("legal_name",), ("email",), ("tax_id", "tax_id_form"), ("number",),
        ("phone_form",),
    ),
    "contacts": (("first_name", "last_name"), ("email",), ("phone_form",), ("mobile_form",)),
    "leads": (
        ("company",), ("first_name", "last_name"), ("email",), ("tax_id", "tax_id_form"),
        ("phone_form",),
    ),
    "opportunities": (("name",),),
    "tickets": (("number",), ("subject",)),
    "kb_articles": (("title",),),
    "documents": (("name",),),
    "projects": (("code",), ("name",)),
    "invoices": (("number",), ("reference",)),
    "tasks": (("title",),),
    "products": (("sku",), ("name",)),
}  # fmt: skip
COLUMN = "text_trigrams"

_MARKS = ("\u0300", "\u036f")
# Letters that do not come apart into a letter and a mark, though people write them without.
_ALONE = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ς": "σ"}  # noqa: RUF001
_DOUBLE = {"æ": "ae", "œ": "oe", "þ": "th"}
_LETTERS = str.maketrans(_ALONE | _DOUBLE)
_WITHOUT_MARKS = dict.fromkeys(range(ord(_MARKS[0]), ord(_MARKS[1]) + 1))
# ASCII punctuation and blanks but the line feed, general punctuation, that of Chinese and Japanese.
_ASCII_SEPARATORS = "\t\r !-/:-@\\[-`{-~"
_SEPARATORS = _ASCII_SEPARATORS + "\u00a0-\u00bf\u2000-\u206f\u3000-\u303f"
_BETWEEN = re.compile(f"[{_SEPARATORS}]+")
# What ASCII becomes, character by character: three times as fast.
_ASCII = str.maketrans({
    character: " " if _BETWEEN.match(character) else character.lower()
    for character in map(chr, range(128))
})  # fmt: skip


def search_text(text: str) -> str:
    """The plain form of ``text``."""
    if not text.isascii():
        return _BETWEEN.sub(" ", plain_letters(text))
    plain = text.translate(_ASCII)
    while "  " in plain:
        plain = plain.replace("  ", " ")
    return plain


def plain_letters(text: str) -> str:
    """``text`` without case and accents, punctuation as it is."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_WITHOUT_MARKS)
    return bare.upper().lower().translate(_LETTERS)


def plain_part(text: str) -> str | None:
    """What the plain form of every text has that has ``text`` in it; None: nothing is certain.

    A mark that stays changes places with marks around it. A character that Unicode has had since
    version 3.2 keeps its plain form, and so does one without any other; the rest may have got
    theirs from one of two libraries only.
    """
    if not text.isascii() and not all(_is_settled(character) for character in set(text)):
        return None
    return search_text(text)


def _is_settled(character: str) -> bool:
    return (
        unicodedata.ucd_3_2_0.category(character) != "Cn"
        or (unicodedata.category(character) != "Cn" and plain_letters(character) == character)
    ) and not any(map(unicodedata.combining, plain_letters(character)))


def plain_text(table: str, alias: str, dialect: str) -> str:
    """SQL of the plain form of a row; ``split_fields`` takes it apart."""
    if dialect == "sqlite":
        return sqlite_text(SEARCHED[table], f"{alias}.")
    return f"{alias}.{COLUMN}"


def split_fields(plain: str) -> list[str]:
    """The fields of a plain form, a blank on both sides of each."""
    return plain.split("\n")[:-1]


def index_name(table: str) -> str:
    """Name of the FTS5 table of ``table`` (SQLite)."""
    return f"{table}_{COLUMN}"


def waiting_table(table: str) -> str:
    """Name of the table of rows of ``table`` that the index does not know as they are (SQLite).

    Its columns are ``id``; ``indexed``, the plain form that the index has, and ``text``, the one of
    the row: null where there is none.
    """
    return f"{index_name(table)}_waiting"


def sqlite_text(fields: Fields, prefix: str) -> str:
    """``search_text`` of the columns of a row, which ``prefix`` names, in SQL."""
    return f"search_text({_joined(fields, prefix, 'char(10)')})"


def postgresql_text(fields: Fields) -> str:
    """``search_text`` of the columns of a row, spelled for PostgreSQL."""
    return _postgresql_form(_joined(fields, "", "chr(10)"))


def postgresql_function(table: str, fields: Fields) -> str:
    """The statement that makes ``postgresql_text`` a function of the columns of ``table``.

    A session reads its body once, but the expression of a column with each statement that writes
    the table; and a function in SQL would be put in place of its call. ASCII needs less.
    """
    columns = ", ".join(f"{column} varchar" for field in fields for column in field)
    texts = ", E' \\n ', ".join(", ' ', ".join(field) for field in fields)
    return f"""CREATE FUNCTION {function_name(table)}({columns}) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
    texts text := concat(' ', {texts}, E' \\n');
BEGIN
    IF octet_length(texts) = length(texts) THEN
        RETURN {_separated('lower(texts COLLATE pg_catalog."C")', _ASCII_SEPARATORS)};
    END IF;
    RETURN {_postgresql_form("texts")};
END
$function$"""


def postgresql_call(table: str, fields: Fields) -> str:
    """The function of ``table``, applied to the columns of a row."""
    return f"{function_name(table)}({', '.join(column for field in fields for column in field)})"


def function_name(table: str) -> str:
    """Name of the function that makes the plain form of a row of ``table`` (PostgreSQL)."""
    return f"{table}_plain_text"


def _postgresql_form(text: str) -> str:
    bare = f"regexp_replace(normalize({text}, NFKD), '[{_MARKS[0]}-{_MARKS[1]}]', '', 'g')"
    icu = 'COLLATE "und-x-icu"'
    folded = f"lower(upper({bare} {icu}) {icu})"
    folded = f"translate({folded}, '{''.join(_ALONE)}', '{''.join(_ALONE.values())}')"
    for letter, letters in _DOUBLE.items():
        folded = f"replace({folded}, '{letter}', '{letters}')"
    return _separated(folded, _SEPARATORS)


def _separated(text: str, separators: str) -> str:
    escaped = separators.replace("\\", "\\\\").replace("\t\r", "\\t\\r")
    return f"regexp_replace({text}, E'[{escaped}]+', ' ', 'g')"


def _joined(fields: Fields, prefix: str, line_feed: str) -> str:
    """The columns as one text: a blank before each field, a blank and a line feed behind it."""
    texts = (
        " || ' ' || ".join(f"coalesce({prefix}{column}, '')" for column in field)
        for field in fields
    )
    end = f" || ' ' || {line_feed}"
    between = f"{end} || ' ' || "
    return f"' ' || {between.join(texts)}{end}"
