"""The board of opportunities: a column for each stage, between which deals are moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from flask import Response, request

from app.clock import utc_now
from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.language import translated
from app.console.numbers import amount_text, number_text, read_typed
from app.console.wording import words
from app.container.engine import ask
from app.db.types import iso_instant
from app.errors import ApiError, NotFoundError
from app.http.security import current_caller, requires
from app.measures import MEASURES, Figures, converted, figures
from app.models.opportunity import LOST_REASONS, STAGES
from app.money import digits, rounded, written
from app.settings import organisation
from app.settings.days import today

# Cards of a stage, and of one where deals end; whoever wants the others goes on in the list.
CARDS, ENDED_CARDS = 25, 5
# How far back deals are shown that were won or lost.
RECENT_DAYS = 30
ADDRESS = f"{session.ROOT}/opportunities/board"
CLOSING = {"ClosedWon": "Won", "ClosedLost": "Lost"}
_SHOWN = (
    "id,name,amount,currency,closeDate,nextStep,ownerId,stage,allowedActions,probability,status"
)


@dataclass(frozen=True)
class Column:
    """A stage with its deals; ``amount`` in the currency of the organisation.

    ``apart`` are amounts in currencies without an exchange rate, ``more`` the deals that have no
    card here.
    """

    stage: str
    count: int
    amount: Decimal
    apart: Mapping[str, Decimal]
    deals: Sequence[Mapping[str, Any]]
    more: str

    @property
    def is_closing(self) -> bool:
        """Whether deals end here: what is shown is of the last days."""
        return self.stage in CLOSING


@console.get("/opportunities/board")
@requires("opportunities:read")
def show_board() -> Response:
    """Every stage with its deals."""
    return _board()


@console.post("/opportunities/board")
@requires("opportunities:read")
def move_deal() -> Response:
    """Move a deal to another stage; one that ends is asked for its reason first."""
    session.check_form()
    key, stage = request.form.get("key", ""), request.form.get("stage", "")
    if not key.isdecimal() or stage not in STAGES:
        raise NotFoundError(translated("There is no such deal or stage."))
    if stage in CLOSING:
        return see_other(f"{session.ROOT}/opportunities/{key}/close/{stage}")
    before = engine.read(f"Opportunities({key})", select="stage").body["stage"]
    try:
        deal = _set(int(key), {"stage": stage})
    except ApiError as error:
        return _board(error)
    session.say(f"{deal['name']}: {words(stage)}.")
    return see_other(f"{ADDRESS}?moved={key}&from={before}#deal-{key}")


@console.get("/opportunities/<int:key>/close/<stage>")
@requires("opportunities:update")
def show_closing(key: int, stage: str) -> Response:
    """Ask what a deal ended with."""
    return _closing(key, stage)


@console.post("/opportunities/<int:key>/close/<stage>")
@requires("opportunities:update")
def close_deal(key: int, stage: str) -> Response:
    """Win or lose a deal."""
    session.check_form()
    try:
        deal = _set(key, {"stage": stage, **_ending(key, stage)})
    except ApiError as error:
        return _closing(key, stage, error)
    amount = amount_text(Decimal(str(deal["amount"])), deal["currency"])
    session.say(f"{deal['name']}: {CLOSING[stage]}, {amount}.")
    return see_other(f"{ADDRESS}?moved={key}#deal-{key}")


def _set(key: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """Change a deal as the page showed it; returns what it is now."""
    version = request.form.get("version")
    body: dict[str, Any] = ask("PATCH", f"Opportunities({key})", body=values, version=version).body
    return body


def _ending(key: int, stage: str) -> dict[str, Any]:
    """What the form says of the end.

    Raises: NotFoundError, no deal ends there; ValidationError, the amount is no number.
    """
    if stage not in CLOSING:
        raise NotFoundError(translated("There is no such end."))
    form = request.form
    if stage == "ClosedLost":
        return {
            "lostReason": form.get("lostReason") or None,
            "lostNotes": form.get("lostNotes", "").strip() or None,
        }
    currency = engine.read(f"Opportunities({key})", select="currency").body["currency"]
    return {"amount": read_typed("amount", form.get("amount", ""), digits(currency))}


def _closing(key: int, stage: str, problem: ApiError | None = None) -> Response:
    if stage not in CLOSING:
        raise NotFoundError(translated("There is no such end."))
    deal = engine.read(
        f"Opportunities({key})", select=_SHOWN, expand="Client($select=id,name)"
    ).body
    amount = number_text(written(Decimal(str(deal["amount"])), deal["currency"]))
    return page(
        "board_closing.html",
        200 if problem is None else problem.status,
        deal=deal,
        stage=stage,
        outcome=CLOSING[stage],
        reasons=LOST_REASONS,
        amount=request.form.get("amount", amount),
        typed=request.form,
        problem=problem,
        problems={} if problem is None else engine.problems_of(problem),
    )


def _board(problem: ApiError | None = None) -> Response:
    currency = organisation().defaults.currency
    owner = request.args.get("owner", "")
    return page(
        "board.html",
        200 if problem is None else problem.status,
        columns=_columns(owner, currency),
        currency=currency,
        close_date=engine.container().sets["Opportunities"].type.properties["closeDate"],
        after=dict(pairwise(STAGES)),
        owner=owner,
        me=current_caller().user_id,
        recent_days=RECENT_DAYS,
        day=today().isoformat(),
        undo=_undo(),
        problem=problem,
        problems=[] if problem is None else list(engine.problems_of(problem).values()),
    )


def _undo() -> Mapping[str, Any] | None:
    """The deal that was moved just now and may go back to where it came from."""
    key, before = request.args.get("moved", ""), request.args.get("from", "")
    if not key.isdecimal() or len(key) > 18 or before not in STAGES:
        return None
    try:
        deal = engine.read(f"Opportunities({key})", select="id,name,allowedActions").body
    except NotFoundError:
        return None
    return {**deal, "stage": before} if f"stage:{before}" in deal["allowedActions"] else None


def _columns(owner: str, currency: str) -> list[Column]:
    """Every stage; how many deals it has, and their sum, by one query for all."""
    since = iso_instant(utc_now() - timedelta(days=RECENT_DAYS))
    shown = f"(status eq 'Open' or closedAt ge {since})"
    if owner == "me":
        shown += f" and ownerId eq {current_caller().user_id}"
    measure = MEASURES["DealValue"]
    apply = converted(measure, shown, "stage", beside="$count as number", apart_keys="stage")
    rows = engine.read("Opportunities", apply=apply).rows
    return [
        _column(
            stage, shown, currency, figures(measure, [row for row in rows if row["stage"] == stage])
        )
        for stage in STAGES
    ]


def _column(stage: str, shown: str, currency: str, result: Figures) -> Column:
    measure = MEASURES["DealValue"]
    row = next(iter(result.rows), {})
    count, amount = int(row.get("number", 0)), Decimal(row.get(measure.base_name, 0))
    deals = engine.read(
        "Opportunities", filter=f"stage eq '{stage}' and {shown}", select=_SHOWN,
        top=ENDED_CARDS if stage in CLOSING else CARDS,
        expand="Client($select=id,name),Owner($select=id,displayName)",
        orderby="closedAt desc" if stage in CLOSING else "closeDate,amount desc",
    ).rows if count else []  # fmt: skip
    more = f"opportunities/?state={stage}" if count > len(deals) else ""
    return Column(stage, count, rounded(amount, currency), result.apart, deals, more)
