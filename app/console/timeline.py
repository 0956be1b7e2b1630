"""What happened to a record and to what belongs to it: the audit log, told to whoever may read it.

Who reads a record reads when it was changed, by whom, and in which properties; what they were
before is for those who may read the audit log. Records that were moved in have a past from before
the log: it is told by their moments, their payments, stages and comments, and by the day on which
what belongs to them was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from flask import Response
from markupsafe import Markup
from sqlalchemy import Select, select, union_all

from app.console.area import console, page
from app.console.choices import changed_link, page_rows, skipped
from app.console.language import translated, translated_as
from app.console.named_records import all_named, names_by_key, names_of
from app.console.numbers import amount_text
from app.console.related import page_behind, readable, target_of
from app.console.sets import Page, page_of, page_of_type
from app.console.wording import CALLED, display_value, label, words
from app.container.engine import read_many, read_one
from app.db.engines import primary_engine
from app.http.security import current_caller
from app.models.event import AuditRecord
from app.odata.model import edm
from app.permissions import ALL, allowed, scope_of

FIRST = 8
_READ = (
    AuditRecord.id, AuditRecord.created_at, AuditRecord.actor_id, AuditRecord.via,
    AuditRecord.action, AuditRecord.entity, AuditRecord.entity_id, AuditRecord.before,
    AuditRecord.after,
)  # fmt: skip
# Lines of the log and moments of a record that are so near tell of the same.
_SAME = timedelta(seconds=2)
_LONGEST = 300
_MOMENTS, _DEEDS = CALLED["moments"], CALLED["deeds"]
# Rows of a set that each tell of something, and when.
_ROWS: Mapping[str, tuple[str, str]] = {
    "Invoices": ("Payments", "createdAt"),
    "Opportunities": ("StageHistory", "at"),
    "Tickets": ("Comments", "createdAt"),
}


class Subject(NamedTuple):
    """The record that something happened to."""

    entity: str
    key: int


@dataclass(frozen=True)
class Entry:
    """Something that happened to the record ``subject``.

    ``changed`` are properties; ``values`` what they were and became, for who may know it.
    """

    at: datetime
    subject: Subject
    deed: str
    by: str = ""
    detail: str = ""
    changed: Sequence[str] = ()
    values: Sequence[tuple[str, Any, Any]] = ()


class Timeline(NamedTuple):
    """A page of what happened; ``more``: whether there is an older one."""

    entries: Sequence[Entry]
    names: Mapping[Subject, Any]
    more: bool


@console.get("/<path>/<int:key>/timeline")
def show_timeline(path: str, key: int) -> Response:
    set_page = page_of(path)
    record = read_one(f"{set_page.set_name}({key})")
    skip, size = skipped(), page_rows()
    timeline = timeline_of(set_page, key, record, size, skip)
    return page(
        "timeline.html",
        set_page=set_page,
        key=key,
        name=set_page.name_of(record),
        timeline=timeline,
        older=changed_link(skip=skip + size) if timeline.more else None,
        newer=changed_link(skip=max(skip - size, 0)) if skip else None,
    )


def timeline_of(
    set_page: Page, key: int, record: Mapping[str, Any], size: int, skip: int = 0
) -> Timeline:
    """What happened to a record that the caller has read, the latest first."""
    most = skip + size + 1
    logged = _logged(set_page, key, most)
    derived = [
        *_moments(set_page, key, record),
        *_rows(set_page, key, most),
        *_related_moments(set_page, key, most),
    ]
    logged_at = [(entry.subject, entry.at) for entry in logged]
    fresh = [
        entry
        for entry in derived
        if not any(
            subject == entry.subject and abs(at - entry.at) < _SAME for subject, at in logged_at
        )
    ]
    entries = sorted((*logged, *fresh), key=lambda entry: entry.at, reverse=True)
    page_entries = entries[skip : skip + size]
    own_subject = Subject(set_page.entity_set.type.name, key)
    others = {entry.subject for entry in page_entries if entry.subject != own_subject}
    return Timeline(page_entries, _names(others), len(entries) > skip + size)


def _logged(set_page: Page, key: int, most: int) -> list[Entry]:
    type_ = set_page.entity_set.type
    parts = [_part(type_.name, AuditRecord.entity_id == key, most)]
    for name in readable(set_page, set_page.related):
        if (keys := _keys(set_page, name, key)) is not None:
            parts.append(
                _part(target_of(set_page, name).name, AuditRecord.entity_id.in_(keys), most)
            )
    lines = union_all(*parts).subquery()
    statement = select(lines).order_by(lines.c.created_at.desc(), lines.c.id.desc()).limit(most)
    with primary_engine().connect() as connection:
        rows = connection.execute(statement).all()
    people = _people(row.actor_id for row in rows)
    return [_entry(row, people) for row in rows]


def _part(entity: str, condition: Any, most: int) -> Select[Any]:
    """The latest lines about records of one entity, each part by the index of its own."""
    lines = (
        select(*_READ)
        .where(AuditRecord.entity == entity, condition)
        .order_by(AuditRecord.created_at.desc())
        .limit(most)
        .subquery()
    )
    return select(lines)


def _keys(set_page: Page, name: str, key: int) -> Select[Any] | None:
    """The keys of what belongs to a record; None where the caller may not read all of them."""
    navigation, target = set_page.entity_set.type.navigation[name], target_of(set_page, name)
    if navigation.foreign_key is None or navigation.owned:
        return None
    if scope_of(current_caller(), f"{target.resource}:read") != ALL:
        return None
    columns = target.table.c
    conditions = {navigation.foreign_key: key, **navigation.besides}
    keys = select(columns.id).where(*(columns[each] == value for each, value in conditions.items()))
    return keys if target.visible is None else keys.where(target.visible(columns))


def _entry(row: Any, people: Mapping[int | None, str]) -> Entry:
    after, before = row.after or {}, row.before or {}
    subject = Subject(row.entity, row.entity_id)
    deed = row.action.partition(".")[2]
    changed: list[str] = []
    values: list[tuple[str, Any, Any]] = []
    detail, moment = _detail(row.action, before, after), None
    if deed == "updated":
        record_page = page_of_type(row.entity)
        type_ = record_page.entity_set.type if record_page else None
        changed = [name for name in after if type_ is None or name in type_.properties]
        detail = _step(row.entity, before, after)
        # A change that is no step tells by the moment that it keeps what was done.
        moment = next((_MOMENTS[name] for name in changed if name in _MOMENTS and not detail), None)
        if allowed(current_caller(), "audit:read"):
            values = list(_values(type_, changed, before, after))
    return Entry(
        row.created_at,
        subject,
        _comment(after) if deed == "comment_added" else _words_of(row.action, moment),
        people.get(row.actor_id, "" if row.actor_id else translated("the service")),
        detail,
        [label(name) for name in changed],
        values,
    )


def _values(
    type_: edm.EntityType | None, changed: Iterable[str], *versions: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """The label of each property with what it was and what it became, as its page shows it."""
    names = None if type_ is None else names_of(type_, versions)

    def value_in(version: Mapping[str, Any], name: str) -> Markup | str:
        value = version.get(name)
        if value in (None, "", []):
            return ""
        if names is not None and (named := names.of(name, version)):
            return named.name
        declared = type_.properties.get(name) if type_ else None
        if declared is not None and declared.type == edm.DECIMAL:
            value = Decimal(str(value))
        return display_value(value, declared)

    for name in changed:
        before, after = (value_in(version, name) for version in versions)
        yield label(name), before, after


def _words_of(action: str, moment: str | None = None) -> str:
    deed = action.partition(".")[2]
    words = moment or _DEEDS.get(action) or _DEEDS.get(deed) or deed.replace("_", " ").capitalize()
    return translated(words)


def _comment(comment: Mapping[str, Any]) -> str:
    if comment.get("isInternal"):
        return translated("Note")
    return (
        translated_as("what happened", "Answer")
        if comment.get("authorId")
        else translated("The customer wrote")
    )


def _detail(action: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What a line says besides its deed."""
    if action.endswith(".merged"):  # the number of the record that has become a part of this
        source = after.get("source") or before.get("source") or ""
        return str(source.get("number") or "") if isinstance(source, dict) else str(source)
    if after.get("amount") is not None:
        return amount_text(Decimal(str(after["amount"])), after.get("currency"))
    if action.endswith(".comment_added"):
        return str(after.get("body", ""))[:_LONGEST]
    people = after.get("to") or after.get("recipients") or after.get("bounces") or ()
    names = [
        str(each.get("address") or each.get("recipient")) if isinstance(each, dict) else str(each)
        for each in people
    ]
    return " · ".join(filter(None, (", ".join(names), str(after.get("subject") or ""))))


