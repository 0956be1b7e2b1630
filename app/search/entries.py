"""What the index keeps of a text: made once, when the text changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.search.analysis import terms
from app.search.embedding import EmbeddingModel
from app.search.passages import passages, titled
from app.search.short_forms import short_forms, term_of


@dataclass(frozen=True)
class Made:
    """The columns of an entry that follow from its text."""

    terms: dict[str, list[int]]
    length: int
    passages: list[str]
    vectors: Any


def keyed(term: str, language: str) -> str:
    """A term of one language: the German ``die`` is not the English one."""
    return f"{language}:{term}"


def make_entry(
    title: str,
    text: str,
    language: str,
    model: EmbeddingModel | None,
    *,
    before_each: Callable[[], object] | None = None,
) -> Made:
    """Terms, passages and vectors of a text.

    Args:
        text: plain, without markup.
        language: two letters.
        before_each: as in ``EmbeddingModel.embed``; a long text takes many seconds.
    """
    of_title, of_text = terms(title, language), terms(text, language)
    counts: dict[str, list[int]] = {}
    for column, found in enumerate((of_title, of_text)):
        for term in found:
            counts.setdefault(keyed(term, language), [0, 0])[column] += 1
    for long, short in short_forms(title, text, language).items():
        counts[keyed(term_of(long, short), language)] = [0, 1]
    pieces = passages(text)
    titles = [titled(title, piece) for piece in pieces]
    vectors = model.embed(titles, before_each) if model else None
    return Made(counts, len(of_title) + len(of_text), pieces, vectors)


# A question of more words than this is a text; its first words say what it is about.
MOST_QUERY_TERMS = 100


def query_terms(text: str, languages: Sequence[str]) -> list[str]:
    """The terms of a question in every language that the index has: nobody says which it is in."""
    found: dict[str, None] = {}
    for language in languages:
        own = dict.fromkeys(terms(text, language))
        found |= dict.fromkeys(keyed(term, language) for term in list(own)[:MOST_QUERY_TERMS])
    return list(found)
