"""Conversion: a lead becomes a client, a contact and, on request, an opportunity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.clock import utc_now
from app.crm.clients import CLIENT, CLIENTS, CONTACTS, full_name, touch_client
from app.crm.leads import LEADS
from app.crm.matching import Match, find_client, find_contact, has_primary_contact, lock_matches
from app.crm.opportunities import OPPORTUNITIES
from app.documents.service import DOCUMENTS
from app.errors import (
    AlreadyConvertedError,
    DuplicateError,
    ValidationError,
    gathered,
    refuse_any,
)
from app.http.security import Caller, current_caller
from app.models.lead import Lead
from app.permissions import require
from app.projects.service import TASKS
from app.writing.deletion import linked_records
from app.writing.pipeline import EntityService
from app.writing.references import is_readable, missing
from app.writing.states import require_step
from app.writing.transitions import LEAD as LEAD_STATES
from app.writing.validation import below, body_problems, read_properties

# Attribute of the lead -> attribute of the client.
_CLIENT = {
    "email": "email", "tax_id": "tax_id", "phone": "phone", "website": "website",
    "industry": "industry", "country": "billing_country", "currency": "currency",
    "source": "source", "description": "notes",
}  # fmt: skip
LINK, CREATE, FAIL = "link", "create", "fail"


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the caller wants of a conversion; everything may be left out.

    ``client`` and ``opportunity`` are properties on the wire that go before what the lead says.
    ``on_duplicate`` is for a client that is found: ``link``, ``create`` another, or ``fail``.
    """

    client_id: int | None = None
    contact_id: int | None = None
    opportunity_id: int | None = None
    create_contact: bool = True
    create_opportunity: bool | None = None
    opportunity: Mapping[str, Any] | None = None
    client: Mapping[str, Any] = field(default_factory=dict)
    on_duplicate: str = LINK
    owner_id: int | None = None

    @property
    def wants_opportunity(self) -> bool:
        """An opportunity that is described is wanted, unless the caller says otherwise."""
        if self.create_opportunity is None:
            return self.opportunity is not None
        return self.create_opportunity


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """What a lead became; ``matched_by`` is None for a new client."""

    lead_id: int
    client_id: int
    contact_id: int | None
    opportunity_id: int | None
    matched_by: str | None
    contact_created: bool
    opportunity_created: bool
    tasks: int
    documents: int


def convert_lead(lead_id: int, wishes: Wishes) -> Conversion:
    """Convert an open lead, all of it or nothing.

    A client with the same e-mail address or tax number is linked instead of made again; only what
    is empty there is filled. Tasks and documents of the lead move to the client.

    Raises: NotFoundError; ForbiddenError; AlreadyConvertedError; InvalidStateError, the lead was
        disqualified; DuplicateError, a client is found and ``on_duplicate`` is ``fail``;
        ValidationError.
    Source: contract sections 10 and 11.1.
    """
    caller = current_caller()
    # The row stays locked: a second conversion waits here, and then finds the lead converted.
    lead = LEADS.locked(lead_id, caller)
    require(caller, "leads:convert", lead)
    if lead.status == "Converted":
        raise AlreadyConvertedError(
            "The lead was converted before.",
            [("convertedClientId", f"is {lead.converted_client_id}")],
        )
    require_step(LEAD_STATES, "lead", lead.status, "Converted", "convert")
    gathered(
        lambda: _check(caller, wishes),
        lambda: check_wishes({"client": wishes.client, "opportunity": wishes.opportunity}),
    )
    owner_id = _owner(caller, wishes, lead)
    match = _explicit_client(wishes)
    with below("client"):
        overrides = read_properties(CLIENT, wishes.client)
    values = client_values(lead) | overrides
    if match is None and wishes.on_duplicate != CREATE:
        lock_matches(values)
        match = find_client(caller, values)
        if match is not None and wishes.on_duplicate == FAIL:
            raise DuplicateError(
                f"There is a client with the same {match.by}.",
                [(match.by, f"is that of the client {match.client_id}")],
            )
    client_id = _client(match, values, owner_id, lead_id)
    contact_id, contact_created = _contact(caller, wishes, lead, client_id, owner_id)
    opportunity_id = _opportunity(wishes, lead, client_id, contact_id, owner_id)
    tasks = _move(TASKS, lead_id, client_id)
    documents = _move(DOCUMENTS, lead_id, client_id)
    now = utc_now()
    values = {
        "status": "Converted",
        "converted_at": now,
        "converted_by_id": caller.user_id or None,
        "converted_client_id": client_id,
        "converted_contact_id": contact_id,
        "converted_opportunity_id": opportunity_id,
    }
    LEADS.apply(lead_id, values, "lead.converted", by="convert")
    touch_client(client_id, now)
    return Conversion(
        lead_id=lead_id,
        client_id=client_id,
        contact_id=contact_id,
        opportunity_id=opportunity_id,
        matched_by=match.by if match else None,
        contact_created=contact_created,
        opportunity_created=wishes.wants_opportunity,
        tasks=tasks,
        documents=documents,
    )


