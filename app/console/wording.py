"""How values and names look on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import orjson
from babel.dates import format_date, format_skeleton
from markupsafe import Markup, escape

from app.console.language import (
    SOURCE,
    page_language,
    translated,
    translated_count,
)
from app.console.named_codes import code_name, list_of
from app.console.numbers import number_text, page_signs
from app.console.property_kinds import is_number
from app.container.words import label_text, names_of_words, word_text
from app.documents.media_types import kind_of_file
from app.localisation.catalogue import COLUMN, text_as
from app.localisation.data_files import data_beside
from app.localisation.numbers import ENGLISH, grouped_number
from app.localisation.service_messages import called_in, is_known, message_in
from app.money import MOST_DIGITS, digits, rounded
from app.odata.model import edm

# What pages call rights, queues and the like, in English.
CALLED: Mapping[str, Mapping[str, str]] = data_beside(__file__, "words.toml")
# What a browser and a system put into their ``User-Agent``: the first that stands in it counts.
_PROGRAMS = (
    (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"),
     ("Safari/", "Safari")),
    (("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
     ("Mac OS X", "macOS"), ("Linux", "Linux")),
)  # fmt: skip
_UNITS = ("KB", "MB", "GB")
_EMAILS = ("email", "invoiceEmail", "requesterEmail")
_PHONES = ("phone", "mobile")
# Numbers of a hundred.
_PERCENT = ("taxRate", "probability")
_FIELD = re.compile(r"[\w.\[\]]+")
_GOOD = {"Active", "Won", "ClosedWon", "Paid", "Published", "Done", "Completed", "Solved", "Met",
         "Qualified", "Converted", "Closed", "active", "succeeded", "sent", "done", "executed",
         "ok"}  # fmt: skip
_BAD = {"Blocked", "Breached", "Quarantined", "failed", "locked", "denied", "error", "Failed"}
_WAITING = {"Pending", "OnHold", "InReview", "AtRisk", "PartiallyPaid", "Paused", "Urgent", "High",
            "pending"}  # fmt: skip
_GOING = {"Sent", "Open", "InProgress", "Contacted", "Nurturing", "running", "sending",
          "Checking", "Writing", "Prospecting", "Qualification", "Proposal",
          "Negotiation"}  # fmt: skip
_EARLY = {"Draft", "New", "Prospect", "Planned", "Todo", "queued", "Queued"}
_OVER = {"Lost", "ClosedLost", "Void", "Uncollectible", "Disqualified", "Canceled", "Deleted",
         "Archived", "revoked", "expired", "disabled", "rejected"}  # fmt: skip
# Tone of a state -> the states of it; style sheet and sign go by it.
_TONES = {"good": _GOOD, "bad": _BAD, "waiting": _WAITING, "going": _GOING, "early": _EARLY,
          "over": _OVER}  # fmt: skip


def label(name: str) -> str:
    """``dueDate`` -> ``Due date``; ``clientId`` -> ``Client``; ``taxId`` -> ``Tax ID``."""
    return label_text(name, page_language())


def head(text: str) -> str:
    return text_as(page_language(), COLUMN, text)


def head_of(name: str) -> str:
    return label(name) if name == "state" else head(label_text(name))


def saved(record: str) -> str:
    """What is said of a record that was saved: ``Report saved.``"""
    return translated("%(record)s saved.", record=record)


def deleted(record: str) -> str:
    """What is said of a record that is gone: ``Report deleted.``"""
    return translated("%(record)s deleted.", record=record)


def translated_message(message: str) -> str:
    """A message of the service in the language of the page, with the reader's numbers."""
    return message_in(page_language(), message, page_signs())


def problem_text(message: str) -> str:
    """What the service says, in the language of the page: ``amount: must be more than 0``."""
    field, separator, rest = message.partition(": ")
    name = field.rpartition(".")[2]
    if (
        separator
        and _FIELD.fullmatch(field)
        and (is_known(rest) or called_in(page_language(), name) != name)
    ):
        return about(field, rest)
    return translated_message(message)


def about(field: str, message: str) -> str:
    """What is wrong with a field, in the language of the page: ``Unit price: is missing``."""
    name = field.rpartition(".")[2].partition("[")[0]
    return f"{label(name)}: {translated_message(message)}" if name else translated_message(message)


def inside(text: str) -> str:
    """A label inside a sentence: English begins it small, other languages know what is large."""
    return text.lower() if page_language() == SOURCE else text


def begun(text: str) -> str:
    """A text as a sentence begins."""
    return text[:1].upper() + text[1:]


def new(singular: str) -> str:
    """``New client``: the words of the button that makes one."""
    return translated("New %(record)s", record=inside(singular))


def count(number: int) -> str:
    """``1,234``, in the signs of the reader."""
    return grouped_number(Decimal(number), page_signs(), 0)


def tone(value: Any) -> str:
    """What a state means, which its colour and its sign tell: one of ``_TONES``, or ``plain``."""
    return next((name for name, states in _TONES.items() if value in states), "plain")


