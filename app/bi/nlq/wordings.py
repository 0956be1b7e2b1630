"""Phrases of the vocabulary that stand for no record: topics, vagueness, politeness, refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.bi.nlq.follow_words import FollowWords
from app.bi.nlq.histories import joins
from app.bi.nlq.regions import regions
from app.bi.words.tokens import phrase


class Wordings:
    """What a language says around records, as stems to be compared with those of a question."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        words = data["words"]
        # What leads to a text that is looked for, "about", "whose subject contains": in which of
        # the texts of a record, by its place; None for any.
        kinds: Mapping[str, int | None] = {"about": None, "about_title": 0, "about_text": 1}
        self.about = {phrase(text): at for kind, at in kinds.items() for text in words[kind]}
        # What says nothing of what is asked about: "numbers", "everything".
        self.things = frozenset(phrase(text) for text in words["things"])
        self.polite = frozenset(phrase(text)[0] for text in words["polite"])
        # What a question without a subject may be about: shape -> questions to offer.
        self.vague: Mapping[str, Sequence[str]] = data["vague"]
        # The kinds of records that a state may be about, the likelier first: key -> what they are.
        self.kinds: Mapping[str, str] = data["vague_kinds"]
        # Why something is refused, and the phrases of which it is said.
        self.refusals = [
            (text, {phrase(one) for one in all_of}) for text, all_of in data["refusals"].items()
        ]
        # The built-in reports, and what questions call them that cannot be answered by one query.
        self.reports = [(key, phrase(text)) for key, all_of in data["reports"].items()
                        for text in all_of]  # fmt: skip
        # What is offered where nothing else was understood: wording -> questions.
        self.offered = [(re.compile(pattern, re.IGNORECASE), list(choices))
                        for pattern, choices in data["offered"].items()]  # fmt: skip
        # What says of no time when it is: wording -> times that it may stand for.
        self.some_time = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), list(periods))
                          for pattern, periods in data["some_time"].items()]  # fmt: skip
        # Words that idioms put into a question, and what cannot be told of them.
        self.unsaid: Mapping[str, str] = data["unsaid"]
        # What compares two figures of one record: its word -> operator, and how it is said.
        self.pairing: Mapping[str, tuple[str, str]] = {
            word: (operator, said) for word, (operator, said) in data["pairing"].items()
        }
        # What stands between two figures or dates of a record: its words -> operator.
        self.against = {phrase(one): operator for operator, all_of in data["against"].items()
                        for one in all_of}  # fmt: skip
        # By what records may be ranked where it is not said: key -> ends of the question.
        self.rankings: Mapping[str, Sequence[str]] = data["rankings"]
        # What says how records are, not what they are about.
        self.qualities = frozenset(phrase(text)[0] for text in words["qualities"])
        # Groups of countries, by what they are called.
        self.regions = regions(data)
        # What is explained behind a dash, as one sentence.
        self.joins = joins(data)
        self.follow = FollowWords(data["follow"])


def idioms_of(data: Mapping[str, Any]) -> list[tuple[re.Pattern[str], str]]:
    """Wordings and how they are said plainly; ``@period@`` stands for what many have in common."""
    fragments: dict[str, str] = {}
    for name, fragment in data["fragments"].items():
        fragments[name] = _filled(fragment, fragments)
    found = []
    for pattern, text in data["idioms"].items():
        pattern = _filled(pattern, fragments)
        found.append((re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), text))
    return found


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    for name, fragment in fragments.items():
        pattern = pattern.replace(f"@{name}@", f"(?:{fragment})")
    return pattern
