"""Why a question is not answered, in words that do not mislead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.bi.nlq.vocabulary import Vocabulary
from app.bi.words.tokens import phrase, tokenise

_CHANGED = "Records are changed through the API or the assistant, with a confirmation."
MOST_WORDS = 3
_SQL = re.compile(
    r"(?i)\b(select\b.*\bfrom|drop\s+table|insert\s+into|delete\s+from|update\s+\w+\s+set|union\s+"
    r"(all\s+)?select|or\s+1\s*=\s*1|truncate\s+table)\b|--|/\*|;\s*\w|<script|\$\{|\{\{"
)


def reason_of(refused: str, vocabulary: Vocabulary) -> str:
    """Why a question with such words is not even read."""
    words = phrase(refused)
    found = next((text for text, all_of in vocabulary.wordings.refusals if words in all_of), None)
    return found or f"questions change nothing, and “{refused}” asks for it. {_CHANGED[:-1]}"


def unknown_text(unknown: Sequence[str], vocabulary: Vocabulary, question: str) -> str:
    """Which words nothing could be made of: strange ones, or else those that do not fit here.

    Args:
        question: as it was asked; a word that an idiom put into it is not said back.
    """
    written = vocabulary.typed.plain(question).lower()
    said = [text for text in unknown if _is_written(text, written)]
    if not said:
        reasons = (vocabulary.wordings.unsaid.get(text.lower()) for text in unknown)
        return f"I cannot tell {next(filter(None, reasons), 'what is asked for')}."
    unknown = said
    strange = [
        text
        for text in unknown
        if not all(word in vocabulary.known for word in phrase(text.removesuffix("...")))
    ]
    shown = ", ".join(f"“{text}”" for text in (strange or list(unknown))[:MOST_WORDS])
    if strange:
        return f"I do not know what {shown} stands for here."
    return f"I cannot bring {shown} together with the rest of the question."


def _is_written(text: str, question: str) -> bool:
    """Whether a word stands in a question, as it is or as one of its forms."""
    word = text.lower().removesuffix("...").strip().split(" ")[0].replace("\u2019", "'")
    return word in question


def report_named(question: str, vocabulary: Vocabulary) -> str | None:
    """The key of the built-in report that a question calls for: ``ageing report``."""
    stems = [token.stem for token in tokenise(question)]
    for key, words in vocabulary.wordings.reports:
        if any(tuple(stems[at : at + len(words)]) == words for at in range(len(stems))):
            return str(key)
    return None


def is_code(question: str) -> bool:
    """Whether a question is, or has in it, what a machine would run."""
    return _SQL.search(question) is not None


def said_in(stems: tuple[str, ...], phrases: Sequence[tuple[str, ...]]) -> str | None:
    """The first of some phrases that is in a question."""
    for one in phrases:
        for at in range(len(stems) - len(one) + 1):
            if stems[at : at + len(one)] == one:
                return " ".join(one)
    return None
