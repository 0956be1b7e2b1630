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
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.numbers import number_text
from app.console.steps import step_message, step_words, take
from app.container.measures import MEASURES, Figures, converted, figures
from app.container.model import container
from app.crm.opportunities import STATUS_OF_STAGE
from app.db.types import iso_instant
from app.errors import ApiError, NotFoundError
from app.http.security import current_caller, requires
from app.models.opportunity import LOST_REASONS, STAGES
from app.money import rounded, written
from app.settings import organisation
from app.settings.days import today

# Cards of a stage, and of one where deals end; whoever wants the others goes on in the list.
CARDS, ENDED_CARDS = 25, 5
# How far back deals are shown that were won or lost.
RECENT_DAYS = 30
ADDRESS = f"{session.ROOT}/opportunities/board"
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
        return self.stage in STATUS_OF_STAGE


@console.get("/opportunities/board")
@requires("opportunities:read")
def show_board(problem: ApiError | None = None) -> Response:
    currency = organisation().defaults.currency
    owner = request.args.get("owner", "")
    return page(
        "board.html",
        columns=_columns(owner, currency),
        currency=currency,
        close_date=container().sets["Opportunities"].type.properties["closeDate"],
        after=dict(pairwise(STAGES)),
        owner=owner,
        me=current_caller().user_id,
        recent_days=RECENT_DAYS,
        day=today().isoformat(),
        undo=_undo(),
        moves={f"stage:{stage}": (stage, step_words(f"stage:{stage}")) for stage in STAGES},
        problem=problem,
    )


@console.post("/opportunities/board")
@requires("opportunities:read")
@refused_on(show_board)
def move_deal() -> Response:
    """Move a deal to another stage; one that ends is asked for its reason first."""
    key, stage = request.form.get("key", ""), request.form.get("stage", "")
    if not key.isdecimal() or stage not in STAGES:
        raise NotFoundError(translated("There is no such deal or stage."))
    if stage in STATUS_OF_STAGE:
        return see_other(f"{session.ROOT}/opportunities/{key}/close/{stage}")
    before = engine.read(f"Opportunities({key})", select="stage").body["stage"]
    step = f"stage:{stage}"
    deal = take("Opportunities", int(key), step, request.form.get("version"), request.form)
    address = f"{ADDRESS}?moved={key}&from={before}#deal-{key}"
    return see_other(address, step_message("Opportunities", deal["name"], step, deal))


@console.get("/opportunities/<int:key>/close/<stage>")
@requires("opportunities:update")
def show_closing(key: int, stage: str, problem: ApiError | None = None) -> Response:
    step = _ending(stage)
    deal = engine.read(
        f"Opportunities({key})", select=_SHOWN, expand="Client($select=id,name)"
    ).body
    amount = number_text(written(Decimal(str(deal["amount"])), deal["currency"]))
    return page(
        "board_closing.html",
        deal=deal,
        stage=stage,
        words=step_words(step),
        reasons=LOST_REASONS,
        amount=request.form.get("amount", amount),
        typed=request.form,
        problem=problem,
    )


@console.post("/opportunities/<int:key>/close/<stage>")
@requires("opportunities:update")
@refused_on(show_closing)
def close_deal(key: int, stage: str) -> Response:
    step = _ending(stage)
    deal = take("Opportunities", key, step, request.form.get("version"), request.form)
    return see_other(
        f"{ADDRESS}?moved={key}#deal-{key}", step_message("Opportunities", deal["name"], step, deal)
    )


def _ending(stage: str) -> str:
    """The step that ends a deal in a stage.

    Raises: NotFoundError, no deal ends there.
    """
    if stage not in STATUS_OF_STAGE:
        raise NotFoundError(translated("There is no such end."))
    return f"stage:{stage}"


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
    condition = f"(status eq 'Open' or closedAt ge {since})"
    if owner == "me":
        condition += f" and ownerId eq {current_caller().user_id}"
    measure = MEASURES["DealValue"]
    apply = converted(measure, condition, "stage", beside="$count as number", apart_keys="stage")
    rows = engine.read("Opportunities", apply=apply).rows
    return [
        _column(
            stage,
            condition,
            currency,
            figures(measure, [row for row in rows if row["stage"] == stage]),
        )
        for stage in STAGES
    ]


def _column(stage: str, condition: str, currency: str, result: Figures) -> Column:
    measure = MEASURES["DealValue"]
    row = next(iter(result.rows), {})
    count, amount = int(row.get("number", 0)), Decimal(row.get(measure.base_name, 0))
    deals = engine.read(
        "Opportunities", filter=f"stage eq '{stage}' and {condition}", select=_SHOWN,
        top=ENDED_CARDS if stage in STATUS_OF_STAGE else CARDS,
        expand="Client($select=id,name),Owner($select=id,displayName)",
        orderby="closedAt desc" if stage in STATUS_OF_STAGE else "closeDate,amount desc",
    ).rows if count else []  # fmt: skip
    more = f"opportunities/?state={stage}" if count > len(deals) else ""
    return Column(stage, count, rounded(amount, currency), result.apart, deals, more)
