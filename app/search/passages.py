"""Long texts in pieces: a vector holds the meaning of a paragraph or two, not of a book."""

from __future__ import annotations

# Measured on public collections: shorter lose what the words are about, longer blur it.
WORDS = 110
# A rest shorter than this stays with the piece before it.
SHORTEST = 25
# 200,000 characters are some 300 pieces; the vectors of one article stay under 500 KB.
MOST = 320


def passages(text: str) -> list[str]:
    """The pieces of a text, each of about ``WORDS`` words; at least one, which may be empty."""
    words = text.split()
    pieces = [words[start : start + WORDS] for start in range(0, len(words), WORDS)]
    if len(pieces) > 1 and len(pieces[-1]) < SHORTEST:
        pieces[-2:] = [pieces[-2] + pieces[-1]]
    return [" ".join(piece) for piece in pieces[:MOST]] or [""]


def titled(title: str, passage: str) -> str:
    """What the model is given of a piece: it is about the title, wherever it stands."""
    return f"{title}. {passage}" if passage else title
