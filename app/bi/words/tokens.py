"""The words of a question: tokens, their stems, and the repair of misspelt ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from app.localisation.numbers import readings
from app.search.slips import intended_stem

# Nobody slips so often in one question: what follows is left as it is.
MOST_STRANGE = 25

_TOKEN = re.compile(
    r"""
    (?P<quoted>"[^"]{1,100}"|“[^”]{1,100}”|(?<!\w)'[^']{1,100}'(?!\w))
  | (?P<date>\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2}\b|(?!\d)))
  | (?P<code>[^\W\d_]+-?\d[^\W_]*(?:-[^\W_]+)*|\d+(?:st|nd|rd|th)\b)
  | (?P<number>\d{1,3}(?:[ '\u2019\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?
     |\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)
     (?P<unit>\s?%|[kK]\b|m\b|\s?(?:[mM]io|[mM]illion(?:en)?|thousand|tausend|[tT]sd)\b)?
  | (?P<word>[^\W\d_]+(?:['\u2019.&-](?=\w)[^\W_]+)*)
  | (?P<sign>[€$£%])
  | (?P<other>[^\s\w,;:?!.()'\u2019"-]|(?<=[\d.])-(?=\d))
    """,
    re.VERBOSE,
)
_ENDS = ("?", "!", ".")
_SHORTENED = {"vs", "no", "nr", "avg", "incl", "excl", "approx", "max", "min", "st", "mr", "mrs",
              "dr", "i.e", "e.g", "resp", "etc", "inc", "co", "ltd", "corp", "jr", "pct", "est",
              "dept", "acct", "e", "prev", "qty", "amt", "mind", "ggü", "inkl", "ca",
              "bzgl", "bzw"}  # fmt: skip
_SCALES = {"k": 1000, "thousand": 1000, "tausend": 1000, "tsd": 1000, "m": 10**6, "mio": 10**6,
           "million": 10**6, "millionen": 10**6}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """A word of the question: as it is compared (``stem``) and as it was written (``text``)."""

    text: str
    stem: str
    kind: str = "word"  # word, number, percent, date, quoted, sign, other
    number: Decimal | None = None
    first: bool = False  # of its sentence, where a capital letter says nothing
    repaired_from: str | None = None
    apart: bool = False  # a mark stands before it: no phrase goes over it
    mark: str = ""  # the mark
    start: int = 0  # where it was written
    whole: str = ""  # the compound whose first part it is, as it was written

    def __hash__(self) -> int:
        # Words are looked up all the time, and those that are written alike are mostly the same.
        return hash((self.text, self.stem, self.start))

    @property
    def is_capital(self) -> bool:
        """Whether it is written like a name."""
        return self.text[:1].isupper() and not self.first


def stem(word: str) -> str:
    """``Invoices`` and ``invoice`` alike; only what the plural adds is taken away."""
    word = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "tuses")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def tokenise(text: str) -> list[Token]:
    """The tokens of a question, in their order."""
    tokens: list[Token] = []
    written_as = unicodedata.normalize("NFKC", text)
    end = 0
    for match in _TOKEN.finditer(written_as):
        between = written_as[end : match.start()]
        mark = _mark(between, tokens[-1].text if tokens else "")
        end = match.end()
        is_first = not tokens or mark in _ENDS
        token = _token(match, is_first=is_first)
        tokens.append(replace(token, apart=bool(mark), mark=mark, start=match.start()))
    return tokens


def _mark(between: str, before: str) -> str:
    """The mark between two words: a comma, the end of a sentence, a dash, a bracket."""
    if not before:
        return ""
    if ending := next((letter for letter in "?!;:,()" if letter in between), ""):
        return ending
    if "." in between and between[-1:].isspace():
        is_ordinal = before.isdecimal() and len(before) < 3  # "das 90. Perzentil"
        is_short = is_ordinal or len(before) < 2 or before.lower() in _SHORTENED
        return "" if is_short else "."
    is_dash = between.strip() in ("-", "\u2013", "\u2014") and between[:1].isspace()
    return "-" if is_dash else ""


def _token(match: re.Match[str], *, is_first: bool) -> Token:
    kind, written = str(match.lastgroup), match.group()
    if match["number"] is not None:
        return _number(match)
    if kind == "quoted":
        return Token(written[1:-1], written[1:-1].lower(), "quoted")
    if kind == "word":
        return Token(written, stem(written), first=is_first)
    if kind == "date" and "." in written:
        day, month, year = written.split(".")  # 1.5.2026; with slashes it could be January
        if not year:  # it is told by the day of the question
            return Token(written, written, kind)
        iso = f"{year if len(year) > 2 else f'20{year}'}-{int(month):02d}-{int(day):02d}"
        return Token(iso, iso, kind)
    if kind == "code":
        return Token(written, stem(written))
    return Token(written, "\u2013" if written == "-" else written, kind)


def _number(match: re.Match[str]) -> Token:
    written, unit = match["number"], (match["unit"] or "").strip()
    digits = re.sub(r"\D", "", written)  # of what is no number as people write them: 0.000.000
    number = max(readings(written).values(), default=Decimal(digits))  # 5,000, 5.000: thousands
    plain = written if written == digits else f"{number:f}"
    value = number * _SCALES.get(unit.lower(), 1)
    return Token(match.group(), plain, "percent" if unit == "%" else "number", value)


@lru_cache(maxsize=10_000)
def phrase(text: str) -> tuple[str, ...]:
    """A phrase of the vocabulary, to be compared with tokens."""
    return tuple(token.stem for token in tokenise(text))


def repaired(
    tokens: Iterable[Token], known: Mapping[str, float], stem: Callable[[str], str] = stem
) -> Iterator[Token]:
    """The tokens, those that are a slip away from a known word replaced by it.

    Args:
        known: stem -> how usual it is.
        stem: how words of the language are compared.
    """
    strange = 0
    for part in (part for token in tokens for part in _parts(token, known)):
        strange += part.stem not in known
        yield _repaired(part, known, stem) if strange <= MOST_STRANGE else part


def _parts(token: Token, known: Collection[str]) -> list[Token]:
    """``closed-won`` as two words, where both are known and the whole is not."""
    words = token.text.split("-")
    if token.kind != "word" or len(words) < 2 or token.stem in known:
        return [token]
    parts = [replace(token, text=word, stem=stem(word), apart=token.apart and not at,
                     mark="-" if at else token.mark)
             for at, word in enumerate(words)]  # fmt: skip
    return parts if all(part.stem in known for part in parts) else [token]


def _repaired(token: Token, known: Mapping[str, float], stem: Callable[[str], str]) -> Token:
    if token.kind != "word" or token.stem in known or token.is_capital:
        return token
    best = intended_stem(token.text.lower(), known, stem) if _is_latin(token.stem) else ""
    return replace(token, stem=best, repaired_from=token.text) if best else token


def _is_latin(word: str) -> bool:
    letters = (letter for letter in word if not letter.isascii())
    return all(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)


def repairs(tokens: Iterable[Token]) -> tuple[tuple[str, str], ...]:
    """What was written, and what it was taken for."""
    return tuple((token.repaired_from, token.stem) for token in tokens if token.repaired_from)
