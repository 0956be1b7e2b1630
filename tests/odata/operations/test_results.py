"""The type of what an operation returns stands beside it if ``full`` (JSON Format 4.6.3)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask, Response
from werkzeug.datastructures import Headers

from app.odata.model import edm
from app.odata.model.declare import by_name
from app.odata.operations.service import Surroundings, collected, value_answer
from app.odata.protocol.negotiation import form_for
from app.odata.syntax.options import OptionTexts
from tests.odata.bookshop import FAME, bookshop

CONTAINER = bookshop()
LINE = edm.ComplexType(
    "Line",
    by_name(
        edm.Property(name=name, type=type_, attribute=name)
        for name, type_ in (("text", edm.STRING), ("rate", edm.DECIMAL), ("on", edm.DATE))
    ),
)
PAGE = edm.ComplexType(
    "Page",
    by_name(
        edm.Property(name=name, type=type_, attribute=name)
        for name, type_ in (("first", LINE), ("lines", edm.CollectionType(LINE)))
    ),
)


def operation(returns: edm.EdmType, *, many: bool = False) -> edm.Operation:
    return edm.Operation(name="Do", is_action=False, returns=returns, returns_collection=many)


def surroundings(metadata: str) -> Surroundings:
    headers = Headers({"Accept": f"application/json;odata.metadata={metadata}"})
    form = form_for(headers, namespace=CONTAINER.namespace)
    return Surroundings(CONTAINER, "/odata/", form, OptionTexts({}, {}), no_read)


def no_read(path: str, options: OptionTexts) -> Response:
    raise AssertionError(path)


def body(value: Any, returns: edm.EdmType, metadata: str = "full", *, many: bool = False) -> Any:
    with Flask(__name__).app_context():
        answer = value_answer(operation(returns, many=many), value, surroundings(metadata))
    members = answer.get_json()
    members.pop("@odata.context", None)
    return members


@pytest.mark.parametrize(
    ("type_", "value", "name"),
    [
        (edm.INT16, 5, "Int16"), (edm.INT32, 5, "Int32"), (edm.INT64, 5, "Int64"),
        (edm.DECIMAL, Decimal("2.50"), "Decimal"), (edm.DATE, dt.date(2026, 1, 31), "Date"),
        (edm.DATETIME, dt.datetime(2026, 1, 31, tzinfo=dt.UTC), "DateTimeOffset"),
        (edm.GUID, "01234567-89ab-4cde-8f01-23456789abcd", "Guid"),
        (edm.DURATION, "PT1S", "Duration"), (edm.TIME_OF_DAY, "10:00:00", "TimeOfDay"),
        (edm.BINARY, "AQID", "Binary"), (FAME, "Known", "Bookshop.Fame"),
        (edm.STRING, "x", ""), (edm.BOOLEAN, True, ""), (edm.DOUBLE, 1.5, ""),
    ],
)  # fmt: skip
def test_a_value_has_its_type_where_json_does_not_tell_it(
    type_: edm.EdmType, value: Any, name: str
) -> None:
    assert body(value, type_).get("@odata.type", "#") == f"#{name}"
    assert set(body(value, type_, "minimal")) == set(body(value, type_, "none")) == {"value"}
    plain = name or type_.name.removeprefix("Edm.")
    assert body([value], type_, many=True)["@odata.type"] == f"#Collection({plain})"
    assert body([value], edm.CollectionType(type_))["@odata.type"] == f"#Collection({plain})"


def test_a_complex_value_has_types_inside() -> None:
    line = {"text": "a", "rate": Decimal("2.5"), "on": dt.date(2026, 1, 31)}
    typed = {
        "@odata.type": "#Bookshop.Line", "text": "a",
        "rate@odata.type": "#Decimal", "rate": 2.5, "on@odata.type": "#Date", "on": "2026-01-31",
    }  # fmt: skip
    assert body(line, LINE) == typed
    assert body([line], LINE, many=True) == {
        "@odata.type": "#Collection(Bookshop.Line)", "value": [typed],
    }  # fmt: skip
    page = body({"first": line, "lines": [line], "more": 1}, PAGE)
    assert page == {
        "@odata.type": "#Bookshop.Page", "first": typed, "more": 1,
        "lines@odata.type": "#Collection(Bookshop.Line)", "lines": [typed],
    }  # fmt: skip
    assert not any("@" in name for name in body(line, LINE, "minimal"))


def test_results_of_several_entities_have_the_type_of_their_collection() -> None:
    answers = [Response('{"@odata.context":"c","@odata.type":"#Int32","value":5}')]
    answer = collected(operation(edm.INT32), answers, surroundings("full"))
    assert answer.get_json() == {
        "@odata.context": "/odata/$metadata#Collection(Edm.Int32)",
        "@odata.type": "#Collection(Int32)", "value": [5],
    }  # fmt: skip
