"""Many documents sent by one request, each in a transaction of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.extensions import db
from app.http.error_answers import as_api_error
from app.http.security import current_caller
from app.invoices.sending import Letter, send_invoice
from app.invoices.service import INVOICES
from app.mail.outbox import find_mail, shown_delivery


def send_invoices(
    invoice_ids: Iterable[int], letter: Letter, *, dry_run: bool = False, key: str | None = None
) -> dict[str, Any]:
    """Send each document; one that is refused, or fails, keeps no other from going out.

    Args:
        key: of the request. What a request of the same key has sent before it was cut off is not
            sent again, and is answered as it was.
    Returns: the body of contract 11.1, with a result for each id in the order given.
    """
    results = [
        _send_one(invoice_id, _marked(letter, invoice_id, key), dry_run)
        for invoice_id in dict.fromkeys(invoice_ids)
    ]
    sent = sum(result["ok"] for result in results)
    return {"sent": sent, "failed": len(results) - sent, "results": results}


def _send_one(invoice_id: int, letter: Letter, dry_run: bool) -> dict[str, Any]:
    report: dict[str, Any] = {"invoiceId": invoice_id, "ok": False, "number": None, "status": None,
                             "delivery": None, "error": None}  # fmt: skip
    try:
        outcome = _sent_before(invoice_id, letter) or send_invoice(invoice_id, letter)
        # The edge commits once, at the end: what is sent by then must not hang on what comes after.
        if dry_run:
            db.session.rollback()
        else:
            db.session.commit()
    except Exception as error:  # whatever it is, the others are to go out; it is logged there
        db.session.rollback()
        refusal = as_api_error(error)
        return {**report, "error": {"code": refusal.code, "message": refusal.message}}
    outcome_sent = {name: outcome[name] for name in ("number", "status", "delivery")}
    return {**report, "ok": True, **outcome_sent}


def _marked(letter: Letter, invoice_id: int, key: str | None) -> Letter:
    """The letter of one document of a request, known again by the caller's key."""
    if key is None:
        return letter
    whole = f"{current_caller().principal}\n{key}\n{invoice_id}"
    return replace(letter, key=hashlib.sha256(whole.encode()).hexdigest()[:40])


def _sent_before(invoice_id: int, letter: Letter) -> dict[str, Any] | None:
    """What the same request has done with this document before it was cut off."""
    mail = find_mail(letter.key) if letter.key else None
    if mail is None:
        return None
    invoice = INVOICES.locked(invoice_id, current_caller())
    delivery = shown_delivery(mail)
    return {"number": invoice.number, "status": invoice.status, "delivery": delivery}
