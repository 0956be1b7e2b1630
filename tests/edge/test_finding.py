"""A rule that takes all that follows a prefix is found as Werkzeug finds it."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, MapAdapter, Rule

from app.edge.finding import FindingAdapter, tails_of

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


def found(kind: type[MapAdapter], path: str, method: str) -> Any:
    adapter = kind(URL_MAP, "localhost", "/", "", "http", path, method, "a=1")
    if isinstance(adapter, FindingAdapter):
        adapter.tails = tails_of(URL_MAP)
    try:
        return adapter.match(return_rule=True)
    except HTTPException as error:
        return type(error), getattr(error, "new_url", None)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", PATHS)
def test_the_same_is_found(path: str, method: str) -> None:
    assert found(FindingAdapter, path, method) == found(MapAdapter, path, method)


def test_only_prefixes_without_rules_below_them_are_tails_the_longest_first() -> None:
    assert [prefix for prefix, _, _ in tails_of(URL_MAP)] == ["/odata/v1/", "/odata/"]


def test_other_questions_are_werkzeugs() -> None:
    adapter = FindingAdapter(URL_MAP, "localhost", "/", "", "http", "/odata/Clients", "GET", "")
    adapter.tails = tails_of(URL_MAP)

    assert adapter.match() == ("odata", {"resource": "Clients"})
    assert adapter.match("/files/list", return_rule=True)[0].endpoint == "list"
    assert set(adapter.allowed_methods()) == set(METHODS)
