"""Tickets with their comments and clocks, and the articles that answer them: Markdown files."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from app.demo.vocabulary import ARTICLES, FOLLOW_UPS, INTERNAL_NOTES, TOPICS, Row
from app.demo.world import Record, World
from app.settings import ServiceLevel

FOLDER = Path(__file__).parent / "articles"
TICKETS = 430
PRIORITIES = {"L": "Low", "N": "Normal", "H": "High", "U": "Urgent"}
LEVEL = ServiceLevel()


def make_articles(world: World) -> None:
    """All articles, most of them published for a while."""
    ids: dict[str, int] = {}
    for article in ARTICLES:
        created_at = world.at(world.some_day(420, 20))
        changed = world.after(created_at, 24, 24 * 90)
        views = int(world.between(5, 900)) if article.visibility == "Public" else 12
        record = world.add(
            "KbArticles",
            title=article.title,
            body=body_of(article),
            summary=article.summary,
            category=article.category,
            language=article.language,
            visibility=article.visibility,
            tags=list(article.tags),
            status="Published",
            translationOfId=ids.get(getattr(article, "translation_of", "")),
            publishedAt=changed,
            publishedById=1,
            viewCount=views,
            helpfulCount=views // 9,
            notHelpfulCount=views // 60,
            reviewDueAt=world.today + timedelta(days=world.dice.randint(-20, 300)),
            ownerId=world.employee("Support"),
            createdById=world.employee("Support"),
            createdAt=created_at,
            updatedAt=changed,
        )
        ids[article.key] = record["id"]


def body_of(article: Row) -> str:
    """The text of an article: Markdown, without a top heading."""
    return (FOLDER / f"{article.key}.md").read_text("utf-8")


def make_tickets(world: World) -> None:
    """430 tickets over the year, oldest first; the older, the surer they are closed."""
    contacts = world.records["Contacts"]
    ages = sorted((world.between(0, 365) for _ in range(TICKETS)), reverse=True)
    for number, age in enumerate(ages, 1):
        contact = world.pick(contacts)
        created_at = max(world.at(world.days_ago(age)), contact["createdAt"])
        _ticket(world, number, contact, created_at)


def _ticket(world: World, number: int, contact: Record, created_at: datetime) -> None:
    topic = world.pick([each for each in TOPICS if each.language in ("en", contact["language"])])
    case = world.pick(topic.cases)
    priority = PRIORITIES["U" if world.chance(0.03) else world.pick(topic.priorities)]
    status = _status(world, (world.now - created_at).days)
    agent = world.employee("Support") if status != "New" else None
    response_due = created_at + timedelta(hours=LEVEL.first_response_hours[priority])
    resolution_hours = LEVEL.resolution_hours[priority]
    resolution_due = created_at + timedelta(hours=resolution_hours)
    responded = world.after(created_at, 0.1, LEVEL.first_response_hours[priority] * 1.3)
    solved = (
        world.after(responded, 0.5, resolution_hours * 1.35)
        if status in ("Solved", "Closed")
        else None
    )
    comments = _comments(world, topic, agent, responded, solved) if agent else []
    paused = comments[-1]["createdAt"] if status in ("Pending", "OnHold") and comments else None
    replies = [each for each in comments if not each["isInternal"]]
    world.add(
        "Tickets",
        number=f"T-{number:06d}",
        subject=case.subject,
        description=case.description,
        status=status,
        priority=priority,
        type=topic.type,
        category=topic.category,
        channel=world.weighted([("Email", 55), ("Web", 25), ("Phone", 12), ("Chat", 8)]),
        clientId=contact["clientId"],
        contactId=contact["id"],
        requesterEmail=contact["email"],
        assigneeId=agent,
        language=topic.language,
        pendingUntil=world.now + timedelta(days=3) if status == "Pending" else None,
        resolution=topic.resolution if solved else None,
        satisfactionRating=world.weighted([(5, 50), (4, 28), (3, 12), (2, 6), (1, 4)])
        if status == "Closed" and world.chance(0.4)
        else None,
        firstResponseDueAt=response_due,
        firstRespondedAt=responded if agent else None,
        resolutionDueAt=resolution_due,
        slaStatus=_service_level(world, status, created_at, resolution_due, solved),
        slaPausedAt=paused,
        solvedAt=solved,
        closedAt=world.past(solved, solved + timedelta(days=7), 0.5)
        if solved and status == "Closed"
        else None,
        reopenCount=1 if solved and world.chance(0.05) else 0,
        lastCustomerReplyAt=_last(replies, of_agent=False),
        lastAgentReplyAt=_last(replies, of_agent=True),
        ownerId=agent,
        createdAt=created_at,
        updatedAt=solved or (comments[-1]["createdAt"] if comments else created_at),
        Comments=comments,
    )


def _status(world: World, age: int) -> str:
    if age > 20:
        return world.weighted([("Closed", 96), ("OnHold", 2), ("Open", 2)])
    if age > 7:
        return world.weighted([("Closed", 60), ("Solved", 25), ("Open", 8), ("Pending", 7)])
    return world.weighted(
        [("New", 26), ("Open", 34), ("Pending", 16), ("Solved", 20), ("OnHold", 4)]
    )


def _service_level(
    world: World, status: str, created_at: datetime, due: datetime, solved: datetime | None
) -> str:
    if solved:
        return "Met" if solved <= due else "Breached"
    if status in ("Pending", "OnHold"):
        return "Paused"
    if world.now > due:
        return "Breached"
    return "AtRisk" if world.now > created_at + (due - created_at) * 0.8 else "OnTrack"


def _comments(
    world: World, topic: Row, agent: int | None, first: datetime, solved: datetime | None
) -> list[Record]:
    """Answers of the agent, replies of the customer, now and then a note among colleagues."""
    comments: list[Record] = []
    limit = solved or world.now

    def later(moment: datetime, least: int, most: int) -> datetime:
        """So many minutes later, or, where the ticket is over by then, half way to its end."""
        minutes = timedelta(minutes=world.dice.randint(least, most))
        half = timedelta(seconds=int((limit - moment).total_seconds() / 2))
        return moment + min(minutes, half)

    at = first
    for answer in topic.answers:
        comments.append(_comment(answer, agent, at))
        if world.chance(0.25):
            at = later(at, 5, 90)
            comments.append(_comment(world.pick(INTERNAL_NOTES), agent, at, internal=True))
        if world.chance(0.75):
            at = later(at, 20, 900)
            comments.append(_comment(world.pick(FOLLOW_UPS[topic.language]), None, at))
        at = later(at, 10, 600)
    return comments


def _comment(body: str, author: int | None, at: datetime, *, internal: bool = False) -> Record:
    comment: Record = {"body": body, "isInternal": internal, "createdAt": at}
    return comment | ({"authorId": author} if author else {})


def _last(comments: list[Record], *, of_agent: bool) -> datetime | None:
    return max(
        (each["createdAt"] for each in comments if ("authorId" in each) == of_agent), default=None
    )