def check_wishes(wishes: Mapping[str, Any]) -> None:
    """Look at what is said of the records to be made; no row is read.

    Raises: ValidationError, with each property.
    """
    refuse_any(
        detail._replace(field=f"{name}.{detail.field}")
        for name, rules in (("client", CLIENT), ("opportunity", OPPORTUNITIES.rules))
        for detail in body_problems(rules, wishes.get(name) or {}, partial=True)
    )


def _check(caller: Caller, wishes: Wishes) -> None:
    """Every id names a record that the caller may read, and the wishes do not contradict."""
    fields = (
        ("clientId", "clients", wishes.client_id),
        ("contactId", "contacts", wishes.contact_id),
        ("opportunityId", "opportunities", wishes.opportunity_id),
        ("ownerId", "users", wishes.owner_id),
    )
    problems = [
        (name, missing(table, key))
        for name, table, key in fields
        if key is not None and not is_readable(caller, table, key)
    ]
    if wishes.opportunity_id is not None and wishes.wants_opportunity:
        problems.append(("opportunityId", "must not be given where an opportunity is to be made"))
    refuse_any(problems)


def _owner(caller: Caller, wishes: Wishes, lead: Lead) -> int | None:
    """Who gets the new records: the lead's owner where that account is still in use."""
    if wishes.owner_id is not None:
        return wishes.owner_id
    owner_id: int | None = lead.owner_id
    if owner_id is not None and is_readable(caller, "users", owner_id):
        return owner_id
    return caller.user_id or None


def _explicit_client(wishes: Wishes) -> Match | None:
    """The client that the ids name; all of them must be of the same one.

    Raises: ValidationError.
    """
    named: dict[str, int] = {}
    if wishes.client_id is not None:
        named["clientId"] = wishes.client_id
    if wishes.contact_id is not None:
        client_id = CONTACTS.stored(wishes.contact_id).client_id
        if client_id is not None:
            named["contactId"] = client_id
    if wishes.opportunity_id is not None:
        named["opportunityId"] = OPPORTUNITIES.stored(wishes.opportunity_id).client_id
    if len(set(named.values())) > 1:
        *_, last = named
        raise ValidationError([(last, "belongs to another client")])
    return Match(next(iter(named.values())), "explicit") if named else None


def _client(
    match: Match | None, values: Mapping[str, Any], owner_id: int | None, lead_id: int
) -> int:
    if match is not None:
        with below("client"):
            _fill(CLIENTS, match.client_id, values)
        return match.client_id
    with below("client"):
        return CLIENTS.create({"owner_id": owner_id, **values}, origin_lead_id=lead_id)


