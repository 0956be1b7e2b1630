"""Leads: possible customers, until they are converted or disqualified."""

from __future__ import annotations

from app.models.lead import Lead
from app.writing.change import Change
from app.writing.operations import DELETE, UPDATE, require_operation
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import LEAD as LEAD_STATES

LEAD = EntityRules(
    model=Lead,
    filled=frozenset(("status_changed_at",)),
)

_REASON = ("disqualify_reason", "disqualify_notes")


class LeadService(EntityService[Lead]):
    """Writes of leads."""

    rules = LEAD
    machine = LEAD_STATES

    def defaults(self, change: Change[Lead]) -> None:
        """The status was entered now."""
        change.stamp(status_changed_at=change.get("converted_at") or change.now)

    def check(self, change: Change[Lead]) -> None:
        """A lead has a name, and a reason only when it is disqualified."""
        # A step to another state has the state machine's answer.
        if change.before is not None and change.named != {"status"}:
            require_operation("Lead", "lead", UPDATE, change.before)
        nameless = change.get("last_name") is None and change.get("company") is None
        if nameless and change.concerns("last_name", "company"):
            change.refuse("last_name", "is required where there is no company")
        if change.get("status") != "Disqualified" and not change.is_refused("status"):
            for name in _REASON:
                if name in change.named and change.values.get(name) is not None:
                    change.refuse(name, "is only for a lead that is Disqualified")

    def enter(self, change: Change[Lead], source: str | None, target: str) -> None:
        """Note when the status changed, and why a lead was given up."""
        if source is None:
            return
        change.values["status_changed_at"] = change.now
        change.events.append("lead.status_changed")
        if target == "Disqualified":
            change.events.append("lead.disqualified")
        if source == "Disqualified":
            change.values.update(dict.fromkeys(_REASON))

    def prepare(self, change: Change[Lead]) -> None:
        """A disqualified lead has a reason."""
        if change.get("status") == "Disqualified" and change.get("disqualify_reason") is None:
            change.refuse("disqualify_reason", "is required for a lead that is Disqualified")

    def deleting(self, lead: Lead) -> None:
        """A converted lead is where its client came from."""
        require_operation("Lead", "lead", DELETE, lead)


LEADS = LeadService()
