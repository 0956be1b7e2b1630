"""What can be searched for: of each kind the fields, the title, and what an item shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of record.

    ``fields``: name on the wire -> columns that are shown as one text, and what a match in it
    counts, in the order in which the table is indexed (app/models/searched.py). The first that is
    not empty is the title. ``record`` are the properties that an item shows; ``subtitle`` makes a
    line of them.
    """

    name: str
    entity: str
    table: str
    fields: Mapping[str, tuple[tuple[str, ...], float]]
    titles: tuple[str, ...]
    record: tuple[str, ...]
    subtitle: Callable[[Mapping[str, Any]], str | None]

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the fields."""
        return tuple(name for columns, _ in self.fields.values() for name in columns)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="client",
            entity="Client",
            table="clients",
            fields={
                "name": (("name",), 1.0),
                "legalName": (("legal_name",), 0.9),
                "email": (("email",), 0.85),
                "taxId": (("tax_id",), 0.85),
                "number": (("number",), 0.85),
                "phone": (("phone",), 0.85),
            },
            titles=("name",),
            record=("name", "email", "taxId", "status"),
            subtitle=lambda record: record["email"] or record["taxId"],
        ),
        Kind(
            name="contact",
            entity="Contact",
            table="contacts",
            fields={
                "fullName": (("first_name", "last_name"), 1.0),
                "email": (("email",), 0.85),
                "phone": (("phone",), 0.85),
                "mobile": (("mobile",), 0.85),
            },
            titles=("fullName",),
            record=("fullName", "email", "phone", "jobTitle", "clientId"),
            subtitle=lambda record: record["jobTitle"] or record["email"],
        ),
        Kind(
            name="lead",
            entity="Lead",
            table="leads",
            fields={
                "company": (("company",), 1.0),
                "fullName": (("first_name", "last_name"), 1.0),
                "email": (("email",), 0.85),
                "taxId": (("tax_id",), 0.85),
                "phone": (("phone",), 0.85),
            },
            titles=("company", "fullName"),
            record=("company", "fullName", "email", "taxId", "status"),
            subtitle=lambda record: (record["company"] and record["fullName"]) or record["email"],
        ),
        Kind(
            name="opportunity",
            entity="Opportunity",
            table="opportunities",
            fields={"name": (("name",), 1.0)},
            titles=("name",),
            record=("name", "stage", "amount", "currency", "clientId"),
            subtitle=lambda record: record["stage"],
        ),
    )
}
