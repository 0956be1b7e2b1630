"""What runs beside the requests: queues, mail; and how much of their limits callers have used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Response, request
from sqlalchemy import Connection, select

from app.clock import utc_now
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import marked, translated
from app.console.sets import page_of_type
from app.console.wording import CALLED
from app.db.engines import primary_engine
from app.errors import ApiError
from app.extensions import configuration
from app.http.limits import RateLimits, rate_limits
from app.http.request_context import running_app
from app.http.security import requires
from app.jobs.leases import waiting
from app.jobs.schedule import LATE_AFTER, SCHEDULE, last_beat, waiting_jobs
from app.mail import outbox
from app.models.import_job import ImportJob
from app.models.report import ReportExport
from app.models.user import ApiKey, User

SHOWN = 20
# Callers whose use is looked at: those who came last.
MOST_CALLERS = 100


@dataclass(frozen=True)
class Queue:
    """Rows that wait for the worker, and since when the oldest does."""

    name: str
    depth: int
    oldest: datetime | None


@dataclass(frozen=True)
class Use:
    """What a caller has used of its limit in the window that ends now."""

    name: str
    kind: str
    used: int
    limit: int

    @property
    def percent(self) -> int:
        return min(100, self.used * 100 // self.limit)


@console.get("/jobs")
@requires("settings:read")
def show_jobs() -> Response:
    with primary_engine().connect() as connection:
        queues = [
            Queue(title, *waiting(connection, name)) for name, title in CALLED["queues"].items()
        ]
        imports, exports = (
            connection.execute(
                select(model, User.username)
                .join(User, User.id == model.user_id)
                .order_by(model.id.desc())
                .limit(SHOWN)
            ).all()
            for model in (ImportJob, ReportExport)
        )
        callers = _callers(connection)
    beat = last_beat()
    config = configuration.current
    return page(
        "jobs.html",
        queues=queues,
        imports=imports,
        exports=exports,
        beat=beat,
        late=is_worker_late(beat),
        periodic={job.name: job.minutes for job in SCHEDULE},
        waiting=waiting_jobs(running_app()),
        uses=_uses(rate_limits.current, callers),
        by_process=config.REDIS_URL is None,
        rates=(config.RATE_LIMIT_USER, config.RATE_LIMIT_API_KEY),
    )


def is_worker_late(beat: datetime | None) -> bool:
    """Whether the last sign of life says that no worker goes on with what waits."""
    return beat is None or utc_now() - beat > LATE_AFTER


def _callers(connection: Connection) -> list[tuple[str, str, str]]:
    """(name, kind, principal) of the accounts that came last."""
    people = connection.execute(
        select(User.id, User.username)
        .where(User.kind == "person", User.last_login_at.is_not(None))
        .order_by(User.last_login_at.desc())
        .limit(MOST_CALLERS)
    )
    keys = connection.execute(
        select(ApiKey.id, ApiKey.name)
        .where(ApiKey.revoked_at.is_(None))
        .order_by(ApiKey.id.desc())
        .limit(MOST_CALLERS)
    )
    return [
        *((row.username, marked("user"), f"user:{row.id}") for row in people),
        *((row.name, marked("API key"), f"key:{row.id}") for row in keys),
    ]


def _uses(limits: RateLimits, callers: list[tuple[str, str, str]]) -> list[Use]:
    """Those who have used some of it, the nearest to their limit first."""
    uses = []
    for name, kind, principal in callers:
        standing = limits.look_at(principal)
        if used := standing.limit - standing.remaining:
            uses.append(Use(name, kind, used, standing.limit))
    return sorted(uses, key=lambda use: (-use.percent, -use.used, use.name))


MAIL = f"{session.ROOT}/mail"


@console.get("/mail")
@requires("settings:read")
def show_mails() -> Response:
    status = request.args.get("status", "")
    mails = outbox.list_mail(status if status in outbox.STATUSES else None, **page_asked())
    return page(
        "mails.html",
        mails=mails["items"],
        counts=outbox.count_mail(),
        chosen_status=status,
        links=page_links(mails["total"]),
    )


@console.get("/mail/<int:mail_id>")
@requires("settings:read")
def show_mail(mail_id: int, problem: ApiError | None = None) -> Response:
    mail = outbox.show_mail(mail_id)
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
    outbox.retry_mail(mail_id)
    return see_other(f"{MAIL}/{mail_id}", translated("The mail is sent again."))
