"""Creating, changing and deleting a record: the one path that every write of an entity takes.

    permission -> validation -> references -> rules and state machine of the area -> row
    -> what follows in other rows -> audit -> events

All of it happens in the transaction of the request; an error leaves nothing behind, because the
edge then rolls back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic

from sqlalchemy import select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.row_keys import new_keys
from app.db.types import ExactDecimal
from app.errors import (
    ApiError,
    Detail,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
    refuse_any,
)
from app.events import EVENT_NAMES, emit, represent, represent_all, row_of as event_row
from app.http.security import Caller, current_caller
from app.models.event import AuditRecord, Event
from app.permissions import PERMISSIONS, allowed, require
from app.writing.bulk_rows import insert_rows
from app.writing.change import Change, History, date_past
from app.writing.deletion import lock_dependents, release
from app.writing.integrity import named_refusals
from app.writing.normal_forms import forms_of
from app.writing.numbering import number_all, running_number
from app.writing.references import check_references
from app.writing.rules import E, EntityRules
from app.writing.states import require_state, require_step
from app.writing.transitions import StateMachine
from app.writing.validation import check_amounts, validate

# Who may say what a record was: administrators (docs/adr/0042).
KEEPS_HISTORY = "settings:update"


class EntityService(Generic[E]):
    """The writes of one entity set; an area's service derives from it and fills the hooks.

    Hooks get the ``Change``. ``defaults``, ``check`` and ``prepare`` run before the row is
    written and may add values and problems; ``written`` runs after it and before the events.
    """

    rules: EntityRules[E]
    machine: StateMachine | None = None
    # The attribute with the running number of a record, and what the number begins with.
    numbered: tuple[str, str] | None = None

    # --- the writes ---------------------------------------------------------------------------

    def needed_rights(
        self, action: str, values: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """The permissions for ``create``, ``update``, ``delete`` or ``link``, before the body.

        Args:
            values: what the address says of a new record, such as its owner.
        """
        permissions = self.rules.permissions
        needed = permissions["update" if action == "link" else action]
        user = current_caller().user_id
        assigns = (values or {}).get("owner_id", user) != user
        if assigns and permissions["assign"] in PERMISSIONS:
            return needed, permissions["assign"]
        return (needed,)

    def create(self, values: Mapping[str, Any], **server_set: Any) -> int:
        """Make a record; returns its key.

        Args:
            server_set: attributes that no body may set, from the operation that makes the record.
        Raises: ForbiddenError; ValidationError, with every problem; InvalidStateError, a record
            cannot begin in that state; DuplicateError.
        """
        change = self.draft(values)
        self._begin(change)
        change.values.update(server_set)
        self._settle(change)
        return self._insert(change)

    def create_all(self, drafts: Sequence[Change[E]]) -> None:
        """Make the records of drafts, each as ``create`` does, with few statements for all.

        Effects: each draft has its key, in their order.
        Raises: as ``create``, of any of them: then none is to be kept.
        """
        for change in drafts:
            self._begin(change)
        self._settle(*drafts)
        keys = new_keys(records.connection(), self.rules.table, len(drafts))
        for change, key in zip(drafts, keys, strict=True):
            change.key = key
        self.create_many(drafts)
        for change in drafts:
            if change.problems:
                raise ValidationError(change.problems)
            self.written(change)
        self._report(drafts, "created")

    def draft(
        self,
        values: Mapping[str, Any],
        history: History | None = None,
        problems: Sequence[Detail] | None = None,
    ) -> Change[E]:
        """A record to be made, with the problems of its values; nothing is written yet.

        Args:
            history: the records that it comes with, with what they were: for administrators.
            problems: of values that were validated already; else they are now.
        Raises: ForbiddenError.
        """
        caller = current_caller()
        require(caller, self.rules.permissions["create"])
        rules = self.rules
        if history is not None:
            require(caller, KEEPS_HISTORY)
            rules = history.rules[rules.name]
        if problems is None:
            values, problems = validate(rules, values, partial=False)
        change = self._change(caller, values=dict(values), problems=list(problems), history=history)
        change.rules = rules
        return change

    def derive(self, change: Change[E]) -> None:
        """Give a draft of a history all that follows from its values; problems stay in it."""
        self._begin(change)
        self._follow(change)

    def create_many(
        self, changes: Sequence[Change[E]], progress: Callable[[int], None] = lambda count: None
    ) -> None:
        """Insert drafts with few statements, parents first; those of a history are so made.

        All were derived and have their keys. Of the past there are no events, and no line in the
        audit log for each. What the database refuses is noted in the change.

        Args:
            progress: told how many came in, portion by portion.
        """
        self.number_many(changes)
        insert_rows(self.rules, [(change, self._row(change)) for change in changes], progress)

    def problems(
        self,
        values: Mapping[str, Any],
        *,
        partial: bool,
        settled: Collection[str] = (),
        key: int | None = None,
    ) -> list[Detail]:
        """Everything that would be refused of the values, without a write.

        References and rules over several attributes are looked at as far as these are good
        (docs/adr/0045). Whether the record may be written at all is not.

        Args:
            partial: of a change, which may leave out what is required.
            settled: attributes whose values are not known here: the write has them from
                elsewhere, or they are refused already.
            key: of the record that is changed; without it only the values are looked at.
        """
        cleaned, problems = validate(self.rules, values, partial=partial)
        settled_names = {self.rules.wire(attribute) for attribute in settled}
        problems = [problem for problem in problems if problem.field not in settled_names]
        before = self._find_readable(key) if partial and key is not None else None
        if partial and before is None:
            return problems
        unknown = [Detail(name, "is not known here") for name in settled_names]
        caller = current_caller()
        change = self._change(
            caller, values=cleaned, problems=[*problems, *unknown], key=key or 0, before=before
        )
        if change.is_new:
            change.default("owner_id", change.user_id)
            self.defaults(change)
        else:
            change.drop_unchanged()
            self.compare_children(change)
            change.named = frozenset(change.values)
        try:
            check_references(change)
            self._check_rules(change)
        except ValidationError as refused:
            change.problems += refused.details
        except ApiError:
            pass  # no right, or no such step: the answer to a body without mistakes
        return [problem for problem in change.problems if problem.field not in settled_names]

    def update(self, key: int, changes: Mapping[str, Any], version: int | None = None) -> None:
        """Change the named attributes of a record; nothing is written when nothing differs.

        Args:
            version: the row version that must still stand (``If-Match``).
        Raises: NotFoundError, also for what the caller may not read; ForbiddenError;
            PreconditionFailedError; ValidationError; InvalidStateError; DuplicateError.
        """
        cleaned, problems = validate(self.rules, changes, partial=True)
        self.update_all((self.revision(key, cleaned, problems, version),))

    def revision(
        self,
        key: int,
        values: Mapping[str, Any],
        problems: Sequence[Detail] = (),
        version: int | None = None,
    ) -> Change[E]:
        """A change to be made of validated values, its record locked; nothing is written yet.

        Raises: NotFoundError; ForbiddenError; PreconditionFailedError.
        """
        caller = current_caller()
        before = self.locked(key, caller, version)
        require(caller, self.rules.permissions["update"], before)
        change = self._change(
            caller, values=dict(values), problems=list(problems), key=key, before=before
        )
        change.drop_unchanged()
        self.compare_children(change)
        change.named = frozenset(change.values)
        return change

    def update_all(self, revisions: Sequence[Change[E]]) -> None:
        """Make changes of several records, each as ``update`` does, and report them together.

        Raises: as ``update``, of any of them; PreconditionFailedError, one of them changes another
            of these records. Then none is to be kept.
        """
        changes = [change for change in revisions if change.values or change.problems]
        for change in changes:
            self._require_assign(change)
        self._settle(*changes)
        if len(changes) > 1:
            self._require_untouched(changes)
        for change in changes:
            self._save(change)
        self._report(changes, "updated")

    def delete(self, key: int, version: int | None = None) -> None:
        """Remove a record.

        Raises: NotFoundError; ForbiddenError; PreconditionFailedError; InUseError, other records
            need it; InvalidStateError.
        """
        caller = current_caller()
        if allowed(caller, self.rules.permissions["delete"]):
            lock_dependents(self.rules, key)
        before = self.locked(key, caller, version, ending=True)
        require(caller, self.rules.permissions["delete"], before)
        self.remove(key, before)

    # --- what one record's change does to others ------------------------------------------------

    def apply(
        self, key: int, values: Mapping[str, Any], *events: str, by: str | None = None
    ) -> Change[E]:
        """Change a record as a consequence of something else: no permission, no validation.

        Audit and events are written as for any change.

        Args:
            events: the specific ones.
            by: the operation that takes a step of the state machine, with all that it brings.
        Returns: the change, with what the hooks handed on.
        Raises: NotFoundError; InvalidStateError, the operation does not lead there;
            ValidationError, the step needs what the record does not have.
        """
        before = self.stored(key)
        change = self._change(current_caller(), values=dict(values), key=key, before=before)
        change.drop_unchanged()
        if not change.values:
            return change
        change.events.extend(events)
        if by is not None:
            if self.machine is not None and self.machine.attribute in change.values:
                attribute = self.machine.attribute
                source, target = change.was(attribute), change.values[attribute]
                require_step(self.machine, self.rules.title, source, target, by)
                self.enter(change, source, target)
            self.prepare(change)
        if change.problems:
            raise ValidationError(change.problems)
        self._save(change)
        self._report((change,), "updated")
        return change

    def roll_up(self, before: E, values: Mapping[str, Any]) -> int:
        """Keep totals that follow from other rows: a new version, but no event of its own.

        Args:
            before: the record as it is, locked.
        Returns: its row version.
        Raises: ValidationError, a total has no room in its column.
        """
        changed = {name: value for name, value in values.items() if getattr(before, name) != value}
        if not changed:
            return before.version
        self._require_room(changed)
        version = before.version + 1
        stamps = {"updated_at": utc_now(), "version": version}
        records.update(self.rules.table, before.id, changed | stamps)
        return version

    def remove(self, key: int, before: E) -> None:
        """Delete a record whose deletion is allowed, with all that goes along."""
        change = self._change(current_caller(), key=key, before=before)
        self.deleting(before)
        release(self.rules, key)
        representation = represent(self.rules.name, key)
        with named_refusals(self.rules, deleting=True):
            records.delete(self.rules.table, key)
        self.deleted(change)
        event = f"{self.rules.event}.deleted"
        were = records.columns_of(before)
        lost = {name: value for name, value in were.items() if value is not None}
        audit.record(event, self.rules.name, key, before=self.rules.reported(lost))
        emit(
            event, self.rules.name, key,
            sequence=before.version + 1, representation=representation,
        )  # fmt: skip

    def locked(
        self, key: int, caller: Caller, version: int | None = None, *, ending: bool = False
    ) -> E:
        """The record, locked until the transaction ends; ``ending`` if it is to be deleted.

        Raises: ForbiddenError, the caller may read none; NotFoundError, there is none that the
            caller may read; PreconditionFailedError.
        """
        require(caller, self.rules.permissions["read"])
        record = records.read(self.rules.model, key, lock=True, ending=ending)
        before = self._readable(key, record, caller)
        self._require_version(before, version)
        return before

    # --- hooks --------------------------------------------------------------------------------

    def exists(self, record: E) -> bool:
        """Whether the record is there for callers (documents in the trash are not)."""
        return True

    def defaults(self, change: Change[E]) -> None:
        """Fill what a new record was not given."""

    def check(self, change: Change[E]) -> None:
        """Rules over several attributes; note problems."""

    def prepare(self, change: Change[E]) -> None:
        """Derive values and note events; runs only without problems."""

    def reconcile(self, history: History) -> None:
        """Derive what the records of a history mean for each other; note problems."""

    def currency_of(self, change: Change[E]) -> str:
        """The currency of the record's amounts: its own, or that of the organisation."""
        own = change.get("currency") if "currency" in self.rules.table.c else None
        return str(own or change.settings.defaults.currency)

    def number(self, change: Change[E]) -> None:
        """Take a running number; last, because its counter stays locked."""
        if change.is_new and self.numbered is not None:
            attribute, prefix = self.numbered
            change.values[attribute] = running_number(prefix)

    def number_many(self, changes: Sequence[Change[E]]) -> None:
        """Number the records of a history that have no number; the series goes on after them."""
        if self.numbered is not None:
            number_all([change.values for change in changes], *self.numbered)

    def compare_children(self, change: Change[E]) -> None:
        """Drop child lists that are as they were."""

    def enter(self, change: Change[E], source: str | None, target: str) -> None:
        """Guards and effects of a step of the state machine; ``source`` None for a new record."""

    def written(self, change: Change[E]) -> None:
        """Write what follows in other rows."""

    def deleting(self, record: E) -> None:
        """Refuse a deletion, or prepare it."""

    def deleted(self, change: Change[E]) -> None:
        """Write what follows from a deletion."""

    # --- parts --------------------------------------------------------------------------------

    def _find_readable(self, key: int) -> E | None:
        """The record as it is, not locked; None where there is none that the caller may read."""
        try:
            return self._readable(key, records.read(self.rules.model, key), current_caller())
        except NotFoundError:
            return None

    def _readable(self, key: int, record: E | None, caller: Caller) -> E:
        if (
            record is None
            or not self.exists(record)
            or not allowed(caller, self.rules.permissions["read"], record)
        ):
            raise NotFoundError(f"There is no {self.rules.title} {key}.")
        return record

    def _require_version(self, record: E | None, version: int | None) -> None:
        if record is not None and version is not None and record.version != version:
            raise PreconditionFailedError(
                f"The {self.rules.title} was changed by somebody else meanwhile."
            )

    def _change(self, caller: Caller, **more: Any) -> Change[E]:
        change: Change[E] = Change(rules=self.rules, caller=caller, now=utc_now(), **more)
        change.named = frozenset(change.values)
        return change

    def stored(self, key: int) -> E:
        """The record as it is, locked until the transaction ends; whoever asks.

        Raises: NotFoundError.
        """
        missing = f"There is no {self.rules.title} {key}."
        return records.get(self.rules.model, key, missing, lock=True)

    def _require_assign(self, change: Change[E]) -> None:
        """Giving a record to somebody needs a right of its own where the matrix has one."""
        permission = self.rules.permissions["assign"]
        if permission not in PERMISSIONS or "owner_id" not in change.values:
            return
        if change.is_new and change.values["owner_id"] == change.user_id:
            return
        require(change.caller, permission, change.before)

    def _begin(self, change: Change[E]) -> None:
        if change.history is not None:
            date_past(change)
        change.default("owner_id", change.user_id)
        self._require_assign(change)
        self.defaults(change)

    def _settle(self, *changes: Change[E]) -> None:
        """Everything between the body and the row."""
        check_references(*changes)
        for change in changes:
            self._follow(change)
            if change.problems:
                raise ValidationError(change.problems)
            self._note_assignment(change)

    def _follow(self, change: Change[E]) -> None:
        """The rules, and what follows from the values; problems are noted in the change.

        A record of a history may begin in any state.
        """
        # A step that the state machine does not have is the answer even where the step would ask
        # for more fields, but not where a value was no value to begin with.
        is_readable = not change.problems
        self._check_rules(change)
        steps = self.machine is not None and self.machine.attribute in change.values
        if self.machine is not None and steps and is_readable and change.history is None:
            require_state(self.machine, change)
        if change.problems:
            return
        if self.machine is not None and steps:
            attribute = self.machine.attribute
            self.enter(change, change.was(attribute), change.values[attribute])
        self.prepare(change)

    def _check_rules(self, change: Change[E]) -> None:
        self.check(change)
        if change.rules.has_amounts and change.changes("currency", *change.rules.amounts):
            check_amounts(change, self.currency_of(change))

    def _note_assignment(self, change: Change[E]) -> None:
        attribute = self.rules.assignment
        event = f"{self.rules.event}.assigned"
        person = change.values.get(attribute)
        if event not in EVENT_NAMES or attribute not in change.values:
            return
        if not change.is_new or (person is not None and person != change.user_id):
            change.events.append(event)

    def _insert(self, change: Change[E]) -> int:
        self.number(change)
        row = self._row(change)
        with named_refusals(self.rules):
            change.key = records.insert(self.rules.table, row)
            self.written(change)
        self._report((change,), "created")
        return change.key

    def _row(self, change: Change[E]) -> dict[str, Any]:
        """The columns that the change writes."""
        children = change.rules.children
        row = {name: value for name, value in change.values.items() if name not in children}
        row |= forms_of(self.rules.table, row, lambda: change.settings.seller.country)
        stamps = {"updated_at": change.now, "updated_by_id": change.user_id}
        if change.is_new:
            stamps |= {"created_at": change.now, "created_by_id": change.user_id}
            stamps |= {"id": change.key} if change.key else {}
        return row | stamps if change.history is None else stamps | row

    def _require_untouched(self, changes: Sequence[Change[E]]) -> None:
        """None of the records was changed by what another one of the changes brings along."""
        table, befores = self.rules.table, {change.key: change.before for change in changes}
        rows = select(table.c.id, table.c.version).where(table.c.id.in_(befores))
        for key, stands in records.connection().execute(rows):
            self._require_version(befores[key], stands)

    def _save(self, change: Change[E]) -> None:
        before = change.before
        assert before is not None  # only a new record has none
        change.drop_unchanged()
        with named_refusals(self.rules):
            self.number(change)
            row = {**self._row(change), "version": before.version + 1}
            self._require_room(row)
            records.update(self.rules.table, change.key, row)
            self.written(change)

    def _require_room(self, values: Mapping[str, Any]) -> None:
        """Computed amounts are not larger than their columns, on SQLite as elsewhere."""
        kinds = {name: self.rules.table.c[name].type for name in values}
        refuse_any(
            Detail(self.rules.wire(name), f"would not be less than {kind.limit:,f}")
            for name, kind in kinds.items()
            if isinstance(kind, ExactDecimal) and abs(values[name] or 0) >= kind.limit
        )

    def _report(self, changes: Sequence[Change[E]], verb: str) -> None:
        """The audit records, the specific events, and those of the verb; each in one statement."""
        rules = self.rules
        names = {change.key: self._event_names(change, verb) for change in changes}
        reported = [key for key in names if names[key]]
        texts = represent_all(rules.name, reported) if reported else {}
        lines: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        for change in changes:
            key, values = change.key, change.values
            if change.before is None:
                values = {name: value for name, value in values.items() if value is not None}
                previous, sequence = None, 1
            else:
                previous = rules.reported({name: change.was(name) for name in values})
                sequence = change.before.version + 1
            after = rules.reported(values)
            action = f"{rules.event}.{verb}"
            lines.append(audit.row_of(action, rules.name, key, before=previous, after=after))
            events += (
                event_row(
                    name, rules.name, key,
                    sequence=sequence, representation=texts[key], previous=previous,
                )
                for name in names[key]
            )  # fmt: skip
        records.insert_all(AuditRecord, lines)
        records.insert_all(Event, events)

    def _event_names(self, change: Change[E], verb: str) -> list[str]:
        """The events of the change, that of the verb first for a new record and last for others."""
        general, names = f"{self.rules.event}.{verb}", list(dict.fromkeys(change.events))
        if general not in EVENT_NAMES:
            return names
        return [general, *names] if change.is_new else [*names, general]
