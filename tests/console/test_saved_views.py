"""Views of lists under a name, columns in the order that was chosen, and lists as files."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.console.conftest import SignIn

QUERY = "where=status%3Ais%3ANew%2COpen&sort=number&columns=number%2CClient%2Csubject&skip=50"


def test_a_view_keeps_conditions_order_and_columns(sign_in: SignIn) -> None:
    browser = sign_in("Support")
    browser.make("tickets", subject="Printer", requesterEmail="a@example.com")
    saved = browser.submit("tickets/views", name=" My  queue ", query=QUERY)
    assert saved.status_code == 303
    text = browser.get("tickets/").text
    link = re.search(r'href="(\?[^"]+)"[^>]*>My queue', text)
    assert link is not None and "skip" not in link[1]
    shown = browser.get(f"tickets/{link[1]}".replace("&amp;", "&")).text
    assert re.findall(r'<td data-label="([^"]+)"', shown) == ["Number", "Client", "Subject"]
    assert "Remove: " in shown


def test_a_view_is_one_s_own_until_a_team_lead_shares_it(sign_in: SignIn) -> None:
    sales, manager = sign_in("Sales"), sign_in("Manager")
    assert sales.submit("leads/views", name="Mine", query="q=a").status_code == 303
    assert manager.submit("leads/views", name="Team", query="q=b", shared="on").status_code == 303
    text = sales.get("leads/").text
    assert "Team <small>shared" in text
    assert "q=a&amp;saved" in text and "q=a&amp;saved" not in manager.get("leads/").text
    assert sales.submit("leads/views", name="Ours", query="q=a", shared="on").status_code == 403
    key = re.search(r"q=b&amp;saved=(\d+)", text)
    assert key is not None
    assert sales.submit("leads/views", delete=key[1]).status_code == 403
    assert manager.submit("leads/views", delete=key[1]).status_code == 303
    assert "Team <small>" not in sales.get("leads/").text


def test_a_view_of_the_same_name_is_replaced_and_one_without_is_refused(sign_in: SignIn) -> None:
    browser = sign_in("Sales")
    for query in ("q=one", "q=two"):
        browser.submit("leads/views", name="Mine", query=query)
    text = browser.get("leads/").text
    assert "q=two&amp;saved" in text and "q=one&amp;saved" not in text
    assert browser.submit("leads/views", name=" ", query="q=x").status_code == 400
    long = "where=lastName:has:" + "x" * 400
    many = browser.submit("leads/views", name="Long", query="&".join([long] * 15))
    assert many.status_code == 400


def test_columns_stand_in_the_order_of_their_places(sign_in: SignIn) -> None:
    places = {"place.subject": "3", "place.number": "1", "place.Assignee": "2", "place.tags": ""}
    answer = sign_in("Support").submit("tickets/columns", query="q=x&skip=50", **places)
    assert answer.headers["Location"] == ("/admin/tickets/?q=x&columns=number%2CAssignee%2Csubject")


def test_a_list_is_exported_as_it_is_shown(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    for name in ("Polaris", "Vega"):
        key = browser.make("clients", name=name)
        browser.make("opportunities", name=f"Deal of {name}", clientId=str(key), amount="12.5")
    asked = "q=polaris&columns=name,Client,amount,closeDate"
    answer = browser.get(f"opportunities/export.csv?{asked}")
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    rows = list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"))))
    assert rows == [
        ["Name", "Client", "Amount", "Close date", "Currency"],
        ["Deal of Polaris", "Polaris", "12.50", "", "EUR"],
    ]
    assert browser.get(f"opportunities/export.xlsx?{asked}").data[:2] == b"PK"
    assert browser.get("opportunities/export.exe").status_code == 404


def test_a_list_is_exported_in_the_language_of_its_heads(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("products", name="Advice", unitPrice="12.5", unitCode="HUR", isActive="true")
    browser.make("leads", lastName="Weber", company="Acme", source="Web")
    client = browser.make("clients", name="Acme")
    browser.make("opportunities", name="Deal", clientId=str(client), closeDate="2026-03-09")
    browser.make("tasks", title="Call", dueAt="2026-03-09T14:05", priority="High")

    def rows(address: str) -> list[list[str]]:
        answer = browser.client.get(f"/admin/{address}", headers={"Accept-Language": "de"})
        return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig")), delimiter=";"))

    assert rows("products/export.csv?columns=name,unitCode,isActive")[1][:3] == [
        "Advice", "Std.", "Ja"
    ]  # fmt: skip
    assert rows("leads/export.csv?columns=status,source")[1] == ["Neu", "Web"]
    assert rows("tasks/export.csv?columns=dueAt,priority")[1] == ["09.03.2026, 14:05:00", "Hoch"]
    asked = "opportunities/export.csv?columns=closeDate,stage"
    assert rows(asked)[1] == ["09.03.2026", "Anbahnung"]
    english = browser.get(asked)
    assert english.data.decode("utf-8-sig").splitlines()[1] == "2026-03-09,Prospecting"


@pytest.mark.parametrize("role", ["Sales", "Support", "Viewer"])
def test_who_may_not_export_is_offered_no_file(sign_in: SignIn, role: str) -> None:
    browser = sign_in(role)
    assert "export.csv" not in browser.get("clients/").text
    assert browser.get("clients/export.csv").status_code == 403
