"""Keys in addresses: what no database can hold is found nowhere, whatever the method."""

from __future__ import annotations

import re

import pytest

from app.http.schema_bounds import LARGEST_KEY, up_to
from tests.contract.conftest import Api

CHANGES = {
    "DELETE": ("/api/admin/roles/{}", "/api/admin/api-keys/{}", "/api/webhooks/{}"),
    "PATCH": ("/api/admin/roles/{}", "/api/admin/users/{}", "/api/webhooks/{}"),
    "GET": ("/api/admin/roles/{}", "/api/kb/articles/{}/feedback"),
}


@pytest.mark.parametrize("largest", [11, 19, 20, 99, 100, 101, 110, 999, 1234])
def test_expression_takes_the_numbers_up_to_the_largest(largest: int) -> None:
    taken = [number for number in range(2000) if re.fullmatch(up_to(largest), str(number))]
    assert taken == list(range(largest + 1))


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        (str(LARGEST_KEY), True), (str(LARGEST_KEY - 8), True), (str(LARGEST_KEY + 1), False),
        ("9300000000000000000", False), ("9" * 18, True), ("9" * 19, False), ("1" * 19, True),
        ("01", False), ("-1", False), ("", False), ("\u0661", False),
    ],
)  # fmt: skip
def test_key_is_what_both_databases_hold(text: str, is_key: bool) -> None:
    assert bool(re.fullmatch(up_to(LARGEST_KEY), text)) is is_key


@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for method, paths in CHANGES.items() for path in paths]
)
@pytest.mark.parametrize("key", [LARGEST_KEY, LARGEST_KEY + 1, 10**19])
def test_key_beyond_the_database_is_not_found(admin: Api, method: str, path: str, key: int) -> None:
    body = None if method in ("GET", "DELETE") else {}
    assert admin.send(method, path.format(key), json=body).status_code == 404
