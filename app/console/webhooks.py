"""Webhooks: receivers of events, made, tested, changed and ended; secrets are shown once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Response, request
from sqlalchemy import select

from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import marked, translated
from app.console.typed import typed_note, typed_text
from app.console.wording import deleted
from app.db import records
from app.db.engines import primary_engine
from app.errors import ApiError, NotFoundError, ValidationError, telling_all
from app.events import NAMES
from app.http.page_sizes import CONSOLE_WHOLE
from app.http.security import current_caller, requires
from app.models.webhook import DELIVERY_STATUSES, WebhookEndpoint
from app.webhooks import deliveries, endpoints
from app.webhooks.endpoint_state import endpoint_shape
from app.webhooks.subscriptions import check_endpoint, may_read_group

_STATUS_SAID = {"active": marked("Webhook enabled."), "disabled": marked("Webhook disabled.")}


@console.get("/webhooks")
@requires("webhooks:read")
def show_webhooks(problem: ApiError | None = None, **values: Any) -> Response:
    with primary_engine().connect() as connection:
        newest = select(WebhookEndpoint).order_by(WebhookEndpoint.id.desc()).limit(CONSOLE_WHOLE)
        endpoints = list(map(endpoint_shape, records.read_all(newest, of=connection)))
    return page(
        "webhooks.html",
        endpoints=endpoints,
        groups=_groups(),
        chosen=request.form.getlist("events"),
        typed=request.form,
        problem=problem,
        **values,
    )


@console.post("/webhooks")
@requires("webhooks:create")
@refused_on(show_webhooks)
def register_webhook() -> Response:
    """Register a receiver, and show its secret this once."""
    values = _typed()
    endpoint_id, secret = endpoints.register_endpoint(
        url=values["url"], patterns=values["events"], description=values["description"]
    )
    return show_webhooks(made=endpoint_id, secret=secret)


@console.get("/webhooks/<int:webhook_id>")
@requires("webhooks:read")
def show_webhook(webhook_id: int, problem: ApiError | None = None, **values: Any) -> Response:
    form = (request.form.get("step") or "change") if problem else ""
    endpoint = _endpoint(webhook_id)
    status = request.args.get("status", "")
    filters = {"status": status} if status in DELIVERY_STATUSES else {}
    result = deliveries.list_deliveries(webhook_id, {**page_asked(), **filters})
    return page(
        "webhook.html",
        endpoint=endpoint,
        groups=_groups(),
        chosen=request.form.getlist("events") if form == "change" else endpoint["events"],
        typed=request.form if form == "change" else endpoint,
        given=request.form,
        form=form,
        problem=problem,
        deliveries=result["items"],
        total=result["total"],
        statuses=DELIVERY_STATUSES,
        chosen_status=status,
        links=page_links(result["total"]),
        **values,
    )


@console.post("/webhooks/<int:webhook_id>")
@requires("webhooks:update")
@refused_on(show_webhook)
def change_webhook(webhook_id: int) -> Response:
    endpoints.change_endpoint(webhook_id, _typed())
    return see_other(_address(webhook_id), translated("Saved."))


@console.post("/webhooks/<int:webhook_id>/step")
@requires("webhooks:update")
@refused_on(show_webhook)
def act_on_webhook(webhook_id: int) -> Response:
    step = request.form.get("step", "")
    if step == "test":
        delivery = endpoints.send_test(webhook_id)
        return see_other(f"{_address(webhook_id)}/deliveries/{delivery}")
    if step == "rotate":
        secret, until = endpoints.rotate_secret(webhook_id)
        return show_webhook(webhook_id, secret=secret, until=until)
    if step == "recover":
        since, end = _instant("since"), request.form.get("until", "").strip()
        count = endpoints.start_recovery(webhook_id, since, _instant("until") if end else None)
        return show_webhook(webhook_id, recovering=count)
    if step not in _STATUS_SAID:
        raise NotFoundError(translated("There is no such step."))
    endpoints.change_endpoint(webhook_id, {"status": step})
    return see_other(_address(webhook_id), translated(_STATUS_SAID[step]))


@console.post("/webhooks/<int:webhook_id>/delete")
@requires("webhooks:delete")
def remove_webhook(webhook_id: int) -> Response:
    endpoints.remove_endpoint(webhook_id)
    return see_other(f"{session.ROOT}/webhooks", deleted(translated("Webhook")))


@console.get("/webhooks/<int:webhook_id>/deliveries/<int:delivery_id>")
@requires("webhooks:read")
def show_webhook_delivery(
    webhook_id: int, delivery_id: int, problem: ApiError | None = None
) -> Response:
    return page(
        "webhook_delivery.html",
        endpoint=endpoints.show_endpoint(webhook_id),
        delivery=deliveries.show_delivery(webhook_id, delivery_id),
        problem=problem,
    )


@console.post("/webhooks/<int:webhook_id>/deliveries/<int:delivery_id>")
@requires("webhooks:update")
@refused_on(show_webhook_delivery)
def resend_webhook_delivery(webhook_id: int, delivery_id: int) -> Response:
    deliveries.resend(webhook_id, delivery_id)
    message = translated("It is delivered again.")
    return see_other(f"{_address(webhook_id)}/deliveries/{delivery_id}", message)


def _endpoint(webhook_id: int) -> dict[str, Any]:
    """An endpoint as this request has left it; who only looks holds no transaction."""
    if request.method == "GET":
        return endpoints.show_endpoint(webhook_id)
    return endpoint_shape(endpoints.get_endpoint(webhook_id))


def _groups() -> Mapping[str, list[str]]:
    """``invoice`` -> the events about invoices, of what the caller may see at all."""
    caller = current_caller()
    return {
        group: [f"{group}.{name}" for name in names]
        for group, names in NAMES.items()
        if may_read_group(caller, group)
    }


def _typed() -> dict[str, Any]:
    """The fields of the form.

    Raises: ValidationError, the address, or that no event was chosen.
    """
    url, events = typed_text("url"), request.form.getlist("events")
    with telling_all(lambda: check_endpoint({"url": url})):
        if not events:
            raise ValidationError([("events", translated("Choose one event or more."))])
    return {
        "url": url,
        "events": events,
        "description": typed_note("description"),
    }


def _instant(name: str) -> datetime:
    """A field with a day and a time of UTC.

    Raises: ValidationError.
    """
    text = request.form.get(name, "").strip()
    try:
        return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    except ValueError:
        raise ValidationError([(name, translated("must be a day and a time"))]) from None


def _address(webhook_id: int) -> str:
    return f"{session.ROOT}/webhooks/{webhook_id}"
