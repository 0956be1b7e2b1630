"""What the operations on documents look like on the wire."""

from __future__ import annotations

from marshmallow import Schema, fields


class RestoredSchema(Schema):
    """A document that is back from the trash, in the state that it had."""

    id = fields.Integer()
    name = fields.String(metadata={"example": "contract.pdf"})
    status = fields.String(metadata={"example": "Active"})
