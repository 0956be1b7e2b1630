"""The words of the model on their way to the reader.

Numbers of sources become citations, if there is such a source; marks become the text they stand
for; pictures, links and active HTML become plain words, since an address that the model was talked
into would carry data away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_CITED = re.compile(r"\[\s*(?:S?\d{1,3})(?:\s*[,;]\s*S?\d{1,3})*\s*\]", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,200})?\)")
_PICTURE = re.compile(r"!\[[^\[\]]{0,300}\](?:\[[^\[\]]{0,300}\]|\([^()]{0,2000}\))")
_TAG = re.compile(
    r"</?(?:img|script|iframe|object|embed|link|style|form|input|button|video|audio|source|svg|base"
    r"|meta|a)\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_MARK = re.compile(r"<[A-Z]{4,5}_\d{1,4}>")
_TAG_BEGUN = re.compile(r"</?([A-Za-z][^<>\n]*)?")
_NUMBER = re.compile(r"\d{1,3}")
_OPEN = re.compile(r"[\[<!]")
# What is held back waits for its end no longer than this.
LONGEST_HELD = 2400


@dataclass(frozen=True)
class Cite:
    """The model refers to its source ``number``."""

    number: int


class Sayer:
    """Takes pieces as they come, gives words and citations."""

    def __init__(self, show: Callable[[str], str]) -> None:
        self._show = show
        self._held = ""

    def take(self, piece: str) -> Iterator[str | Cite]:
        """What can be said now; the beginning of something that is not complete is held back."""
        self._held += piece
        yield from self._release(is_over=False)

    def end(self) -> Iterator[str | Cite]:
        """The rest."""
        yield from self._release(is_over=True)

    def _release(self, *, is_over: bool) -> Iterator[str | Cite]:
        while self._held:
            match = _OPEN.search(self._held)
            if match is None:
                yield self._take_off(len(self._held))
                return
            if match.start():
                yield self._take_off(match.start())
            if not is_over and self._is_incomplete():
                return
            yield from self._special()

    def _special(self) -> Iterator[str | Cite]:
        """What begins with a bracket."""
        for pattern in (_PICTURE, _TAG):
            if match := pattern.match(self._held):
                self._take_off(match.end())
                return
        if match := _LINK.match(self._held):
            self._take_off(match.end())
            # The label may be a citation or a mark: it is read on.
            label = f"[{match[1]}]" if _NUMBER.fullmatch(match[1]) else match[1]
            self._held = label + self._held
        elif match := _CITED.match(self._held):
            for number in _NUMBER.findall(self._take_off(match.end())):
                yield Cite(int(number))
        elif match := _MARK.match(self._held):
            yield self._show(self._take_off(match.end()))
        else:
            yield self._take_off(1)

    def _is_incomplete(self) -> bool:
        """Whether more may come that belongs to what is at the front."""
        held = self._held
        if len(held) > LONGEST_HELD:
            return False
        if held[0] == "<":
            return ">" not in held and _TAG_BEGUN.fullmatch(held) is not None
        if held[0] == "!" and len(held) > 1 and held[1] != "[":
            return False
        end = held.find("]")
        if end < 0:
            return "\n" not in held and len(held) <= 310
        if end + 1 == len(held):
            return True  # an address may follow
        return held[end + 1] in "([" and not re.search(r"[)\]\n]", held[end + 2 :])

    def _take_off(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken
