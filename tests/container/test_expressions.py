"""What the container computes: names, overdue flags, days in a stage, allowed actions."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.clock import utc_now
from app.container.actions import actions_of
from app.container.model import container
from app.http.security import Caller
from app.invoices.steps import issue_invoice
from app.odata.model import edm
from app.writing.transitions import MACHINES, PATCH
from tests import factories
from tests.container.conftest import Read, with_rights
from tests.factories import put, today


@pytest.mark.parametrize("name", sorted(container().sets))
def test_every_set_and_every_property_is_read(read: Read, name: str) -> None:
    type_ = container().sets[name].type
    assert read(f"{name}?$top=1&$count=true")[0] == 200
    assert read(f"{name}?$select={','.join(type_.properties)}")[0] == 200
    assert read(f"{name}?$expand=*($levels=1)")[0] == 200
    key = factories.MAKERS[type_.name]() if type_.name in factories.MAKERS else 1
    for property_ in type_.properties.values():
        address = f"{name}({key})/{property_.name}"
        assert read(address)[0] in (200, 204)
        ending = "$count" if isinstance(property_.type, edm.CollectionType) else "$value"
        takes_none = isinstance(property_.type, edm.ComplexType)
        assert read(f"{address}/{ending}")[0] in ((400,) if takes_none else (200, 204))
    for property_ in type_.properties.values():
        if not property_.on_request:
            assert read(f"{name}?$select={property_.name}&$top=1")[0] == 200
    for navigation in type_.navigation.values():
        assert read(f"{name}?$expand={navigation.name}($expand=*)")[0] == 200


@pytest.mark.parametrize(
    ("first", "last", "full"),
    [("Ada", "Byron", "Ada Byron"), (None, "Byron", "Byron")],
)
def test_full_names(read: Read, first: str | None, last: str, full: str) -> None:
    key = factories.make_contact(first_name=first, last_name=last)
    assert read(f"Contacts({key})")[1]["fullName"] == full
    assert read(f"Contacts/$count?$filter=fullName eq '{full}'")[1] == "1"


def test_overdue_is_a_question_of_today(read: Read) -> None:
    late, on_time = factories.make_issued_invoice(), factories.make_issued_invoice()
    for key, days in ((late, -1), (on_time, 0)):
        due = today() + timedelta(days=days)
        put("Invoice", key, issue_date=due - timedelta(days=9), due_date=due)
    assert read(f"Invoices({late})")[1]["isOverdue"] is True
    assert read(f"Invoices({on_time})")[1]["isOverdue"] is False
    found = read("Invoices?$filter=isOverdue and amountDue gt 0&$select=id")[1]["value"]
    assert [row["id"] for row in found] == [late]
    paid = factories.make_issued_invoice()
    factories.pay(paid, "119.00")
    put(
        "Invoice",
        paid,
        due_date=today() - timedelta(days=1),
        issue_date=today() - timedelta(days=9),
    )
    assert read(f"Invoices({paid})")[1]["isOverdue"] is False


def test_a_related_record_that_is_not_there_is_not_on_time_either(read: Read) -> None:
    alone, beside = factories.make_task(), factories.make_task(project_id=factories.make_project())
    within = "Tasks?$orderby=id&$select=id&$filter=Project/isOverdue"
    for condition, found in (
        (" eq null", [alone]), (" ne null", [beside]), (" eq false", [beside]), (" eq true", []),
    ):  # fmt: skip
        assert [row["id"] for row in read(within + condition)[1]["value"]] == found, condition
    assert read("Tasks/$count?$filter=not Project/isOverdue")[1] == "1"
    groups = read("Tasks?$apply=groupby((Project/isOverdue),aggregate($count as n))")[1]["value"]
    counted = [((one["Project"] or {}).get("isOverdue"), one["n"]) for one in groups]
    assert sorted(counted, key=str) == [(False, 1), (None, 1)]


def test_the_days_of_a_related_record_that_is_not_there_are_null(read: Read) -> None:
    factories.make_invoice()
    days = "CreditedInvoice/BusinessPlatform.DaysOverdue()"
    assert read(f"Invoices/$count?$filter={days} eq null")[1] == "1"


def test_days_in_a_stage_are_whole_days(read: Read) -> None:
    key = factories.make_opportunity()
    put("Opportunity", key, stage_changed_at=utc_now() - timedelta(days=3, hours=1))
    assert read(f"Opportunities({key})")[1]["daysInStage"] == 3
    assert read("Opportunities/$count?$filter=daysInStage ge 3")[1] == "1"


def actions(read: Read, address: str, caller: Caller | None = None) -> list[str]:
    path = f"{address}?$select=allowedActions"
    status, entity = read(path) if caller is None else read(path, caller)
    assert status == 200, entity
    found: list[str] = entity["allowedActions"]
    return found


# Of a client whom nothing stands in the way of.
OF_CLIENTS = [action.name for action in actions_of("Client", "clients")]


def test_allowed_actions_are_shown_when_selected_only(read: Read) -> None:
    key = factories.make_client()
    assert "allowedActions" not in read(f"Clients({key})")[1]
    assert "allowedActions" not in read(f"Clients({key})?$select=*")[1]
    assert actions(read, f"Clients({key})") == OF_CLIENTS
    assert read("Clients?$filter=allowedActions/any()")[0] == 400


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("/allowedActions", OF_CLIENTS),
        ("/allowedActions/0", OF_CLIENTS[0]),
        ("/allowedActions(-1)", OF_CLIENTS[-1]),
        ("/allowedActions?$top=1&$skip=1", OF_CLIENTS[1:2]),
        ("/allowedActions?$filter=startswith($this,'mer')", ["merge"]),
    ],
)
def test_allowed_actions_are_a_collection_like_others(
    read: Read, address: str, value: object
) -> None:
    client = f"Clients({factories.make_client()})"
    assert read(f"{client}{address}")[1]["value"] == value
    assert read(f"{client}/allowedActions/$count")[1] == f"{len(OF_CLIENTS)}"
    assert read(f"{client}/allowedActions/{len(OF_CLIENTS)}")[0] == 404
    chosen = read(f"{client}?$select=allowedActions($orderby=$this;$top=2;$count=true)")[1]
    assert chosen["allowedActions"] == sorted(OF_CLIENTS)[:2]
    assert chosen["allowedActions@odata.count"] == len(OF_CLIENTS)


def test_who_may_do_nothing_has_no_actions(read: Read) -> None:
    client = f"Clients({factories.make_client()})"
    viewer = factories.make_user("Viewer")
    assert actions(read, client, viewer) == []
    assert read(f"{client}/allowedActions/$count", viewer)[1] == "0"


def test_allowed_actions_follow_the_state(read: Read) -> None:
    draft, issued = factories.make_invoice(), factories.make_issued_invoice()
    assert set(actions(read, f"Invoices({draft})")) == {
        "update", "delete", "status:Sent", "send", "payment",
    }  # fmt: skip
    assert set(actions(read, f"Invoices({issued})")) == {
        "update", "send", "payment", "credit", "void", "status:Uncollectible", "uncollectible",
    }  # fmt: skip
    paid = factories.make_issued_invoice()
    factories.pay(paid, "119.00")
    assert set(actions(read, f"Invoices({paid})")) == {
        "update", "send", "payment", "credit", "reversal",
    }  # fmt: skip
    note = {
        "type": "CreditNote", "credited_invoice_id": issued, "line_items": [factories.line()],
        "client_id": factories.stored("Invoice", issued)["client_id"],
    }  # fmt: skip
    credit_note = factories.create("Invoice", note)
    assert set(actions(read, f"Invoices({credit_note})")) == {
        "update", "delete", "status:Sent", "send",
    }  # fmt: skip
    issue_invoice(credit_note)
    assert set(actions(read, f"Invoices({credit_note})")) == {"update", "send", "void"}
    lead = factories.make_lead()
    assert "convert" in actions(read, f"Leads({lead})")
    assert "status:New" not in actions(read, f"Leads({lead})")


def test_allowed_actions_follow_the_rights(read: Read) -> None:
    invoice = factories.make_issued_invoice()
    assert actions(read, f"Invoices({invoice})", factories.make_user("Viewer")) == []
    sales = factories.make_user("Sales")
    mine = factories.make_lead(owner_id=sales.user_id)
    theirs = factories.make_lead(owner_id=factories.make_user("Sales").user_id)
    assert "convert" in actions(read, f"Leads({mine})", sales)
    assert actions(read, f"Leads({theirs})", sales) == []
    reader = with_rights(1, leads_read="all", leads_delete="all")
    assert actions(read, f"Leads({mine})", reader) == ["delete"]


@pytest.mark.parametrize("entity", sorted(MACHINES))
def test_every_step_of_every_machine_is_an_action(read: Read, entity: str) -> None:
    make = {
        "Lead": factories.make_lead, "Opportunity": factories.make_opportunity,
        "Ticket": factories.make_ticket, "Invoice": factories.make_issued_invoice,
        "Task": factories.make_task, "Project": factories.make_project,
        "Document": factories.make_document, "KbArticle": factories.make_article,
    }[entity]  # fmt: skip
    key = make()
    machine, home = MACHINES[entity], container().set_of_type[entity]
    states = {state for one in machine.transitions for state in one.sources}
    for state in sorted(states - {"Deleted"}):
        if entity == "Invoice" and state == "Draft":
            continue
        put(entity, key, **{machine.attribute: state})
        found = set(actions(read, f"{home.name}({key})"))
        expected = {f"{machine.attribute}:{target}" for target in machine.targets(state, PATCH)}
        assert {one for one in found if ":" in one} == expected
        assert not found & {PATCH, "DELETE", "scan", "restore"}


def test_the_version_of_an_article_is_its_revision(read: Read) -> None:
    key = factories.make_article()
    factories.update("KbArticle", key, category="Other")
    _, article = read(f"KbArticles({key})")
    assert article["version"] == 1
    assert article["@odata.etag"] == 'W/"2"'


def test_alternate_keys_find_their_entity(read: Read) -> None:
    key = factories.make_client(external_id="ERP 1/2")
    _, client = read(f"Clients({key})")
    assert read("Clients(externalId='ERP 1%2F2')")[1]["id"] == key
    assert read(f"Clients(number='{client['number']}')")[1]["id"] == key
    assert read("Clients(externalId='none')")[0] == 404
