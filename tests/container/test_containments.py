"""What lies in a record follows it: hidden rows change no answer, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from app.auth.roles import scopes_of
from app.clock import utc_now
from app.container.model import container
from app.db import records
from app.extensions import Model
from app.http.security import Caller
from app.odata.model import edm
from app.permissions import PUBLISHED
from tests import factories
from tests.container.conftest import Read, with_rights
from tests.factories import put, today

# Navigation of a containment -> (table, the values that its rows cannot do without, by owner).
ROWS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "LineItems": (
        "line_items",
        lambda owner: {
            "invoice_id": owner, "position": 9, "description": "x", "unit_price": 1, "tax_rate": 0,
        },
    ),
    "Payments": (
        "payments",
        lambda owner: {
            "number": f"X-{owner}", "invoice_id": owner, "amount": 1, "currency": "EUR",
            "client_id": factories.stored("Invoice", owner)["client_id"], "paid_on": today(),
            "method": "transfer",
        },
    ),
    "Comments": ("ticket_comments", lambda owner: {"ticket_id": owner, "body": "x"}),
    "StageHistory": (
        "stage_changes",
        lambda owner: {"opportunity_id": owner, "to_stage": "Proposal", "at": utc_now()},
    ),
    "Revisions": (
        "kb_revisions",
        lambda owner: {"article_id": owner, "revision": 99, "title": "x", "body": "x"},
    ),
    "Versions": (
        "document_versions",
        lambda owner: {
            "document_id": owner, "number": 99, "file_name": "x", "content_type": "text/plain",
            "size": 1, "sha256": "0" * 64, "blob_key": f"x{owner}",
        },
    ),
    "Shares": (
        "document_shares",
        lambda owner: {
            "document_id": owner, "token_hash": f"{owner:064}",
            "expires_at": utc_now() + timedelta(days=1),
        },
    ),
}  # fmt: skip


def cases() -> Iterator[Any]:
    """Every containment with each scope and state that hides the record around it."""
    for entity_set in container().sets.values():
        type_ = entity_set.type
        scopes = ["own"]
        scopes += ["published"] if PUBLISHED in scopes_of(f"{type_.resource}:read") else []
        scopes += ["trash"] if type_.visible is not None else []
        for navigation in type_.navigation.values():
            for scope in scopes if navigation.contained else ():
                name = f"{entity_set.name}/{navigation.name}-{scope}"
                yield pytest.param(entity_set, navigation, scope, id=name)


def addresses(set_: str, nav: str) -> Iterator[str]:
    """Questions whose answers could tell of contained rows, each answered without a hidden one."""
    count = f"{nav}/$count"
    yield f"{set_}/$count?$filter={nav}/any()"
    yield f"{set_}?$select=id&$filter={nav}/any(r:r/id gt 0)"
    yield f"{set_}?$select=id&$filter={nav}/all(r:r/id lt 0)"
    yield f"{set_}?$select=id&$filter={count} gt 0"
    yield f"{set_}?$select=id&$filter={nav}/$count($filter=id gt 0) gt 0"
    yield f"{set_}?$select=id&$expand={nav}"
    yield f"{set_}?$select=id&$expand={nav}($count=true;$top=0)"
    yield f"{set_}?$select=id&$expand={nav}/$ref"
    yield f"{set_}?$select=id&$expand={count}"
    yield f"{set_}?$select=id&$orderby={count} desc,id"
    yield f"{set_}?$select=id,n&$compute={count} as n"
    yield f"{set_}?$apply=aggregate({nav}/id with max as n)"
    yield f"{set_}?$apply=aggregate({nav}/id with sum as n)"
    yield f"{set_}?$apply=groupby((id),aggregate({nav}/id with max as n))"
    yield f"{set_}?$apply=filter({nav}/any())/aggregate($count as n)"
    yield f"{set_}?$apply=join({nav} as r)/aggregate(r/id with max as n)"
    yield f"{set_}?$apply=outerjoin({nav} as r)/aggregate($count as n)"
    yield f"{set_}?$apply=expand({nav},filter(id gt 0))"
    yield f"$crossjoin({set_},Users)?$apply=aggregate({set_}/{nav}/id with max as n)"
    yield f"$crossjoin({set_},Users)?$filter={set_}/{nav}/any()"
    yield f"{set_}/$filter({nav}/any())?$select=id"


def keyed(set_: str, nav: str, owner: int, row: int) -> Iterator[str]:
    """Addresses that name a hidden owner or a hidden row."""
    yield f"{set_}({owner})/{nav}({row})"
    yield f"{set_}({owner})/{nav}({row})/id"
    yield f"{set_}({owner})/{nav}({row})/$ref"
    yield f"{set_}({owner})/{nav}/{row}"
    yield f"{set_}?$select=id&$filter=$root/{set_}({owner})/{nav}({row})/id eq {row}"


def insert(nav: str, owner: int, **values: Any) -> int:
    table, rest = ROWS[nav]
    row = {"created_at": utc_now(), **rest(owner), **values}
    return records.insert(Model.metadata.tables[table], row)


def owner_of(entity_set: edm.EntitySet, caller: Caller | None = None, **state: Any) -> int:
    """An entity that belongs to ``caller`` if one is given, else to the administrator."""
    key = factories.MAKERS[entity_set.type.name]()
    if caller is not None:
        state["owner_id"] = caller.user_id
    if state:
        put(entity_set.type.name, key, **state)
    return key


def told(read: Read, caller: Caller, set_: str, nav: str) -> dict[str, Any]:
    return {address: read(address, caller) for address in addresses(set_, nav)}


def unanswered(read: Read, caller: Caller, set_: str, nav: str, owner: int, row: int) -> list[str]:
    """Addresses of a hidden row that say anything but that there is none."""
    answers = {address: read(address, caller) for address in keyed(set_, nav, owner, row)}
    return [
        address
        for address, (status, body) in answers.items()
        if status != 404 and (status, (body or {}).get("value")) != (200, [])
    ]


@pytest.mark.requirement("SEC-42", "SEC-44")
@pytest.mark.parametrize(("entity_set", "navigation", "scope"), list(cases()))
def test_what_lies_in_a_hidden_record_is_not_there(
    read: Read, admin: Caller, entity_set: edm.EntitySet, navigation: edm.NavigationProperty,
    scope: str,
) -> None:  # fmt: skip
    set_, nav, type_ = entity_set.name, navigation.name, entity_set.type
    reader = factories.make_user("Sales")
    rights = {"directory_read": "all"} | {
        f"{name}_read": "all" for name in ("clients", "invoices", "tickets", "documents")
    }
    assert type_.resource is not None
    rights[f"{type_.resource}_read"] = "all" if scope == "trash" else scope
    caller = with_rights(reader.user_id, **rights)
    shown = {"status": "Published"} if scope == "published" else {}
    hidden = {"status": "Deleted"} if scope == "trash" else {}
    theirs = owner_of(entity_set, caller, **shown)
    known = {"published_at": utc_now()} if scope == "published" else {}
    mine = insert(nav, theirs, **known)
    before = told(read, caller, set_, nav)
    refused = [f"{address}: {told}" for address, told in before.items() if told[0] != 200]
    assert refused == []
    assert read(f"{set_}({theirs})/{nav}({mine})", caller)[0] == 200
    owner = owner_of(entity_set, caller if scope != "own" else None, **hidden)
    row = insert(nav, owner)
    assert told(read, caller, set_, nav) == before
    assert unanswered(read, caller, set_, nav, owner, row) == []
    assert read(f"{set_}({owner})/{nav}", caller)[0] == 404
    assert read(f"{set_}({owner})/{nav}/$count", caller)[0] == 404


@pytest.mark.requirement("SEC-42", "SEC-44")
def test_a_draft_in_a_published_article_is_not_there(read: Read) -> None:
    article = factories.make_article()
    factories.update("KbArticle", article, status="Published")
    viewer = factories.make_user("Viewer")
    within = (f"KbArticles({article})/Revisions", f"KbArticles({article})/Revisions/$count")
    before = told(read, viewer, "KbArticles", "Revisions")
    lists = [read(address, viewer) for address in within]
    draft = insert("Revisions", article, title="A secret")
    assert told(read, viewer, "KbArticles", "Revisions") == before
    assert [read(address, viewer) for address in within] == lists
    assert unanswered(read, viewer, "KbArticles", "Revisions", article, draft) == []
    assert read(f"KbArticles({article})/Revisions/$count") == (200, "2")


def test_a_revision_is_published_with_its_article(read: Read) -> None:
    article = factories.make_article(body="First draft.")
    factories.update("KbArticle", article, body="Second draft.")
    factories.update("KbArticle", article, status="Published")
    factories.update("KbArticle", article, body="Corrected.")
    factories.update("KbArticle", article, status="Draft")
    factories.update("KbArticle", article, body="Rewritten.")
    factories.update("KbArticle", article, body="Rewritten again.", status="Published")
    rows = read(f"KbArticles({article})/Revisions?$orderby=revision")[1]["value"]
    published = [row["body"] for row in rows if row["publishedAt"] is not None]
    assert published == ["Second draft.", "Corrected.", "Rewritten again."]
    viewed = read(f"KbArticles({article})/Revisions", factories.make_user("Viewer"))[1]["value"]
    assert sorted(row["body"] for row in viewed) == sorted(published)
