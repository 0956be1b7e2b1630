"""The requests of the measurement, and what each may cost beside CAP.

The same eight as the peers' ``measure.py``, with ``$select`` on both sides: our entities have more
properties than the rival's, and nobody should pay for more than is compared. Writes answer with
the whole record on both sides, ours with three times as many properties.
"""

from __future__ import annotations

from dataclasses import dataclass

CLIENT = "id,name,email,taxId,status,revenue,createdAt"
CONTACT = "id,clientId,firstName,lastName,email,phone"
INVOICE = "id,clientId,number,status,issueDate,dueDate,currency,total"
LINE = "id,invoiceId,position,description,quantity,unitPrice,taxRate"


def paths(amount: str) -> dict[str, str | list[str]]:
    """Workload -> path, or method and path; ``amount`` is the server's name of a line's total."""
    lines = f"LineItems($select={LINE},{amount})"
    expand = f"Contacts($select={CONTACT}),Invoices($select={INVOICE};$expand={lines})"
    filter_ = "status eq 'Active' and contains(name,'acme')"
    return {
        "W1": f"/Clients?$filter={filter_}&$orderby=revenue desc,name&$top=50&$select={CLIENT}",
        "W2": f"/Clients?$top=20&$orderby=id&$select={CLIENT}&$expand={expand}",
        "W3": f"/Clients({{id}})?$select={CLIENT}",
        "W4": "/Clients/$count?$filter=revenue gt 100000",
        "W5": "/Clients?$select=name,email,status,revenue&$orderby=id&$top=1000",
        "W6": ["POST", "/Clients"],
        "W7": ["PATCH", "/Clients({id})"],
        "W8": f"/Clients?$count=true&$orderby=id&$skip=50000&$top=50&$select={CLIENT}",
    }


OURS = paths("lineTotal")
PEER = paths("amount")


@dataclass(frozen=True)
class Budget:
    """At most this part of CAP's CPU time for a request."""

    about: str
    sqlite: float
    postgresql: float

    def on(self, database: str) -> float:
        """The budget on the database of that name."""
        return self.sqlite if database == "SQLite" else self.postgresql


BUDGETS = {
    "W1": Budget("filter, contains, sort, top 50", 0.25, 0.45),
    "W2": Budget("nested expand", 0.25, 0.30),
    "W3": Budget("point read", 0.60, 0.85),
    "W4": Budget("filtered count", 0.75, 1.0),
    "W5": Budget("1000 rows, 4 fields", 0.30, 0.20),
    "W6": Budget("create", 0.80, 1.0),
    "W7": Budget("patch one field", 0.80, 1.0),
    "W8": Budget("count with deep skip", 0.30, 0.55),
}
