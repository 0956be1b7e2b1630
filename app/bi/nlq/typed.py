"""Questions as they are typed: short forms written out, and words that restrict nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"(?<![\w\"“'-])[^\W_][\w.']*(?![\w\"”-])")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_ENDS = "?!.:;"


@dataclass(frozen=True)
class Lighter:
    """A question without some of its words; ``unsure``, how many of them may mean something."""

    text: str
    left_aside: tuple[str, ...]
    unsure: int


class Typed:
    """How a language is typed in a hurry."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._short: Mapping[str, str] = data["short"]
        self._written = [
            (re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), whole)
            for pattern, whole in data["written"].items()
        ]
        light = data["light"]
        self._verbs = frozenset(light["verbs"])
        self._light = _any_of([*light["words"], *light["verbs"]])
        self._how_to = re.compile(data["done"]["how_to"], re.IGNORECASE)
        self._joining = re.compile(data["done"]["joining"], re.IGNORECASE)
        self._asks_how = [re.compile(f"^{one}", re.IGNORECASE) for one in light["asks_how"]]

    def plain(self, text: str) -> str:
        """The question with its short forms written out; names and quotations as they are."""
        text = text.replace("\u2019", "'")
        for pattern, whole in self._written:
            text = pattern.sub(whole, text)
        return _outside_quotes(text, self._written_out)

    def lighter(self, text: str) -> Lighter | None:
        """The question without the words that restrict nothing; None where it has none."""
        left: list[str] = []
        plain, is_how = self._without_how(text)

        def without(found: re.Match[str]) -> str:
            left.append(found.group())
            return " "

        plain = _outside_quotes(plain, lambda part: self._light.sub(without, part))
        left = ["how it is", *left] if is_how else left
        if not left:
            return None
        plain = re.sub(r"\s+(?=[?!.,;:])", "", " ".join(plain.split())).lstrip(",;:-\u2013 ")
        said = tuple(dict.fromkeys(one.lower() for one in left))
        return Lighter(plain, said, is_how + sum(one in self._verbs for one in said))

    def topics_of_how_to(self, text: str) -> list[str]:
        """What it is about when somebody asks ``how do I reset a password``: the password."""
        found = self._how_to.match(self.plain(text.strip()))
        if not found:
            return []
        words = self._joining.split(found.group("what").rstrip(" ?!."))[0].split()
        return [" ".join(words[-2:]), words[-1]] if words else []

    def _without_how(self, text: str) -> tuple[str, bool]:
        """``how is the pipeline looking by stage``: the pipeline by stage."""
        for pattern in self._asks_how:
            if found := pattern.match(text):
                return found.group(1) + text[found.end() :], True
        return text, False

    def _written_out(self, text: str) -> str:
        def whole(found: re.Match[str]) -> str:
            word = found.group()
            trimmed = word.rstrip(".")
            said = self._short.get(word.lower()) or self._short.get(trimmed.lower())
            if said is None or _is_name(text, found, trimmed):
                return word
            is_end = word != trimmed and not text[found.end() :].strip()
            return said + ("." if is_end else "")

        return _WORD.sub(whole, text)


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of some phrases, unless a number follows, which they may say something of."""
    longest = sorted(phrases, key=len, reverse=True)
    words = "|".join(re.escape(one) for one in longest)
    return re.compile(rf"(?<![\w'-])(?i:{words})(?![\w'-])(?! ?[€$£#]?\d)")


def _outside_quotes(text: str, change: Any) -> str:
    parts, end = [], 0
    for quoted in _QUOTED.finditer(text):
        parts += [change(text[end : quoted.start()]), quoted.group()]
        end = quoted.end()
    return "".join([*parts, change(text[end:])])


def _is_name(text: str, found: re.Match[str], word: str) -> bool:
    """``R``, ``Smith n Sons``: with a capital that nothing but a name has, or between two names."""
    before, behind = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    begins = not before or before[-1] in _ENDS
    if word[:1].isupper() and not begins and not (word.isupper() and len(word) > 1):
        return True
    last = before.split()[-1] if before else ""
    between = last[:1].isupper() and behind[:1].isupper() and len(before.split()) > 1
    return between and len(word) < 3
