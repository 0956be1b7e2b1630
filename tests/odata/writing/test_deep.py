"""Related entities in a body: bound, made, changed, taken away (Protocol 11.4.2, 11.4.3.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.errors import NotImplementedInServiceError, ValidationError
from app.odata.syntax.options import OptionTexts
from tests.odata.bookshop import AUTHOR, BOOK, authors, book_genres, books, chapters, reviews
from tests.odata.writing.conftest import ROOT, Shop
from tests.odata.writing.services import TableService


def titles(shop: Shop, author: Any) -> list[str]:
    return [row["title"] for row in shop.rows(books, author_id=author)]


def problem(shop: Shop, method: str, path: str, body: Any, **headers: str) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        shop.send(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    return {detail.field: detail.message for detail in caught.value.details}


# --- binding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["Authors({})", "Authors(id={})", "Authors/{}", "/odata/Authors({})", ROOT + "Authors({})"],
)
def test_every_form_of_a_url(shop: Shop, url: str) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    book = shop.make("Books", {"title": "One", "Author@odata.bind": url.format(author)})
    assert shop.row(BOOK, book)["author_id"] == author


def test_bind_by_an_alternate_key(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "externalId": "a'1"})
    url = "Authors(externalId='a''1')"
    book = shop.make("Books", {"title": "One", "Author@odata.bind": url})
    assert shop.row(BOOK, book)["author_id"] == author


def test_bind_by_id_and_by_content_id(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    book = shop.make("Books", {"title": "One", "Author": {"@id": f"Authors({author})"}})
    assert shop.row(BOOK, book)["author_id"] == author
    answer = shop.send(
        "POST", "Books", {"title": "Two", "Author@odata.bind": "$a1"},
        references={"a1": f"{ROOT}Authors({author})"},
    )  # fmt: skip
    assert shop.row(BOOK, answer.json["id"])["author_id"] == author


def test_bind_in_a_change_moves_and_null_ends(shop: Shop) -> None:
    first, second = (shop.make("Authors", {"name": name}) for name in ("Ada", "Eve"))
    book = shop.make("Books", {"title": "One", "authorId": first})
    shop.patch(f"Books({book})", {"Author@odata.bind": f"Authors({second})"})
    assert shop.row(BOOK, book)["author_id"] == second
    shop.patch(f"Books({book})", {"Author": None})
    assert shop.row(BOOK, book)["author_id"] is None


def test_put_keeps_what_it_binds(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    book = shop.make("Books", {"title": "One"})
    shop.put(f"Books({book})", {"title": "One", "Author@odata.bind": f"Authors({author})"})
    assert shop.row(BOOK, book)["author_id"] == author


def test_bind_a_collection(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One"})
    author = shop.make("Authors", {"name": "Ada", "Books@odata.bind": [f"Books({book})"]})
    assert titles(shop, author) == ["One"]
    other = shop.make("Books", {"title": "Two"})
    shop.patch(f"Authors({author})", {"Books@odata.bind": [f"Books({other})"]})
    assert titles(shop, author) == ["One", "Two"]


@pytest.mark.parametrize(
    "url",
    [
        "Authors(999999)", "Authors(externalId='nobody')", "Books(1)", "Authors", "InvalidFormat",
        "http://elsewhere.example/odata/Authors(1)", "Authors('x')", "Authors(1)/name",
        "Authors(1", "", "$9", "Authors(1)?$select=name", "Authors(name='x')", "../Authors(1)",
    ],
)  # fmt: skip
def test_a_bad_url_is_a_mistake_in_the_body(shop: Shop, url: str) -> None:
    shop.services["Books"].create = _check_author(shop)
    found = problem(shop, "POST", "Books", {"title": "One", "Author@odata.bind": url})
    assert set(found) <= {"Author@odata.bind", "authorId"}


def _check_author(shop: Shop) -> Any:
    """Services refuse a reference to nowhere; the bookshop's leave it to the database."""
    create = shop.services["Books"].create

    def checked(values: dict[str, Any]) -> Any:
        if values.get("author_id") and not shop.rows(authors, id=values["author_id"]):
            raise ValidationError([("authorId", "is the key of no author")])
        return create(values)

    return checked


