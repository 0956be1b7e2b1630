"""POST, PATCH, PUT and DELETE of entities (Protocol 11.4.1 to 11.4.5)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from app.errors import (
    MethodNotAllowedError,
    NotFoundError,
    PreconditionFailedError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.odata.errors import QueryError
from app.odata.model import edm
from tests.odata.bookshop import AUTHOR, TRANSLATION, authors, translations
from tests.odata.writing.conftest import ROOT, Shop


def test_post_answers_201_with_the_entity_and_its_address(shop: Shop) -> None:
    answer = shop.post("Authors", {"name": "Ada", "fee": 12.5, "address": {"city": "Bonn"}})
    key = answer.json["id"]
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{ROOT}Authors({key})"
    assert answer.headers["OData-EntityId"] == f"{ROOT}Authors({key})"
    assert answer.headers["ETag"] == 'W/"1"'
    row = shop.row(AUTHOR, key)
    assert (row["name"], row["fee"], row["city"]) == ("Ada", Decimal("12.50"), "Bonn")


def test_post_shapes_its_answer_by_select_and_expand(shop: Shop) -> None:
    shop.post("Authors?$select=name&$expand=Books", {"name": "Ada"})
    assert shop.reads[-1][1] == {"select": "name", "expand": "Books"}


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT"])
def test_return_minimal(shop: Shop, method: str) -> None:
    path = "Authors" if method == "POST" else f"Authors({shop.make('Authors', {'name': 'Ada'})})"
    answer = shop.send(method, path, {"name": "Ada"}, {"Prefer": "return=minimal"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Preference-Applied"] == "return=minimal"
    assert answer.headers["OData-EntityId"].startswith(f"{ROOT}Authors(")
    assert answer.headers["ETag"] == ('W/"1"' if method == "POST" else 'W/"2"')
    assert ("Location" in answer.headers) == (method == "POST")


def test_return_representation_is_confirmed(shop: Shop) -> None:
    answer = shop.post("Authors", {"name": "Ada"}, Prefer="return=representation")
    assert answer.status_code == 201
    assert answer.headers["Preference-Applied"] == "return=representation"
    assert "Preference-Applied" not in shop.post("Authors", {"name": "Ada"}).headers


def test_patch_changes_only_what_it_names(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada", "fee": 5, "born": "1815-12-10"})
    answer = shop.patch(f"Authors({key})", {"born": None, "fee": 7})
    assert answer.status_code == 200
    assert shop.services["Authors"].calls[-1] == ("update", {"born": None, "fee": 7})
    assert answer.headers["ETag"] == 'W/"2"'


def test_patch_merges_complex_values(shop: Shop) -> None:
    key = shop.make(
        "Authors",
        {
            "name": "Ada",
            "address": {"street": "Main", "city": "Bonn"},
            "extra": {"shoeSize": 42, "a": 1, "b": 2},
        },
    )
    shop.patch(f"Authors({key})", {"address": {"city": "Köln"}, "extra": {"b": None, "c": 3}})
    row = shop.row(AUTHOR, key)
    assert (row["street"], row["city"]) == ("Main", "Köln")
    assert row["extra"] == {"shoeSize": 42, "a": 1, "c": 3}


def test_put_resets_what_it_leaves_out(shop: Shop) -> None:
    key = shop.make(
        "Authors",
        {
            "name": "Ada", "fee": 5, "born": "1815-12-10", "fame": "Famous", "isAlive": False,
            "labels": ["x"], "extra": {"a": 1}, "address": {"city": "Bonn"}, "penName": "A.",
        },
    )  # fmt: skip
    assert shop.put(f"Authors({key})", {"id": 99, "name": "Ada L."}).status_code == 200
    row = shop.row(AUTHOR, key)
    assert row == {
        "id": key, "version": 2, "name": "Ada L.", "external_id": None, "born": None,
        "joined_at": None, "fame": "Unknown", "fee": 0, "is_alive": True, "street": None,
        "city": None, "labels": [], "extra": {}, "book_count": 0,
        "pen_name": "A.",  # immutable
    }  # fmt: skip


def test_put_needs_what_has_no_default(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    with pytest.raises(ValidationError) as caught:
        shop.put(f"Authors({key})", {"fee": 5})
    assert caught.value.details[0][:2] == ("name", "is required")


def test_immutable_and_computed_values_are_ignored_in_changes(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada", "penName": "A.", "bookCount": 9})
    assert shop.row(AUTHOR, key)["book_count"] == 0
    shop.patch(f"Authors({key})", {"penName": "B.", "bookCount": 9, "id": 77})
    assert shop.services["Authors"].calls[-1] == ("update", {})


def test_delete(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    answer = shop.delete(f"Authors({key})")
    assert (answer.status_code, answer.data) == (204, b"")
    with pytest.raises(NotFoundError):
        shop.delete(f"Authors({key})")


@pytest.mark.parametrize("path", ["Authors({})", "Authors(id={})", "Authors/{}", "authors({})"])
def test_every_form_of_a_key(shop: Shop, path: str) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    assert shop.patch(path.format(key), {"name": "Eve"}).status_code == 200
    assert shop.row(AUTHOR, key)["name"] == "Eve"


def test_a_key_by_alias(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    assert shop.patch(f"Authors(@k)?@k={key}", {"name": "Eve"}).status_code == 200


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE"])
def test_a_missing_key_is_404(shop: Shop, method: str) -> None:
    for headers in ({}, {"If-Match": "*"}):
        with pytest.raises(NotFoundError):
            shop.send(method, "Authors(999999)", {"name": "x"}, headers)


# --- preconditions --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE"])
def test_if_match(shop: Shop, method: str) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    for stale in ('W/"7"', '"7"', '"7","8"', "nonsense", '"abc"'):
        with pytest.raises(PreconditionFailedError):
            shop.send(method, f"Authors({key})", {"name": "Eve"}, {"If-Match": stale})
    assert shop.row(AUTHOR, key)["name"] == "Ada"
    answer = shop.send(method, f"Authors({key})", {"name": "Eve"}, {"If-Match": '"9", W/"1"'})
    assert answer.status_code in (200, 204)


def test_if_match_any(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada"})
    assert shop.patch(f"Authors({key})", {"name": "Eve"}, If_Match="*").status_code == 200


def test_if_match_of_what_has_no_version(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One"})
    shop.post("Translations", {"bookId": book, "language": "de", "title": "Eins"})
    path = f"Translations(bookId={book},language='de')"
    with pytest.raises(PreconditionFailedError):
        shop.patch(path, {"title": "x"}, If_Match='"1"')
    assert shop.patch(path, {"title": "x"}, If_Match="*").status_code == 200


def test_if_none_match_any_refuses_to_overwrite(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada", "externalId": "a"})
    for path in (f"Authors({key})", "Authors(externalId='a')"):
        with pytest.raises(PreconditionFailedError):
            shop.patch(path, {"name": "Eve"}, If_None_Match="*")
    with pytest.raises(PreconditionFailedError):
        shop.patch(f"Authors({key})", {"name": "Eve"}, If_None_Match='W/"1"')
    assert shop.patch(f"Authors({key})", {"name": "Eve"}, If_None_Match='"5"').status_code == 200


# --- upsert --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_upsert_by_an_alternate_key(shop: Shop, method: str) -> None:
    path = "Authors(externalId='a-1')"
    made = shop.send(method, path, {"name": "Ada"}, {"If-None-Match": "*"})
    assert made.status_code == 201
    assert made.headers["Location"] == f"{ROOT}Authors({made.json['id']})"
    assert shop.row(AUTHOR, made.json["id"])["external_id"] == "a-1"
    again = shop.send(method, path, {"name": "Eve", "externalId": "a-1"})
    assert (again.status_code, again.json["id"]) == (200, made.json["id"])
    assert len(shop.rows(authors)) == 1


def test_a_new_entity_stands_at_its_address(shop: Shop) -> None:
    for method in ("PATCH", "PUT"):
        for other in ("other", None):
            with pytest.raises(ValidationError) as caught:
                body = {"name": "Ada", "externalId": other}
                shop.send(method, "Authors(externalId='a-1')", body)
            assert [detail.field for detail in caught.value.details] == ["externalId"]
    assert shop.rows(authors) == []


def test_a_put_leaves_the_entity_at_its_address(shop: Shop) -> None:
    path = "Authors(externalId='a-1')"
    put = [shop.put(path, {"name": "Ada"}) for _ in range(4)]
    assert [answer.status_code for answer in put] == [201, 200, 200, 200]
    assert [row["external_id"] for row in shop.rows(authors)] == ["a-1"]
    with pytest.raises(PreconditionFailedError):
        shop.put(path, {"name": "Ada"}, If_None_Match="*")
    tag = put[-1].headers["ETag"]
    assert shop.put(path, {"name": "Eve"}, If_Match=tag).status_code == 200
    with pytest.raises(PreconditionFailedError):
        shop.put(path, {"name": "Eve"}, If_Match=tag)


def test_only_a_value_in_the_body_changes_the_alternate_key(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada", "externalId": "a-1", "fee": 5})
    assert shop.put("Authors(externalId='a-1')", {"name": "Ada"}).json["id"] == key
    assert (shop.row(AUTHOR, key)["external_id"], shop.row(AUTHOR, key)["fee"]) == ("a-1", 0)
    shop.put("Authors(externalId='a-1')", {"name": "Ada", "externalId": "a-2"})
    assert shop.row(AUTHOR, key)["external_id"] == "a-2"
    shop.put("Authors(externalId='a-2')", {"name": "Ada", "externalId": None})
    assert shop.row(AUTHOR, key)["external_id"] is None
    shop.patch(f"Authors({key})", {"externalId": "a-3"})
    shop.put(f"Authors({key})", {"name": "Ada"})  # addressed by another key, all else goes back
    assert shop.row(AUTHOR, key)["external_id"] is None


def test_a_nested_entity_keeps_the_alternate_key_that_names_it(shop: Shop) -> None:
    key = shop.make("Authors", {"name": "Ada", "externalId": "a-1", "fee": 5})
    book = shop.make("Books", {"title": "One"})
    nested = {"@id": "Authors(externalId='a-1')", "name": "Eve"}
    shop.put(f"Books({book})", {"title": "One", "Author": nested})
    row = shop.row(AUTHOR, key)
    assert (row["name"], row["external_id"], row["fee"]) == ("Eve", "a-1", 0)


def test_if_match_never_creates(shop: Shop) -> None:
    for condition in ("*", 'W/"1"'):
        with pytest.raises(PreconditionFailedError):
            shop.patch("Authors(externalId='a-1')", {"name": "Ada"}, If_Match=condition)


def test_upsert_by_a_key_that_the_client_gives(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One"})
    path = f"Translations(bookId={book},language='de')"
    made = shop.put(path, {"title": "Eins"})
    assert made.status_code == 201
    assert made.headers["Location"] == ROOT + path
    assert shop.patch(path, {"title": "Zwei"}).status_code == 200
    assert [row["title"] for row in shop.rows(translations)] == ["Zwei"]


def test_no_upsert_by_delete(shop: Shop) -> None:
    with pytest.raises(NotFoundError):
        shop.delete("Authors(externalId='nobody')")


# --- bad requests --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/xml", "application/json;charset=latin-1"]
)
def test_only_json_in_utf_8(shop: Shop, content_type: str) -> None:
    for method, path in (("POST", "Authors"), ("PATCH", "Authors(1)")):
        with pytest.raises(UnsupportedMediaTypeError, match="Content-Type"):
            shop.send(method, path, {"name": "x"}, {"Content-Type": content_type})


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=UTF-8",
        "application/json;odata.metadata=minimal;odata.streaming=true",
        "application/json;IEEE754Compatible=false",
    ],
)
def test_parameters_of_json(shop: Shop, content_type: str) -> None:
    answer = shop.send("POST", "Authors", {"name": "x"}, {"Content-Type": content_type})
    assert answer.status_code == 201


def test_numbers_as_strings_where_declared(shop: Shop) -> None:
    headers = {"Content-Type": "application/json;IEEE754Compatible=true"}
    made = shop.send("POST", "Authors", {"name": "x", "fee": "12.50"}, headers)
    assert shop.row(AUTHOR, made.json["id"])["fee"] == Decimal("12.50")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"name":"x"} y', b'{"name":"\xff"}'])
def test_no_json_object(shop: Shop, body: bytes) -> None:
    with pytest.raises(ValidationError):
        shop.post("Authors", body)
    assert shop.services["Authors"].calls == []


@pytest.mark.parametrize("version", ["3.0", "4.02", "x"])
def test_an_unknown_version_is_refused(shop: Shop, version: str) -> None:
    with pytest.raises(ValidationError) as caught:
        shop.post("Authors", {"name": "x"}, OData_Version=version)
    assert caught.value.details[0].field == "OData-Version"
    assert shop.services["Authors"].calls == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "Authors(1)", "GET, HEAD, PATCH, PUT, DELETE"),
        ("PUT", "Authors", "GET, HEAD, POST, PATCH"),
        ("DELETE", "Authors", "GET, HEAD, POST, PATCH"),
        ("PUT", "Authors(1)/bookCount", "GET, HEAD"),
        ("PATCH", "Authors(1)/name/$value", "GET, HEAD, PUT"),
        ("DELETE", "Authors(1)/name", "GET, HEAD, PUT, PATCH"),
        ("POST", "Authors(1)/born", "GET, HEAD, PUT, PATCH, DELETE"),
        ("PUT", "Authors(1)/$value", "GET, HEAD"),
        ("PATCH", "Authors(1)/Books/$ref", "GET, HEAD, POST, PUT, DELETE"),
    ],
)
def test_405_names_what_is_allowed(shop: Shop, method: str, path: str, allowed: str) -> None:
    with pytest.raises(MethodNotAllowedError) as caught:
        shop.send(method, path, {})
    assert caught.value.headers["Allow"] == f"{allowed}, OPTIONS"


@pytest.mark.parametrize(
    "path", ["", "Authors/$count", "Authors(1)/Books/$count", "$crossjoin(Authors)"]
)
def test_what_is_only_read(shop: Shop, path: str) -> None:
    with pytest.raises(MethodNotAllowedError):
        shop.post(path, {})


@pytest.mark.parametrize("path", ["Nothing", "Nothing(1)", "Authors(1)/nothing", "Authors/x(1)"])
def test_unknown_names_are_404(shop: Shop, path: str) -> None:
    with pytest.raises(NotFoundError):
        shop.patch(path, {})


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("Books({book})({other})", "an entity has only one key"),
        ("Books({book})/Bookshop.Book({other})", "a key can only follow a collection"),
        ("Books({book})/Author({author})", "a key can only follow a collection"),
        ("First({author})", "First is one entity: it has no key"),
    ],
)
def test_a_key_that_names_nothing_more_is_refused(shop: Shop, address: str, why: str) -> None:
    author = shop.make("Authors", {"name": "Ada"})
    book, other = (shop.make("Books", {"title": "One", "authorId": author}) for _ in range(2))
    first = edm.Singleton(
        name="First", type=AUTHOR, key=lambda: author, service=shop.services["Authors"]
    )
    shop.container = replace(shop.container, singletons={"First": first})
    with pytest.raises(QueryError, match=why):
        shop.patch(address.format(author=author, book=book, other=other), {})


def test_a_segment_is_the_part_of_a_key_that_a_relation_leaves_open(shop: Shop) -> None:
    book = shop.make("Books", {"title": "One"})
    shop.post("Translations", {"bookId": book, "language": "de", "title": "Eins"})
    shop.patch(f"Books({book})/Translations/de", {"title": "Erstens"})
    assert shop.row(TRANSLATION, (book, "de"))["title"] == "Erstens"
    with pytest.raises(NotFoundError):
        shop.patch(f"Books({book})/Translations/fr", {"title": "Un"})


def test_a_set_without_a_service_is_read_only(shop: Shop) -> None:
    genres = replace(shop.container.sets["Genres"], service=None)
    shop.container = replace(shop.container, sets={**shop.container.sets, "Genres": genres})
    for method, path in (("POST", "Genres"), ("PATCH", "Genres(1)"), ("DELETE", "Genres(1)")):
        with pytest.raises(MethodNotAllowedError):
            shop.send(method, path, {"name": "x"})


def test_who_may_not_read_what_he_wrote_gets_204(shop: Shop, monkeypatch: Any) -> None:
    def refuse(path: str, options: Any) -> Any:
        raise NotFoundError("hidden")

    monkeypatch.setattr(shop, "read", refuse)
    answer = shop.post("Authors", {"name": "Ada"})
    assert answer.status_code == 204
    assert answer.headers["Location"].startswith(f"{ROOT}Authors(")
    assert "Preference-Applied" not in answer.headers