def display_value(
    value: Any, property_: edm.Property | None = None, currency: str | None = None
) -> Markup | str:
    """A value as people read it; a time also for machines.

    Args:
        currency: of the record that it is of.
    """
    if value is None or value == "" or value == []:
        return Markup('<span class="none">&mdash;</span>')
    if isinstance(value, bool):
        return translated("Yes") if value else translated("No")
    if property_ is not None and (property_.name in _PERCENT or property_.name.endswith("Percent")):
        return f"{plain(Decimal(value))} %"
    if isinstance(value, Decimal) and property_ is not None and property_.name == "quantity":
        return plain(value)
    if property_ is not None and list_of(property_.name):
        return code_name(property_.name, value)
    if isinstance(value, Decimal):
        is_money = property_ is not None and property_.scale == MOST_DIGITS
        return amount(value, currency if is_money else None)
    if isinstance(value, int) and property_ is not None and property_.name == "size":
        return file_size(value)
    if isinstance(value, str) and property_ is not None and property_.name == "contentType":
        return file_kind(value)
    if isinstance(value, int) and property_ is not None and property_.name == "seconds":
        return duration(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | dict):
        return nested(value)
    if property_ is not None and property_.type == edm.DATETIME:
        return instant(str(value))
    if property_ is not None and property_.type == edm.DATE:
        return day(date.fromisoformat(value))
    if property_ is not None and is_state(property_):
        return badge(str(value))
    return str(value)


def in_fours(iban: str) -> str:
    """``DE02 1203 0000 0000 2020 51``: an account number as it is read aloud."""
    return " ".join(re.findall(".{1,4}", iban.replace(" ", "")))


def program(user_agent: str | None) -> str:
    """``Firefox, Windows``: a browser as people call it; another program by its first word."""
    if not user_agent:
        return ""
    names = [next((name for mark, name in marks if mark in user_agent), "") for marks in _PROGRAMS]
    return ", ".join(filter(None, names)) if names[0] else user_agent.split("/")[0]


def file_size(count: int, decimal: str = "") -> str:
    """``1.5 KB``: by 1000, as drives and browsers count.

    Args:
        decimal: the sign before decimals; that of the reader unless it is said.
    """
    if count < 1000:
        return translated("%(number)s bytes", number=count)
    size = float(count)
    for unit in _UNITS:
        size /= 1000
        if size < 999.5 or unit == _UNITS[-1]:
            break
    if size >= 9.95:
        return f"{size:.0f} {unit}"
    return f"{size:.1f} {unit}".replace(".", decimal or (page_signs() or ENGLISH).decimal)


def file_kind(media_type: str) -> str:
    """``PDF document``: what people call a file of the type."""
    return translated(kind_of_file(media_type))


def is_state(property_: edm.Property) -> bool:
    """Whether a property is one of several words of the model."""
    return len(property_.allowed or ()) > 1 or isinstance(property_.type, edm.EnumType)


def reached_at(name: str, value: Any) -> str:
    """The address that writes to, calls or opens what a property names; empty for others."""
    if not isinstance(value, str) or not value:
        return ""
    if name in _EMAILS and "@" in value:
        return f"mailto:{quote(value, safe='@')}"
    if name in _PHONES and (digits_only := re.sub(r"[^\d+]", "", value)):
        return f"tel:{digits_only}"
    return value if name == "website" and re.match("https?://", value) else ""


def in_parts(address: str) -> Markup:
    """An address that breaks behind its signs where a line is too short for it."""
    return Markup(re.sub(r"([@./])", r"\1<wbr>", str(escape(address))))


def nested(value: Any) -> str:
    """A list or a complex value: one part a line where the parts have names."""
    if isinstance(value, dict) and "postalCode" in value:
        return "\n".join(address_lines(value))
    if isinstance(value, dict):
        parts = ((name, part) for name, part in value.items() if part not in (None, "", []))
        return "\n".join(f"{label(name)}: {_inline(part)}" for name, part in parts)
    if any(isinstance(item, dict) for item in value):
        return "\n".join(nested(item).replace("\n", ", ") for item in value)
    return ", ".join(_inline(item) for item in value)


def address_lines(address: Mapping[str, Any]) -> list[str]:
    """An address as on a letter, with its country by name."""
    city = " ".join(filter(None, (address.get("postalCode"), address.get("city"))))
    country = code_name("country", address.get("country") or "")
    return [line for line in (address.get("street"), city, address.get("state"), country) if line]


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_inline(part) for part in value.values() if part not in (None, "", []))
    return grouped(value) if isinstance(value, Decimal) else str(value)


def badge(value: str) -> Markup:
    """A state in its colour; the word says it, the colour helps."""
    return _badge(value, page_language())


@lru_cache(maxsize=500)
def _badge(value: str, language: str) -> Markup:
    return badge_as(tone(value), word_text(value, language))


def badge_as(kind: str, value: Any) -> Markup:
    """A text in the colour and with the sign of a tone."""
    return Markup('<span class="badge %s">%s</span>') % (kind, value)


def json_shown(text: str) -> str:
    """A JSON text with a line for each member; numbers stay as they are written."""
    try:
        value = json.loads(text, parse_float=Decimal)
    except ValueError:
        return text
    return indented(value)


