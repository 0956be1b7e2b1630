"""Single properties by themselves (Protocol 11.4.9), and the bytes of media entities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from app.errors import (
    MethodNotAllowedError,
    NotImplementedInServiceError,
    PreconditionFailedError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from tests.odata.bookshop import AUTHOR, chapters
from tests.odata.writing.conftest import Shop


@pytest.fixture
def author(shop: Shop) -> Any:
    return shop.make(
        "Authors",
        {
            "name": "Ada", "born": "1815-12-10", "address": {"street": "Main", "city": "Bonn"},
            "extra": {"a": 1, "shoeSize": 42}, "labels": ["x"],
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "column", "expected"),
    [
        ("name", {"value": "Eve"}, "name", "Eve"),
        ("name", {"@odata.context": "x", "value": "Eve"}, "name", "Eve"),
        ("born", {"value": None}, "born", None),
        ("born", {"value": "1900-01-02"}, "born", date(1900, 1, 2)),
        ("fee", {"value": 5}, "fee", Decimal("5.00")),
        ("fame", {"value": "Famous"}, "fame", "Famous"),
        ("labels", {"value": ["y", "z"]}, "labels", ["y", "z"]),
        ("address/city", {"value": "Köln"}, "city", "Köln"),
        ("ADDRESS/City", {"value": "Köln"}, "city", "Köln"),
        ("address", {"city": "Köln"}, "street", None),
        ("extra", {"b": 2}, "extra", {"b": 2}),
        ("extra/shoeSize", {"value": 43}, "extra", {"a": 1, "shoeSize": 43}),
        ("extra/a", {"value": "x"}, "extra", {"a": "x", "shoeSize": 42}),
        ("extra/a", {"value": None}, "extra", {"shoeSize": 42}),
        ("extra/b", {"value": {"c": [1]}}, "extra", {"a": 1, "shoeSize": 42, "b": {"c": [1]}}),
    ],
)
def test_put(shop: Shop, author: Any, path: str, body: Any, column: str, expected: Any) -> None:
    answer = shop.put(f"Authors({author})/{path}", body)
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["ETag"] == 'W/"2"'
    assert shop.row(AUTHOR, author)[column] == expected


def test_put_and_delete_of_a_property_of_an_owned_member(shop: Shop, author: Any) -> None:
    lines = [{"heading": letter, "reviewerId": author} for letter in "AB"]
    book = shop.make("Books", {"title": "One", "Chapters": lines})
    for path, send in (
        ("heading", lambda path: shop.put(path, {"value": "Bee"})),
        ("reviewerId", shop.delete),
    ):
        last = shop.rows(chapters, book_id=book)[-1]["id"]
        assert send(f"Books({book})/Chapters({last})/{path}").status_code == 204
    found = [(row["heading"], row["reviewer_id"]) for row in shop.rows(chapters, book_id=book)]
    assert found == [("A", author), ("Bee", None)]


def test_patch_of_a_complex_property_merges(shop: Shop, author: Any) -> None:
    shop.patch(f"Authors({author})/address", {"city": "Köln"})
    shop.patch(f"Authors({author})/extra", {"b": 2})
    row = shop.row(AUTHOR, author)
    assert (row["street"], row["city"]) == ("Main", "Köln")
    assert row["extra"] == {"a": 1, "shoeSize": 42, "b": 2}


@pytest.mark.parametrize("path", ["extra/a", "extra/a/$value", "extra/b"])
def test_delete_of_what_an_open_type_does_not_declare(shop: Shop, author: Any, path: str) -> None:
    assert shop.delete(f"Authors({author})/{path}").status_code == 204
    kept = {"shoeSize": 42} if "/a" in path else {"a": 1, "shoeSize": 42}
    assert shop.row(AUTHOR, author)["extra"] == kept


@pytest.mark.parametrize("path", ["born", "born/$value", "address", "address/city"])
def test_delete_empties(shop: Shop, author: Any, path: str) -> None:
    assert shop.delete(f"Authors({author})/{path}").status_code == 204
    column = "born" if path.startswith("born") else "city"
    assert shop.row(AUTHOR, author)[column] is None


@pytest.mark.parametrize(
    ("path", "raw", "column", "expected"),
    [
        ("name", "Eve ñ", "name", "Eve ñ"),
        ("name", "42", "name", "42"),
        ("fee", "12.5", "fee", Decimal("12.50")),
        ("isAlive", "false", "is_alive", False),
        ("born", "1900-01-02", "born", date(1900, 1, 2)),
        ("extra/a", "7", "extra", {"a": "7", "shoeSize": 42}),
    ],
)
def test_raw_values(
    shop: Shop, author: Any, path: str, raw: str, column: str, expected: Any
) -> None:
    answer = shop.send(
        "PUT", f"Authors({author})/{path}/$value", raw.encode(), {"Content-Type": "text/plain"}
    )
    assert answer.status_code == 204
    assert shop.row(AUTHOR, author)[column] == expected


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("name", {"value": 5}),
        ("name", {"value": None}),
        ("name", {}),
        ("name", "Eve"),
        ("address", {"town": "x"}),
        ("address", []),
        ("labels", {"value": "x"}),
    ],
)
def test_bad_values(shop: Shop, author: Any, path: str, body: Any) -> None:
    with pytest.raises(ValidationError):
        shop.put(f"Authors({author})/{path}", body)


def test_bad_raw_values(shop: Shop, author: Any) -> None:
    path = f"Authors({author})/fee/$value"
    for raw in (b"many", b"\xff"):
        with pytest.raises(ValidationError):
            shop.send("PUT", path, raw, {"Content-Type": "text/plain"})
    with pytest.raises(UnsupportedMediaTypeError):
        shop.send("PUT", path, b"5", {"Content-Type": "application/json"})


def test_preconditions(shop: Shop, author: Any) -> None:
    with pytest.raises(PreconditionFailedError):
        shop.put(f"Authors({author})/name", {"value": "Eve"}, If_Match='"9"')
    assert shop.put(f"Authors({author})/name", {"value": "Eve"}, If_Match='"1"').status_code == 204


# --- media ----------------------------------------------------------------------------------------


class MediaAuthors:
    """Keeps bytes in a dictionary."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self.bytes: dict[Any, tuple[bytes, str]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> Any:
        key = self._service.create({"name": name or "unnamed"})
        self.bytes[key] = (b"".join(content), content_type)
        return key

    def replace_media(
        self, key: Any, content: Iterable[bytes], content_type: str, version: int | None = None
    ) -> None:
        self._service.update(key, {}, version)
        self.bytes[key] = (b"".join(content), content_type)

    def delete_media(self, key: Any, version: int | None = None) -> None:
        del self.bytes[key]


