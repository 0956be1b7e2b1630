"""The summary of the pipeline over HTTP: figures that add up, for whom they are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.opportunity import STAGES
from app.settings import save_settings
from tests.contract.conftest import Api
from tests.factories import put

pytestmark = pytest.mark.both_databases

PATH = "/api/crm/pipeline/summary"


def make(api: Api, **values: Any) -> int:
    if "clientId" not in values:
        values["clientId"] = api.post("/odata/Clients", {"name": "Acme"}).json["id"]
    answer = api.post("/odata/Opportunities", {"name": "Sale", **values})
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def stages(summary: Any) -> dict[str, tuple[Any, ...]]:
    return {
        row["stage"]: (row["count"], float(row["amount"]), float(row["weightedAmount"]))
        for row in summary["stages"]
        if row["count"]
    }


def test_an_empty_pipeline_lists_all_stages(admin: Api) -> None:
    answer = admin.get(PATH)
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert [(row["stage"], row["probability"]) for row in body["stages"]] == list(STAGES.items())
    assert body["stages"][0] == {
        "stage": "Prospecting", "probability": 10, "count": 0, "amount": 0, "weightedAmount": 0,
        "averageDaysInStage": None,
    }  # fmt: skip
    assert body["totals"] == {
        "openCount": 0, "openAmount": 0, "weightedAmount": 0, "wonCount": 0, "wonAmount": 0,
        "lostCount": 0, "lostAmount": 0, "winRate": None, "averageDealSize": None,
        "averageDaysToClose": None, "overdueCount": 0,
    }  # fmt: skip
    assert (body["currency"], body["excluded"]) == ("EUR", [])
    assert body["period"] == {"from": None, "to": None}
    assert admin.get("/api/v1/crm/pipeline/summary?from=2026-01-01&to=2026-12-31").json[
        "period"
    ] == {"from": "2026-01-01", "to": "2026-12-31"}


def test_figures_add_up(admin: Api) -> None:
    make(admin, amount=100.55, stage="Proposal")
    make(admin, amount=100.55, stage="Proposal")
    make(admin, amount=10, stage="Negotiation", probability=33)
    make(admin, amount=300, stage="ClosedWon")
    make(admin, amount=100.01, stage="ClosedWon")
    make(admin, amount=50, stage="ClosedLost", lostReason="Price")
    body = admin.get(PATH).json
    assert stages(body) == {
        "Proposal": (2, 201.10, 100.56),
        "Negotiation": (1, 10, 3.30),
        "ClosedWon": (2, 400.01, 400.01),
        "ClosedLost": (1, 50, 0),
    }
    totals = body["totals"]
    assert (totals["openCount"], totals["openAmount"], totals["weightedAmount"]) == (
        3, Decimal("211.10"), Decimal("103.86"),
    )  # fmt: skip
    assert (totals["wonCount"], totals["wonAmount"]) == (2, Decimal("400.01"))
    assert (totals["lostCount"], totals["lostAmount"]) == (1, 50)
    assert (totals["winRate"], totals["averageDealSize"]) == (
        Decimal("0.6667"), Decimal("200.01"),
    )  # fmt: skip
    weighted = admin.get(
        "/odata/Opportunities?$apply=filter(status eq 'Open')"
        "/aggregate(weightedAmount with sum as w)"
    ).json["value"][0]["w"]
    assert weighted == totals["weightedAmount"]


def test_currencies_are_converted_or_told_apart(app: Flask, admin: Api) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        save_settings("exchangeRates", {"USD": Decimal("0.9")})
    make(admin, amount=100, currency="USD", stage="Proposal")
    make(admin, amount=70, currency="CHF")
    make(admin, amount=30.5, currency="CHF")
    make(admin, amount=9, currency="GBP")
    body = admin.get(PATH).json
    assert stages(body) == {"Proposal": (1, 90, 45)}
    assert body["excluded"] == [
        {"currency": "CHF", "count": 2, "amount": 100.5},
        {"currency": "GBP", "count": 1, "amount": 9},
    ]


def test_the_period_is_of_the_expected_or_the_actual_close(app: Flask, admin: Api) -> None:
    make(admin, amount=1, closeDate="2026-03-31")
    make(admin, amount=2, closeDate="2026-04-01")
    make(admin, amount=4)
    won = make(admin, amount=8, stage="ClosedWon", closeDate="2026-03-01")
    with app.app_context(), transaction():
        put("Opportunity", won, closed_at=datetime(2026, 4, 30, 23, 59, tzinfo=UTC))

    def amounts(query: str) -> tuple[Any, Any]:
        totals = admin.get(PATH + query).json["totals"]
        return totals["openAmount"], totals["wonAmount"]

    assert amounts("") == (7, 8)
    assert amounts("?to=2026-03-31") == (1, 0)
    assert amounts("?from=2026-04-01") == (2, 8)
    assert amounts("?from=2026-04-01&to=2026-04-30") == (2, 8)
    assert amounts("?from=2026-05-01") == (0, 0)
    assert admin.get(PATH).json["totals"]["overdueCount"] == 2


def test_days_are_those_of_the_history_and_of_what_goes_on(app: Flask, admin: Api) -> None:
    first, second = make(admin, stage="Proposal"), make(admin, stage="Proposal")
    with app.app_context(), transaction():
        before = datetime.now(UTC) - timedelta(days=6)
        put("Opportunity", first, stage_changed_at=before, created_at=before)
        put("Opportunity", second, stage_changed_at=datetime.now(UTC) - timedelta(days=2))
    assert admin.patch(f"/odata/Opportunities({first})", {"stage": "ClosedWon"}).status_code == 200
    body = admin.get(PATH).json
    days = {row["stage"]: row["averageDaysInStage"] for row in body["stages"]}
    assert days["Proposal"] == 4
    assert (days["ClosedWon"], days["Negotiation"]) == (None, None)
    assert body["totals"]["averageDaysToClose"] == 6


def test_one_pipeline_or_one_owner(admin: Api, sign_in: Callable[..., Api]) -> None:
    sales = sign_in("Sales")
    make(sales, amount=5, pipeline="O'Hara & Söhne")
    make(admin, amount=7)
    sales_id = sales.get("/api/auth/me").json["id"]

    def amount(**query: Any) -> Any:
        answer = admin.get(PATH, query_string=query)
        assert answer.status_code == 200, answer.text
        return answer.json["totals"]["openAmount"]

    assert amount(pipeline="O'Hara & Söhne") == 5
    assert amount(pipeline="Sales") == 7
    assert amount(pipeline="' or 1 eq 1 or ''='") == 0
    assert amount(ownerId=sales_id) == 5
    assert amount(ownerId=999) == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-13-01", "from"), ("from=soon", "from"), ("to=1.1.2026", "to"),
        ("from=2026-02-02&to=2026-02-01", "to"), ("ownerId=x", "ownerId"),
        ("ownerId=0", "ownerId"), ("ownerId=9223372036854775808", "ownerId"),
        ("pipeline=", "pipeline"), ("pipeline=" + "x" * 51, "pipeline"), ("stage=Open", "stage"),
        ("to=9999-12-31", None), ("from=0001-01-01", None),
    ],
)  # fmt: skip
def test_a_bad_question_names_the_field(admin: Api, query: str, field: str | None) -> None:
    answer = admin.get(f"{PATH}?{query}")
    if field is None:
        assert answer.status_code == 200, answer.text
        return
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


def test_who_may_see_it(admin: Api, sign_in: Callable[..., Api]) -> None:
    make(admin, amount=7)
    for role in ("Manager", "Sales", "Accountant", "Viewer"):
        assert sign_in(role).get(PATH).json["totals"]["openAmount"] == 7, role
    refused = sign_in("Support").get(PATH)
    assert (refused.status_code, refused.json["error"]["details"][0]["message"]) == (
        403, "pipeline:read",
    )  # fmt: skip


def test_a_role_that_reads_own_records_sums_up_those(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    make(admin, amount=7, currency="CHF")
    make(admin, amount=7)
    rights = {"clients:create": "all", "clients:read": "all", "opportunities:create": "all",
              "opportunities:read": "own", "pipeline:read": "all"}  # fmt: skip
    made = admin.post("/api/admin/roles", {"name": "Scout", "permissions": rights})
    assert made.status_code == 201, made.text
    scout = sign_in("Scout")
    make(scout, amount=5)
    body = scout.get(PATH).json
    assert (body["totals"]["openAmount"], body["excluded"]) == (5, [])
