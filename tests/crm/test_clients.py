"""Clients: numbers, defaults, and what their balances forbid."""

from __future__ import annotations

import pytest

from app.crm.merging import merge_clients
from app.errors import InUseError, InvalidStateError, ValidationError
from app.http.security import Caller
from app.invoices.steps import create_credit_note, void_invoice
from app.settings import save_settings
from app.writing.services import SERVICES
from tests.factories import (
    event_names,
    make_client,
    make_contact,
    make_issued_invoice,
    make_opportunity,
    make_ticket,
    pay,
    put,
    stored,
    update,
)


def test_numbers_run(admin: Caller) -> None:
    assert [stored("Client", make_client())["number"] for _ in range(2)] == ["C-000001", "C-000002"]


def test_currency_and_language_are_the_organisation_s(admin: Caller) -> None:
    assert stored("Client", make_client())["currency"] == "EUR"
    save_settings("defaults", {"currency": "CHF", "language": "de"})
    row = stored("Client", make_client())
    assert (row["currency"], row["language"]) == ("CHF", "de")
    assert stored("Client", make_client(currency="usd"))["currency"] == "USD"


def test_other_defaults_are_the_contract_s(admin: Caller) -> None:
    row = stored("Client", make_client())
    assert (row["status"], row["type"], row["revenue"], row["payment_terms_days"]) == (
        "Active", "Company", 0, 30,
    )  # fmt: skip
    assert (row["do_not_contact"], row["tags"], row["custom_fields"]) == (False, [], {})


def test_a_change_of_status_is_an_event_of_its_own(admin: Caller) -> None:
    key = make_client()
    update("Client", key, status="Blocked", name="Bad debts")
    assert event_names("Client", key)[1:] == ["client.status_changed", "client.updated"]


def test_the_currency_stays_once_there_is_turnover(admin: Caller) -> None:
    key = make_client()
    update("Client", key, currency="USD")
    update("Client", key, currency="EUR")
    invoice = make_issued_invoice(client_id=key)
    for change in (lambda: None, lambda: create_credit_note(invoice)):
        change()  # what is credited in full counts, too: the credit note can be voided
        with pytest.raises(InvalidStateError) as refused:
            update("Client", key, currency="USD")
        assert refused.value.details[0].field == "currency"
        with pytest.raises(InvalidStateError, match="they cannot be added up"):
            merge_clients(make_client(currency="USD"), key)


def test_the_currency_of_a_client_whose_invoices_are_void_may_change(admin: Caller) -> None:
    key = make_client()
    void_invoice(make_issued_invoice(client_id=key), "no")
    update("Client", key, currency="USD")


def test_a_client_with_credit_stays(admin: Caller) -> None:
    key = make_client()
    put("Client", key, credit_balance=1)
    with pytest.raises(InUseError, match="credit"):
        SERVICES["Client"].delete(key)


def test_what_happens_around_it_is_its_last_activity(admin: Caller) -> None:
    key = make_client()
    assert stored("Client", key)["last_activity_at"] is None
    for happen in (
        lambda: make_ticket(client_id=key),
        lambda: make_opportunity(client_id=key),
        lambda: pay(make_issued_invoice(client_id=key), "119"),
    ):
        put("Client", key, last_activity_at=None)
        happen()
        assert stored("Client", key)["last_activity_at"] is not None


def test_activity_around_it_does_not_make_its_etag_stale(admin: Caller) -> None:
    key = make_client()
    make_ticket(client_id=key)
    SERVICES["Client"].update(key, {"name": "Edited meanwhile"}, version=1)


def primaries(*keys: int) -> list[bool]:
    return [stored("Contact", key)["is_primary"] for key in keys]


def test_a_new_main_contact_takes_the_place_of_the_old(admin: Caller) -> None:
    client_id, other_client = make_client(), make_client()
    first = make_contact(client_id=client_id, is_primary=True)
    elsewhere = make_contact(client_id=other_client, is_primary=True)
    second = make_contact(client_id=client_id, is_primary=True)
    assert primaries(first, second, elsewhere) == [False, True, True]
    update("Contact", first, is_primary=True)
    assert primaries(first, second, elsewhere) == [True, False, True]
    assert event_names("Contact", second) == ["contact.created", "contact.updated"]


def test_a_main_contact_that_moves_replaces_the_one_there(admin: Caller) -> None:
    client_id = make_client()
    resident = make_contact(client_id=client_id, is_primary=True)
    mover = make_contact(client_id=make_client(), is_primary=True)
    update("Contact", mover, client_id=client_id)
    assert primaries(resident, mover) == [False, True]


def test_a_main_contact_needs_a_client(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        make_contact(is_primary=True)
    assert refused.value.details[0].field == "isPrimary"
    key = make_contact(client_id=make_client(), is_primary=True)
    update("Contact", key, client_id=None)
    assert primaries(key) == [False]
