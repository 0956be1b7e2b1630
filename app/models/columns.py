"""Declaring columns: one call says the type, the meaning and the rule; everybody reads it there.

Whether a column may be null is what its annotation says: ``Mapped[str | None]``, ``Mapped[str]``;
the type is, too, of days, instants, whole numbers and what is true or not.

``info`` of a column carries the facets that the validation, the metadata and the constraints
share: ``allowed`` (values of an enumeration), ``minimum``, ``maximum``, ``maximum_length`` (where
the type has no length of its own), ``format``; ``any_case``: a value of ``allowed`` may be written
in capitals; ``lines``: the text may have several, however short; ``searchable``: ``contains`` on
it is indexed (app/models/indexes.py, app/models/searched.py); ``normal_form``: the column whose
form it holds and the kind (app/writing/normal_forms.py); ``computed``: the service sets it, and no
body does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, MetaData, UniqueConstraint
from sqlalchemy.orm import Mapped, MappedColumn, declared_attr, mapped_column

from app.db.partial_index import partial_index
from app.db.types import MONEY_SCALE, ExactDecimal, Identifier, JsonText, string
from app.extensions import Model

# In any currency: three digits are kept, the third is written where it is not 0 (docs/adr/0014).
Money = ExactDecimal(16, MONEY_SCALE, least=2)
Percent = ExactDecimal(5, 2)
_LONGEST_ALLOWED = 20  # letters of a value of an enumeration


def column(
    doc: str,
    type_: Any = None,
    *,
    default: Any = None,
    allowed: Iterable[str] | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    maximum_length: int | None = None,
    format: str | None = None,
    any_case: bool = False,
    lines: bool = False,
    searchable: bool = False,
    computed: bool = False,
    **options: Any,
) -> MappedColumn[Any]:
    """A mapped column with its description and its facets.

    Args:
        type_: where neither its annotation says it, as ``Mapped[date]`` does, nor ``allowed``:
            an enumeration is a short text.
    """
    if allowed is not None and type_ is None:
        type_ = string(_LONGEST_ALLOWED)
    info = {
        "allowed": tuple(allowed) if allowed is not None else None,
        "minimum": minimum,
        "maximum": maximum,
        "maximum_length": maximum_length,
        "format": format,
        "any_case": any_case or None,
        "lines": lines or None,
        "searchable": searchable or None,
        "computed": computed or None,
    }
    return mapped_column(
        type_,
        doc=doc,
        default=default,
        info={name: value for name, value in info.items() if value is not None},
        **options,
    )


# Kind of a normal form -> its longest text.
_LONGEST_FORM = {"email": 600, "tax_id": 100, "phone": 64}


def form_of(name: str, kind: str, *, index: bool = False) -> MappedColumn[Any]:
    """A column with the normal form of the column ``name``."""
    return mapped_column(
        string(_LONGEST_FORM[kind]),
        doc=f"Normal form of {name}.",
        index=index,
        info={"normal_form": (name, kind)},
    )


def is_money(col: Column[Any]) -> bool:
    """Whether a column keeps an amount of money, whose digits are those of its currency."""
    return isinstance(col.type, ExactDecimal) and col.type.least < col.type.scale


def foreign_key(
    table: str,
    doc: str,
    *,
    ondelete: str | None = None,
    index: bool = True,
    sparse: bool = False,
    closes_circle: bool = False,
    computed: bool = False,
) -> MappedColumn[Any]:
    """A foreign key to ``table``; indexed, because lists go along it.

    Args:
        sparse: few rows have one, and the index holds those only (docs/adr/0027).
        closes_circle: ``table`` refers back to this one and is made after it.
    """
    return mapped_column(
        Identifier,
        ForeignKey(f"{table}.id", ondelete=ondelete, use_alter=closes_circle),
        doc=doc,
        index=index and not sparse,
        info={name: True for name, is_so in (("sparse", sparse), ("computed", computed)) if is_so},
    )


class Record(Model):
    """A row with a key, and the instant it was made."""

    __abstract__ = True

    id: Mapped[int] = mapped_column(
        Identifier, primary_key=True, autoincrement=True, doc="Key, given by the service."
    )
    created_at: Mapped[datetime] = column("When the record was created, UTC.")


class Entity(Record):
    """What the ten entities share (contract section 9, "Common to all ten")."""

    __abstract__ = True

    version: Mapped[int] = column(
        "Row version; grows by one with every change.", Identifier, default=1
    )
    updated_at: Mapped[datetime] = column("When the record last changed, UTC.", index=True)
    external_id: Mapped[str | None] = column(
        "Identifier of this record in another system; unique within the set.", string(100)
    )
    tags: Mapped[list[str]] = column(
        "Free labels, at most 20 of 50 characters.", JsonText(), default=[]
    )
    custom_fields: Mapped[dict[str, Any]] = column(
        "Fields of your own: an object of at most 20 KB.", JsonText(), default={}
    )
    created_by_id: Mapped[int | None] = foreign_key("users", "User who created the record.")
    updated_by_id: Mapped[int | None] = foreign_key(
        "users", "User who last changed the record.", index=False
    )
    owner_id: Mapped[int | None] = foreign_key(
        "users", "User responsible for the record; the caller when not given."
    )

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:
        return entity_args()


def entity_args(*more: Any) -> tuple[Any, ...]:
    """``__table_args__`` of an entity: unique external id; lists go along ``created_at``, too.

    What is unique on PostgreSQL is an index, see ``add_sparse_indexes``.
    """
    unique = UniqueConstraint("external_id").ddl_if(dialect="sqlite")
    return (unique, *more, Index(None, "created_at"))


def give_keys_once(metadata: MetaData) -> None:
    """Let SQLite give the key of a deleted row to no other; called once, after the last model.

    A repeated request, a link, an entry of the audit log would else mean another record; the
    sequences of PostgreSQL never go back.
    """
    for table in metadata.tables.values():
        if table.autoincrement_column is not None:
            table.dialect_options["sqlite"]["autoincrement"] = True


def add_sparse_indexes(metadata: MetaData) -> None:
    """Add the indexes that leave out the rows without a value; called once, after the last model.

    PostgreSQL enters a changed row into each index of the table that takes it, null or not; SQLite
    does so for a new row, and would have to make the tables anew to lose a constraint.
    """
    for table in metadata.tables.values():
        for col in table.columns:
            is_set = f"{col.name} IS NOT NULL"
            if col.info.get("sparse"):
                partial_index(f"ix_{table.name}_{col.name}", col, where=is_set)
            elif col.name == "external_id":
                name = f"uq_{table.name}_{col.name}"
                unique = partial_index(name, col, where=is_set, on_sqlite="", unique=True)
                unique.ddl_if(dialect="postgresql")


def add_checks(metadata: MetaData) -> None:
    """Turn the facets of all columns into CHECK constraints; called once, after the last model."""
    for table in metadata.tables.values():
        for col in table.columns:
            for name, dialect, condition in checks(col):
                constraint = CheckConstraint(condition, name=name)
                if dialect:
                    constraint.ddl_if(dialect=dialect)
                table.append_constraint(constraint)


def checks(col: Column[Any]) -> Iterable[tuple[str, str | None, str]]:
    """``(name, dialect or None for both, SQL)`` of the constraints that the facets ask for."""
    if allowed := col.info.get("allowed"):
        values = ", ".join(f"'{value}'" for value in allowed)
        yield f"{col.name}_allowed", None, f"{col.name} IN ({values})"
    bounds = [(">=", col.info.get("minimum")), ("<=", col.info.get("maximum"))]
    limits = [(sign, bound) for sign, bound in bounds if bound is not None]
    if not limits:
        return
    scale = col.type.scale if isinstance(col.type, ExactDecimal) else 0
    if scale and any(given_bound for _, given_bound in limits):
        # SQLite keeps a scaled integer, so the bound is scaled there too.
        yield f"{col.name}_range", "postgresql", _range(col.name, limits, 0)
        yield f"{col.name}_range", "sqlite", _range(col.name, limits, scale)
    else:
        yield f"{col.name}_range", None, _range(col.name, limits, 0)


def _range(name: str, bounds: list[tuple[str, int]], scale: int) -> str:
    return " AND ".join(f"{name} {sign} {Decimal(bound).scaleb(scale):f}" for sign, bound in bounds)
