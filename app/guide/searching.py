"""Finding sections of the guide by words: on the server, and as an index for the page's script."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from app.guide.pages import every_page

MOST_FOUND = 40
_AROUND = 90
_WORD = re.compile(r"[^\s]+")


class FoundSection(NamedTuple):
    """A section that has all the words."""

    address: str
    page: str
    title: str
    snippet: str


def entries() -> list[dict[str, Any]]:
    """Every section: ``a`` address, ``p`` page, ``t`` title, ``x`` text."""
    return [
        {
            "a": f"{page.address}#{section.anchor}", "p": page.title, "t": section.title,
            "x": section.text,
        }
        for page in every_page()
        for section in page.sections
    ]  # fmt: skip


def search(question: str) -> list[FoundSection]:
    """The sections that have every word of ``question``; those with them in their titles first."""
    words = [word.lower() for word in _WORD.findall(question)[:10]]
    if not words:
        return []
    ranked = []
    for index, entry in enumerate(entries()):
        title, text = f"{entry['t']} {entry['p']}".lower(), entry["x"].lower()
        if all(word in title or word in text for word in words):
            in_title = sum(word in title for word in words)
            ranked.append((-in_title, index, entry))
    return [
        FoundSection(entry["a"], entry["p"], entry["t"], _snippet(entry["x"], words))
        for _, _, entry in sorted(ranked, key=lambda entry_rank: entry_rank[:2])[:MOST_FOUND]
    ]


def _snippet(text: str, words: list[str]) -> str:
    lowered = text.lower()
    places = [position for word in words if (position := lowered.find(word)) >= 0]
    begin = max(0, min(places, default=0) - _AROUND)
    end = begin + 2 * _AROUND
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
