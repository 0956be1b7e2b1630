"""What people say around a question: greetings, excuses, thanks, why they ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.words.tokens import Token, tokenise

# Kinds of words that say what is asked for, and those that say nothing.
_HEADS = {"count", "how_much", "how_long", "list", "share"}
_FIGURES = {"count", "how_much", "how_long", "share", "average", "amount"}
_PLAIN = {"stop", "and_then", "me", "list", "or", "with", "auxiliary", "pronoun"}
# Who asks.
_SELF = ("i", "i'm", "i've", "we", "we're", "my")
_ASKING = ("how", "what", "which", "who", "why", "when", "where")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# What of the words of an entity is about its records; verbs such as "get" are not enough.
_OWN = {"noun", "measure", "rate", "state", "subset", "dimension", "order"}


@dataclass(frozen=True)
class Stripped:
    """A question without what is said around it; ``left_aside`` may have meant something."""

    text: str
    left_aside: tuple[str, ...] = ()


def stripped(question: str, vocabulary: Vocabulary) -> Stripped:
    """The question without greetings, thanks and talk; as it is, where nothing would be left."""
    for pattern, joined in vocabulary.wordings.joins:
        question = pattern.sub(joined, question)
    parts = _parts(question)
    if len(parts) > 1 and _is_opening(parts[0], vocabulary):
        parts = parts[1:]
    lead = [_text(question, parts[:1])] if _is_lead_in(parts, vocabulary) else []
    parts = parts[len(lead) :]
    talk = [part for part in parts if _is_talk(part, vocabulary)]
    kept = [part for part in parts if part not in talk]
    if not kept:
        return Stripped(question)
    strange = [_text(question, [part]) for part in talk if _is_strange(part, vocabulary)]
    kept = [_without_lead(part, vocabulary) for part in kept]
    return Stripped(_text(question, kept), (*lead, *strange))


def without_reasons(question: str, vocabulary: Vocabulary) -> Stripped:
    """The question without whole clauses about whoever asks: ``I want to call them``."""
    parts = _parts(question)
    kept = [part for part in parts if not _is_reason(part, vocabulary)]
    aside = [_text(question, [part]) for part in parts if part not in kept]
    if not aside or not any(_says(part, vocabulary) for part in kept):
        return Stripped(question)
    return Stripped(_text(question, kept), tuple(aside))


def _parts(question: str) -> list[list[Token]]:
    """The clauses between marks."""
    found: list[list[Token]] = []
    for token in tokenise(question):
        if token.mark or not found:
            found.append([])
        found[-1].append(token)
    return found


def _text(question: str, parts: Sequence[Sequence[Token]]) -> str:
    """The clauses as they were written, each with the mark behind it."""
    begins = sorted(part[0].start for part in _parts(question))
    texts = []
    for part in parts:
        behind = next((at for at in begins if at > part[-1].start), len(question))
        texts.append(question[part[0].start : behind])
    return "".join(texts).rstrip(" ,;:-\u2013(")


def _is_talk(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a clause only talks: nothing in it is about records or figures."""
    if _says(part, vocabulary):
        return False
    plain = {"stop", "and_then"}
    if (part[-1].stem,) in vocabulary.figures:
        return False  # "number, value and ..."
    if any(_PLAIN & set(one) == {"list"} for _, _, one in positions(part, vocabulary)[:1]):
        return False  # "show me all"
    kinds = [set(kinds) for _, _, kinds in positions(part, vocabulary)]
    known = sum(end - at for at, end, _ in positions(part, vocabulary))
    is_empty = known == len(part) and all(plain & one for one in kinds)
    return is_empty or any(token.stem in vocabulary.talk for token in part)


