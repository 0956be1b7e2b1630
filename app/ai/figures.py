"""Questions about figures: asked of whoever answers them (the BI area), or not answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flask import Flask, current_app

from app.ai.parts import Ask, Part, Text, ToolCall, ToolResult
from app.permissions import allowed
from app.security import current_caller

# (question, session key) -> the body of ``POST /api/bi/nlq`` (contract 11.1), or None.
FigureSource = Callable[[str, str], Mapping[str, Any] | None]
_NAME = "figures"
_FIGURES = re.compile(
    r"\b(how (many|much)|number of|count|total|sum|average|mean|median|revenue|turnover|top \d+"
    r"|bottom \d+|most|least|highest|lowest|largest|biggest|smallest|per (month|week|year|quarter"
    r"|client|owner|stage|country|currency)|by (month|week|year|quarter|client|owner|stage|country"
    r"|status|priority|source)|compared? (to|with)|share of|ratio|win rate|conversion rate"
    r"|list (all|the|my)|show (me )?(all|the|my)|which (clients|invoices|tickets|leads|deals"
    r"|opportunities|projects|tasks|contacts)|overdue|unpaid|open (tickets|invoices|deals"
    r"|opportunities|tasks|leads)|last (month|quarter|year|week)|this (month|quarter|year|week))\b",
    re.IGNORECASE,
)
SHOWN_ROWS = 10


def init_figures(app: Flask, source: FigureSource) -> None:
    """Let ``source`` answer questions about figures; it runs as the caller."""
    app.extensions[_NAME] = source


def is_about_figures(text: str) -> bool:
    """Whether a message asks for numbers or lists of records."""
    return _FIGURES.search(text) is not None


def answer_from_figures(ask: Ask) -> Iterator[Part]:
    """Ask the source; nothing at all where it has no answer, so that others are asked."""
    source: FigureSource | None = current_app.extensions.get(_NAME)
    if source is None or not allowed(current_caller(), "bi:query"):
        return
    found = source(ask.text, ask.session_key)
    if found is None or found["status"] == "unsupported":
        return
    yield ToolCall("ask_figures", {"question": ask.text[:300]})
    query = found.get("query") or {}
    if found["status"] == "needsClarification":
        yield ToolResult("ok", "needs clarification")
        yield Text(str(found.get("answer") or "Which of these do you mean?"))
        for choice in (found.get("alternatives") or [])[:4]:
            text = choice.get("question", choice) if isinstance(choice, Mapping) else choice
            yield Text(f"- {text}")
        return
    yield ToolResult("ok", str(query.get("odata") or found.get("interpretation") or "answered"))
    yield Text(str(found["answer"]))
    if found.get("interpretation"):
        yield Text(f"(I understood: {found['interpretation']})")