# --- deep insert ---------------------------------------------------------------------------------


def test_deep_insert_of_every_kind(shop: Shop) -> None:
    answer = shop.post(
        "Books",
        {
            "title": "One",
            "Author": {"name": "Ada", "Books": [{"title": "Zero"}]},
            "Chapters": [{"heading": "A"}, {"heading": "B", "id": 77}],
            "Reviews": [{"text": "Good"}],
            "Translations": [{"language": "de", "title": "Eins"}],
            "Genres": [{"name": "Crime"}],
        },
    )
    key = answer.json["id"]
    author = shop.row(BOOK, key)["author_id"]
    assert shop.row(AUTHOR, author)["name"] == "Ada"
    assert titles(shop, author) == ["Zero", "One"]
    assert [row["heading"] for row in shop.rows(chapters, book_id=key)] == ["A", "B"]
    assert [row["text"] for row in shop.rows(reviews, book_id=key)] == ["Good"]
    assert len(shop.rows(book_genres, book_id=key)) == 1
    assert shop.reads[-1][1] == {
        "expand": "Author($expand=Books),Chapters,Reviews,Translations,Genres"
    }


def test_a_key_that_the_service_gives_makes_no_difference_on_creation(shop: Shop) -> None:
    first = shop.make("Books", {"title": "One"})
    author = shop.make("Authors", {"name": "Ada", "Books": [{"id": first, "title": "Other"}]})
    assert shop.row(BOOK, first)["title"] == "One"
    assert titles(shop, author) == ["Other"]


def test_problems_are_told_with_their_place(shop: Shop) -> None:
    body = {"name": "Ada", "Books": [{"title": "One"}, {"price": 5}]}
    assert problem(shop, "POST", "Authors", body) == {"Books[1].title": "is required"}
    body = {"title": "One", "Chapters": [{"heading": "A"}, {"position": 2}]}
    assert problem(shop, "POST", "Books", body) == {"Chapters[1].heading": "is required"}
    body = {"name": "Ada", "Books": [{"title": "One", "Chapters": [{}]}]}
    assert problem(shop, "POST", "Authors", body) == {"Books[0].Chapters[0].heading": "is required"}


