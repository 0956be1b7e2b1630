"""The permission function against the contract's matrix, cell by cell."""

from __future__ import annotations

import pytest
from sqlalchemy import BooleanClauseList, create_engine, literal, select

from app.errors import ForbiddenError, InsufficientScopeError
from app.http.security import Caller, make_caller
from app.models.kb_article import KbArticle, KbRevision
from app.models.project import Task
from app.permissions import (
    NEVER_BY_KEY,
    OWNING_COLUMNS,
    PERMISSIONS,
    ROLES,
    allowed,
    merge,
    narrow,
    require,
    row_filter,
)

ME, ELSE = 7, 8
ROLE_NAMES = ("Admin", "Manager", "Sales", "Accountant", "Support", "Viewer")

# Contract section 13, as it is printed there: ``o`` writes own records only, ``-`` none.
MATRIX = """
clients       | CRUD | CRUD | CRU  | CRU  | RU   | R
contacts      | CRUD | CRUD | CRU  | CRU  | RU   | R
leads         | CRUD | CRUD | CRUo | -    | R    | R
opportunities | CRUD | CRUD | CRUo | R    | -    | R
tickets       | CRUD | CRUD | CR   | R    | CRU  | R
invoices      | CRUD | CRUD | CR   | CRUD | R    | R
kb            | CRUD | CRUD | R    | R    | CRU  | R
documents     | CRUD | CRUD | CRUo | CRUo | CRUo | R
tasks         | CRUD | CRUD | CRUo | CRUo | CRUo | R
projects      | CRUD | CRUD | CR   | R    | R    | R
"""
# What the contract does not know.
ADDED = """
products      | CRUD | CRUD | R    | CRUD | R    | R
"""
OPERATIONS = """
leads:convert          | yes | yes | own | -   | -   | -
leads:assign           | yes | yes | -   | -   | -   | -
opportunities:reopen   | yes | yes | -   | -   | -   | -
pipeline:read          | yes | yes | yes | yes | -   | yes
tickets:merge          | yes | yes | -   | -   | yes | -
invoices:send          | yes | yes | -   | yes | -   | -
invoices:void          | yes | -   | -   | yes | -   | -
invoices:credit        | yes | -   | -   | yes | -   | -
invoices:uncollectible | yes | -   | -   | yes | -   | -
payments:create        | yes | yes | -   | yes | -   | -
payments:reverse       | yes | -   | -   | yes | -   | -
kb:publish             | yes | yes | -   | -   | -   | -
documents:share        | yes | yes | yes | yes | -   | -
ai:chat                | yes | yes | yes | yes | yes | yes
ai:act                 | yes | yes | yes | yes | yes | -
bi:query               | yes | yes | yes | yes | yes | yes
bi:export              | yes | yes | -   | yes | -   | -
webhooks:create        | yes | -   | -   | -   | -   | -
webhooks:read          | yes | yes | -   | -   | -   | -
webhooks:update        | yes | -   | -   | -   | -   | -
webhooks:delete        | yes | -   | -   | -   | -   | -
events:read            | yes | yes | -   | -   | -   | -
users:manage           | yes | -   | -   | -   | -   | -
roles:manage           | yes | -   | -   | -   | -   | -
api-keys:manage        | yes | -   | -   | -   | -   | -
audit:read             | yes | yes | -   | -   | -   | -
settings:read          | yes | -   | -   | -   | -   | -
settings:update        | yes | -   | -   | -   | -   | -
directory:read         | yes | yes | yes | yes | yes | yes
"""


