"""The rows behind the address that an answer shows, as whoever follows it over HTTP gets them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from app.auth.users import create_user
from app.bi.query import flat
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.contract.conftest import PASSWORD, Api

MOST = 5000


def signed_in(app: Any) -> Api:
    with transaction(), acting_as(system_caller("test")):
        create_user(
            username="reader", email="reader@example.com", display_name="Reader",
            password=PASSWORD, roles=["Admin"],
        )  # fmt: skip
    client = app.test_client()
    answer = client.post("/api/auth/login", json={"username": "reader", "password": PASSWORD})
    return Api(client, {"Authorization": f"Bearer {answer.json['accessToken']}"})


def rows_behind(api: Api, address: str) -> list[dict[str, Any]]:
    """All rows of an address, page after page."""
    found: list[dict[str, Any]] = []
    for _ in range(20):
        answer = api.get(address, headers={"Prefer": f"odata.maxpagesize={MOST}"})
        assert answer.status_code == 200, (address, answer.text)
        found += [flat(row) for row in answer.json["value"]]
        link = answer.json.get("@odata.nextLink")
        if link is None:
            return found
        parts = urlsplit(link)
        address = f"{parts.path}?{parts.query}"
    raise AssertionError("too many pages")


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: Decimal(str(value)) if isinstance(value, float | int | Decimal)
         and not isinstance(value, bool) else value for name, value in row.items()}
        for row in rows
    ]  # fmt: skip


def check_address(api: Api, answer: dict[str, Any]) -> None:
    """An answer has the rows behind its address, and says how many it shows."""
    question = answer["question"]
    behind = rows_behind(api, answer["query"]["odata"])
    told = [column["name"] for column in answer["columns"]]
    for row, other in zip(plain(answer["rows"]), plain(behind), strict=False):
        shown = {name: row[name] for name in told}
        assert shown == {name: other.get(name) for name in told}, question
    assert answer["truncated"] == (len(behind) > len(answer["rows"])), question
    assert answer["rowCount"] == len(answer["rows"]), question
