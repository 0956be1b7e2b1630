"""What words ask of records that were named before them: ``who runs them``, ``since when``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MARKS = re.compile(r"^[\s?.!,;:-]+|[\s?.!,;:-]+$")

_SIGNS = (":", "-", "\u2013", "\u2014")


@dataclass(frozen=True)
class Asked:
    """``kind``: person, client, when, amount, count, records, difference; ``rest``: what is said
    besides; ``each``: of each of the records, not of all together."""

    kind: str
    rest: str = ""
    each: bool = False


class FollowWords:
    """The wordings of a language that go on from records or figures."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        them = data["them"]
        self._leads = re.compile(rf"^(?:{data['leads']})[\s,]+", re.IGNORECASE)
        self._ends = re.compile(rf"[\s,]+(?:{data['ends']})$", re.IGNORECASE)
        self.more = re.compile(rf"\b(?:{data['more']})\b", re.IGNORECASE)
        self._each = re.compile(rf"\b(?:{data['each']})\b", re.IGNORECASE)
        self._split = re.compile(data["splits"], re.IGNORECASE)
        self._linked = re.compile(data["linked"], re.IGNORECASE)
        self._written = [(re.compile(rf"\b{short}\b", re.IGNORECASE), long)
                         for short, long in data["written"].items()]  # fmt: skip
        self._kinds = [(kind, re.compile(text.replace("THEM", them), re.IGNORECASE))
                       for kind, texts in data["kinds"].items() for text in texts]  # fmt: skip
        # Who somebody is that is asked for, by what is done: verb -> name of the dimension.
        self.roles: Mapping[str, str] = data["roles"]
        # When what has to be done has to be done.
        self.ahead: Sequence[str] = data["ahead"]
        self.ordinals: Sequence[str] = data["ordinals"]
        # Who "they" are was said before.
        self.pronouns = re.compile(rf"\b(?:{data['pronouns']})\b", re.IGNORECASE)
        self.owners = re.compile(rf"\b(?:{data['owners']})\b", re.IGNORECASE)
        # "In the same period": what was asked before has one.
        self.same = re.compile(rf"[\s,]*\b(?:{data['same']})$", re.IGNORECASE)
        self.checks = re.compile(rf"^(?:{data['checks']})", re.IGNORECASE)
        self.lists = re.compile(rf"^(?:{data['lists']})\s+", re.IGNORECASE)
        self.all_of = re.compile(rf"\b(?:{data['all_of']})\b", re.IGNORECASE)

    def plain(self, text: str) -> str:
        """A clause without what leads to it and what is polite."""
        said = _MARKS.sub("", text.replace("\u2019", "'"))
        for short, long in self._written:
            said = short.sub(long, said)
        before = ""
        while said != before:
            before = said
            said = _MARKS.sub("", self._ends.sub("", self._leads.sub("", said)))
        return said

    def asked(self, text: str) -> Asked | None:
        """What a clause asks of the records before it; None where it is none of these."""
        said = self.plain(text)
        for kind, pattern in self._kinds:
            if match := pattern.fullmatch(said):
                rest = (match.groupdict().get("rest") or "").strip()
                return Asked(kind, rest, bool(self._each.search(said)))
        return None

    def linked(self, text: str) -> list[str]:
        """The clauses of a list: ``net and gross``."""
        return [part for one in self._linked.split(text) if (part := _MARKS.sub("", one))]

    def splits(self, text: str) -> Iterator[tuple[str, str, bool]]:
        """A text in two, wherever something may be asked of what is named first; whether a colon
        or a dash stands between them."""
        for match in self._split.finditer(text):
            head, tail = text[: match.start()], text[match.end() :]
            if head.strip() and tail.strip():
                is_marked = match.group().strip()[:1] in _SIGNS
                yield head.rstrip(" ,;:?-\u2013\u2014"), tail.strip(), is_marked
