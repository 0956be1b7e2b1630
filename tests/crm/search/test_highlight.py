"""What was found is marked, and nothing else gets through as HTML."""

from __future__ import annotations

import pytest

from app.crm.search.service import highlight


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("Acme", ["acm"], "<mark>Acm</mark>e"),
        ("Müller & Co", ["mull"], "<mark>Müll</mark>er &amp; Co"),
        ("Große Straße", ["strasse"], "Große <mark>Straße</mark>"),
        ("Straße", ["stras"], "<mark>Straß</mark>e"),
        ("e\u0301cole", ["ecole"], "<mark>e\u0301cole</mark>"),
        ("Acme acme Pacme", ["acme"], "<mark>Acme</mark> <mark>acme</mark> Pacme"),
        ("Pacme", ["acm"], "P<mark>acm</mark>e"),
        ("info@acme.example", ["acme", "example"],
         "info@<mark>acme</mark>.<mark>example</mark>"),
        ("<i>Acme</i>", ["i"], "&lt;<mark>i</mark>&gt;Acme&lt;/<mark>i</mark>&gt;"),
        ('"A\'B"', [], "&quot;A&#x27;B&quot;"),
        ("Acme", ["zzz", ""], "Acme"),
        ("", ["a"], ""),
        ("Æther", ["aeth"], "<mark>Æth</mark>er"),
    ],
)  # fmt: skip
def test_words_are_marked_in_the_text_as_it_is(text: str, words: list[str], marked: str) -> None:
    assert highlight(text, words) == marked
