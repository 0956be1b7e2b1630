"""A body becomes values by attribute; whatever is wrong is told with its place."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.errors import ValidationError
from app.http.schema_fields import BadValueError
from app.odata.model import edm
from app.odata.payload.reader import MOST_RELATED, BodyReader, EntityBody
from app.odata.payload.values import read_enum
from tests.odata.bookshop import AUTHOR, BOOK, TRANSLATION, bookshop

SHOP = bookshop()


def read(body: Any, type_: edm.EntityType = AUTHOR, **options: Any) -> EntityBody:
    reader = BodyReader(SHOP, **options)
    entity = reader.entity(body, type_)
    reader.problems.raise_any()
    return entity


def problems(body: Any, type_: edm.EntityType = AUTHOR, **options: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        read(body, type_, **options)
    return {detail.field: detail.message for detail in caught.value.details}


def test_values_by_attribute() -> None:
    entity = read(
        {
            "name": "Ada",
            "externalId": "a-1",
            "born": "1815-12-10",
            "joinedAt": "2024-01-31T10:00:00+01:00",
            "fame": "Famous",
            "fee": Decimal("12.50"),
            "isAlive": False,
            "labels": ["x", "y"],
            "penName": None,
        }
    )
    assert entity.values == {
        "name": "Ada",
        "external_id": "a-1",
        "born": date(1815, 12, 10),
        "joined_at": datetime(2024, 1, 31, 9, tzinfo=UTC),
        "fame": "Famous",
        "fee": Decimal("12.50"),
        "is_alive": False,
        "labels": ["x", "y"],
        "pen_name": None,
    }


def test_what_the_service_sets_is_ignored_whatever_it_is() -> None:
    entity = read({"id": 7, "bookCount": "many", "name": "Ada"})
    assert entity.values == {"name": "Ada"}
    assert entity.key == {"id": 7}


def test_a_key_that_clients_give_is_a_value() -> None:
    entity = read({"bookId": 1, "language": "de"}, TRANSLATION)
    assert entity.values == {"book_id": 1, "language": "de"}


def test_a_complex_value_in_columns_is_taken_apart() -> None:
    assert read({"address": {"city": "Bonn"}}).values == {"city": "Bonn"}
    assert read({"address": None}).values == {"street": None, "city": None}


def test_a_complex_value_kept_as_json_stays_whole() -> None:
    entity = read({"extra": {"shoeSize": 42, "hobby": {"name": "chess"}, "x@odata.type": "#Int64"}})
    assert entity.values == {}
    assert entity.partial == {"extra": {"shoeSize": 42, "hobby": {"name": "chess"}}}


def test_every_problem_is_told_with_its_place() -> None:
    assert problems(
        {
            "name": None,
            "fee": "12",
            "fame": "Infamous",
            "labels": ["x", 5, None],
            "address": {"city": 5, "town": "x"},
            "extra": {"shoeSize": "big"},
            "Books": [{"title": "ok"}, {"titel": "x", "pages": True}, 5],
        }
    ) == {
        "name": "must not be null",
        "fee": "must be a number",
        "fame": "must be one of Unknown, Known, Famous",
        "labels[1]": "must be a string",
        "labels[2]": "must not be null",
        "address.city": "must be a string",
        "address.town": "is not a property of Address",
        "extra.shoeSize": "must be a whole number",
        "Books[1].titel": "is not a property of Book; did you mean 'title'?",
        "Books[1].pages": "must be a whole number",
        "Books[2]": "must be a JSON object",
    }


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Name", "name"), ("externalID", "externalId"), ("nam", "name"), ("books", "Books")],
)
def test_an_unknown_name_gets_the_nearest_one(name: str, nearest: str) -> None:
    assert problems({name: 1})[name].endswith(f"did you mean '{nearest}'?")


def test_a_name_like_no_other_gets_no_advice() -> None:
    assert problems({"zzzzzz": 1}) == {"zzzzzz": "is not a property of Author"}


@pytest.mark.parametrize("body", [None, [], "x", 5, True, [{"name": "Ada"}]])
def test_the_body_is_an_object(body: Any) -> None:
    assert problems(body) == {"": "The body must be a JSON object."}


@pytest.mark.parametrize("collection", [None, "x", {}, 5])
def test_a_collection_is_an_array(collection: Any) -> None:
    assert set(problems({"labels": collection})) == {"labels"}
    assert problems({"Books": collection}) == {"Books": "must be an array"}


def test_numbers_in_strings_only_where_the_client_declared_them() -> None:
    assert read({"fee": "12.50"}, text_numbers=True).values == {"fee": Decimal("12.50")}
    assert read({"sold": "5"}, BOOK, text_numbers=True).values == {"sold": 5}
    assert problems({"sold": "5"}, BOOK) == {"sold": "must be a whole number"}


@pytest.mark.parametrize("value", ["Known", "Bookshop.Fame'Known'", 1, "1", Decimal("1.0")])
def test_every_form_of_an_enumeration_member(value: Any) -> None:
    assert read({"fame": value}).values == {"fame": "Known"}


@pytest.mark.parametrize(
    "value", ["known", "", 3, -1, True, "Known,Famous", ["Known"], Decimal("1e9999999")]
)
def test_no_enumeration_member(value: Any) -> None:
    assert "fame" in problems({"fame": value})


def test_flags_are_combined() -> None:
    flags = edm.EnumType("Status", {"None": 0, "InStock": 1, "OnSale": 2, "Featured": 8}, True)
    assert read_enum(flags, "InStock, Featured") == 9
    assert read_enum(flags, "Ns.Status'OnSale'") == 2
    assert read_enum(flags, 3) == 3
    assert read_enum(flags, 0) == 0
    for bad in (4, -1, "InStock,", "Sold", ""):
        with pytest.raises(BadValueError):
            read_enum(flags, bad)


def test_control_information_is_understood_or_ignored() -> None:
    entity = read(
        {
            "@odata.context": "$metadata#Authors/$entity",
            "@odata.etag": 'W/"1"',
            "@id": "Authors(1)",
            "@type": "#Bookshop.Author",
            "@Core.Description": "x",
            "name@odata.type": "#String",
            "nobody@Some.Term": 5,
            "Books@odata.navigationLink": "Authors(1)/Books",
            "Books@odata.count": 0,
            "name": "Ada",
        }
    )
    assert entity.values == {"name": "Ada"}
    assert entity.related == []
    assert entity.reference is None


@pytest.mark.parametrize("name", ["@odata.type", "@type"])
@pytest.mark.parametrize("value", ["#Bookshop.Book", "#Other.Author", "nonsense", 5])
def test_another_type_is_refused(name: str, value: Any) -> None:
    assert problems({name: value}) == {"@odata.type": "must be Author"}


@pytest.mark.parametrize("name", ["Author@odata.bind", "Author@bind"])
def test_bind_a_single_entity(name: str) -> None:
    (related,) = read({name: "Authors(1)"}, BOOK).related
    assert related.navigation.name == "Author"
    assert [item.reference for item in related.items] == ["Authors(1)"]
    assert related.items[0].is_reference


@pytest.mark.parametrize("name", ["@id", "@odata.id"])
def test_bind_a_single_entity_by_its_id(name: str) -> None:
    (related,) = read({"Author": {name: "Authors(1)"}}, BOOK).related
    assert related.items[0].is_reference
    (related,) = read({"Author": {name: "Authors(1)", "name": "Ada"}}, BOOK).related
    assert related.items[0].reference == "Authors(1)"
    assert not related.items[0].is_reference


def test_bind_null_means_none_is_related() -> None:
    for body in ({"Author@odata.bind": None}, {"Author": None}):
        (related,) = read(body, BOOK).related
        assert related.items == []


def test_bind_a_collection_adds_to_it() -> None:
    (related,) = read({"Books@odata.bind": ["Books(1)", "Books(2)"]}).related
    assert [item.reference for item in related.items] == ["Books(1)", "Books(2)"]
    assert related.is_delta


def test_bad_binds() -> None:
    assert problems({"Books@odata.bind": "Books(1)", "Buks@odata.bind": []}) == {
        "Books@odata.bind": "must be an array of URLs",
        "Buks@odata.bind": "is not a property of Author; did you mean 'Books'?",
    }
    assert problems({"Author@odata.bind": 5}, BOOK) == {
        "Author@odata.bind": "must be the URL of an entity"
    }
    assert problems({"Author": {"@id": 5}}, BOOK) == {"Author.@id": "must be the URL of an entity"}


def test_a_nested_delta() -> None:
    (related,) = read(
        {"Books@delta": [{"@removed": {"reason": "deleted"}, "id": 3}, {"title": "New"}]}
    ).related
    assert related.is_delta
    assert [(item.removed, item.key, item.values) for item in related.items] == [
        ("deleted", {"id": 3}, {}),
        (None, {}, {"title": "New"}),
    ]


def test_nesting_is_bounded() -> None:
    body: dict[str, Any] = {"name": "deepest"}
    for _ in range(3):
        body = {"title": "x", "Author": {"name": "x", "Books": [body]}}
    found = problems(body, BOOK)
    assert list(found.values()) == ["is nested more than 5 levels deep"]


def test_the_number_of_entities_is_bounded() -> None:
    books = [{"title": str(at)} for at in range(MOST_RELATED)]
    assert len(read({"Books": books}).related[0].items) == MOST_RELATED
    found = problems({"Books": [*books, {"title": "x"}, {"title": "x"}]})
    assert list(found) == [f"Books[{MOST_RELATED}]"]


def test_owned_items_are_read_like_entities() -> None:
    (related,) = read(
        {"Chapters": [{"heading": "One", "id": 5, "Reviewer@odata.bind": "Authors(1)"}]}, BOOK
    ).related
    assert related.navigation.owned
    (chapter,) = related.items
    assert chapter.values == {"heading": "One"}
    assert chapter.key == {"id": 5}
    assert chapter.related[0].path == "Chapters[0].Reviewer@odata.bind"
