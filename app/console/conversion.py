"""Converting a lead: what would come of it is shown first, by the rules that do it."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.console import engine, session
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.numbers import amount_text, typed_number
from app.console.steps import arguments, preset, step_of
from app.console.typed import refused_at
from app.crm.conversion import Wishes, convert_lead
from app.crm.operations import CONVERT, describe_conversion, describe_trial
from app.crm.opportunities import OPPORTUNITIES
from app.db import records
from app.errors import ApiError, NotFoundError
from app.extensions import db
from app.http.security import requires
from app.models.lead import Lead
from app.money import digits
from app.settings import organisation

_READ = "id,fullName,company,status,estimatedValue,currency"


@console.get("/leads/<int:key>/convert")
@requires("leads:convert")
def show_conversion(key: int, problem: ApiError | None = None) -> Response:
    lead = engine.read(f"Leads({key})", select=_READ).body
    outcome: dict[str, Any] | None = None
    try:
        if problem is None:
            outcome = describe_trial(convert_lead(key, _wishes(key)))
    except NotFoundError:
        raise
    except ApiError as error:
        problem = error
    db.session.rollback()  # it was only tried
    return page(
        "convert.html",
        200 if problem is None or request.method == "GET" else problem.status,
        lead=lead,
        currency=lead["currency"] or organisation().defaults.currency,
        outcome=outcome,
        step=(step := step_of(CONVERT)),
        typed=request.form or {each.name: preset(each, lead) for each in step.inputs},
        problem=problem,
    )


@console.post("/leads/<int:key>/convert")
@requires("leads:convert")
@refused_on(show_conversion)
def convert(key: int) -> Response:
    """Convert the lead, or only look again after a change."""
    if request.form.get("step") == "preview":
        return show_conversion(key)
    done = describe_conversion(convert_lead(key, _wishes(key)))
    return see_other(
        f"{session.ROOT}/clients/{done['clientId']}", _conversion_message(done["opportunityId"])
    )


def _conversion_message(opportunity_id: int | None) -> str:
    """What is said of a conversion, with the amount that was stored."""
    if opportunity_id is None:
        return translated("Lead converted.")
    deal = OPPORTUNITIES.stored(opportunity_id)
    return translated(
        "Lead converted, with a deal of %(amount)s.", amount=amount_text(deal.amount, deal.currency)
    )


def _wishes(key: int) -> Wishes:
    """What the form wants; nothing yet means the usual.

    Raises: ValidationError, an argument is wrong or the amount is no number.
    """
    form = request.form
    body: dict[str, Any] = {}
    if form:
        body, _ = arguments(step_of(CONVERT).inputs, form, 0)
    if body.get("createOpportunity"):
        opportunity: dict[str, Any] = {}
        if name := form.get("name", "").strip():
            opportunity["name"] = name
        if amount := form.get("amount", "").strip():
            lead = records.read(Lead, key)
            currency = lead.currency if lead else None
            places = digits(currency or organisation().defaults.currency)
            with refused_at("amount"):
                opportunity["amount"] = typed_number(amount, places)
        body["opportunity"] = opportunity
    wishes: Wishes = CONVERT.load(body)
    return wishes
