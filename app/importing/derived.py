"""What follows from the rest of a record: filled where the file is silent, compared where not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

from app.clock import utc_now
from app.importing.amounts import derive_balances, derive_invoice, derive_settlements, freeze
from app.importing.problems import Problems
from app.importing.reading import Entries, Entry
from app.models.opportunity import STAGES
from app.money import rounded
from app.settings import Organisation
from app.writing.amounts import fine_amounts
from app.writing.rules import RowRules

OPEN_TASKS = ("Todo", "InProgress", "Blocked")


def derive(entries: Entries, problems: Problems, organisation: Organisation) -> None:
    """Fill and compare the derived values of all records; ``organisation`` has the defaults."""
    for name, records in entries.items():
        for entry in records:
            _fill_times(entry)
            if name in _FILL:
                _FILL[name](entry)
    _fill_currencies(entries, organisation)
    _check_amounts(entries, problems, organisation.defaults.currency)
    for entry in _records(entries, "Opportunities"):
        _weigh(entry, organisation.defaults.currency)
    for entry in _records(entries, "Invoices"):
        derive_invoice(entry, organisation, problems)
    derive_settlements(_records(entries, "Invoices"), problems)
    freeze(
        _records(entries, "Invoices"),
        _records(entries, "Clients"),
        _records(entries, "Contacts"),
        organisation,
    )
    _count_tasks(entries)
    if _records(entries, "Invoices"):
        derive_balances(_records(entries, "Clients"), _records(entries, "Invoices"))
    _compare(entries, problems)


def _fill_currencies(entries: Entries, organisation: Organisation) -> None:
    """The client's currency, and the rate of today where the file has none."""
    own = organisation.defaults.currency
    for entry in (*_records(entries, "Clients"), *_records(entries, "Projects")):
        entry.row["currency"] = entry.row.get("currency") or own
    currencies = {entry.id: entry.row["currency"] for entry in _records(entries, "Clients")}
    for entry in (*_records(entries, "Opportunities"), *_records(entries, "Invoices")):
        row = entry.row
        row["currency"] = row.get("currency") or currencies.get(row.get("client_id") or 0, own)
        if row.get("exchange_rate") is None:
            row["exchange_rate"] = organisation.exchange_rate(row["currency"])


def _check_amounts(entries: Entries, problems: Problems, own: str) -> None:
    """Amounts have the digits of their currency: that of the record, or of what contains it."""
    projects = {each.id: each.row["currency"] for each in _records(entries, "Projects")}
    for name, records in entries.items():
        for entry in records:
            project = projects.get(entry.row.get("project_id") or 0) if name == "Tasks" else None
            currency = entry.row.get("currency") or project or own
            for row, rules, prefix in _rows_of(entry):
                for attribute, message in fine_amounts(rules, row.row, currency):
                    problems.add(name, entry.index, prefix + rules.wire(attribute), message)


def _rows_of(entry: Entry) -> Iterable[tuple[Entry, RowRules, str]]:
    """A record and the rows in it, each with what goes before the names of its fields."""
    rules = entry.place.rules
    yield entry, rules, ""
    for attribute, child_rules in rules.children.items():
        for child in entry.children[attribute]:
            yield child, child_rules, f"{rules.wire(attribute)}[{child.index}]."


def _records(entries: Entries, name: str) -> list[Entry]:
    return entries.get(name, [])


def _fill_times(entry: Entry) -> None:
    row = entry.row
    made = row.setdefault("created_at", None) or utc_now()
    row["created_at"] = made
    row["updated_at"] = row.get("updated_at") or max(made, *_instants(entry))
    for rows in entry.children.values():
        for child in rows:
            days = [child.row.get(name) for name in ("at", "paid_on") if child.row.get(name)]
            at = _instant(days[0]) if days else made
            child.row["created_at"] = child.row.get("created_at") or at


