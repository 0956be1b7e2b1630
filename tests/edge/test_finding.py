"""A rule that takes all that follows a prefix is found as Werkzeug finds it."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, MapAdapter, Rule

from app.edge.finding import find, tails_of

METHODS = ["GET", "HEAD", "POST", "OPTIONS"]
URL_MAP = Map([
    Rule("/odata/", endpoint="odata", methods=METHODS),
    Rule("/odata/<path:resource>", endpoint="odata", methods=METHODS),
    Rule("/odata/v1/", endpoint="odata-1", methods=METHODS),
    Rule("/odata/v1/<path:resource>", endpoint="odata-1", methods=METHODS),
    Rule("/files/<path:resource>", endpoint="files"),
    Rule("/files/list", endpoint="list"),
    Rule("/of/<name>/<path:resource>", endpoint="of"),
])  # fmt: skip
PATHS = [
    "/odata/Clients", "/odata/Clients(1)", "/odata/Clients/", "/odata/", "/odata",
    "/odata//Clients", "/odata/Clients//1", "/odata/v1/Clients", "/odata/v1/", "/odata/v1",
    "/odata/v1x", "/odata/a\nb", "/odata/a b", "/odata/größe", "/odata/\u200b", "/files/list",
    "/files/other", "/of/a/b/c", "/", "",
]  # fmt: skip


def found(path: str, method: str) -> Any:
    return find(tails_of(URL_MAP), path, method)


def found_by_werkzeug(path: str, method: str) -> Any:
    adapter = MapAdapter(URL_MAP, "localhost", "/", "", "http", path, method, "a=1")
    try:
        return adapter.match(return_rule=True)
    except HTTPException as error:
        return type(error), getattr(error, "new_url", None)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", PATHS)
def test_the_same_is_found_or_werkzeug_is_to_be_asked(path: str, method: str) -> None:
    assert found(path, method) in (None, found_by_werkzeug(path, method))


@pytest.mark.parametrize(
    "path", ["/odata/Clients", "/odata/Clients(1)", "/odata/v1/Clients", "/odata/größe"]
)
def test_what_is_asked_for_most_is_found_without_werkzeug(path: str) -> None:
    assert found(path, "GET") == found_by_werkzeug(path, "GET")


def test_only_prefixes_without_rules_below_them_are_tails_the_longest_first() -> None:
    assert [prefix for prefix, _, _ in tails_of(URL_MAP)] == ["/odata/v1/", "/odata/"]
