"""References by themselves: $ref (Protocol 11.4.6)."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import InvalidQueryError, MethodNotAllowedError, NotFoundError, ValidationError
from tests.odata.bookshop import BOOK, book_genres, books
from tests.odata.writing.conftest import ROOT, Shop


@pytest.fixture
def author(shop: Shop) -> Any:
    return shop.make("Authors", {"name": "Ada"})


@pytest.fixture
def book(shop: Shop) -> Any:
    return shop.make("Books", {"title": "One"})


@pytest.mark.parametrize("name", ["@odata.id", "@id"])
@pytest.mark.parametrize(
    "url", ["Books({})", "../../Books({})", "./../../Books({})", ROOT + "Books({})"]
)
def test_post_adds(shop: Shop, author: Any, book: Any, name: str, url: str) -> None:
    answer = shop.post(f"Authors({author})/Books/$ref", {name: url.format(book)})
    assert (answer.status_code, answer.data) == (204, b"")
    assert shop.row(BOOK, book)["author_id"] == author


def test_put_sets_and_delete_ends_a_single_relation(shop: Shop, author: Any, book: Any) -> None:
    path = f"Books({book})/Author/$ref"
    assert shop.put(path, {"@odata.id": f"Authors({author})"}).status_code == 204
    assert shop.row(BOOK, book)["author_id"] == author
    assert shop.delete(path).status_code == 204
    assert shop.row(BOOK, book)["author_id"] is None
    assert shop.delete(path).status_code == 204


@pytest.mark.parametrize(
    "path",
    [
        "Books({})/$ref",
        "Books/$ref?$id=Books({})",
        "Books/$ref?$id=../../Books({})",
        "Books/$ref?$id=../Books({})",  # Authors(1)/Books(2) is the book, too
    ],
)
def test_delete_of_a_member_keeps_the_entity(shop: Shop, author: Any, book: Any, path: str) -> None:
    shop.patch(f"Books({book})", {"authorId": author})
    assert shop.delete(f"Authors({author})/{path.format(book)}").status_code == 204
    assert shop.row(BOOK, book)["author_id"] is None


def test_delete_of_what_is_not_related_is_404(shop: Shop, author: Any, book: Any) -> None:
    for path in (f"Books({book})/$ref", f"Books/$ref?$id=Books({book})"):
        with pytest.raises(NotFoundError):
            shop.delete(f"Authors({author})/{path}")


@pytest.mark.parametrize("url", ["../../../Books({})", "../../../../Books({})"])
def test_a_relative_url_leads_to_this_service(shop: Shop, author: Any, book: Any, url: str) -> None:
    shop.patch(f"Books({book})", {"authorId": author})
    with pytest.raises(ValidationError, match="no URL of an entity of this service"):
        shop.delete(f"Authors({author})/Books/$ref?$id={url.format(book)}")
    assert shop.row(BOOK, book)["author_id"] == author


def test_delete_from_a_collection_needs_to_know_whom(shop: Shop, author: Any) -> None:
    with pytest.raises(InvalidQueryError):
        shop.delete(f"Authors({author})/Books/$ref")


def test_put_of_a_collection_replaces_it(shop: Shop, author: Any, book: Any) -> None:
    other = shop.make("Books", {"title": "Two", "authorId": author})
    shop.put(f"Authors({author})/Books/$ref", {"value": [{"@id": f"Books({book})"}]})
    assert shop.row(BOOK, book)["author_id"] == author
    assert shop.row(BOOK, other)["author_id"] is None


def test_many_to_many(shop: Shop, book: Any) -> None:
    genre = shop.make("Genres", {"name": "Crime"})
    shop.post(f"Books({book})/Genres/$ref", {"@odata.id": f"Genres({genre})"})
    assert len(shop.rows(book_genres, book_id=book)) == 1
    shop.delete(f"Books({book})/Genres({genre})/$ref")
    assert shop.rows(book_genres, book_id=book) == []


def test_a_relation_that_is_needed_stays(shop: Shop, book: Any) -> None:
    review = shop.make("Reviews", {"bookId": book, "text": "Good"})
    for path in (f"Reviews({review})/Book/$ref", f"Books({book})/Reviews({review})/$ref"):
        with pytest.raises(ValidationError):
            shop.delete(path)


@pytest.mark.parametrize(
    "body", [{}, [], {"@odata.id": 5}, {"@odata.id": "Authors(1)"}, {"@odata.id": "Books(999999)"}]
)
def test_bad_references(shop: Shop, author: Any, body: Any) -> None:
    shop.services["Books"].update = _refuse_missing(shop)
    with pytest.raises((ValidationError, NotFoundError)):
        shop.post(f"Authors({author})/Books/$ref", body)


def _refuse_missing(shop: Shop) -> Any:
    update = shop.services["Books"].update

    def checked(key: Any, changes: Any, version: Any = None) -> None:
        if not shop.rows(books, id=key):
            raise NotFoundError("There is no such book.")
        update(key, changes, version)

    return checked


def test_only_relations_have_references_to_write(shop: Shop, author: Any) -> None:
    for path in ("Authors/$ref", f"Authors({author})/$ref"):
        with pytest.raises(MethodNotAllowedError):
            shop.delete(path)