def _instants(entry: Entry) -> Iterable[datetime]:
    yield from (
        value
        for name, value in entry.row.items()
        if isinstance(value, datetime) and name.endswith("_at") and "due" not in name
        and value <= utc_now()
    )  # fmt: skip
    yield entry.row["created_at"]


def _instant(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time(12), UTC)


def _fill_lead(entry: Entry) -> None:
    row = entry.row
    row["status_changed_at"] = (
        row.get("status_changed_at") or row.get("converted_at") or row["updated_at"]
    )


def _fill_opportunity(entry: Entry) -> None:
    row = entry.row
    stage = row.setdefault("stage", "Prospecting")
    row["status"] = {"ClosedWon": "Won", "ClosedLost": "Lost"}.get(stage, "Open")
    if row.get("probability") is None:
        row["probability"] = STAGES[stage]
    history = [step.row["at"] for step in entry.children.get("stage_changes", ())]
    last = max(history, default=row.get("closed_at") or row["created_at"])
    row["stage_changed_at"] = row.get("stage_changed_at") or last
    if row["status"] != "Open":
        row["closed_at"] = row.get("closed_at") or row["stage_changed_at"]


def _fill_article(entry: Entry) -> None:
    row = entry.row
    row["revision"] = row.get("revision") or 1
    row["word_count"] = len((row.get("body") or "").split())
    if row.get("status") == "Published":
        row["published_at"] = row.get("published_at") or row["updated_at"]
        for revision in entry.children.get("kb_revisions", ()):
            if revision.row.get("revision") == row["revision"]:
                given = revision.row.get("published_at")
                revision.row["published_at"] = given or row["published_at"]


def _fill_task(entry: Entry) -> None:
    if entry.row.get("status") == "Done":
        entry.row["completed_at"] = entry.row.get("completed_at") or entry.row["updated_at"]


_FILL: Mapping[str, Callable[[Entry], None]] = {
    "Leads": _fill_lead,
    "Opportunities": _fill_opportunity,
    "KbArticles": _fill_article,
    "Tasks": _fill_task,
}


def _weigh(entry: Entry, own: str) -> None:
    row = entry.row
    amount = row.get("amount") or Decimal(0)
    row["weighted_amount"] = rounded(amount * row["probability"] / 100, row["currency"])
    row["base_amount"] = rounded(amount * row["exchange_rate"], own)


def _count_tasks(entries: Entries) -> None:
    tasks: dict[int, list[Mapping[str, Any]]] = {}
    for entry in _records(entries, "Tasks"):
        if entry.row.get("project_id"):
            tasks.setdefault(entry.row["project_id"], []).append(entry.row)
    for entry in _records(entries, "Projects"):
        rows = [row for row in tasks.get(entry.id, []) if row.get("status") != "Canceled"]
        done = sum(1 for row in rows if row.get("status") == "Done")
        hours = (row.get("actual_hours") or Decimal(0) for row in tasks.get(entry.id, []))
        entry.row["progress_percent"] = done * 100 // len(rows) if rows else 0
        entry.row["hours_spent"] = sum(hours, Decimal(0))
        entry.row["open_task_count"] = sum(
            1 for row in rows if row.get("status", "Todo") in OPEN_TASKS
        )


def _compare(entries: Entries, problems: Problems) -> None:
    """What the file says of computed values must be what is computed."""
    for records in entries.values():
        for entry in records:
            for row, rules, prefix in _rows_of(entry):
                _compare_row(row, rules, prefix, entry, problems)


def _compare_row(
    row: Entry, rules: RowRules, prefix: str, record: Entry, problems: Problems
) -> None:
    for column, given in row.given.items():
        if column in row.row and _differs(given, row.row[column]):
            message = f"is computed to be {row.row[column]}; the file says {given}"
            problems.add(record.place.name, record.index, prefix + rules.wire(column), message)


def _differs(given: Any, computed: Any) -> bool:
    if given is None or isinstance(given, list | dict):
        return False
    if isinstance(computed, Decimal):
        try:
            return Decimal(str(given)) != computed
        except ArithmeticError:
            return True
    return bool(given != computed)
