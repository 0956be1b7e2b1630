"""The chain of issued documents: what was altered after issue is found, and where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from flask import Flask

from app.blobs import blobs
from app.db import records
from app.db.engines import transaction
from app.errors import ApiError
from app.http.security import Caller, acting_as, system_caller
from app.invoices.chain import FIRST_HASH, hash_of, key_of, verify_chain
from app.invoices.commands import invoices as commands
from app.invoices.steps import issue_invoice, void_invoice
from app.models.invoice import Invoice, IssueRecord, LineItem
from tests.business import bind_services
from tests.factories import (
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    pay,
    put,
    rows,
    stored,
    update,
)


@pytest.fixture
def three(admin: Caller) -> list[int]:
    """Three issued documents."""
    return [make_issued_invoice(line_items=[line(), line("7.5")]) for _ in range(3)]


def test_links_hold_number_total_and_file(admin: Caller, three: list[int]) -> None:
    links = rows(IssueRecord)
    assert [link["invoice_id"] for link in links] == three
    assert links[0]["previous_hash"] == FIRST_HASH
    assert all(after["previous_hash"] == before["hash"] for before, after in pairwise(links))
    for link in links:
        invoice = stored("Invoice", link["invoice_id"])
        for name in ("number", "total", "currency", "pdf_sha256"):
            assert link[name] == invoice[name], name
        content = blobs.current.read(key_of(link["pdf_sha256"]))
        assert hashlib.sha256(content).hexdigest() == link["pdf_sha256"]
    found = verify_chain()
    assert (found.links, found.last_hash, found.broken) == (3, links[-1]["hash"], None)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_chain_is_read_some_links_at_a_time(
    admin: Caller, three: list[int], monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr("app.invoices.chain.BATCH", batch)
    assert (verify_chain().links, verify_chain().broken) == (3, None)
    put("Invoice", three[2], number="INV-2026-99999")
    assert (verify_chain().links, "another number" in str(verify_chain().broken)) == (2, True)


def test_what_happens_after_issue_breaks_nothing(admin: Caller, three: list[int]) -> None:
    pay(three[0], "50")
    void_invoice(three[1], "mistake")
    update("Invoice", three[2], internal_notes="Call them", tags=["late"])
    update("Client", stored("Invoice", three[2])["client_id"], name="Renamed", language="de")
    assert verify_chain().broken is None


def test_an_empty_chain_is_unbroken(admin: Caller) -> None:
    assert verify_chain().broken is None
    assert verify_chain().last_hash == FIRST_HASH


ALTERATIONS: list[tuple[str, str, dict[str, Any], str]] = [
    ("total", "Invoice", {"total": Decimal("1.00")}, "another total"),
    ("number", "Invoice", {"number": "INV-2026-99999"}, "another number"),
    ("buyer", "Invoice", {"buyer": {"name": "Somebody"}}, "content"),
    ("due date", "Invoice", {"due_date": None}, "content"),
    ("hash of the file", "Invoice", {"pdf_sha256": "0" * 64}, "another pdf_sha256"),
    ("line", "LineItem", {"unit_price": Decimal("99.99")}, "content"),
    ("link", "IssueRecord", {"total": Decimal("1.00")}, "link was changed"),
]


@pytest.mark.parametrize(
    ("entity", "values", "told"),
    [case[1:] for case in ALTERATIONS],
    ids=[c[0] for c in ALTERATIONS],
)
def test_an_alteration_is_found_at_its_place(
    admin: Caller, three: list[int], entity: str, values: dict[str, Any], told: str
) -> None:
    second = three[1]
    if entity == "Invoice":
        put("Invoice", second, **values)
    else:
        model = {"LineItem": LineItem, "IssueRecord": IssueRecord}[entity]
        row = rows(model, invoice_id=second)[0]
        records.update(model.__table__, row["id"], values)
    found = verify_chain()
    assert found.links == 1
    assert found.broken is not None and told in found.broken
    assert f"(link {rows(IssueRecord)[1]['id']})" in found.broken


def test_a_removed_link_is_found(admin: Caller, three: list[int]) -> None:
    links = rows(IssueRecord)
    records.delete(IssueRecord.__table__, links[1]["id"])
    assert "does not follow" in str(verify_chain().broken)
    records.delete(IssueRecord.__table__, links[2]["id"])
    assert "not in the chain" in str(verify_chain().broken)


def test_a_chain_made_anew_is_found_by_the_hash_written_down(
    admin: Caller, three: list[int]
) -> None:
    links = rows(IssueRecord)
    written_down = links[1]["hash"]
    assert verify_chain(expected=written_down).broken is None
    link = {**links[2], "previous_hash": FIRST_HASH}
    for gone in links[:2]:
        records.delete(IssueRecord.__table__, gone["id"])
        put("Invoice", gone["invoice_id"], pdf_sha256=None)
    records.update(
        IssueRecord.__table__, link["id"], {"previous_hash": FIRST_HASH, "hash": hash_of(link)}
    )
    assert verify_chain().broken is None
    assert "is not in the chain" in str(verify_chain(expected=written_down).broken)


def test_a_changed_or_lost_file_is_found(admin: Caller, three: list[int]) -> None:
    sha256 = stored("Invoice", three[2])["pdf_sha256"]
    blobs.current.put(key_of(sha256), b"%PDF another")
    assert "PDF was changed" in str(verify_chain().broken)
    assert verify_chain(files=False).broken is None
    blobs.current.delete(key_of(sha256))
    assert "cannot be read" in str(verify_chain().broken)


def test_a_store_that_is_away_issues_nothing(
    admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_invoice()
    with monkeypatch.context() as patch:
        patch.setattr("app.invoices.files.key_of", lambda sha256: f"{'x' * 101}/{sha256}")
        with pytest.raises(ValueError, match="not a key"):
            issue_invoice(key)


def test_the_command_says_how_the_chain_stands(app: Flask, unit_of_work: Callable[[], Any]) -> None:
    bind_services(app)
    with unit_of_work(), acting_as(system_caller("test")):
        key = make_issued_invoice()
    result = app.test_cli_runner().invoke(commands, ["verify"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Unbroken; documents: 1. Last hash: ")
    with unit_of_work():
        put("Invoice", key, total=Decimal(1))
    result = app.test_cli_runner().invoke(commands, ["verify"])
    assert result.exit_code == 1
    assert "broken after link 0: INV-" in result.output


@pytest.mark.requirement("RACE-01", "RACE-02")
def test_fifty_at_once_with_some_failing_leave_no_gap(
    app: Flask, unit_of_work: Callable[[], Any]
) -> None:
    """Every fifth belongs to a blocked client; every seventh fails after it has its number."""
    bind_services(app)
    with unit_of_work(), acting_as(system_caller("test")):
        blocked = make_client(name="Blocked")
        keys = [
            make_invoice(**({"client_id": blocked} if place % 5 == 0 else {}))
            for place in range(50)
        ]
        update("Client", blocked, status="Blocked")

    def issue(place: int) -> bool:
        with app.app_context(), acting_as(system_caller("test")):
            try:
                with transaction():
                    issue_invoice(keys[place])
                    if place % 7 == 0:
                        raise RuntimeError("after the number was given")
            except (ApiError, RuntimeError):
                return False
            return True

    with ThreadPoolExecutor(10) as pool:
        outcomes = list(pool.map(issue, range(50)))
    expected = [place % 5 != 0 and place % 7 != 0 for place in range(50)]
    assert outcomes == expected
    with unit_of_work():
        numbers = sorted(row["number"] for row in rows(Invoice) if row["number"])
        count = sum(expected)
        assert [int(number[-5:]) for number in numbers] == list(range(1, count + 1))
        found = verify_chain()
        assert (found.links, found.broken) == (count, None)
        links = rows(IssueRecord)
        assert [link["number"] for link in links] == numbers
