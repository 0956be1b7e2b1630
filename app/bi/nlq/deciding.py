"""Whether one figure is larger than another, as ``did Amina solve more than Ole`` asks."""

from __future__ import annotations

import re
from dataclasses import replace

from app.bi.nlq.understood import Understood

_ASKS = re.compile(r"(?i)^\W*(?:is|are|was|were|has|have|had|did|do|does|more|fewer|less)\b")
_SETS = re.compile(r"(?i)\b(?:than|over|on|vs|versus|against|compared|relative)\b")
_LESS = re.compile(
    r"(?i)\b(?:fewer|less|down|lower|worse|smaller|shorter|fall|fell|drop\w*|shrunk)\b"
)
_MORE = re.compile(r"(?i)\b(?:more|up|higher|better|bigger|larger|longer|rise|rose|grow\w*|grew)\b")


def direction(question: str) -> str:
    """``more`` or ``less`` where a question asks whether one figure is so; else nothing."""
    if not _ASKS.search(question):
        return ""
    more, less = bool(_MORE.search(question)), bool(_LESS.search(question))
    if more == less:
        return ""
    is_set = _SETS.search(question) or re.search(r"(?i)\b(?:up|down|rise|fall|grow)\b", question)
    return ("more" if more else "less") if is_set else ""


def asking_which(found: Understood, question: str) -> Understood:
    """What was understood, with what the answer has to say first."""
    way = direction(question)
    plans = (replace(one, asked=way) if way else one for one in found.plans)
    return replace(found, plans=tuple(plans))
