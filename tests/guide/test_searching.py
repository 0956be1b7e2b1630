"""Sections of the guide are found by all their words, titles first."""

from __future__ import annotations

from app.guide.routes import MOST_FOUND, search


def test_a_section_has_every_word() -> None:
    sections = search("signature webhook")
    assert sections
    assert search("signature webhook xyzzyplugh") == []
    assert search("   ") == []


def test_titles_come_first_and_the_snippet_is_around_the_word() -> None:
    sections = search("webhooks")
    assert "webhook" in f"{sections[0].title} {sections[0].page}".lower()
    assert len(search("the")) == MOST_FOUND
    assert any("overpayment" in section.snippet.lower() for section in search("overpayment"))
