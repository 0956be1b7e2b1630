"""The outbox: which mail waits, was sent or failed, what is in it, and trying it again."""

from __future__ import annotations

from flask import Response, request

from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import translated
from app.console.sets import page_of_type
from app.errors import ApiError
from app.http.security import requires
from app.mail import queue

ADDRESS = f"{session.ROOT}/mail"


@console.get("/mail")
@requires("settings:read")
def show_mails() -> Response:
    """The mails, the newest first."""
    status = request.args.get("status", "")
    mails = queue.list_mail(status if status in queue.STATUSES else None, **page_asked())
    return page(
        "mails.html",
        mails=mails["items"],
        counts=queue.count_mail(),
        chosen_status=status,
        links=page_links(mails["total"]),
    )


@console.get("/mail/<int:mail_id>")
@requires("settings:read")
def show_mail(mail_id: int, problem: ApiError | None = None) -> Response:
    """One mail as it is sent."""
    mail = queue.show_mail(mail_id)
    record_page = page_of_type(mail["entity"]) if mail["entity"] else None
    about = f"{session.ROOT}/{record_page.path}/{mail['entityId']}" if record_page else None
    return page(
        "mail.html", mail=mail, about=about,
        problem=problem,
    )  # fmt: skip


@console.post("/mail/<int:mail_id>")
@requires("settings:update")
@refused_on(show_mail)
def retry_mail(mail_id: int) -> Response:
    """Try a mail again now."""
    queue.retry_mail(mail_id)
    return see_other(f"{ADDRESS}/{mail_id}", translated("The mail is sent again."))
