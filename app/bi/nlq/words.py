"""The words of a question: tokens, their stems, and the repair of misspelt ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from rapidfuzz.distance import OSA

from app.search import wordpiece

# Below this share of equal letters a word is another word, not a misspelt one.
SIMILAR = 0.75
SHORTEST_REPAIRED = 4
# Nobody slips so often in one question: what follows is left as it is.
MOST_STRANGE = 25

_TOKEN = re.compile(
    r"""
    (?P<quoted>"[^"]{1,100}"|“[^”]{1,100}”|(?<!\w)'[^']{1,100}'(?!\w))
  | (?P<date>\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})
  | (?P<code>[^\W\d_]+-?\d[^\W_]*(?:-[^\W_]+)*|\d+(?:st|nd|rd|th)\b)
  | (?P<number>\d+(?:[.,]\d{3})*(?:\.\d+)?)(?P<unit>%|k\b|m\b|mio\b|\s?(?:million|thousand)\b)?
  | (?P<word>[^\W\d_]+(?:['\u2019.&-](?=\w)[^\W_]+)*)
  | (?P<sign>[€$£%])
  | (?P<other>[^\s\w,;:?!.()'\u2019"-])
    """,
    re.VERBOSE,
)
_SCALES = {"k": 1000, "thousand": 1000, "m": 10**6, "mio": 10**6, "million": 10**6}


@dataclass(frozen=True)
class Token:
    """A word of the question: as it is compared (``stem``) and as it was written (``text``)."""

    text: str
    stem: str
    kind: str = "word"  # word, number, percent, date, quoted, sign, other
    number: Decimal | None = None
    first: bool = False  # of its sentence, where a capital letter says nothing
    repaired_from: str | None = None

    @property
    def is_capital(self) -> bool:
        """Whether it is written like a name."""
        return self.text[:1].isupper() and not self.first


def stem(word: str) -> str:
    """``Invoices`` and ``invoice`` alike; only what the plural adds is taken away."""
    word = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def tokenise(text: str) -> list[Token]:
    """The tokens of a question, in their order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        kind, written = str(match.lastgroup), match.group()
        if match["number"] is not None:
            found.append(_number(match))
        elif kind == "quoted":
            found.append(Token(written[1:-1], written[1:-1].lower(), "quoted"))
        elif kind == "word":
            found.append(Token(written, stem(written), first=not found))
        elif kind == "date" and "." in written:
            day, month, year = written.split(".")  # 1.5.2026; with slashes it could be January
            iso = f"{year}-{int(month):02d}-{int(day):02d}"
            found.append(Token(iso, iso, kind))
        elif kind == "code":
            found.append(Token(written, stem(written)))
        else:
            found.append(Token(written, written, kind))
    return found


def _number(match: re.Match[str]) -> Token:
    written = match["number"]
    # 5,000 and 5.000 are thousands; 5.25 is a decimal.
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", written).replace(",", "")
    unit = (match["unit"] or "").strip()
    value = Decimal(plain) * _SCALES.get(unit, 1)
    return Token(match.group(), plain, "percent" if unit == "%" else "number", value)


@lru_cache(maxsize=10_000)
def phrase(text: str) -> tuple[str, ...]:
    """A phrase of the vocabulary, to be compared with tokens."""
    return tuple(token.stem for token in tokenise(text))


def repaired(tokens: Iterable[Token], known: Collection[str]) -> Iterator[Token]:
    """The tokens, those that are like exactly one known word replaced by it."""
    long = [word for word in known if len(word) >= SHORTEST_REPAIRED]
    strange = 0
    for token in tokens:
        strange += token.stem not in known
        yield _repaired(token, known, long) if strange <= MOST_STRANGE else token


def _repaired(token: Token, known: Collection[str], long: list[str]) -> Token:
    if token.kind != "word" or token.stem in known or len(token.stem) < SHORTEST_REPAIRED:
        return token
    if token.is_capital or not token.stem.isascii():
        return token
    if token.text.lower() in wordpiece.vocabulary():
        return token  # a word of the language that means something else is no slip
    # A slip can hide the plural: "invocies" is nearer to "invoice" than its stem is.
    forms = {token.stem, token.text.lower().removesuffix("s")}
    best, score = "", 0.0
    for word in long:
        if abs(len(word) - len(token.stem)) > 3:
            continue
        for form in forms:
            similar = OSA.normalized_similarity(form, word, score_cutoff=SIMILAR)
            if similar > score:
                best, score = word, similar
    return replace(token, stem=best, repaired_from=token.text) if best else token


def repairs(tokens: Iterable[Token]) -> tuple[tuple[str, str], ...]:
    """What was written, and what it was taken for."""
    return tuple((token.repaired_from, token.stem) for token in tokens if token.repaired_from)