def _is_opening(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """``one last thing before I leave:`` only says that a question follows."""
    talks = [token for token in part if token.stem in vocabulary.talk]
    told = [part[at].stem for at in _telling(part, vocabulary)]
    return len(talks) > 1 and set(told) <= {"last", "first", "one", *vocabulary.talk}


def _is_lead_in(parts: Sequence[Sequence[Token]], vocabulary: Vocabulary) -> bool:
    """``every Monday I go through the pipeline: which ...``: what whoever asks does, and why."""
    if len(parts) < 2 or parts[1][0].mark != ":":
        return False
    lead, rest = parts[0], parts[1]
    asked = _head(lead, vocabulary) is not None or any(one.stem in _ASKING for one in lead)
    own = any(token.stem in _SELF for token in lead) and not asked
    asks = _head(rest, vocabulary) == 0
    whole = any(vocabulary.is_of_records(token.stem, {"noun", "measure"}) for token in rest)
    # A name, a number or a state in it may say of what it is asked.
    said = any(
        token.kind != "word"
        or (vocabulary.periods.tells(lead, at) and token.stem not in _WEEKDAYS)
        or (token.is_capital and at and token.text != "I" and token.stem not in _WEEKDAYS)
        or (
            vocabulary.is_of_records(token.stem, {"state", "subset"})
            and not vocabulary.is_of_records(token.stem, {"measure"})
            and token.stem not in vocabulary.talk
        )
        for at, token in enumerate(lead)
    )
    return own and asks and whole and not said


def _is_strange(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a word is in it that nobody knows: it may have meant something."""
    return any(
        token.kind == "word"
        and token.stem not in vocabulary.talk
        and token.stem not in vocabulary.known
        for token in part
    )


def _says(part: Sequence[Token], vocabulary: Vocabulary, *, is_lead: bool = False) -> bool:
    """Whether something in the words is about records; before the head, talk is only talk."""
    told = _telling(part, vocabulary)
    return any(not is_lead or part[at].stem not in vocabulary.talk for at in told)


def _telling(part: Sequence[Token], vocabulary: Vocabulary) -> Iterator[int]:
    """The places of what is about records, figures, names, numbers or days."""
    for at, token in enumerate(part):
        if token.stem == "report" and at and part[at - 1].stem in ("my", "our", "the", "a"):
            continue  # what it is for, no record
        is_name = token.is_capital and len(token.text) > 1 and token.stem not in vocabulary.talk
        if (
            token.kind != "word"
            or any(letter.isdigit() for letter in token.text)
            or is_name
            or vocabulary.is_of_records(token.stem, _OWN)
            or vocabulary.periods.tells(part, at)
        ):
            yield at
    for at, _, kinds in positions(part, vocabulary):
        if not _PLAIN & set(kinds) or _FIGURES & set(kinds):
            yield at


def _head(part: Sequence[Token], vocabulary: Vocabulary) -> int | None:
    """Where it is said what is asked for."""
    found = positions(part, vocabulary)
    heads = [at for at, _, kinds in found if _HEADS & set(kinds)]
    figures = [at for at, token in enumerate(part) if (token.stem,) in vocabulary.figures]
    return min([*heads, *figures], default=None)


def _is_how(part: Sequence[Token]) -> bool:
    """``how do I create``: how something is done, no figure."""
    return any(token.stem in ("how", "why") for token in part)


def _without_lead(part: list[Token], vocabulary: Vocabulary) -> list[Token]:
    """``my boss wants to see the number of``: only what follows."""
    head = _head(part, vocabulary)
    if not head:
        return part
    while head > 0 and part[head - 1].stem in ("the", "our", "all"):
        head -= 1
    lead = part[:head]
    talks = any(token.stem in vocabulary.talk for token in lead)
    talks = talks and not _is_strange(lead, vocabulary)
    return (
        part[head:]
        if talks and not _is_how(lead) and not _says(lead, vocabulary, is_lead=True)
        else part
    )


def _is_reason(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a clause is about whoever asks, or why."""
    stems = tuple(token.stem for token in part[:3])
    return any(stems[: len(one)] == one for one in vocabulary.reasons)
