"""E-mail addresses, tax and telephone numbers have normal forms (docs/adr/0017)."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from app.db.types import string
from app.models import searched
from app.writing.normal_forms import email_form, phone_form, tax_id_form
from migrations import search_index

revision = "0033"
down_revision = "0032"

EMAIL = ("email_form", 600, "email")
TAX_ID = ("tax_id_form", 100, "tax_id")
PHONE = ("phone_form", 64, "phone")
MOBILE = ("mobile_form", 64, "mobile")
COLUMNS = {
    "clients": (EMAIL, TAX_ID, PHONE),
    "contacts": (EMAIL, PHONE, MOBILE),
    "leads": (EMAIL, TAX_ID, PHONE),
}
INDEXED = (("clients", "email_form"), ("clients", "tax_id_form"), ("contacts", "email_form"))
BEFORE: dict[str, searched.Fields] = {
    "clients": (("name",), ("legal_name",), ("email",), ("tax_id",), ("number",)),
    "contacts": (("first_name", "last_name"), ("email",)),
    "leads": (("company",), ("first_name", "last_name"), ("email",), ("tax_id",)),
}
FIELDS: dict[str, searched.Fields] = {
    "clients": (
        ("name",), ("legal_name",), ("email",), ("tax_id", "tax_id_form"), ("number",),
        ("phone_form",),
    ),
    "contacts": (("first_name", "last_name"), ("email",), ("phone_form",), ("mobile_form",)),
    "leads": (
        ("company",), ("first_name", "last_name"), ("email",), ("tax_id", "tax_id_form"),
        ("phone_form",),
    ),
}  # fmt: skip
BATCH = 1000


def upgrade() -> None:
    connection = op.get_bind()
    for table, columns in COLUMNS.items():
        for name, length, _ in columns:
            op.add_column(table, sa.Column(name, string(length), nullable=True))
    country = _country(connection)
    for table in COLUMNS:
        _fill(connection, table, country)
    for table, name in INDEXED:
        op.create_index(f"ix_{table}_{name}", table, [name])
    search_index.change_fields(connection, FIELDS)


def downgrade() -> None:
    search_index.change_fields(op.get_bind(), BEFORE)
    for table, name in INDEXED:
        op.drop_index(f"ix_{table}_{name}", table)
    for table, columns in COLUMNS.items():
        for name, _, _ in columns:
            op.drop_column(table, name)


def _country(connection: sa.Connection) -> str | None:
    """Where numbers without a country are dialled."""
    value = connection.scalar(sa.text("SELECT value FROM settings WHERE name = 'seller'"))
    seller = json.loads(value) if isinstance(value, str) else value or {}
    country = seller.get("country")
    return str(country) if country else None


def _fill(connection: sa.Connection, table: str, country: str | None) -> None:
    names = [of for _, _, of in COLUMNS[table]]
    rows = sa.table(table, sa.column("id"), *(sa.column(name) for name, _, _ in COLUMNS[table]),
                    *map(sa.column, names))  # fmt: skip
    given = sa.or_(*(rows.c[name].is_not(None) for name in names))
    change = rows.update().where(rows.c.id == sa.bindparam("row_id")).values(
        {name: sa.bindparam(f"new_{name}") for name, _, _ in COLUMNS[table]}
    )  # fmt: skip
    after = 0
    while True:
        columns = [rows.c.id, *(rows.c[name] for name in names)]
        batch = connection.execute(
            sa.select(*columns).where(given, rows.c.id > after).order_by(rows.c.id).limit(BATCH)
        ).mappings().all()  # fmt: skip
        if not batch:
            return
        values = [
            {"row_id": row["id"]}
            | {f"new_{name}": _form(of, row[of], country) for name, _, of in COLUMNS[table]}
            for row in batch
        ]
        connection.execute(change, values)
        after = batch[-1]["id"]


def _form(of: str, text: str | None, country: str | None) -> str | None:
    if text is None:
        return None
    if of == "email":
        return email_form(text)
    return tax_id_form(text) if of == "tax_id" else phone_form(text, country)
