"""What a message wants done, as a proposal; understood by its form, and nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

from app.ai.parts import Ask, Context, Part, Proposal, Text, ToolCall, ToolResult
from app.ai.stages import LONGEST, STAGE, VERB, propose_stage
from app.ai.tools.listed import may_propose, tools
from app.ai.tools.own import NOTED
from app.ai.wording import day_text, quoted, value_text
from app.bi.periods.spans import EARLIEST_YEAR, LATEST_YEAR
from app.container import engine
from app.db.types import iso_instant
from app.settings.days import NOON, start_of, today

_POLITE = r"^\W*(?:(?:please|can you|could you|would you|kindly|i want you to|let'?s)\s+)*"
_TASK = re.compile(
    _POLITE + r"(?:(?:create|add|make|set up|open)\s+(?:a |an |me a )?(?:new )?(?:follow[- ]?up )?"
    r"(?:task|to-?do|reminder)\b\W*(?:to |for me to |about |called |named |that |for )?"
    r"|remind me (?:to |about |that )?|erinner(?:e|n sie)? mich(?: bitte)?(?: daran)?\W+)"
    r"(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_NOTE = re.compile(
    _POLITE + r"(?:add|make|write|leave|put)\s+(?:a |an )?(?:internal )?(?:note|comment)\b\W*"
    r"(?:that |saying |to (?:it|(?:this|the) \w+)\W+|here\W+)?(?P<rest>.+)"
    r"|" + _POLITE + r"note (?:that |down )(?P<other>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MAIL = re.compile(
    _POLITE + r"(?:draft|write|compose|prepare)\s+(?:a |an |me an? )?(?:e-?mail|mail|message|letter"
    r"|reply|reminder)\b(?:\s+to\s+(?:the |this )?(?:client|customer|contact|requester|ticket"
    r"|him|her|them|it|this)\b)?\W*(?:about |regarding |on |that |saying )?(?P<rest>.*)"
    r"|^\W*(?:bitte )?(?:schreibe?|verfasse?|entwirf)\s+(?:ihnen|ihm|ihr|dem kunden)?\s*(?:eine )?"
    r"(?:e-?mail|mail|nachricht)(?: an (?:sie|ihn|den kunden))?\W*"
    r"(?:\u00fcber |zu |wegen )?(?P<german>.*)",
    re.IGNORECASE | re.DOTALL,
)
_DUE = re.compile(
    r"[\s,]*\b(?:(?:by|on|due|until|for|before|am|bis|zum)\s+)*"
    r"(?:(?P<relative>today|tomorrow|heute|morgen)"
    r"|in (?P<count>\d{1,3}) (?P<unit>day|week|tag|woche)(?:s|e?n|e)?"
    r"|(?:next |this |n\u00e4chsten |kommenden )?"
    r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
    r"|(?P<iso>\d{4}-\d\d-\d\d))\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"[\s,]*\b(?:at|um)\s+(?P<hour>\d{1,2})(?=[:.]\d\d|\s*(?:[ap]\.?m\b|o'clock|uhr))"
    r"(?:[:.](?P<minute>\d\d))?\s*(?:(?P<half>[ap])\.?m\b\.?|o'clock|uhr)?",
    re.IGNORECASE,
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
             "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag",
             "sonntag")  # fmt: skip
NEEDS_RECORD = "Say which record is meant: name it, or ask on its page."
_TITLE_LENGTH = 255


def answer_request(ask: Ask, beside: str | None = None) -> Iterator[Part] | None:
    """The proposal that a message asks for; None where it asks for none that is known.

    Args:
        beside: the message as it is said beside the record of the context, where that is other
            words; a task keeps the caller's.
    """
    text = ask.text.strip()
    said = text if beside is None else beside.strip()
    for pattern, propose, wanted in (
        (_TASK, _propose_task, text), (_NOTE, _propose_note, said), (_MAIL, _propose_mail, said),
        (STAGE, _propose_stage, said), (VERB, _propose_stage, said),
    ):  # fmt: skip
        is_read = propose is not _propose_stage or len(wanted) <= LONGEST
        match = pattern.match(wanted) if is_read else None
        if match:
            return _checked(propose(ask, match))
    return None


def due_date(text: str, now: date) -> tuple[str, date | None]:
    """A text without its date, and the date: ``call Eva tomorrow`` -> ``call Eva``.

    Args:
        now: the day of today.
    """
    match = _DUE.search(text)
    if match is None:
        return text, None
    due: date | None = None
    if match["relative"]:
        due = now + timedelta(days=match["relative"].lower() in ("tomorrow", "morgen"))
    elif match["count"]:
        days = int(match["count"]) * (7 if match["unit"].lower() in ("week", "woche") else 1)
        due = now + timedelta(days=days)
    elif match["weekday"]:
        ahead = (_WEEKDAYS.index(match["weekday"].lower()) % 7 - now.weekday() - 1) % 7 + 1
        due = now + timedelta(days=ahead)
    else:
        try:
            due = date.fromisoformat(match["iso"])
        except ValueError:
            return text, None
        if not EARLIEST_YEAR <= due.year <= LATEST_YEAR:
            return text, None  # no task could keep it
    return (text[: match.start()] + text[match.end() :]).strip(), due


def due_time(text: str) -> tuple[str, time | None]:
    """A text without its time of day, and the time: ``call Eva at 3 pm`` -> ``call Eva``."""
    match = _TIME.search(text)
    if match is None:
        return text, None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "").lower()
    if hour > (12 if half else 23) or minute > 59 or (half and not hour):
        return text, None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return (text[: match.start()] + text[match.end() :]).strip(), time(hour, minute)


def _checked(parts: Iterator[Part]) -> Iterator[Part]:
    """A proposal only to those who may confirm it."""
    for part in parts:
        if isinstance(part, Proposal):
            yield ToolCall("propose_action", {"tool": part.tool, **part.arguments})
            if not may_propose(tools()[part.tool], part.arguments):
                yield ToolResult("denied", "the caller may not do this")
                yield Text("Your role does not allow that, so I do not propose it.")
                return
            yield ToolResult("ok", "proposed")
            yield part
            yield Text(f"I propose: {part.summary} Nothing happens until you confirm it.")
        else:
            yield part


def _propose_task(ask: Ask, match: re.Match[str]) -> Iterator[Part]:
    text, due = due_date(_clean(match["rest"]), today())
    text, at = due_time(text) if due is not None else (text, None)
    title = _clean(text)
    if not title:
        yield Text("Say what the task is, such as: create a task to call Eva tomorrow.")
        return
    title = title[0].upper() + title[1:]
    arguments: dict[str, Any] = {"title": title[:_TITLE_LENGTH]}
    summary = f"Create the task {quoted(arguments['title'])}"
    if due is not None:
        hour, minute = (NOON, 0) if at is None else (at.hour, at.minute)
        arguments["dueAt"] = iso_instant(start_of(due, hour) + timedelta(minutes=minute))
        summary += f", due on {day_text(due.isoformat())}"
        summary += "" if at is None else f" at {at:%H:%M}"
    if _has_record(ask.context):
        assert ask.context is not None
        arguments |= {"relatedType": ask.context.entity, "relatedId": ask.context.key}
        summary += f", for {ask.context.title}"
    yield Proposal("create_task", _short(summary) + ".", arguments)


def _propose_note(ask: Ask, match: re.Match[str]) -> Iterator[Part]:
    context = ask.context
    text = _clean(match["rest"] or match["other"] or "")
    if not _has_record(context):
        yield Text(NEEDS_RECORD)
        return
    assert context is not None and context.entity is not None
    if context.entity not in NOTED:
        yield Text(f"I cannot add notes to records of the type {context.entity}.")
        return
    arguments = {"type": context.entity, "id": context.key, "text": text}
    yield Proposal("add_note", _short(f"Add to {context.title} the note: {text}") + ".", arguments)


def _propose_mail(ask: Ask, match: re.Match[str]) -> Iterator[Part]:
    context = ask.context
    about = _clean(match["rest"] or match["german"] or "")
    if about.lower() in ("it", "this"):
        about = ""
    if not _has_record(context):
        yield Text(NEEDS_RECORD)
        return
    assert context is not None
    to, facts = _recipient(context)
    if to is None:
        yield Text(f"{context.title} has no e-mail address.")
        return
    subject = about or (context.title or "")
    body = "\n".join(["Hello,", "", *([f"{about}."] if about else []), *facts, "", "Kind regards"])
    arguments = {"to": to, "subject": subject[:200], "body": body}
    yield Proposal("draft_mail", _short(f"Draft a mail to {to}: {subject}") + ".", arguments)


def _propose_stage(ask: Ask, match: re.Match[str]) -> Iterator[Part]:
    if not _has_record(ask.context):
        yield Text(NEEDS_RECORD)
        return
    yield from propose_stage(ask, match)


def _recipient(context: Context) -> tuple[str | None, list[str]]:
    """Who a mail about the record goes to, and what of the record belongs in it."""
    row = engine.read_one(context.path)
    if context.entity in ("Client", "Contact", "Lead"):
        return row.get("email"), []
    if context.entity == "Ticket":
        return row.get("requesterEmail"), [f"This is about {row['number']}: {row['subject']}."]
    if context.entity == "Invoice":
        client = engine.find_one(f"{context.path}/Client", select="email,invoiceEmail")
        to = (client or {}).get("invoiceEmail") or (client or {}).get("email")
        due = value_text(row["amountDue"], currency=row["currency"])
        facts = [f"This is about invoice {row['number']}: {due} is due."] if row["number"] else []
        return to, facts
    return None, []


def _has_record(context: Context | None) -> bool:
    return context is not None and context.key is not None


def _clean(text: str) -> str:
    return text.strip().strip("\"'\N{LEFT DOUBLE QUOTATION MARK}").strip(" .:,;\n\t")


def _short(summary: str) -> str:
    return summary if len(summary) <= 480 else summary[:480] + "\N{HORIZONTAL ELLIPSIS}"
