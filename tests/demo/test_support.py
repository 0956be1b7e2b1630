"""The demonstration's knowledge base is complete, distinct and consistent with the service."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from app.config import DEFAULT_RETRY_SCHEDULE, Config
from app.demo.support import FOLDER, body_of
from app.demo.vocabulary import ARTICLES, Row

BY_KEY = {article.key: article for article in ARTICLES}
EVERY = pytest.mark.parametrize("article", ARTICLES, ids=[article.key for article in ARTICLES])
# *Title of another article* is a reference; commands and menus are in italics too, with a comma.
REFERENCE = re.compile(r"(?:[Ss]ee|in|with|follow|rules of|method as) \*([^*,]{12,})\*")


def original_of(article: Row) -> str | None:
    key: str | None = getattr(article, "translation_of", None)
    return key


def test_every_file_is_the_text_of_one_article() -> None:
    assert len(BY_KEY) == len(ARTICLES)
    assert {path.stem for path in FOLDER.glob("*.md")} == set(BY_KEY)


def test_there_are_sixty_articles_in_three_languages() -> None:
    assert Counter(article.language for article in ARTICLES) == {"en": 50, "de": 6, "fr": 4}


def test_both_visibilities_are_present() -> None:
    assert Counter(article.visibility for article in ARTICLES) == {"Public": 54, "Internal": 6}


def test_titles_and_summaries_are_unique() -> None:
    assert len({article.title for article in ARTICLES}) == len(ARTICLES)
    assert len({article.summary for article in ARTICLES}) == len(ARTICLES)


@EVERY
def test_front_matter_fits_the_columns(article: Row) -> None:
    assert 5 <= len(article.title) <= 255
    assert 3 <= len(article.category) <= 100
    assert 40 <= len(article.summary) <= 500
    assert 3 <= len(article.tags) <= 20
    assert all(len(tag) <= 50 for tag in article.tags)
    assert len(set(article.tags)) == len(article.tags)


@EVERY
def test_body_is_an_article_and_not_a_stub(article: Row) -> None:
    body = body_of(article)
    assert 150 <= len(body.split()) <= 600
    assert len(body) <= 200_000
    assert not body.startswith("# "), "the title is a field, not a heading"


def test_no_paragraph_stands_in_two_articles() -> None:
    paragraphs = Counter(
        paragraph
        for article in ARTICLES
        for paragraph in body_of(article).split("\n\n")
        if len(paragraph) > 80
    )
    assert [text for text, times in paragraphs.items() if times > 1] == []


def test_translations_name_an_original_in_another_language() -> None:
    translations = [article for article in ARTICLES if original_of(article)]
    assert len(translations) == 7
    for article in translations:
        original = BY_KEY[article.translation_of]
        assert original.language != article.language
        assert original_of(original) is None


def test_originals_come_before_their_translations() -> None:
    places = {article.key: index for index, article in enumerate(ARTICLES)}
    for article in ARTICLES:
        if original_of(article):
            assert places[article.translation_of] < places[article.key]


@EVERY
def test_references_lead_to_an_article_that_a_reader_may_open(article: Row) -> None:
    titles = {other.title: other for other in ARTICLES}
    for title in REFERENCE.findall(body_of(article)):
        if title[0].isupper() and article.language == "en" and " " in title:
            assert title in titles, f"{article.key} refers to {title!r}"
            assert article.visibility == "Internal" or titles[title].visibility == "Public"


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        ("rate-limits", Config(SECRET_KEY="x").RATE_LIMIT_USER.replace("/minute", " requests per")),
        ("rate-limits", "1,000 requests per minute"),
        ("rate-limits", "20 per minute"),
        ("upload-documents", f"**{Config(SECRET_KEY='x').MAX_UPLOAD_MB} MB**"),
        ("scanner-s40-setup", f"**{Config(SECRET_KEY='x').MAX_UPLOAD_MB} MB**"),
        ("account-locked", "**5 wrong passwords within 15 minutes**"),
        ("compte-verrouille", "**5 mots de passe erronés en 15 minutes**"),
        ("share-documents", "**7 days**"),
        ("payment-terms", "**30 days after its issue date**"),
        ("first-api-request", "900 seconds"),
        ("reset-password", "**at least 12 characters**"),
        ("restore-documents", "**30 days**"),
        ("ticket-life-cycle", "**7 days**"),
        ("webhook-signatures", "**24 hours**"),
    ],
)
def test_articles_state_what_the_service_does(key: str, fact: str) -> None:
    assert fact in body_of(BY_KEY[key])


def test_the_retry_article_lists_the_default_schedule() -> None:
    text = body_of(BY_KEY["webhook-failures"])
    words = []
    for second in map(int, DEFAULT_RETRY_SCHEDULE.split(",")):
        words.append(
            f"{second // 3600} hours" if second >= 3600
            else f"{second // 60} minutes" if second >= 60
            else f"{second} seconds"
        )  # fmt: skip
    assert f"after {', '.join(words[:-1])} and {words[-1]}: ten attempts" in text


def test_reminders_are_the_same_in_both_languages() -> None:
    for key, parts in (
        ("payment-reminders", ("3 days before", "3 days after", "14 days after")),
        ("zahlungserinnerungen", ("3 Tage vor", "3 Tage nach", "14 Tage nach")),
        ("overdue-accounts", ("3 days before", "3 days after", "14 days after")),
    ):
        assert all(part in body_of(BY_KEY[key]) for part in parts)
