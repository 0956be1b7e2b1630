"""``flask --app wsgi mail ...``: for a mail server that hands messages to a program."""

from __future__ import annotations

from functools import partial
from typing import BinaryIO

import click
from flask.cli import AppGroup

from app.db.engines import transaction
from app.http.body_stream import READ_BYTES
from app.http.security import acting_as, system_caller
from app.mail.bounces import first_bytes, note_bounce

mail = AppGroup("mail", help="Mail of this service.")


@mail.command("bounce")
@click.argument("message", type=click.File("rb"), default="-")
def bounce(message: BinaryIO) -> None:
    """Take a message that came back (MESSAGE, or what is piped in) and mark whom it names.

    Ends with 0 for messages that are about nothing of ours: a mailbox gets all sorts.
    """
    content, _ = first_bytes(iter(partial(message.read, READ_BYTES), b""))
    with transaction(), acting_as(system_caller("cli")):
        outcome = note_bounce(content)
    if outcome.mail is None or not outcome.recipients:
        click.echo(outcome.reason)
    else:
        click.echo(f"mail {outcome.mail.id} did not reach {', '.join(outcome.recipients)}")