def test_owned_members_may_be_bound(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    chapter = {"heading": "A", "Reviewer@odata.bind": f"Authors({author})"}
    book = shop.make("Books", {"title": "One", "Chapters": [chapter]})
    assert shop.rows(chapters, book_id=book)[0]["reviewer_id"] == author


# --- along navigation ----------------------------------------------------------------------------


def test_post_to_a_navigation_collection_relates(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    answer = shop.post(f"Authors({author})/Books", {"title": "One"})
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{ROOT}Books({answer.json['id']})"
    assert titles(shop, author) == ["One"]


def test_post_to_a_many_to_many_collection_links(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One"})
    shop.post(f"Books({book})/Genres", {"name": "Crime"})
    assert len(shop.rows(book_genres, book_id=book)) == 1


def test_changes_along_navigation(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "Books": [{"title": "One"}]})
    (book,) = shop.rows(books, author_id=author)
    shop.patch(f"Authors({author})/Books({book['id']})", {"title": "Two"})
    assert titles(shop, author) == ["Two"]
    shop.patch(f"Books({book['id']})/Author", {"name": "Eve"})
    assert shop.row(AUTHOR, author)["name"] == "Eve"
    shop.delete(f"Authors({author})/Books({book['id']})")
    assert titles(shop, author) == []


# --- deep update ---------------------------------------------------------------------------------


def test_a_nested_collection_replaces_the_related_set(shop: Shop) -> None:
    author = shop.make(
        "Authors", {"name": "Ada", "Books": [{"title": "One", "pages": 5}, {"title": "Two"}]}
    )
    one, two = shop.rows(books, author_id=author)
    lone = shop.make("Books", {"title": "Four"})
    shop.patch(
        f"Authors({author})",
        {
            "Books": [
                {"id": one["id"], "title": "Uno"},
                {"title": "Three"},
                {"@id": f"Books({lone})"},
            ]
        },
    )
    assert sorted(titles(shop, author)) == ["Four", "Three", "Uno"]
    assert shop.row(BOOK, one["id"])["pages"] == 5
    assert shop.row(BOOK, two["id"])["author_id"] is None


def test_a_put_replaces_nested_entities_too(shop: Shop) -> None:
    author = shop.make(
        "Authors",
        {"name": "Ada", "Books": [{"title": "One", "pages": 5}, {"title": "Two", "pages": 6}]},
    )
    one, two = shop.rows(books, author_id=author)
    lone = shop.make("Books", {"title": "Four", "pages": 7})
    shop.put(
        f"Authors({author})",
        {
            "name": "Ada",
            "Books": [
                {"id": one["id"], "title": "Uno"},
                {"@id": f"Books({two['id']})"},
                {"@id": f"Books({lone})", "title": "Quattro"},
                {"title": "Three", "pages": 8},
            ],
        },
    )
    found = {row["title"]: row["pages"] for row in shop.rows(books, author_id=author)}
    assert found == {"Uno": None, "Two": 6, "Quattro": None, "Three": 8}


def test_a_put_replaces_what_a_single_navigation_leads_to(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "born": "1815-12-10"})
    book = shop.make("Books", {"title": "One", "Author": {"@id": f"Authors({author})"}})
    shop.put(f"Books({book})", {"title": "One", "Author": {"@id": f"Authors({author})"}})
    assert shop.row(AUTHOR, author)["born"] is not None
    shop.patch(f"Books({book})", {"Author": {"id": author, "name": "Ada L."}})
    assert shop.row(AUTHOR, author)["born"] is not None
    shop.put(f"Books({book})", {"title": "One", "Author": {"id": author, "name": "Ada"}})
    assert shop.row(AUTHOR, author)["born"] is None
    assert shop.row(BOOK, book)["author_id"] == author


def test_a_put_names_what_a_nested_entity_cannot_be_without(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "Books": [{"title": "One"}]})
    (one,) = shop.rows(books, author_id=author)
    body = {"name": "Ada", "Books": [{"id": one["id"]}]}
    assert problem(shop, "PUT", f"Authors({author})", body) == {"Books[0].title": "is required"}


def test_an_empty_collection_ends_all_relations(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "Books": [{"title": "One"}]})
    shop.patch(f"Authors({author})", {"Books": []})
    assert titles(shop, author) == []
    assert len(shop.rows(books)) == 1


