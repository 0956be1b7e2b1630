"""Texts to the numbers that the embedded model reads: BERT's uncased WordPiece.

Written from the description in the BERT paper (section 3) and its multilingual notes; held against
the ``tokenizers`` library by the tests, which the service itself does not need.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VOCABULARY = Path(__file__).parent / "texts" / "wordpiece.txt"
LONGEST_WORD = 100
# Code points of Chinese characters (not of kana or Hangul): each is a word.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


@cache
def vocabulary() -> dict[str, int]:
    """Piece -> number; loaded at first use."""
    lines = VOCABULARY.read_text(encoding="utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}


@cache
def _lines() -> bytes:
    return b"\n" + VOCABULARY.read_bytes()


def is_piece(text: str) -> bool:
    """Whether a text is in the vocabulary as it stands.

    It looks through a quarter of a megabyte: a dictionary answers at once and holds fifteen times
    that, which a process that embeds nothing does without.
    """
    return "\n" not in text and b"\n%b\n" % text.encode("utf-8", "surrogatepass") in _lines()


def encode(text: str, maximum: int) -> list[int]:
    """The numbers of a text between ``[CLS]`` and ``[SEP]``, cut to ``maximum`` of them."""
    pieces = vocabulary()
    numbers = [pieces["[CLS]"]]
    for word in split(text):
        numbers.extend(_pieces(word, pieces))
        if len(numbers) >= maximum:
            break
    return [*numbers[: maximum - 1], pieces["[SEP]"]]


def split(text: str) -> Iterator[str]:
    """Words and single punctuation marks, lower case, without accents."""
    if text.isascii():
        plain = text.lower()
    else:
        spaced = "".join(f" {sign} " if _is_chinese(sign) else sign for sign in text)
        apart = unicodedata.normalize("NFD", spaced.lower())
        plain = "".join(sign for sign in apart if unicodedata.category(sign) != "Mn")
    word: list[str] = []
    for sign in plain:
        if sign.isalnum():
            word.append(sign)
            continue
        kind = _kind(sign)
        if kind == "ignored":
            continue
        if kind == "letter":
            word.append(sign)
            continue
        if word:
            yield "".join(word)
            word.clear()
        if kind == "mark":
            yield sign
    if word:
        yield "".join(word)


def _pieces(word: str, pieces: dict[str, int]) -> list[int]:
    """The longest pieces from the left; a word that cannot be made of pieces is unknown."""
    unknown = pieces["[UNK]"]
    whole = pieces.get(word)
    if whole is not None:
        return [whole]
    if len(word) > LONGEST_WORD:
        return [unknown]
    numbers: list[int] = []
    start = 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            number = pieces.get(piece)
            if number is not None:
                break
            end -= 1
        else:
            return [unknown]
        numbers.append(number)
        start = end
    return numbers


@cache
def _kind(sign: str) -> str:
    """``blank``, ``mark`` (punctuation), ``ignored`` (control characters) or ``letter``."""
    if sign in "\t\n\r ":
        return "blank"
    category = unicodedata.category(sign)
    if sign in "\0\ufffd" or category in ("Cc", "Cf", "Cn", "Co", "Cs"):
        return "ignored"
    if category == "Zs":
        return "blank"
    if category.startswith("P") or (sign.isascii() and sign.isprintable()):
        return "mark"
    return "letter"


def _is_chinese(sign: str) -> bool:
    code = ord(sign)
    return code >= 0x3400 and any(first <= code <= last for first, last in _CHINESE)
