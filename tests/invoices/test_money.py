"""Money is exact: sums over many payments and comparisons of amounts, on both databases."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import func, select

from app.clock import utc_now
from app.db import records
from app.http.security import Caller
from app.models.invoice import Payment
from tests.factories import make_client, make_issued_invoice, stored, today

_PAYMENT = Payment.__table__
LARGEST = 999_999_999_999_999  # cents of a Decimal(15,2)


@pytest.mark.requirement("RACE-05")
@pytest.mark.costly(2)
@pytest.mark.parametrize("payments", [10_000, 100_000])
def test_many_payments_add_up_to_the_cent(admin: Caller, payments: int) -> None:
    invoice_id = make_issued_invoice()
    chance = random.Random(7)
    cents = [chance.randint(1, 10 ** (1 + n % 12)) for n in range(payments)]
    fixed = {
        "created_at": utc_now(), "invoice_id": invoice_id, "currency": "EUR",
        "client_id": stored("Invoice", invoice_id)["client_id"], "paid_on": today(),
        "method": "transfer",
    }  # fmt: skip
    records.insert_all(
        _PAYMENT,
        [
            fixed | {"number": f"PAY-{place}", "amount": Decimal(value).scaleb(-2)}
            for place, value in enumerate(cents)
        ],
    )
    run = records.connection().execute
    amount = _PAYMENT.c.amount
    assert run(select(func.sum(amount))).scalar_one() == Decimal(sum(cents)).scaleb(-2)
    for value in random.Random(8).sample(cents, 25):
        exact = Decimal(value).scaleb(-2)
        for condition, count in (
            (amount == exact, sum(other == value for other in cents)),
            (amount < exact, sum(other < value for other in cents)),
            (amount >= exact, sum(other >= value for other in cents)),
        ):
            found = run(select(func.count()).where(condition)).scalar_one()
            assert found == count


@settings(
    max_examples=2 * settings().max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cents=st.integers(0, LARGEST))
def test_an_amount_is_kept_to_the_cent(admin: Caller, cents: int) -> None:
    amount = Decimal(cents).scaleb(-2)
    row = stored("Client", make_client(revenue=amount))
    assert row["revenue"] == amount
    assert row["revenue"].as_tuple() == amount.as_tuple()
