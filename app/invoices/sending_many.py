"""Many documents sent by one request, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.errors import ApiError
from app.extensions import db
from app.invoices.sending import Letter, send_invoice


def send_invoices(
    invoice_ids: Iterable[int], letter: Letter, *, dry_run: bool = False
) -> dict[str, Any]:
    """Send each document; one that is refused keeps no other from going out.

    Returns: the body of contract 11.1, with a result for each id in the order given.
    """
    results = [_send_one(invoice_id, letter, dry_run) for invoice_id in dict.fromkeys(invoice_ids)]
    sent = sum(result["ok"] for result in results)
    return {"sent": sent, "failed": len(results) - sent, "results": results}


def _send_one(invoice_id: int, letter: Letter, dry_run: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"invoiceId": invoice_id, "ok": False, "number": None, "status": None,
                             "delivery": None, "error": None}  # fmt: skip
    try:
        outcome = send_invoice(invoice_id, letter)
    except ApiError as error:
        db.session.rollback()
        return {**shown, "error": {"code": error.code, "message": error.message}}
    # The edge commits once, at the end: what is sent by then must not hang on what comes after.
    if dry_run:
        db.session.rollback()
    else:
        db.session.commit()
    told = {name: outcome[name] for name in ("number", "status", "delivery")}
    return {**shown, "ok": True, **told}
