"""Leads in every state, and opportunities with the history of their stages."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.demo import vocabulary
from app.demo.world import Record, World, host_name, money
from app.models.lead import DISQUALIFY_REASONS, LEAD_SOURCES
from app.models.opportunity import STAGES

OPPORTUNITY_COUNT = 380
LEAD_STATES = (
    ("New", 62), ("Contacted", 70), ("Nurturing", 42), ("Qualified", 38), ("Converted", 52),
    ("Disqualified", 46),
)  # fmt: skip
OPEN_STAGES = tuple(stage for stage in STAGES if not stage.startswith("Closed"))


def make_opportunities(world: World) -> None:
    """About 380 over the year; the older one is, the surer it is closed."""
    clients = [each for each in world.records["Clients"] if each["status"] != "Blocked"]
    contacts: dict[int, list[Record]] = {}
    for contact in world.records["Contacts"]:
        contacts.setdefault(contact["clientId"], []).append(contact)
    ages = sorted((world.dice.randint(2, 365) for _ in range(OPPORTUNITY_COUNT)), reverse=True)
    for age in ages:
        client = world.pick(clients)
        created_at = max(world.at(world.days_ago(age)), client["createdAt"])
        _opportunity(world, client, contacts[client["id"]], created_at)


def _opportunity(
    world: World, client: Record, contacts: list[Record], created_at: datetime
) -> None:
    offer = world.pick(vocabulary.OPPORTUNITIES)
    steps = _steps(world, client, created_at)
    stage = steps[-1]["to"]
    closed = steps[-1]["at"] if stage.startswith("Closed") else None
    lost = world.pick(tuple(vocabulary.LOST_NOTES)) if stage == "ClosedLost" else None
    expected = (
        closed.date() if closed else world.today + timedelta(days=world.dice.randint(-12, 110))
    )
    world.add(
        "Opportunities",
        name=offer.title.format(
            city=client["billingAddress"]["city"], employees=max(5, client["employeeCount"] // 3)
        ),
        clientId=client["id"],
        contactId=world.pick(contacts)["id"],
        amount=money(world.between(offer.least, offer.most), "50"),
        currency=client["currency"],
        exchangeRate=world.rates[client["currency"]],
        stage=stage,
        previousStage=steps[-2]["to"] if len(steps) > 1 else None,
        closeDate=max(expected, created_at.date()),
        type=offer.type,
        source=client["source"],
        nextStep=None if closed else world.pick(vocabulary.NEXT_STEPS),
        competitor=world.pick(vocabulary.COMPETITORS) if world.chance(0.3) else None,
        lostReason=lost,
        lostNotes=vocabulary.LOST_NOTES[lost] if lost else None,
        stageChangedAt=steps[-1]["at"],
        closedAt=closed,
        ownerId=client["ownerId"],
        createdAt=created_at,
        createdById=client["ownerId"],
        updatedAt=steps[-1]["at"],
        StageHistory=steps,
    )


def _steps(world: World, client: Record, created_at: datetime) -> list[Record]:
    """From the first stage forward until it is won, lost, or today."""
    steps: list[Record] = [{"to": OPEN_STAGES[0], "at": created_at, "byId": client["ownerId"]}]
    for following in (*OPEN_STAGES[1:], "ClosedWon"):
        last = steps[-1]
        at = last["at"] + timedelta(hours=world.between(24, 24 * 45))
        if at >= world.now or world.chance(0.06):
            break
        if world.chance(0.13):
            following = "ClosedLost"
        steps.append(
            {
                "from": last["to"],
                "to": following,
                "at": at.replace(microsecond=0),
                "byId": client["ownerId"],
                "seconds": int((at - last["at"]).total_seconds()),
            }
        )
        if following.startswith("Closed"):
            break
    return steps


def make_leads(world: World) -> None:
    """About 310 leads; the converted ones stand behind clients and opportunities of this year."""
    recent = [
        each
        for each in world.records["Clients"]
        if (world.now - each["createdAt"]).days < 330 and each["status"] in ("Active", "Prospect")
    ]
    world.dice.shuffle(recent)
    for status, count in LEAD_STATES:
        for _ in range(count):
            if status == "Converted" and recent:
                _converted(world, recent.pop())
            elif status != "Converted":
                _lead(world, status)


def _lead(world: World, status: str) -> None:
    country = world.weighted([(each, each.weight) for each in vocabulary.COUNTRIES])
    industry = world.pick(vocabulary.INDUSTRIES)
    first = world.pick(vocabulary.FIRST_NAMES[country.code])
    last = world.pick(vocabulary.LAST_NAMES[country.code])
    has_company = world.chance(0.9)
    company = (
        f"{world.pick(vocabulary.STEMS)} {world.pick(industry.endings)}" if has_company else None
    )
    created_at = world.at(world.some_day(200 if status != "New" else 25, 0))
    changed = created_at if status == "New" else world.after(created_at, 4, 500)
    world.add(
        "Leads",
        firstName=first,
        lastName=last,
        company=company,
        jobTitle=world.pick(vocabulary.POSITIONS).title,
        email=f"{host_name(first)}.{host_name(last)}@{host_name(company or last)}.example",
        industry=industry.name,
        country=country.code,
        source=world.pick(LEAD_SOURCES),
        status=status,
        rating=world.weighted([("Hot", 2), ("Warm", 5), ("Cold", 4), (None, 2)]),
        score=world.dice.randint(5, 95),
        estimatedValue=money(world.between(1_000, 60_000), "100"),
        currency=country.currency,
        description=world.pick(vocabulary.LEAD_NOTES),
        nextActivityAt=world.now + timedelta(hours=world.dice.randint(-60, 400))
        if status in ("Contacted", "Nurturing", "Qualified")
        else None,
        disqualifyReason=world.pick(DISQUALIFY_REASONS) if status == "Disqualified" else None,
        statusChangedAt=changed,
        ownerId=world.employee("Sales"),
        createdAt=created_at,
        updatedAt=changed,
    )


def _converted(world: World, client: Record) -> None:
    contact = next(each for each in world.records["Contacts"] if each["clientId"] == client["id"])
    opportunity = next(
        (each for each in world.records["Opportunities"] if each["clientId"] == client["id"]), None
    )
    converted = client["createdAt"]
    lead = world.add(
        "Leads",
        firstName=contact["firstName"],
        lastName=contact["lastName"],
        company=client["name"],
        jobTitle=contact["jobTitle"],
        email=contact["email"],
        industry=client["industry"],
        country=client["billingAddress"]["country"],
        source=world.pick(LEAD_SOURCES),
        status="Converted",
        rating="Hot",
        score=world.dice.randint(70, 98),
        description=world.pick(vocabulary.LEAD_NOTES),
        convertedAt=converted,
        convertedById=client["ownerId"],
        convertedClientId=client["id"],
        convertedContactId=contact["id"],
        convertedOpportunityId=opportunity["id"] if opportunity else None,
        statusChangedAt=converted,
        ownerId=client["ownerId"],
        createdAt=converted - timedelta(days=world.dice.randint(3, 60)),
        updatedAt=converted,
    )
    client["originLeadId"] = lead["id"]
    if opportunity:
        opportunity["leadId"] = lead["id"]
