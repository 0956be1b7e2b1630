"""Opportunities: sales on their way through the stages of a pipeline."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from app.crm.clients import CLIENTS, touch_client, usual_currency
from app.db import records
from app.models.client import Client
from app.models.opportunity import STAGES, Opportunity, StageChange
from app.money import rounded
from app.writing.change import Change
from app.writing.fields import MONEY_LIMIT
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import OPPORTUNITY as OPPORTUNITY_STAGES

STATUS_OF_STAGE = {"ClosedWon": "Won", "ClosedLost": "Lost"}
_EVENTS = {"ClosedWon": "opportunity.won", "ClosedLost": "opportunity.lost"}
_LOST = ("lost_reason", "lost_notes")

OPPORTUNITY = EntityRules(
    model=Opportunity,
    filled=frozenset(("currency", "probability")),
)


class OpportunityService(EntityService[Opportunity]):
    """Writes of opportunities."""

    rules = OPPORTUNITY
    machine = OPPORTUNITY_STAGES

    def defaults(self, change: Change[Opportunity]) -> None:
        """In the client's currency, with the probability of the stage."""
        change.stamp(stage_changed_at=_entered(change))
        change.default("stage", "Prospecting")
        if "currency" not in change.values:
            change.values["currency"] = usual_currency(change)

    def check(self, change: Change[Opportunity]) -> None:
        """What is said of a loss fits the stage."""
        stage = change.get("stage")
        if change.is_refused("stage"):
            return
        if stage != "ClosedLost":
            for name in _LOST:
                if name in change.named and change.values.get(name) is not None:
                    change.refuse(name, "is only for an opportunity that is ClosedLost")
        elif change.changes("stage", *_LOST) and not change.is_refused("lost_reason"):
            if change.get("lost_reason") is None:
                change.refuse("lost_reason", "is required to close an opportunity as lost")
            elif change.get("lost_reason") == "Other" and change.get("lost_notes") is None:
                change.refuse("lost_notes", "is required when lostReason is Other")
        if stage in STATUS_OF_STAGE and "probability" in change.named:
            fixed = STAGES[stage]
            if change.values.get("probability", fixed) != fixed:
                change.refuse("probability", f"is {fixed} for {stage}")

    def enter(self, change: Change[Opportunity], source: str | None, target: str) -> None:
        """Won, lost or open again; the probability follows the stage unless it was given."""
        if "probability" not in change.named:
            change.values["probability"] = STAGES[target]
        change.values["status"] = STATUS_OF_STAGE.get(target, "Open")
        at = change.now if source else change.values["stage_changed_at"]
        change.stamp(closed_at=at if target in STATUS_OF_STAGE else None)
        if target in _EVENTS:
            change.events.append(_EVENTS[target])
        if source is None:
            return
        change.values["previous_stage"] = source
        change.values["stage_changed_at"] = change.now
        change.events.insert(0, "opportunity.stage_changed")
        if source in STATUS_OF_STAGE:
            change.events.append("opportunity.reopened")
            change.values.update(dict.fromkeys(_LOST))

    def prepare(self, change: Change[Opportunity]) -> None:
        """The amounts that follow: weighted by the probability, and in the own currency."""
        if not change.changes("amount", "probability", "currency"):
            return
        amount: Decimal = change.get("amount")
        currency, settings = change.get("currency"), change.settings
        weighted = rounded(amount * change.get("probability") / 100, currency)
        change.values["weighted_amount"] = weighted
        if change.changes("currency"):
            change.stamp(exchange_rate=settings.exchange_rate(currency))
        base_amount = rounded(amount * change.get("exchange_rate"), settings.defaults.currency)
        if base_amount >= MONEY_LIMIT:
            change.refuse("amount", "is too large in the currency of the organisation")
        change.values["base_amount"] = base_amount

    def written(self, change: Change[Opportunity]) -> None:
        """The history of stages, and what a win means for the client."""
        if not change.changes("stage"):
            return
        _note_stage(change)
        client_id = change.get("client_id")
        if change.get("stage") == "ClosedWon":
            client = records.read(Client, client_id, lock=True)
            if client is not None and client.status == "Prospect":
                CLIENTS.apply(client_id, {"status": "Active"}, "client.status_changed")
        touch_client(client_id, change.now)


def _entered(change: Change[Opportunity]) -> datetime:
    """When a new opportunity came to its stage."""
    steps = [step["at"] for step in change.values.get("stage_changes") or ()]
    last = change.get("closed_at") or change.get("created_at") or change.now
    return max(steps, default=last)


def _note_stage(change: Change[Opportunity]) -> None:
    before = change.was("stage_changed_at")
    records.insert(
        StageChange,
        {
            "created_at": change.now,
            "opportunity_id": change.key,
            "from_stage": change.was("stage"),
            "to_stage": change.get("stage"),
            "at": change.now,
            "by_id": change.user_id,
            "seconds": None if before is None else int((change.now - before).total_seconds()),
        },
    )


OPPORTUNITIES = OpportunityService()
