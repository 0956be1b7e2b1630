"""An area reads requests strictly, and says of everything that is wrong where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, request
from marshmallow import ValidationError as SchemaError

from app.errors import ValidationError
from app.http import schema_fields as fields
from app.http.areas import Area, LinkQuery, field_problems, load, mailed, reads_query
from app.http.schema_fields import UNKNOWN, Schema
from app.http.schema_parts import CheckedSchema
from tests.conftest import KeepApp
from tests.contract.conftest import Api

pytestmark = pytest.mark.only_on("sqlite")


class LineSchema(Schema):
    price = fields.Integer(required=True)


class OrderSchema(CheckedSchema):
    """An order that costs something."""

    name = fields.String(required=True)
    lines = fields.List(fields.Nested(LineSchema))

    def check(self, body: dict[str, Any]) -> None:
        if body.get("name") == "nobody":
            raise ValidationError([("name", "is nobody")])


class OrdersQuerySchema(Schema):
    limit = fields.Integer(load_default=20)
    state = fields.String()


class LinkQuerySchema(LinkQuery):
    size = fields.Integer()


def _add_area(app: Flask) -> None:
    """Views of every kind below ``/api/orders``."""
    area = Area("orders", __name__)

    @area.get("/")
    @area.arguments(OrdersQuerySchema, location="query")
    @area.response(200)
    def list_orders(query: dict[str, Any]) -> dict[str, Any]:
        return query

    @area.get("/plain")
    @area.response(200)
    def plain() -> dict[str, Any]:
        return {}

    @area.get("/any")
    @reads_query
    @area.response(200)
    def any_query() -> dict[str, Any]:
        return dict(request.args)

    @area.get("/link")
    @mailed
    @area.arguments(LinkQuerySchema, location="query", unknown=None)
    @area.response(200)
    def link(query: dict[str, Any]) -> dict[str, Any]:
        return query

    @area.post("/")
    @area.put("/")
    @area.arguments(OrderSchema)
    @area.response(200)
    def write_order(body: dict[str, Any]) -> dict[str, Any]:
        return body

    @area.post("/count")
    @area.response(200)
    def count() -> dict[str, Any]:
        return {"count": 1}

    app.register_blueprint(area, url_prefix="/api/orders")


@pytest.fixture
def api(keep_app: KeepApp, sign_in: Callable[..., Api]) -> Api:
    return sign_in("Viewer", keep_app(_add_area))


def problems(answer: Any) -> list[tuple[str, str]]:
    """Field and message of each problem."""
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    return [(detail["field"], detail["message"]) for detail in answer.json["error"]["details"]]


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("limit=1_000", "limit", "must be a whole number"),
        ("limit=%2B1", "limit", "must be a whole number"),
        ("limit=٣", "limit", "must be a whole number"),
        ("limit=1&limit=2", "limit", "stands twice"),
        ("state=a&state=a", "state", "stands twice"),
        ("stat=a", "stat", "is unknown"),
    ],
)
def test_a_parameter_is_known_stands_once_and_has_plain_digits(
    api: Api, query: str, field: str, message: str
) -> None:
    assert problems(api.get(f"/api/orders/?{query}")) == [(field, message)]
    assert api.get("/api/orders/?limit=-3&state=a_b").json == {"limit": -3, "state": "a_b"}


def test_parameters_of_a_view_that_has_none_are_refused_by_name(api: Api) -> None:
    assert problems(api.get("/api/orders/plain?dryRun=true&x=1")) == [
        ("dryRun", "is unknown"), ("x", "is unknown"),
    ]  # fmt: skip
    assert api.get("/api/orders/plain").status_code == 200
    assert api.get("/api/orders/any?x=1").json == {"x": "1"}


def test_what_is_in_the_body_of_a_view_that_reads_none_is_refused_by_name(api: Api) -> None:
    assert problems(api.post("/api/orders/count", {"reason": "x", "": 1})) == [
        ("reason", "is unknown"), ('""', "is unknown"),
    ]  # fmt: skip
    for body, status in ((b"", 200), (b"{}", 200), (b"{", 400), (b"[1]", 400)):
        answer = api.client.post(
            "/api/orders/count", data=body, content_type="application/json", headers=api.headers
        )
        assert answer.status_code == status, body
    chunked = {**api.headers, "Transfer-Encoding": "chunked"}
    assert api.client.post("/api/orders/count", headers=chunked).status_code == 200
    form = api.client.post("/api/orders/count", data={"a": "b"}, headers=api.headers)
    assert form.status_code == 415


def test_no_operation_of_the_service_loses_a_body_silently(admin: Api) -> None:
    paths = admin.get("/openapi.json").json["paths"]
    bare = [
        re.sub(r"\{.*?\}", "1", path)
        for path, methods in paths.items()
        if "post" in methods and "requestBody" not in methods["post"] and "/odata" not in path
    ]
    assert len(bare) > 8
    for path in bare:
        if path.endswith("/auth/logout"):
            continue
        assert problems(admin.post(path, {"reason": "x"})) == [("reason", "is unknown")], path
    body = {"refreshToken": "x"}
    assert admin.post("/api/v1/auth/logout", body).status_code == 204


def test_what_mailers_hang_on_an_address_is_read_by_nobody(api: Api) -> None:
    assert api.get("/api/orders/link?size=2&utm_source=a&utm_source=b").json == {"size": 2}
    assert problems(api.get("/api/orders/link?size=x")) == [("size", "must be a whole number")]


def test_a_missing_body_is_an_empty_object_but_replaces_nothing(api: Api) -> None:
    assert problems(api.post("/api/orders/")) == [("name", "is required")]
    assert problems(api.client.put("/api/orders/", headers=api.headers)) == [
        ("", "A body is needed: it replaces what is there.")
    ]
    assert api.put("/api/orders/", {"name": "A"}).json == {"name": "A"}


def test_what_only_a_service_finds_is_told_with_what_the_schema_found(api: Api) -> None:
    body = {"name": "nobody", "lines": [{"price": 1}, {"price": "x"}], "extra": 1}
    assert sorted(problems(api.post("/api/orders/", body))) == [
        ("extra", "is unknown"), ("lines[1].price", "must be a whole number"),
        ("name", "is nobody"),
    ]  # fmt: skip


def test_a_body_that_was_read_elsewhere_is_refused_alike() -> None:
    assert load(OrderSchema(), {"name": "A"}) == {"name": "A"}
    with pytest.raises(ValidationError) as caught:
        load(OrderSchema(), {"lines": [{}]})
    assert sorted((detail.field, detail.message) for detail in caught.value.details) == [
        ("lines[0].price", "is required"), ("name", "is required"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ({"lines": {0: {"price": ["Bad."]}}}, [("lines[0].price", "Bad.")]),
        ({"a": ["One.", "Two."], "b": ["Three."]}, [("a", "One."), ("a", "Two."), ("b", "Three.")]),
        ({"lines": {2: {"_schema": ["Bad."]}}}, [("lines[2]", "Bad.")]),
        ({"_schema": ["Bad."]}, [("", "Bad.")]),
        (["Bad."], [("", "Bad.")]),
        (
            {"b": [UNKNOWN], "z": ["One."], "a": [UNKNOWN], "y": ["Two."]},
            [("z", "One."), ("y", "Two."), ("a", UNKNOWN), ("b", UNKNOWN)],
        ),
        (SchemaError("Bad.").messages, [("", "Bad.")]),
    ],
)
def test_problems_are_told_with_the_path_to_their_field(
    messages: Any, expected: list[tuple[str, str]]
) -> None:
    assert field_problems(messages) == expected
