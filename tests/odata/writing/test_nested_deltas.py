"""What nested entities say of themselves: deltas, tags, that they go (Protocol 11.4.3.1)."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import PreconditionFailedError, ValidationError
from app.odata.writing.rows import kept_rows
from tests.odata.bookshop import BOOK, TRANSLATION, authors, book_genres, books, chapters, genres
from tests.odata.writing.conftest import Shop

STALE, FIRST = 'W/"9"', 'W/"1"'


def problem(shop: Shop, method: str, path: str, body: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        shop.send(method, path, body)
    return {detail.field: detail.message for detail in caught.value.details}


@pytest.fixture
def author(shop: Shop) -> int:
    body = {"name": "Ada", "Books": [{"title": "One", "pages": 5}, {"title": "Two"}]}
    key: int = shop.make("Authors", body)
    return key


def first_book(shop: Shop, author: int) -> int:
    key: int = shop.rows(books, author_id=author)[0]["id"]
    return key


@pytest.mark.parametrize(
    ("reason", "count"), [({"reason": "deleted"}, 1), ({"reason": "changed"}, 2), ({}, 2)]
)
def test_what_is_removed_as_deleted_is_deleted(
    shop: Shop, author: int, reason: Any, count: int
) -> None:
    one = first_book(shop, author)
    shop.patch(f"Authors({author})", {"Books@delta": [{"@removed": reason, "id": one}]})
    assert [row["title"] for row in shop.rows(books, author_id=author)] == ["Two"]
    assert len(shop.rows(books)) == count


def test_a_linked_entity_is_deleted_with_its_link(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Genres": [{"name": "Crime"}, {"name": "Love"}]})
    crime = shop.rows(genres, name="Crime")[0]["id"]
    removed = {"@odata.removed": {"reason": "deleted"}, "@odata.id": f"Genres({crime})"}
    shop.patch(f"Books({book})", {"Genres@odata.delta": [removed]})
    assert [row["name"] for row in shop.rows(genres)] == ["Love"]
    assert len(shop.rows(book_genres, book_id=book)) == 1


def test_only_what_is_related_can_be_removed(shop: Shop, author: int) -> None:
    lone = shop.make("Books", {"title": "Lone"})
    for reason in ("changed", "deleted"):
        for which in ({"id": lone}, {"id": 999999}, {"@id": f"Books({lone})"}, {}):
            body = {"Books@delta": [{"@removed": {"reason": reason}, **which}]}
            assert set(problem(shop, "PATCH", f"Authors({author})", body)) == {"Books[0]"}
    assert shop.row(BOOK, lone)["title"] == "Lone"
    chapters_of = {"Chapters@delta": [{"@removed": {"reason": "deleted"}, "id": 999999}]}
    assert set(problem(shop, "PATCH", f"Books({lone})", chapters_of)) == {"Chapters[0]"}


@pytest.mark.parametrize("reason", [None, "deleted", {"reason": "lost"}, {"reason": None}])
def test_other_reasons_are_refused(shop: Shop, author: int, reason: Any) -> None:
    body = {"Books@delta": [{"@removed": reason, "id": first_book(shop, author)}]}
    assert set(problem(shop, "PATCH", f"Authors({author})", body)) == {"Books[0].@removed"}


def test_a_whole_collection_has_no_removed_members(shop: Shop, author: int) -> None:
    body = {"Books": [{"@removed": {"reason": "deleted"}, "id": first_book(shop, author)}]}
    found = problem(shop, "PATCH", f"Authors({author})", body)
    assert found == {"Books[0].@removed": "stands only in Books@delta"}


@pytest.mark.parametrize("turned", [False, True])
def test_a_collection_is_given_whole_or_as_a_delta(shop: Shop, author: int, turned: bool) -> None:
    names = ["Books", "Books@delta"]
    body = {name: [] for name in (reversed(names) if turned else names)}
    found = problem(shop, "PATCH", f"Authors({author})", body)
    assert found == {"Books@delta": "must not stand beside Books: it is all, or a delta"}
    assert len(shop.rows(books, author_id=author)) == 2


@pytest.mark.parametrize(("method", "path"), [("PUT", "Authors({})"), ("POST", "Authors")])
def test_deltas_need_a_patch(shop: Shop, author: int, method: str, path: str) -> None:
    body = {"name": "Ada", "Books@delta": [{"title": "Three"}]}
    assert problem(shop, method, path.format(author), body) == {
        "Books": "can be a delta only in a PATCH"
    }


def test_id_and_key_name_the_same_entity(shop: Shop, author: int) -> None:
    one, two = (row["id"] for row in shop.rows(books, author_id=author))
    body = {"Books": [{"@id": f"Books({one})", "id": two, "title": "X"}]}
    found = problem(shop, "PATCH", f"Authors({author})", body)
    assert found == {"Books[0]": "has the key of another entity than its @id"}
    same = {"Books": [{"@id": f"Books({one})", "id": one, "title": "X"}]}
    shop.patch(f"Authors({author})", same)
    assert [row["title"] for row in shop.rows(books, author_id=author)] == ["X"]


# --- tags ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["@etag", "@odata.etag"])
@pytest.mark.parametrize("navigation", ["Books", "Books@delta"])
def test_a_stale_tag_of_a_nested_entity_stops_all(
    shop: Shop, author: int, name: str, navigation: str
) -> None:
    one = first_book(shop, author)
    with pytest.raises(PreconditionFailedError) as caught:
        body = {"name": "Eve", navigation: [{"id": one, name: STALE, "title": "X"}]}
        shop.patch(f"Authors({author})", body)
    assert [detail.field for detail in caught.value.details] == ["Books[0]"]
    for tag, title in ((FIRST, "X"), ("*", "Y")):
        body = {navigation: [{"id": one, name: tag, "title": title}]}
        shop.patch(f"Authors({author})", body)
        assert shop.row(BOOK, one)["title"] == title


@pytest.mark.parametrize("reason", ["changed", "deleted"])
def test_a_stale_tag_of_what_is_removed_stops_all(shop: Shop, author: int, reason: str) -> None:
    one = first_book(shop, author)
    removed = {"@removed": {"reason": reason}, "id": one}
    with pytest.raises(PreconditionFailedError):
        shop.patch(f"Authors({author})", {"Books@delta": [{**removed, "@etag": STALE}]})
    shop.patch(f"Authors({author})", {"Books@delta": [{**removed, "@etag": FIRST}]})
    assert len(shop.rows(books, author_id=author)) == 1


def test_a_stale_tag_of_a_single_related_entity(shop: Shop, author: int) -> None:
    one = first_book(shop, author)
    with pytest.raises(PreconditionFailedError):
        shop.patch(f"Books({one})", {"Author": {"id": author, "@etag": STALE, "name": "Eve"}})
    shop.patch(f"Books({one})", {"Author": {"id": author, "@etag": FIRST, "name": "Eve"}})
    assert [row["name"] for row in shop.rows(authors)] == ["Eve"]


@pytest.mark.parametrize("navigation", ["Books", "Books@delta"])
def test_a_stale_tag_of_what_is_only_referred_to(shop: Shop, author: int, navigation: str) -> None:
    one = first_book(shop, author)
    for path, body in (
        (f"Authors({author})", {navigation: [{"@id": f"Books({one})", "@etag": STALE}]}),
        (f"Books({one})", {"Author": {"@id": f"Authors({author})", "@etag": STALE}}),
    ):
        with pytest.raises(PreconditionFailedError):
            shop.patch(path, body)
    body = {navigation: [{"@id": f"Books({one})", "@etag": FIRST}]}
    shop.patch(f"Authors({author})", body)
    assert one in [row["id"] for row in shop.rows(books, author_id=author)]


def test_tags_in_the_delta_of_a_set(shop: Shop, author: int) -> None:
    shop.patch("Authors", {"value": [{"id": author, "@etag": FIRST, "name": "Eve"}]})
    for item in (
        {"id": author, "@etag": FIRST, "name": "Bea"},
        {"id": author, "@etag": FIRST, "@removed": {"reason": "deleted"}},
        {"@etag": FIRST, "name": "Nobody"},
    ):
        with pytest.raises(PreconditionFailedError):
            shop.patch("Authors", {"value": [item]})
    assert [row["name"] for row in shop.rows(authors)] == ["Eve"]


# --- owned collections ---------------------------------------------------------------------------


def headings(shop: Shop, book: int) -> list[str]:
    return [row["heading"] for row in shop.rows(chapters, book_id=book)]


def test_a_delta_of_an_owned_collection_keeps_the_others(shop: Shop) -> None:
    body = {"title": "One", "Chapters": [{"heading": letter} for letter in "ABC"]}
    book = shop.make("Books", body)
    a, b, _ = (row["id"] for row in shop.rows(chapters, book_id=book))
    delta = [
        {"heading": "D"},
        {"@removed": {"reason": "deleted"}, "id": a},
        {"id": b, "heading": "Bee"},
    ]
    shop.patch(f"Books({book})", {"Chapters@delta": delta})
    assert headings(shop, book) == ["Bee", "C", "D"]
    shop.patch(f"Books({book})", {"Chapters@delta": []})
    assert headings(shop, book) == ["Bee", "C", "D"]


def test_a_member_that_a_delta_removes_is_named_by_its_key(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}]})
    body = {"Chapters@delta": [{"@removed": {"reason": "deleted"}}]}
    assert problem(shop, "PATCH", f"Books({book})", body) == {
        "Chapters[0]": "must be named by its key"
    }
    assert headings(shop, book) == ["A"]


def test_a_problem_of_a_member_has_its_place_in_the_delta(shop: Shop) -> None:
    body = {"title": "One", "Chapters": [{"heading": letter} for letter in "ABC"]}
    book = shop.make("Books", body)
    last = shop.rows(chapters, book_id=book)[-1]["id"]
    delta = [{"position": 4}, {"id": last, "heading": ""}]
    assert set(problem(shop, "PATCH", f"Books({book})", {"Chapters@delta": delta})) == {
        "Chapters[0].heading",
        "Chapters[1].heading",
    }
    assert headings(shop, book) == ["A", "B", "C"]


@pytest.mark.parametrize("languages", [(), ("de",), ("de", "fr", "xx")])
def test_what_stands_of_rows_is_read_by_keys_of_several_parts(
    shop: Shop, languages: tuple[str, ...]
) -> None:
    book = shop.make("Books", {"title": "One"})
    for language in ("de", "en", "fr"):
        body = {"bookId": book, "language": language, "title": language.upper()}
        shop.post("Translations", body)
    stored = kept_rows(TRANSLATION, [(book, language) for language in languages], ("title",))
    assert stored == {
        (book, language): {"title": language.upper()} for language in languages if language != "xx"
    }


@pytest.mark.parametrize(
    ("form", "again"),
    [
        ("Chapters", {}),
        ("Chapters@delta", {"position": 9}),
        ("Chapters@delta", {"@removed": {"reason": "deleted"}}),
    ],
)
def test_an_owned_member_is_named_once(shop: Shop, form: str, again: dict[str, Any]) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}, {"heading": "B"}]})
    first, second = (row["id"] for row in shop.rows(chapters, book_id=book))
    body = {form: [{"id": first, "heading": "C"}, {"id": second}, {"id": first, **again}]}
    refused = problem(shop, "PATCH", f"Books({book})", body)
    assert refused == {"Chapters[2]": "is named before, too"}
    assert headings(shop, book) == ["A", "B"]