def indented(value: Any) -> str:
    """A value as JSON with a line for each member."""
    return orjson.dumps(
        value, default=_plain_number, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    ).decode()


def _plain_number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    return str(value)


def words(state: str) -> str:
    return word_text(state, page_language())


def value_words(name: str, value: Any) -> Any:
    """A value of a column as people say it: a code by its name, a word of the model, such as a
    state, translated."""
    last = name.rpartition("/")[2]
    if isinstance(value, str) and list_of(last):
        return code_name(last, value)
    if isinstance(value, str) and last == "iban":
        return in_fours(value)
    if page_language() == SOURCE:
        return value
    if isinstance(value, bool):
        return display_value(value)
    if not isinstance(value, str):
        return value
    return words(value) if last in names_of_words() else value


def value_read(text: str, property_: edm.Property | None = None) -> Markup | str:
    """What was read in a file, as the page writes it: a number or a day, where no property says
    otherwise."""
    if property_ is not None and not is_number(property_) and property_.type != edm.DATE:
        return str(value_words(property_.name, text))
    try:
        return amount(Decimal(text))
    except InvalidOperation:
        pass
    try:
        return day(date.fromisoformat(text))
    except ValueError:
        return text


def instant(value: str | datetime) -> Markup:
    """``21 Nov 2026, 08:15`` in UTC; the reader's own time is the page's script's to show."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    text = f"{day_text(moment)}, {moment:%H:%M}"
    return Markup('<time datetime="%s">%s</time>') % (moment.isoformat(), text)


def day(value: date) -> Markup:
    """``21 Nov 2026``; the page's script writes it as the reader's language does."""
    text = day_text(value)
    return Markup('<time datetime="%s">%s</time>') % (value.isoformat(), text)


def day_text(value: date) -> str:
    """``21 Nov 2026``, as text alone."""
    if page_language() == SOURCE:
        return f"{value.day} {value:%b %Y}"
    return format_date(value, "medium", page_language())


def month(first: date, *, is_short: bool = False) -> str:
    """``Nov 2026``, or ``Nov``: a month by its first day, in the language of the page."""
    return str(format_skeleton("MMM" if is_short else "yMMM", first, locale=page_language()))


def duration(seconds: int) -> str:
    """``5 days``, ``3 hours``, ``1 minute``: the largest unit that fits."""
    if seconds >= 86_400:
        return translated_count("%(num)s day", "%(num)s days", seconds // 86_400)
    if seconds >= 3_600:
        return translated_count("%(num)s hour", "%(num)s hours", seconds // 3_600)
    if seconds >= 60:
        return translated_count("%(num)s minute", "%(num)s minutes", seconds // 60)
    return translated_count("%(num)s second", "%(num)s seconds", seconds)


def amount(value: Decimal, currency: str | None = None) -> Markup:
    """``1,234,567.89``; where nobody knows how the reader writes, the page's script asks the
    browser.

    Args:
        currency: where it is an amount of money, which has the digits of it.
    """
    least = digits(currency) if currency else None
    exact = grouped_number(value, least=least).replace(",", "")
    text = grouped_number(value, page_signs(), least)
    return Markup('<data value="%s">%s</data>') % (exact, text)


def priced(value: Decimal, currency: str | None) -> Markup:
    """``1,234.50 EUR``: an amount with its currency."""
    if not currency:
        return amount(value)
    return Markup('%s <small class="currency">%s</small>') % (amount(value, currency), currency)


def grouped(value: Decimal) -> str:
    """``1,234,567.89``, in the signs of the reader; at least two places where there are any."""
    return grouped_number(value, page_signs())


def plain(value: Decimal) -> str:
    """``19`` for 19.00, ``7.5`` for 7.50: a number without what says nothing."""
    return number_text(value.normalize())


_FIGURES = ("integer", "number", "money", "percent")


def is_figure(type_: str) -> bool:
    """Whether a column of figures is set to the right."""
    return type_ in _FIGURES


def figure(value: Any, type_: str, name: str = "", currency: str | None = None) -> Markup | str:
    """A value of a report's column; a year is no amount. Money is rounded to its ``currency``."""
    if name == "year" or value is None or isinstance(value, bool):
        return display_value(value)
    if type_ == "percent":
        return Markup("{} %").format(amount(Decimal(str(value))))
    if type_ == "money" and currency and not isinstance(value, str):
        return amount(rounded(Decimal(str(value)), currency), currency)
    if type_ in _FIGURES and not isinstance(value, str):
        return amount(Decimal(str(value)))
    if type_ == "date" and isinstance(value, str) and len(value) == 10:
        return day(date.fromisoformat(value))
    if type_ == "instant" and isinstance(value, str):
        return instant(value)
    return display_value(value_words(name, value))


def currency_in(columns: Iterable[Any], row: Mapping[str, Any]) -> str | None:
    """The currency of the amounts in a row of figures, if one of its columns names it."""
    for column in columns:
        name = column["name"] if isinstance(column, Mapping) else column.name
        if name.rpartition("/")[2] == "currency" and isinstance(row.get(name), str):
            return str(row[name])
    return None