def with_media(shop: Shop, service: Any) -> None:
    type_ = replace(AUTHOR, has_stream=True)
    entity_set = replace(shop.container.sets["Authors"], type=type_, service=service)
    shop.container = replace(
        shop.container,
        sets={**shop.container.sets, "Authors": entity_set},
        types={**shop.container.types, "Author": type_},
    )


def test_media_entities(shop: Shop) -> None:
    service = MediaAuthors(shop.services["Authors"])
    with_media(shop, service)
    picture = {"Content-Type": "image/png", "Slug": "Ada.png"}
    made = shop.send("POST", "Authors", b"\x89PNG", picture)
    key = made.json["id"]
    assert (made.status_code, made.json["name"]) == (201, "Ada.png")
    assert service.bytes[key] == (b"\x89PNG", "image/png")
    path = f"Authors({key})/$value"
    with pytest.raises(PreconditionFailedError):
        shop.send("PUT", path, b"GIF", {"Content-Type": "image/gif", "If-Match": '"9"'})
    assert shop.send("PUT", path, b"GIF", {"Content-Type": "image/gif"}).status_code == 204
    assert service.bytes[key] == (b"GIF", "image/gif")
    assert shop.delete(path).status_code == 204
    assert service.bytes == {}
    assert shop.make("Authors", {"name": "Eve"})


def test_media_without_a_service_for_them(shop: Shop, author: Any) -> None:
    with_media(shop, shop.services["Authors"])
    with pytest.raises(NotImplementedInServiceError):
        shop.send("POST", "Authors", b"x", {"Content-Type": "image/png"})
    with pytest.raises(MethodNotAllowedError):
        shop.send("PUT", f"Authors({author})/$value", b"x", {"Content-Type": "image/png"})
