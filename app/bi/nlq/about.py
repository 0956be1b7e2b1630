"""What records tell of: ``tickets about passwords``, ``articles mentioning printers``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.plans.plan import Condition
from app.bi.words.tokens import Token
from app.odata.syntax.literal_text import quoted

_ARTICLES = ("the", "our", "a", "an", "any", "some", "their", "this", "word", "term")
LONGEST = 5  # words that lead to a topic


@dataclass(frozen=True)
class Topic:
    """A text that is looked for: where it begins and how long it is, with what leads to it."""

    begin: int
    length: int
    text: str
    place: int | None = None  # in which of the texts; None: in any


def topic_at(tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> Topic | None:
    """What records are said to be about at this place, behind their noun; None for nothing.

    Whatever stands first is a part of it, and so are the words behind that mean nothing else.
    """
    if not any(vocabulary.is_of_records(one.stem, ("noun", "subset")) for one in tokens[:at]):
        return None
    stems = tuple(one.stem for one in tokens[at : at + LONGEST])
    leads = vocabulary.wordings.about
    lead = max((len(one) for one in leads if stems[: len(one)] == one), default=0)
    place = leads.get(stems[:lead])
    begin = at + lead
    while lead and begin < len(tokens) and tokens[begin].stem in _ARTICLES:
        begin += 1
    if not lead or begin >= len(tokens):
        return None
    first = tokens[begin]
    plain = {one.kind for one in vocabulary.words.get((first.stem,), ())} - {"noun", "refused"}
    if first.kind == "quoted":
        return Topic(begin, begin + 1 - at, first.stem, place)
    if first.kind != "word" or plain or first.apart or len(first.stem) < 3:
        return None
    end = begin + 1
    while end < len(tokens) and _goes_on(tokens[end], vocabulary):
        end += 1
    text = " ".join(one.stem for one in tokens[begin:end])
    return Topic(begin, end - at, text, place)


def _goes_on(token: Token, vocabulary: Vocabulary) -> bool:
    known = token.stem in vocabulary.known or token.stem in vocabulary.talk
    return token.kind == "word" and not (known or token.apart or token.is_capital)


def without_topics(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[Token]:
    """The words of a question that are not only looked for."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        topic = topic_at(tokens, at, vocabulary)
        found += [] if topic else [tokens[at]]
        at += topic.length if topic else 1
    return found


def about(entity: Entity, topic: Topic) -> Condition:
    """The records of which a text says so, whatever the letters' case."""
    paths: Sequence[str] = entity.data["about"]
    paths = (topic.place is not None and paths[topic.place :][:1]) or paths
    found = " or ".join(f"contains(tolower({path}),{quoted(topic.text)})" for path in paths)
    is_one = topic.place is not None and len(paths) == 1
    words = f"“{topic.text}” in the {paths[0]}" if is_one else f"about “{topic.text}”"
    return Condition(found, words)