def _contact(
    caller: Caller,
    wishes: Wishes,
    lead: Lead,
    client_id: int,
    owner_id: int | None,
) -> tuple[int | None, bool]:
    """The contact, and whether it was made now."""
    values = contact_values(lead)
    contact_id = wishes.contact_id
    if contact_id is None and wishes.create_contact and values is not None:
        contact_id = find_contact(caller, client_id, lead.email)
        if contact_id is None:
            values = {
                **values,
                "client_id": client_id,
                "owner_id": owner_id,
                "is_primary": not has_primary_contact(client_id),
            }
            return CONTACTS.create(values), True
    if contact_id is not None:
        _fill(CONTACTS, contact_id, {**(values or {}), "client_id": client_id})
    return contact_id, False


def _opportunity(
    wishes: Wishes,
    lead: Lead,
    client_id: int,
    contact_id: int | None,
    owner_id: int | None,
) -> int | None:
    if wishes.opportunity_id is not None:
        _fill(OPPORTUNITIES, wishes.opportunity_id, {"contact_id": contact_id})
        return wishes.opportunity_id
    if not wishes.wants_opportunity:
        return None
    with below("opportunity"):
        asked_values = read_properties(OPPORTUNITIES.rules, wishes.opportunity or {})
        values = opportunity_values(lead) | {"owner_id": owner_id} | asked_values
        values |= {"client_id": client_id, "contact_id": contact_id}
        return OPPORTUNITIES.create(values, lead_id=lead.id)


def _fill(service: EntityService[Any], key: int, values: Mapping[str, Any]) -> None:
    """Write what the record does not have yet, and nothing over what it has."""
    record = service.stored(key)
    empty = {
        name: value
        for name, value in values.items()
        if value is not None and getattr(record, name, value) is None
    }
    if empty:
        service.update(key, empty)


def _move(service: EntityService[Any], lead_id: int, client_id: int) -> int:
    """Hang what belongs to the lead onto the client; returns how many records that were."""
    assert service.rules.polymorphic is not None
    type_attribute, key_attribute = service.rules.polymorphic
    # What lies in the trash stays with the lead: it is there for nobody.
    linked = [
        each for each in linked_records(service.rules, "Lead", lead_id) if service.exists(each)
    ]
    for record in linked:
        values: dict[str, Any] = {type_attribute: "Client", key_attribute: client_id}
        if getattr(record, "client_id", client_id) is None:
            values["client_id"] = client_id
        service.apply(record.id, values)
    return len(linked)


def client_values(lead: Lead) -> dict[str, Any]:
    """The client: the company, or the person where there is none."""
    lead_values = {attribute: getattr(lead, source) for source, attribute in _CLIENT.items()}
    return {
        **{name: value for name, value in lead_values.items() if value is not None},
        "name": lead.company or full_name(lead),
        "type": "Company" if lead.company else "Individual",
        "do_not_contact": lead.do_not_contact,
    }


def contact_values(lead: Lead) -> dict[str, Any] | None:
    """The contact; None where the lead names a company only."""
    if not full_name(lead):
        return None
    lead_values = {"email": lead.email, "phone": lead.phone, "job_title": lead.job_title}
    values: dict[str, Any] = {name: text for name, text in lead_values.items() if text is not None}
    # A contact has a family name; the only name of a person stands for it.
    if lead.last_name:
        values["last_name"] = lead.last_name
        if lead.first_name:
            values["first_name"] = lead.first_name
    else:
        values["last_name"] = lead.first_name
    values["do_not_contact"] = lead.do_not_contact
    return values


def opportunity_values(lead: Lead) -> dict[str, Any]:
    """The opportunity: named like the client, of the value that was expected."""
    values: dict[str, Any] = {"name": lead.company or full_name(lead), "source": lead.source}
    if lead.estimated_value is not None:
        values["amount"] = lead.estimated_value
        if lead.currency is not None:
            values["currency"] = lead.currency
    return values
