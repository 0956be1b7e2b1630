"""The pipeline in figures: what is open in which stage, what was won and lost, how long it took.

Everything is aggregated by the query engine, so the caller's row filter holds. Amounts are in the
organisation's currency; what has no exchange rate is told apart (docs/adr/0034).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from app.clock import day_after, utc_now
from app.container import engine
from app.db.types import iso_instant
from app.http.security import current_caller
from app.models.opportunity import STAGES
from app.money import ZERO, rounded
from app.odata.syntax.literals import quoted
from app.permissions import OWN, require, scope_of
from app.settings import organisation
from app.settings.days import start_of, today
from app.writing.transitions import STAGE_OPEN

Row = Mapping[str, Any]
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which opportunities: open ones by expected close, closed ones by the day they were closed."""

    start: date | None = None
    end: date | None = None
    owner_id: int | None = None
    pipeline: str | None = None


def pipeline_summary(selection: Selection) -> dict[str, Any]:
    """The body of contract 11.1: every stage, also the empty ones.

    Raises: ForbiddenError.
    """
    caller = current_caller()
    require(caller, "pipeline:read")
    base = organisation().defaults.currency
    own = caller.user_id if scope_of(caller, "pipeline:read") == OWN else None
    chosen = f"filter({_filter(selection, own)})"
    counted = f"{chosen}/filter(exchangeRate gt 0)"
    won = f"{counted}/filter(status eq 'Won')"
    stays = _read(
        f"{chosen}/join(StageHistory as step)/filter(step/from ne null)"
        "/groupby((step/from),aggregate(step/seconds with sum as seconds,$count as stays))"
    )
    running = _read(
        f"{chosen}/filter(status eq 'Open')"
        "/compute(totalseconds(now() sub stageChangedAt) as since)"
        "/groupby((stage),aggregate(since with sum as seconds,$count as stays))"
    )
    days = _days_in_stage(stays, running)
    amounts = _by_stage(
        _read(
            f"{counted}/groupby((stage),aggregate($count as number,"
            "BasePipeline,BaseWeightedPipeline,BaseWon,BaseLost))"
        ),
        base,
    )
    overdue = _read(
        f"{counted}/filter(status eq 'Open' and closeDate lt {today()})/aggregate($count as number)"
    )
    closing = _read(
        f"{won}/compute(totalseconds(closedAt sub createdAt) as took)"
        "/aggregate(took with sum as seconds,$count as number)"
    )
    excluded = _read(
        f"{chosen}/filter(exchangeRate eq 0)"
        "/groupby((currency),aggregate($count as number,DealValue as total))"
    )
    return {
        "currency": base,
        "asOf": iso_instant(utc_now()),
        "period": {"from": selection.start, "to": selection.end},
        "stages": [
            {
                "stage": stage,
                "probability": probability,
                "count": amounts[stage].count,
                "amount": amounts[stage].amount,
                "weightedAmount": amounts[stage].weighted,
                "averageDaysInStage": days.get(stage),
            }
            for stage, probability in STAGES.items()
        ],
        "totals": _totals(amounts, base)
        | {
            "averageDaysToClose": _average_days(closing),
            "overdueCount": overdue[0]["number"] if overdue else 0,
        },
        "excluded": [
            {
                "currency": row["currency"],
                "count": row["number"],
                "amount": _money(row["total"], row["currency"]),
            }
            for row in sorted(excluded, key=lambda row: str(row["currency"]))
        ],
    }


@dataclass
class _Sum:
    """Opportunities of one stage."""

    count: int = 0
    amount: Decimal = ZERO
    weighted: Decimal = ZERO


def _by_stage(rows: Iterable[Row], base: str) -> dict[str, _Sum]:
    """The opportunities of a stage are all open, all won or all lost."""
    sums = {stage: _Sum() for stage in STAGES}
    for row in rows:
        won = _money(row["BaseWon"], base)
        amount = _money(row["BasePipeline"], base) + won + _money(row["BaseLost"], base)
        weighted = _money(row["BaseWeightedPipeline"], base) + won
        sums[row["stage"]] = _Sum(row["number"], amount, weighted)
    return sums


def _totals(sums: Mapping[str, _Sum], base: str) -> dict[str, Any]:
    open_sums = [sums[stage] for stage in STAGE_OPEN]
    won, lost = sums["ClosedWon"], sums["ClosedLost"]
    closed = won.count + lost.count
    return {
        "openCount": sum(stage.count for stage in open_sums),
        "openAmount": sum((stage.amount for stage in open_sums), ZERO),
        "weightedAmount": sum((stage.weighted for stage in open_sums), ZERO),
        "wonCount": won.count,
        "wonAmount": won.amount,
        "lostCount": lost.count,
        "lostAmount": lost.amount,
        "winRate": round(Decimal(won.count) / closed, 4) if closed else None,
        "averageDealSize": _money(won.amount / won.count, base) if won.count else None,
    }


def _days_in_stage(stays: Iterable[Row], running: Iterable[Row]) -> dict[str, Decimal]:
    """Average days of all stays in an open stage, those that go on counted until now."""
    seconds: dict[str, Decimal] = {}
    number: dict[str, int] = {}
    staged = [(row["step"]["from"], row) for row in stays]
    staged += [(row["stage"], row) for row in running]
    for stage, row in staged:
        if stage in STAGE_OPEN and row["seconds"] is not None:
            seconds[stage] = seconds.get(stage, Decimal(0)) + Decimal(str(row["seconds"]))
            number[stage] = number.get(stage, 0) + row["stays"]
    return {stage: _days(seconds[stage], number[stage]) for stage in seconds}


def _average_days(rows: list[Row]) -> Decimal | None:
    if not rows or not rows[0]["number"] or rows[0]["seconds"] is None:
        return None
    return _days(Decimal(str(rows[0]["seconds"])), rows[0]["number"])


def _days(seconds: Decimal, number: int) -> Decimal:
    return round(max(seconds, Decimal(0)) / number / _SECONDS_A_DAY, 1)


def _money(value: Any, currency: str) -> Decimal:
    return rounded(Decimal(str(value or 0)), currency)


def _filter(selection: Selection, own: int | None) -> str:
    conditions = ["id gt 0"]
    if (start := selection.start) is not None:
        expected = f"status eq 'Open' and closeDate ge {start}"
        closed = f"status ne 'Open' and closedAt ge {iso_instant(start_of(start))}"
        conditions.append(f"({expected} or {closed})")
    if (end := selection.end) is not None:
        expected = f"status eq 'Open' and closeDate le {end}"
        closed = f"status ne 'Open' and closedAt lt {iso_instant(start_of(day_after(end)))}"
        conditions.append(f"({expected} or {closed})")
    owners = (selection.owner_id, own)
    conditions += [f"ownerId eq {owner}" for owner in owners if owner is not None]
    if selection.pipeline is not None:
        conditions.append(f"pipeline eq {quoted(selection.pipeline)}")
    return " and ".join(conditions)


def _read(apply: str) -> list[Row]:
    """The rows of an aggregation, as the caller may see them."""
    return list(engine.read_many("Opportunities", apply=apply))