def cells(table: str) -> list[tuple[str, str, str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [
        (role, row[0], mark) for row in rows for role, mark in zip(ROLE_NAMES, row[1:], strict=True)
    ]


def as_role(role: str) -> Caller:
    return make_caller(ME, role, "jwt", ROLES[role], roles=(role,))


def record(owner: int, status: str = "Published") -> dict[str, object]:
    return {"owner_id": owner, "status": status}


@pytest.mark.parametrize(("role", "resource", "marks"), cells(MATRIX.rstrip() + ADDED))
def test_every_cell_of_the_entities(role: str, resource: str, marks: str) -> None:
    caller = as_role(role)
    for letter, action in zip("CRUD", ("create", "read", "update", "delete"), strict=True):
        permission = f"{resource}:{action}"
        has = letter in marks
        own_only = "o" in marks and action in ("update", "delete")
        assert allowed(caller, permission) is has
        assert allowed(caller, permission, record(ME)) is has
        assert allowed(caller, permission, record(ELSE)) is (has and not own_only)


@pytest.mark.parametrize(("role", "permission", "mark"), cells(OPERATIONS))
def test_every_cell_of_the_operations(role: str, permission: str, mark: str) -> None:
    caller = as_role(role)
    assert allowed(caller, permission) is (mark != "-")
    assert allowed(caller, permission, record(ME)) is (mark != "-")
    assert allowed(caller, permission, record(ELSE)) is (mark == "yes")


def test_the_tables_above_name_every_permission() -> None:
    named = {permission for _, permission, _ in cells(OPERATIONS)} | {
        f"{resource}:{action}"
        for _, resource, _ in cells(MATRIX.rstrip() + ADDED)
        for action in ("create", "read", "update", "delete")
    }
    assert named == set(PERMISSIONS)


def test_a_viewer_reads_published_articles_only() -> None:
    viewer = as_role("Viewer")
    assert allowed(viewer, "kb:read", record(ELSE, "Published"))
    assert not allowed(viewer, "kb:read", record(ELSE, "Draft"))
    columns = KbArticle.__table__.c
    assert str(row_filter(viewer, "kb", columns)) == "kb_articles.status = :status_1"
    assert row_filter(as_role("Support"), "kb", columns) is None


@pytest.mark.parametrize("column", ["owner_id", "assignee_id", "manager_id"])
def test_own_means_owner_assignee_or_manager(column: str) -> None:
    sales = as_role("Sales")
    row = {"owner_id": ELSE, "assignee_id": ELSE, "manager_id": ELSE, column: ME}
    assert allowed(sales, "tasks:update", row)


def test_several_roles_give_the_widest_scope() -> None:
    rights = merge([ROLES["Sales"], ROLES["Manager"]])
    assert rights["leads:update"] == "all"
    assert merge([ROLES["Viewer"], ROLES["Sales"]])["kb:read"] == "all"


def test_scopes_only_narrow_and_keys_never_administer() -> None:
    key = narrow(ROLES["Admin"], ["clients:read", "users:manage"])
    assert set(key) == {"clients:read", "directory:read"}
    assert not set(NEVER_BY_KEY) & set(narrow(ROLES["Admin"], []))
    assert "leads:delete" not in narrow(ROLES["Viewer"], ["leads:delete"])


def test_the_error_names_what_is_missing() -> None:
    with pytest.raises(ForbiddenError) as refused:
        require(as_role("Viewer"), "clients:update")
    assert refused.value.details[0][:2] == ("permission", "clients:update")
    rights = narrow(ROLES["Sales"], ["clients:read"])
    key = make_caller(ME, "key", "apiKey", rights, role_rights=ROLES["Sales"], api_key_id=1)
    with pytest.raises(InsufficientScopeError):
        require(key, "clients:update")
    with pytest.raises(ForbiddenError):
        require(key, "clients:delete")


def test_a_later_role_with_less_takes_nothing_away() -> None:
    assert merge([ROLES["Manager"], ROLES["Sales"]])["leads:update"] == "all"
    assert merge([ROLES["Support"], ROLES["Viewer"]])["kb:read"] == "all"


@pytest.mark.parametrize("via", ["jwt", "apiKey"])
def test_a_right_to_own_records_is_asked_with_the_record(via: str) -> None:
    rights = ROLES["Sales"]
    sales = make_caller(ME, "sales", via, rights, role_rights=rights)
    require(sales, "leads:update", record(ME))
    with pytest.raises(ForbiddenError) as refused:
        require(sales, "leads:update", record(ELSE))
    assert refused.value.message == "Your role has leads:update for your own records only."
    assert refused.value.details[0][:2] == ("permission", "leads:update")


def test_each_refusal_says_what_is_missing_and_why() -> None:
    with pytest.raises(ForbiddenError) as refused:
        require(as_role("Viewer"), "clients:update")
    assert refused.value.message == "Your role does not have the permission clients:update."
    rights = narrow(ROLES["Sales"], ["clients:read"])
    key = make_caller(ME, "key", "apiKey", rights, role_rights=ROLES["Sales"], api_key_id=1)
    with pytest.raises(InsufficientScopeError) as narrowed:
        require(key, "clients:update")
    assert narrowed.value.message == "The API key does not have the scope clients:update."
    assert narrowed.value.details[0][:2] == ("permission", "clients:update")


def test_a_row_of_the_database_is_a_record() -> None:
    statement = select(literal(ME).label("owner_id"), literal("New").label("status"))
    with create_engine("sqlite://").connect() as connection:
        row = connection.execute(statement).one()
    assert allowed(as_role("Sales"), "leads:update", row)
    assert not allowed(make_caller(ELSE, "other", "jwt", ROLES["Sales"]), "leads:update", row)


def test_the_filter_of_own_rows_names_every_owning_column() -> None:
    caller = make_caller(ME, "field", "jwt", {"tasks:read": "own"})
    tasks = row_filter(caller, "tasks", Task.__table__.c)
    owning = [name for name in OWNING_COLUMNS if name in Task.__table__.c]
    assert tasks is not None
    parts = list(tasks.clauses) if isinstance(tasks, BooleanClauseList) else [tasks]
    assert [str(part) for part in parts] == [f"tasks.{name} = :dyn_caller_id" for name in owning]


def test_the_filter_of_published_rows_lets_nothing_else_through() -> None:
    caller = make_caller(ME, "reader", "jwt", {"kb:read": "published", "clients:read": "published"})
    published = row_filter(caller, "kb", KbArticle.__table__.c)
    assert published is not None
    assert published.compile().params == {"status_1": "Published"}
    assert str(row_filter(caller, "clients", {})) == "false"


def test_a_row_without_an_owner_is_nobodys_own() -> None:
    caller = make_caller(ME, "field", "jwt", {"tasks:read": "own"})
    assert str(row_filter(caller, "tasks", {})) == "false"


def test_what_lies_in_another_record_has_no_filter_but_its_own_state() -> None:
    caller = make_caller(ME, "field", "jwt", {"tickets:read": "own", "kb:read": "published"})
    assert row_filter(caller, "tickets", {}, is_contained=True) is None
    revisions = KbRevision.__table__.c
    draft = row_filter(caller, "kb", revisions, is_contained=True)
    assert str(draft) == "kb_revisions.published_at IS NOT NULL"
    with pytest.raises(ForbiddenError):
        row_filter(caller, "invoices", {}, is_contained=True)