def test_members_that_cannot_be_without_stay(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Reviews": [{"text": "Good"}]})
    found = problem(shop, "PATCH", f"Books({book})", {"Reviews": []})
    assert found == {"Reviews.bookId": "is required: no Review is without it"}


def test_a_delta_names_only_what_changes(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada", "Books": [{"title": "One"}, {"title": "Two"}]})
    one, _ = shop.rows(books, author_id=author)
    shop.patch(
        f"Authors({author})",
        {"Books@delta": [{"@removed": {"reason": "changed"}, "id": one["id"]}, {"title": "Three"}]},
    )
    assert titles(shop, author) == ["Two", "Three"]


def test_many_to_many_by_deep_update(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Genres": [{"name": "Crime"}]})
    other = shop.make("Genres", {"name": "Love"})
    shop.patch(f"Books({book})", {"Genres": [{"@id": f"Genres({other})"}]})
    assert [row["genre_id"] for row in shop.rows(book_genres, book_id=book)] == [other]


def test_members_whose_key_the_client_gives(shop: Shop) -> None:
    german = {"language": "de", "title": "Eins"}
    book = shop.make("Books", {"title": "One", "Translations": [german]})
    shop.patch(
        f"Books({book})",
        {
            "Translations@delta": [
                {"bookId": book, "language": "de", "title": "Zwei"},
                {"bookId": book, "language": "fr", "title": "Un"},
            ]
        },
    )
    answer = shop.patch(
        f"Books({book})/Translations(bookId={book},language='fr')", {"title": "Deux"}
    )
    assert answer.json["title"] == "Deux"
    found = shop.read(f"Translations(bookId={book},language='de')", OptionTexts({}, {}))
    assert found.json["title"] == "Zwei"


def test_a_nested_single_entity_is_changed(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    book = shop.make("Books", {"title": "One", "authorId": author})
    shop.patch(f"Books({book})", {"Author": {"id": author, "name": "Eve"}})
    assert shop.row(AUTHOR, author)["name"] == "Eve"
    shop.patch(f"Books({book})", {"Author": {"name": "New"}})
    assert shop.row(AUTHOR, shop.row(BOOK, book)["author_id"])["name"] == "New"
    assert shop.row(AUTHOR, author)["name"] == "Eve"


def test_what_is_not_there_cannot_be_changed_from_outside(shop: Shop) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    body = {"Books": [{"id": 999999, "title": "One"}]}
    assert problem(shop, "PATCH", f"Authors({author})", body) == {
        "Books[0]": "points at an entity that does not exist"
    }


@pytest.mark.parametrize("header", ["OData_Version", "OData_MaxVersion"])
def test_odata_4_0_changes_one_entity_at_a_time(shop: Shop, header: str) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    body = {"Books": [{"title": "One"}]}
    found = problem(shop, "PATCH", f"Authors({author})", body, **{header: "4.0"})
    assert found == {"Books": "changes related entities: that needs OData-Version 4.01"}
    book = shop.make("Books", {"title": "One"})
    shop.patch(f"Authors({author})", {"Books@odata.bind": [f"Books({book})"]}, **{header: "4.0"})
    assert titles(shop, author) == ["One"]
    chapter = {"Chapters": [{"heading": "A"}]}
    assert shop.patch(f"Books({book})", chapter, **{header: "4.0"}).status_code == 200


def test_relations_that_the_service_cannot_change(shop: Shop) -> None:
    genre = shop.make("Genres", {"name": "Crime"})
    book = shop.make("Books", {"title": "One"})
    books_set = replace(shop.container.sets["Books"], service=TableService(books, "title"))
    shop.container = replace(shop.container, sets={**shop.container.sets, "Books": books_set})
    with pytest.raises(NotImplementedInServiceError):
        shop.patch(f"Books({book})", {"Genres@odata.bind": [f"Genres({genre})"]})


# --- owned collections ---------------------------------------------------------------------------


def headings(shop: Shop, book: Any) -> list[tuple[int, str]]:
    return [(row["position"], row["heading"]) for row in shop.rows(chapters, book_id=book)]


def test_owned_members_are_replaced_as_a_whole(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}, {"heading": "B"}]})
    shop.patch(f"Books({book})", {"Chapters": [{"heading": "C"}]})
    assert headings(shop, book) == [(1, "C")]
    shop.patch(f"Books({book})", {"title": "Two"})
    assert headings(shop, book) == [(1, "C")]
    shop.put(f"Books({book})", {"title": "Two", "Chapters": []})
    assert headings(shop, book) == []


def test_owned_members_named_by_key_keep_what_is_left_out(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}, {"heading": "B"}]})
    first, second = shop.rows(chapters, book_id=book)
    shop.patch(
        f"Books({book})",
        {"Chapters": [{"id": second["id"]}, {"id": first["id"], "position": 9}, {"heading": "C"}]},
    )
    assert headings(shop, book) == [(2, "B"), (9, "A"), (3, "C")]


def test_an_owned_member_by_itself(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}]})
    made = shop.post(f"Books({book})/Chapters", {"heading": "B", "position": 5})
    assert (made.status_code, made.json["heading"]) == (201, "B")
    address = f"Books({book})/Chapters({made.json['id']})"
    assert made.headers["Location"] == ROOT + address
    changed = shop.patch(address, {"heading": "C"})
    assert (changed.status_code, changed.json["position"]) == (200, 5)
    address = f"Books({book})/Chapters({changed.json['id']})"
    replaced = shop.put(address, {"heading": "D"})
    assert (replaced.json["heading"], replaced.json["position"]) == ("D", 1)
    address = f"Books({book})/Chapters({replaced.json['id']})"
    assert shop.delete(address).status_code == 204
    assert headings(shop, book) == [(1, "A")]


def test_problems_of_an_owned_member(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One", "Chapters": [{"heading": "A"}]})
    assert problem(shop, "POST", f"Books({book})/Chapters", {"position": 3}) == {
        "heading": "is required"
    }
