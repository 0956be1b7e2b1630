"""A list as a file: of the records that were chosen, or of all that it shows."""

from __future__ import annotations

import csv
import io

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.console import lists
from app.models.event import AuditRecord
from tests.console.conftest import Browser, SignIn

pytestmark = pytest.mark.only_on("sqlite")
QUERY = "query=columns%3Dname%26sort%3Dname"


@pytest.fixture
def browser(sign_in: SignIn) -> Browser:
    """Of somebody with three clients."""
    browser = sign_in("Admin")
    for name in ("Altair", "Polaris", "Vega"):
        browser.make("clients", name=name)
    return browser


def names(browser: Browser, asked: str) -> list[str]:
    answer = browser.get(f"clients/export.csv?{asked}")
    assert answer.status_code == 200, answer.text
    return [row[0] for row in csv.reader(io.StringIO(answer.data.decode("utf-8-sig")))][1:]


def test_chosen_records_are_exported_in_the_order_of_their_list(browser: Browser) -> None:
    assert names(browser, f"key=3&key=1&{QUERY}") == ["Altair", "Vega"]
    assert names(browser, f"all=1&key=3&{QUERY}") == ["Altair", "Polaris", "Vega"]
    refused = browser.get(f"clients/export.csv?{QUERY}")
    assert refused.status_code == 400 and "Choose records first." in refused.text


@pytest.mark.parametrize("key", ["1) or (1 eq 1", "1" * 19, "-1", ""])
def test_what_is_no_key_chooses_nothing_of_a_filter(browser: Browser, key: str) -> None:
    narrowed = "query=columns%3Dname%26q%3DVega"
    assert names(browser, f"key={key}&{narrowed}") == ["Vega"]


def test_a_list_that_is_too_long_is_refused_with_its_length(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "AT_ONCE", 2)
    refused = browser.get("clients/export.csv")
    assert refused.status_code == 400
    assert "at most 2 rows is exported; this one has 3" in refused.text
    assert names(browser, "q=Vega&columns=name") == ["Vega"]


def test_the_audit_log_has_what_left_the_house(browser: Browser, session: Session) -> None:
    names(browser, f"key=3&key=1&{QUERY}")
    exported = select(AuditRecord).where(AuditRecord.action == "list.exported")
    (entry,) = session.connection().execute(exported)
    assert (entry.entity, entry.after["format"], entry.after["rowCount"]) == ("Client", "csv", 2)
