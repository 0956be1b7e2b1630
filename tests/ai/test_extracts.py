"""Which piece of an article is quoted, and how it is taken apart."""

from __future__ import annotations

import pytest

from app.ai.knowledge import MOST_PIECES, MOST_WORDS, best_extract, codes_of, pieces_of
from app.ai.wording import sentences, value_text
from app.kb.rendering import to_html

BODY = """The lock opens with a card.

## Replacing a battery

Open the lid first:

1. Push the lever.
2. Take the old battery out.

- **Left:** plus
- right: minus

| Battery | Hours |
|---|---|
| small | 8 |

## Cleaning

Use a dry cloth.
"""


def test_a_list_stays_with_what_announces_it() -> None:
    pieces = pieces_of(to_html(BODY, "Markdown"))
    assert [(piece.heading, piece.lines) for piece in pieces] == [
        ("", ["The lock opens with a card."]),
        (
            "Replacing a battery",
            ["Open the lid first:", "1. Push the lever.", "2. Take the old battery out.",
             "- Left: plus", "- right: minus", "- small: 8"],
        ),
        ("Cleaning", ["Use a dry cloth."]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how do I change the battery?", "Open the lid first:"),
        ("wipe dirt off", "Use a dry cloth."),
    ],
)
def test_the_piece_that_fits_is_quoted(question: str, first: str) -> None:
    assert best_extract(question, "Door lock", to_html(BODY, "Markdown"))[0] == first


def test_a_quotation_has_an_end() -> None:
    long = "\n\n".join(["word " * 90 + "end."] * 100)
    html = to_html(long, "Markdown")
    assert len(pieces_of(html)) == MOST_PIECES
    assert sum(len(line.split()) for line in best_extract("word", "T", html)) <= MOST_WORDS


@pytest.mark.parametrize("body", ["", "   ", "<!-- nothing -->", "<p></p>", "---"])
def test_of_an_empty_article_nothing_is_quoted(body: str) -> None:
    assert best_extract("anything", "T", to_html(body, "Markdown")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Use e.g. Acme. Then stop.", ["Use e.g. Acme.", "Then stop."]),
        ("Version 2.5 is out.", ["Version 2.5 is out."]),
        ("a line\nanother", ["a line", "another"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not set"), (True, "yes"), ("2026-01-31", "31 January 2026"), (7, "7"),
     (["a", "b"], "a, b"), ({}, "not set")],
)  # fmt: skip
def test_values_in_words(value: object, text: str) -> None:
    assert value_text(value) == text


def test_paragraphs_inside_of_items_and_breaks_stay_in_their_line() -> None:
    html = "<ul><li><p>Push<br>hard.</p><p>Twice.</p></li></ul><blockquote><p>a</p></blockquote>"
    assert [piece.lines for piece in pieces_of(html)] == [["- Push hard. Twice."], ["a"]]


def test_a_code_in_the_question_finds_the_piece_that_has_it() -> None:
    others = (
        "When the scanner shows E429 or E600, it repeats by itself, and you have nothing to do."
    )
    meant = "For all others: E401 is a refused key, E413 a large file."
    html = f"<p>{others}</p><p>{meant}</p>"
    assert best_extract("Scanner shows E401", "Scanner", html) == [meant]


def test_the_number_of_a_record_is_no_code() -> None:
    assert codes_of("E401 of an Aurora S40, answer 429") == {"e401", "s40", "429"}
    assert codes_of("INV-2026-00163 of 2026, T-000012, 10 boxes") == set()
