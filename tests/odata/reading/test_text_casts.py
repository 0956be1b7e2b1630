"""Texts that rows hold, cast to every type: the same value on both databases, or null."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import quote

import pytest

from tests.odata.reading.conftest import Client

VALUES: dict[str, dict[str, Any]] = {
    "Date": {
        "2026-01-31": "2026-01-31", "2024-02-29": "2024-02-29", "2000-02-29": "2000-02-29",
        "1900-02-29": None, "2023-02-29": None, "2026-04-31": None, "0000-01-01": None,
        "0001-01-01": "0001-01-01", "9999-12-31": "9999-12-31", "2026-1-31": None, "": None,
        "2026-01-31T00:00:00Z": None, " 2026-01-31": None, "2026-13-01": None, "x": None,
        "2026-01-31\n": None, "\uff12026-01-31": None,
    },
    "DateTimeOffset": {
        "2026-01-31T10:00:00+02:00": "2026-01-31T08:00:00.000Z",
        "2026-01-31T10:00Z": "2026-01-31T10:00:00.000Z",
        "2026-01-31t10:00:00.1239z": "2026-01-31T10:00:00.123Z",
        "2026-01-31T10:00:00.123456789012Z": "2026-01-31T10:00:00.123Z",
        "9999-12-31T23:59:59.9999Z": "9999-12-31T23:59:59.999Z",
        "9999-12-31T23:59:59-01:00": None, "0001-01-01T00:00:00+01:00": None,
        "0001-01-01T00:00:00Z": "0001-01-01T00:00:00.000Z", "2026-01-31": None,
        "2026-01-31T10:00:00": None, "2026-01-31T24:00:00Z": None,
        "2026-01-31T10:00:00+15:00": None,
        "2026-02-30T10:00:00Z": None, "2026-01-31 10:00:00Z": None,
    },
    "TimeOfDay": {
        "10:30": "10:30:00.000000", "10:30:00.5": "10:30:00.500000",
        "23:59:59.999999999": "23:59:59.999999", "24:00": None, "1:00": None, "10:60": None,
    },
    "Duration": {
        "P1DT1H": "PT90000S", "-PT1M1.5S": "-PT61.5S", "pt1.0000019s": "PT1.000001S", "P": None,
        "PT": None, "P1DT": None, "P1Y": None, "P3652059D": "PT315537897600S", "P3652060D": None,
        "PT1S1M": None, "-P0D": "PT0S",
    },
    "Guid": {
        "01234567-89AB-cdef-0123-456789abcdef": "01234567-89ab-cdef-0123-456789abcdef",
        "0123456789abcdef0123456789abcdef": None, "{01234567-89ab-cdef-0123-456789abcdef}": None,
    },
    "Binary": {
        "AQID": "AQID", "AQ": "AQ", "AQ==": "AQ", "AR": None, "A": None, "": "", "-_-_": "-_-_",
        "+/+/": None, "AQI": "AQI", "AQI=": "AQI", "AQ=": None,
    },
    "Double": {
        "1.5e2": 150.0, "-0.1": -0.1, "1e999": None, "1e-999": 0.0, "x": None, "1": 1.0, "": None,
        "1.7976931348623157e308": 1.7976931348623157e308, "1.8e308": None, "NaN": None, ".5": None,
    },
    "Int32": {"5": 5, "-5": -5, "2147483648": None, "5.0": None},
    "Decimal": {
        "5.25": 5.25, "5": 5, "1e2": 100, "-1.50E+1": -15.0, "25e-1": 2.5, "0e9": 0, "1e": None,
        "e5": None, "1e99": 10**99, "1e100": None, "NaN": None, "INF": None,
    },
    "Boolean": {
        "true": True, "false": False, "True": True, "FALSE": False, "1": None, " true": None,
        "yes": None, "": None,
    },
}  # fmt: skip


def cast(client: Client, text: str, type_: str) -> Any:
    """A text that no plan knows as a literal, cast on both databases."""
    quoted = quote(text.replace("'", "''"))
    compute = f"$compute=cast(concat('{quoted}',''),Edm.{type_}) as v&$select=v&$top=1"
    return client.get(f"Items?{compute}")["value"][0]["v"]


@pytest.mark.parametrize("type_", VALUES)
def test_values_and_what_is_none(client: Client, type_: str) -> None:
    found = {text: cast(client, text, type_) for text in VALUES[type_]}
    assert found == VALUES[type_]


@pytest.mark.costly(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("type_", VALUES)
def test_damaged_texts_are_the_same_on_both(client: Client, type_: str, seed: int) -> None:
    """Whatever they are: the client compares the answers."""
    chance = random.Random(seed)
    for _ in range(15):
        text = chance.choice(list(VALUES[type_])) or "1"
        at = chance.randrange(len(text))
        other = chance.choice("0123456789-+.:TZPDHMSe =Aaé")
        cast(client, text[:at] + other * chance.randrange(3) + text[at + 1 :], type_)


def test_rows_hold_texts(client: Client) -> None:
    found = client.values("Items?$filter=cast(name,Edm.Date) eq null&$select=id")
    assert len(found) == len(client.values("Items?$select=id"))
    text = "cast(cast(made,Edm.String),Edm.Date) eq made"
    assert client.values(f"Items?$filter={text}&$select=id") == client.values("Items?$select=id")
    text = "cast(cast(at,Edm.String),Edm.DateTimeOffset) eq at"
    assert client.values(f"Items?$filter={text}&$select=id") == client.values("Items?$select=id")


def test_casts_of_casts_are_written_once(client: Client) -> None:
    text = "name"
    for _ in range(9):
        text = f"cast(cast({text},Edm.Duration),Edm.String)"
    assert client.values(f"Items?$filter={text} eq 'x'&$select=id") == []


@pytest.mark.parametrize(
    "outer",
    ["cast({},Edm.Int64)", "case(true:{},false:null)", "Workshop.Twice(n={})", "round({})",
     "({} mod 3)"],
)  # fmt: skip
def test_what_is_nested_is_looked_at_once(client: Client, outer: str) -> None:
    text = "count"
    for _ in range(17):
        text = outer.format(text)
    assert client.values(f"Items?$filter={text} eq -123456789&$select=id") == []
