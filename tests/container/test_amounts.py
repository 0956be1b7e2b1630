"""How amounts of money are written: the same from both databases, as far as they have digits."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.container.model import container
from app.db import records
from app.http.security import Caller
from app.odata.model import edm
from app.odata.protocol.request import ReadRequest
from app.odata.reading.reader import Reader
from tests.factories import make_client, stored


def body(admin: Caller, address: str) -> str:
    reader = Reader(container(), "a key for the tokens of these tests only")
    path, _, query = address.partition("?")
    request = ReadRequest(path, query, "http://x/odata/")
    found = reader.read(request, admin, records.connection())
    return bytes(found.body).decode()


@pytest.mark.parametrize(
    ("currency", "amount", "text"),
    [("EUR", "500", "500.00"), ("EUR", "0.5", "0.50"), ("EUR", "0", "0.00"),
     ("KWD", "3.889", "3.889"), ("KWD", "0.007", "0.007"), ("KWD", "3.5", "3.50"),
     ("JPY", "55001", "55001.00"), ("EUR", "9999999999999.99", "9999999999999.99")],
)  # fmt: skip
def test_two_digits_are_written_and_the_third_where_there_is_one(
    admin: Caller, currency: str, amount: str, text: str
) -> None:
    key = make_client(currency=currency, revenue=Decimal(amount), credit_limit=Decimal(amount))
    assert str(stored("Client", key)["revenue"]) == text
    where = f"$filter=id eq {key}"
    for address in (
        f"Clients({key})", f"Clients?{where}&$select=revenue,creditLimit",
        f"Clients?{where} and revenue eq {amount}",
        f"Clients?{where}&$apply=groupby((revenue,creditLimit))".replace(where + "&", ""),
    ):  # fmt: skip
        written = body(admin, address)
        assert f'"revenue":{text}' in written, address
        assert f'"creditLimit":{text}' in written, address
    for method in ("sum", "min", "max"):
        apply = f"Clients?$apply=aggregate(revenue with {method} as total)"
        assert f'"total":{text}' in body(admin, apply), method
    quoted = body(admin, f"Clients?{where}&$compute=cast(revenue,Edm.String) as t&$select=t")
    assert f'"t":"{text}"' in quoted


def test_what_is_below_nothing_keeps_its_sign(admin: Caller) -> None:
    key = make_client(currency="KWD")
    records.update(
        container().sets["Clients"].type.table, key, {"credit_balance": Decimal("-0.005")}
    )
    assert '"creditBalance":-0.005' in body(admin, f"Clients({key})")


def test_properties_of_money_have_three_digits(admin: Caller) -> None:
    for entity_set in container().sets.values():
        for one in entity_set.type.properties.values():
            if one.currency_property is not None and one.type == edm.DECIMAL and one.scale != 4:
                assert (one.precision, one.scale) == (16, 3), (entity_set.name, one.name)
