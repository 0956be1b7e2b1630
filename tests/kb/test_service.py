"""Articles: names in addresses, revisions, and who publishes."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import ForbiddenError, ValidationError
from app.http.security import Caller, acting_as
from app.models.kb_article import KbRevision
from tests.factories import create, event_names, make_article, make_user, rows, stored, update


def revisions(key: int) -> list[tuple[int, str]]:
    return [(row["revision"], row["body"]) for row in rows(KbRevision, article_id=key)]


@pytest.mark.parametrize(
    ("title", "slug"),
    [("Reset your password!", "reset-your-password"), ("Größe & Straße", "grosse-strasse"),
     ("100 % _sure_", "100-sure"), ("???", "article"), ("日本", "ri-ben")],
)  # fmt: skip
def test_a_slug_is_the_title_in_plain_letters(admin: Caller, title: str, slug: str) -> None:
    assert stored("KbArticle", make_article(title=title))["slug"] == slug


def test_slugs_are_unique_and_stay(admin: Caller) -> None:
    keys = [make_article(title="A b") for _ in range(3)]
    assert [stored("KbArticle", key)["slug"] for key in keys] == ["a-b", "a-b-2", "a-b-3"]
    other = make_article(title="A b c")
    assert stored("KbArticle", other)["slug"] == "a-b-c"
    update("KbArticle", keys[0], title="Something else")
    assert stored("KbArticle", keys[0])["slug"] == "a-b"
    assert len(stored("KbArticle", make_article(title="x" * 255))["slug"]) == 255


def test_every_text_is_kept(admin: Caller) -> None:
    key = make_article(body="one two three")
    assert stored("KbArticle", key)["word_count"] == 3
    update("KbArticle", key, body="one two", summary="Short")
    update("KbArticle", key, category="Basics")
    row = stored("KbArticle", key)
    assert (row["revision"], row["word_count"], row["version"]) == (2, 2, 3)
    assert revisions(key) == [(1, "one two three"), (2, "one two")]
    assert rows(KbRevision, article_id=key)[1]["author_id"] == admin.user_id


def test_the_way_to_the_public_and_back(admin: Caller) -> None:
    key = make_article()
    for status, event in (
        ("InReview", "submitted"), ("Published", "published"), ("Archived", "archived"),
    ):  # fmt: skip
        update("KbArticle", key, status=status)
        assert event_names("KbArticle", key)[-2:] == [
            f"kb_article.{event}", "kb_article.updated",
        ]  # fmt: skip
    row = stored("KbArticle", key)
    assert row["published_by_id"] == admin.user_id
    assert None not in (row["published_at"], row["archived_at"])
    update("KbArticle", key, status="Draft")
    assert stored("KbArticle", key)["archived_at"] is None
    update("KbArticle", key, status="Published")
    update("KbArticle", key, status="Draft")
    assert "kb_article.unpublished" in event_names("KbArticle", key)


def test_an_author_submits_and_an_editor_publishes(admin: Caller) -> None:
    author = make_user("Support")
    with acting_as(author):
        key = make_article()
        update("KbArticle", key, body="Better")
        update("KbArticle", key, status="InReview")
        with pytest.raises(ForbiddenError):
            update("KbArticle", key, status="Published")
        with pytest.raises(ForbiddenError):
            make_article(status="Published")
    with acting_as(make_user("Manager")):
        update("KbArticle", key, status="Published")


@pytest.mark.parametrize("change", [{"body": "New"}, {"title": "New"}, {"visibility": "Public"}])
def test_what_is_published_changes_only_with_the_right_to_publish(
    admin: Caller, change: dict[str, Any]
) -> None:
    author = make_user("Support")
    key = make_article(status="Published", owner_id=author.user_id)
    with acting_as(author):
        with pytest.raises(ForbiddenError) as refused:
            update("KbArticle", key, **change)
        assert refused.value.details[0].message == "kb:publish"
        update("KbArticle", key, category="Basics")
    update("KbArticle", key, **change)


def test_an_article_translates_neither_itself_nor_a_translation_of_it(admin: Caller) -> None:
    key = make_article()
    german = create(
        "KbArticle", {"title": "T", "body": "B", "language": "de", "translation_of_id": key}
    )
    french = make_article(translation_of_id=german)
    for other in (key, german, french):
        with pytest.raises(ValidationError) as refused:
            update("KbArticle", key, translation_of_id=other)
        assert refused.value.details[0].field == "translationOfId"
    update("KbArticle", french, translation_of_id=key)
