"""Settings of the organisation: defaults, changes that count at once, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import event

from app.errors import ForbiddenError, NotFoundError, ValidationError
from app.extensions import db
from app.http.security import Caller, acting_as
from app.models.event import AuditRecord
from app.settings import organisation, save_settings
from tests.business import admin
from tests.factories import make_user, rows

__all__ = ["admin"]


def test_nothing_need_be_set(admin: Caller) -> None:
    settings = organisation()
    assert (settings.defaults.currency, settings.defaults.tax_rate) == ("EUR", Decimal("19.00"))
    assert settings.seller.name
    assert settings.exchange_rate("EUR") == 1
    assert settings.exchange_rate("USD") == 0


def test_a_change_counts_at_once_and_is_audited(admin: Caller) -> None:
    save_settings("defaults", {"taxRate": Decimal("7.7"), "timeZone": "Europe/Zurich"})
    save_settings("exchangeRates", {"USD": Decimal("0.912345")})
    settings = organisation()
    assert (settings.defaults.tax_rate, settings.defaults.time_zone) == (
        Decimal("7.7"), "Europe/Zurich",
    )  # fmt: skip
    assert settings.exchange_rate("USD") == Decimal("0.912345")
    save_settings("defaults", {"currency": "CHF"})
    assert organisation().defaults.tax_rate == Decimal("19.00")
    assert [row["action"] for row in rows(AuditRecord, entity="Setting")] == [
        "settings.updated"
    ] * 3


@pytest.mark.parametrize(
    ("group", "values", "field"),
    [
        ("defaults", {"taxRate": "high"}, "taxRate"),
        ("defaults", {"taxRate": -1}, "taxRate"),
        ("defaults", {"colour": "red"}, "colour"),
        ("exchangeRates", {"USD": "NaN"}, "USD"),
    ],
)
def test_what_is_no_setting_is_refused(
    admin: Caller, group: str, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        save_settings(group, values)
    assert [detail.field for detail in refused.value.details] == [field]


def test_only_administrators_change_settings(admin: Caller) -> None:
    with pytest.raises(NotFoundError):
        save_settings("colours", {})
    with acting_as(make_user("Manager")), pytest.raises(ForbiddenError):
        save_settings("seller", {"name": "Mine"})


def test_a_transaction_reads_them_once_and_forgets_what_a_savepoint_takes_back(
    admin: Caller,
) -> None:
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert organisation().defaults.tax_rate == organisation().defaults.tax_rate == Decimal(19)
    assert len([text for text in statements if "FROM settings" in text]) == 1
    savepoint = db.session.begin_nested()
    save_settings("defaults", {"taxRate": Decimal("7.7")})
    assert organisation().defaults.tax_rate == Decimal("7.7")
    savepoint.rollback()
    assert organisation().defaults.tax_rate == Decimal("19.00")
    save_settings("defaults", {"taxRate": Decimal("8.1")})
    db.session.rollback()
    assert organisation().defaults.tax_rate == Decimal("19.00")
