"""Each answer shows the address of its query: sent over HTTP, it gives the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.auth.users import create_user
from app.bi.nlq.answering import answer_question
from app.bi.query import flat
from app.database import transaction
from app.security import acting_as, system_caller
from bench.nlq import SETS, demonstration, read_cases
from tests.contract.conftest import PASSWORD, Api

MOST = 5000
# Of the sets that are mostly sent back, as people chat (docs/bi.md), and of the short ones.
LEAST = {
    "questions_15": 30,
    "questions_16": 15,
    "questions_17": 25,
    "questions_18": 20,
    "questions_19": 20,
    "questions_20": 20,
    "questions_33": 20,
    "questions_34": 20,
    "questions_35": 20,
    "questions_36": 20,
    "questions_37": 20,
    "questions_38": 20,
    "questions_39": 20,
    "questions_40": 20,
    "questions_41": 20,
    "questions_42": 20,
    "questions_43": 20,
}


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An administrator of the demonstration."""
    folder: Path = tmp_path_factory.mktemp("addresses")
    with demonstration(folder) as app:
        yield signed_in(app)


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


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_address_gives_the_rows_of_the_answer(caller: Api, path: Path) -> None:
    seen = 0
    for case in read_cases(path):
        with acting_as(system_caller("test")):
            answer = answer_question(case.question, case.before, limit=1000)
        if answer["status"] != "answered":
            continue
        behind = rows_behind(caller, answer["query"]["odata"])
        told = [column["name"] for column in answer["columns"]]
        for row, other in zip(plain(answer["rows"]), plain(behind), strict=False):
            assert {name: row[name] for name in told} == {name: other.get(name) for name in told}
        assert answer["truncated"] == (len(behind) > len(answer["rows"])), case.question
        assert answer["rowCount"] == len(answer["rows"]), case.question
        seen += 1
    assert seen > LEAST.get(path.stem, 40)
