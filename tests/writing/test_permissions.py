"""Every cell of the matrix of contract section 13, through the services."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.errors import ForbiddenError, NotFoundError
from app.http.security import Caller, acting_as
from app.writing.services import SERVICES
from tests.factories import MAKERS, make_user, put, stored

# Letters as in the contract; o: own records only for U and D. Articles of Support are own.
MATRIX = {
    "Admin": dict.fromkeys(SERVICES, "CRUD"),
    "Manager": dict.fromkeys(SERVICES, "CRUD"),
    "Sales": {
        "Client": "CRU", "Contact": "CRU", "Lead": "CRUo", "Opportunity": "CRUo", "Ticket": "CR",
        "Invoice": "CR", "KbArticle": "R", "Document": "CRUo", "Task": "CRUo", "Project": "CR",
    },
    "Accountant": {
        "Client": "CRU", "Contact": "CRU", "Lead": "", "Opportunity": "R", "Ticket": "R",
        "Invoice": "CRUD", "KbArticle": "R", "Document": "CRUo", "Task": "CRUo", "Project": "R",
    },
    "Support": {
        "Client": "RU", "Contact": "RU", "Lead": "R", "Opportunity": "", "Ticket": "CRU",
        "Invoice": "R", "KbArticle": "CRU", "Document": "CRUo", "Task": "CRUo", "Project": "R",
    },
    "Viewer": {
        "Client": "R", "Contact": "R", "Lead": "R", "Opportunity": "R", "Ticket": "R",
        "Invoice": "R", "KbArticle": "Rp", "Document": "R", "Task": "R", "Project": "R",
    },
}  # fmt: skip
CELLS = [(role, entity) for role, cells in MATRIX.items() for entity in cells]


def answer(write: Callable[[], object]) -> str:
    """What a write comes to."""
    try:
        write()
    except ForbiddenError as refused:
        assert refused.details[0].field == "permission"
        return "forbidden"
    except NotFoundError:
        return "missing"
    return "allowed"


def expected(letters: str, letter: str, *, own: bool) -> str:
    if "R" in letters and "p" in letters:  # a draft is not published
        return "missing"
    if "R" not in letters or letter not in letters:
        return "forbidden"
    return "allowed" if own or "o" not in letters else "forbidden"


@pytest.mark.parametrize(("role", "entity"), CELLS)
def test_creation(admin: Caller, role: str, entity: str) -> None:
    needed = {"client_id": MAKERS["Client"]()} if entity in ("Opportunity", "Invoice") else {}
    with acting_as(make_user(role)):
        got = answer(lambda: MAKERS[entity](**needed))
    assert got == ("allowed" if "C" in MATRIX[role][entity] else "forbidden")


@pytest.mark.parametrize("own", [True, False], ids=["own", "foreign"])
@pytest.mark.parametrize(("role", "entity"), CELLS)
def test_change_and_deletion(admin: Caller, role: str, entity: str, own: bool) -> None:
    person, key, service = make_user(role), MAKERS[entity](), SERVICES[entity]
    if own:
        put(entity, key, owner_id=person.user_id)
    letters = MATRIX[role][entity]
    with acting_as(person):
        changed = answer(lambda: service.update(key, {"tags": ["a"]}))
        deleted = answer(lambda: service.delete(key))
    assert changed == expected(letters, "U", own=own)
    assert deleted == expected(letters, "D", own=own)
    if deleted != "allowed":
        assert stored(entity, key)["tags"] == (["a"] if changed == "allowed" else [])


@pytest.mark.parametrize(("entity", "column"), [("Task", "assignee_id"), ("Project", "manager_id")])
def test_who_is_to_act_owns_a_record_too(admin: Caller, entity: str, column: str) -> None:
    person, key = make_user("Sales"), MAKERS[entity]()
    put(entity, key, **{column: person.user_id})
    with acting_as(person):
        got = answer(lambda: SERVICES[entity].update(key, {"tags": ["a"]}))
    assert got == ("allowed" if entity == "Task" else "forbidden")