def _step(entity: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """``Sent → Paid``, where the state is what changed."""
    record_page = page_of_type(entity)
    if record_page is None or record_page.state is None or after.get(record_page.state) is None:
        return ""
    state = record_page.state
    return f"{words(str(before.get(state) or ''))} → {words(str(after[state]))}"


def _moments(set_page: Page, key: int, record: Mapping[str, Any]) -> Iterator[Entry]:
    subject = Subject(set_page.entity_set.type.name, key)
    for name, deed in reversed(list(_MOMENTS.items())):  # of the same moment the later first
        if record.get(name):
            yield Entry(datetime.fromisoformat(record[name]), subject, translated(deed))


def _rows(set_page: Page, key: int, most: int) -> Iterator[Entry]:
    """Payments, stages, comments: each tells of itself."""
    if set_page.set_name not in _ROWS:
        return
    name, moment = _ROWS[set_page.set_name]
    path = f"{set_page.set_name}({key})/{name}"
    rows = read_many(path, orderby=f"{moment} desc", top=most)
    people = _people(row.get("authorId") or row.get("byId") for row in rows)
    target = target_of(set_page, name).name
    subject = Subject(set_page.entity_set.type.name, key)
    for row in rows:
        by = people.get(row.get("authorId") or row.get("byId"), "")
        at = datetime.fromisoformat(row[moment])
        if name == "Payments":
            yield Entry(
                at, Subject(target, row["id"]), translated("Payment"), by, _detail("", {}, row)
            )
        elif name == "StageHistory" and not row.get("from"):
            continue
        elif name == "StageHistory":
            step = f"{words(row.get('from') or '')} → {words(row['to'])}"
            yield Entry(at, subject, translated("Changed"), by, step, [label("stage")])
        else:
            yield Entry(at, subject, _comment(row), by, row["body"][:_LONGEST])


def _related_moments(set_page: Page, key: int, most: int) -> Iterator[Entry]:
    for name in readable(set_page, set_page.related):
        record_page = page_behind(set_page, name)
        if record_page is None or set_page.entity_set.type.navigation[name].through:
            continue
        columns = ",".join(
            each for each in _MOMENTS if each in record_page.entity_set.type.properties
        )
        path = f"{set_page.set_name}({key})/{name}"
        for row in read_many(path, select=f"id,{columns}", orderby="createdAt desc", top=most):
            yield from _moments(record_page, row["id"], row)


def _people(keys: Iterable[int | None]) -> Mapping[int | None, str]:
    people = names_by_key("User", [key for key in keys if key])
    return {key: person.name for key, person in people.items()}


def _names(subjects: Iterable[Subject]) -> Mapping[Subject, Any]:
    return {
        Subject(entity, key): (named, page_of_type(entity))
        for (entity, key), named in all_named(subjects).items()
    }
