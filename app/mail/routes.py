"""``/api/mail``: what other mail servers have to say about mail of this service."""

from __future__ import annotations

from typing import Any

from flask import request

from app.errors import UnsupportedMediaTypeError
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import Area
from app.http.body_stream import BodyStream, maximum_upload, note_fingerprint
from app.http.schema_fields import Schema
from app.http.schema_parts import answer_body
from app.http.security import requires, streamed
from app.mail.bounces import first_bytes, note_bounce
from app.mail.outbox import shown_delivery

area = Area("mail", __name__, description="Mail of this service that came back")
MESSAGE = "message/rfc822"
EXAMPLE = """\
From: mailer-daemon@mx.example
Content-Type: multipart/report; report-type=delivery-status; boundary=x

--x
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

Final-Recipient: rfc822; billing@acme.example
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 no such mailbox

--x
Content-Type: text/rfc822-headers

Message-ID: <176-42@acme.example>

--x--
"""
BODY: dict[str, Any] = {
    "required": True,
    "content": {MESSAGE: {"schema": {"type": "string"}, "example": EXAMPLE}},
}


class BounceSchema(Schema):
    """What a message was about; ``deliveryId`` is null where it is about no mail of ours."""

    matched = fields.Boolean()
    reason = fields.String(allow_none=True, description="Why it matched nothing.")
    delivery_id = fields.Integer(allow_none=True)
    entity = fields.String(allow_none=True, example="Invoice")
    entity_id = fields.Integer(allow_none=True)
    status = fields.String(allow_none=True, validate=validate.OneOf(("queued", "sent", "failed")))
    recipients = fields.List(fields.String(), description="Whom it did not reach, of this mail.")


@area.post("/bounces")
@area.doc(requestBody=BODY)
@area.response(200, BounceSchema)
@requires("invoices:send")
@streamed
def take_bounce() -> dict[str, Any]:
    """Take a message that came back to the sender's mailbox, as it came: `message/rfc822`.

    A delivery report (RFC 3464) about a mail of this service marks the recipients that it did not
    reach; when that is all of them the mail has failed. `invoice.send_failed` is emitted. Whatever
    else arrives in such a mailbox is answered with `matched: false`.
    """
    if request.mimetype != MESSAGE:
        raise UnsupportedMediaTypeError(f"Send the message as {MESSAGE}.")
    content, fingerprint = first_bytes(BodyStream(maximum_upload()))
    note_fingerprint(fingerprint)
    outcome = note_bounce(content)
    mail = outcome.mail
    return answer_body(
        BounceSchema, mail or {}, matched=bool(outcome.recipients), reason=outcome.reason,
        delivery_id=mail and mail.id, status=mail and shown_delivery(mail)["status"],
        recipients=list(outcome.recipients),
    )  # fmt: skip
