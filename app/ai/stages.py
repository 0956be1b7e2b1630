"""A change of stage or status that a message asks for: only one that can be taken is proposed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.ai.context import states_of
from app.ai.parts import Ask, Part, Proposal, Text
from app.ai.refusals import NO_WRITES
from app.ai.tools.tool import require_possible, state_property
from app.container import engine
from app.odata.payload.reader import snake

_POLITE = r"^\W*(?:(?:please|can you|could you|would you|kindly|i want you to|let'?s)\s+)*"
# A wish for a state is short; its forms are slow to try on what is not.
LONGEST = 300
STAGE = re.compile(
    _POLITE + r"(?:move|change|set|put|advance|mark|update)\s+(?:this|it|the (?:deal|opportunity"
    r"|ticket|lead|task|project|stage|status)|(?:its |the )?(?:stage|status))?\s*"
    r"(?:(?:stage|status)\s+)?(?:to |as |into |in )\s*(?:the )?(?:stage |status )?"
    r"(?P<target>[A-Za-z][A-Za-z ]*?)"
    r"(?:\W+(?:because(?: of)?|due to|reason:?)\s+(?:the )?(?P<why>[A-Za-z][A-Za-z ]*?))?\W*$",
    re.IGNORECASE,
)
# One word for the whole request, where it is no question: ``close it``, ``reopen the ticket``.
VERB = re.compile(
    _POLITE + r"(?P<verb>close|reopen|re-open|solve|resolve|complete|finish|archive|disqualify)"
    r"\s+(?:this|it|the (?:deal|opportunity|ticket|lead|task|project))(?: one)?"
    r"(?:\W+(?:because(?: of)?|due to|reason:?)\s+(?:the )?(?P<why>[A-Za-z][A-Za-z ]*?))?\W*$",
    re.IGNORECASE,
)
# The states that a word may mean; the first that the type has is meant.
_MEANT: Mapping[str, tuple[str, ...]] = {
    "close": ("Closed",), "reopen": ("Open", "Todo", "Active"), "re-open": ("Open", "Todo"),
    "solve": ("Solved",), "resolve": ("Solved",), "complete": ("Done", "Completed"),
    "finish": ("Done", "Completed"), "archive": ("Archived",), "disqualify": ("Disqualified",),
    "won": ("ClosedWon",), "lost": ("ClosedLost",),
    "completed": ("Completed", "Done"), "done": ("Done", "Completed"),
    "resolved": ("Solved",), "started": ("InProgress", "Active"),
}  # fmt: skip
# States that want a reason -> the property that takes it.
_REASONS: Mapping[str, str] = {"ClosedLost": "lostReason", "Disqualified": "disqualifyReason"}


def propose_stage(ask: Ask, match: re.Match[str]) -> Iterator[Part]:
    """The change, or why there is none.

    Raises: InvalidStateError, the record cannot become that from what it is.
    """
    context = ask.context
    assert context is not None and context.entity is not None
    name = state_property(context.entity)
    states = states_of(context.entity, name)
    groups = match.groupdict()
    said = (groups.get("target") or groups.get("verb") or "").strip()
    target = _target(said, states)
    if target is None:
        if not states or "verb" in groups:
            yield Text(NO_WRITES)
        else:
            yield Text(f"{said} is no {name}. There are: {', '.join(states)}.")
        return
    arguments: dict[str, Any] = {"id": context.key, name: target}
    summary = f"Change the {name} of {context.title} to {target}"
    reason = _REASONS.get(target)
    if reason is not None:
        # "Other" wants a text besides, which is a person's to write.
        reasons = tuple(each for each in states_of(context.entity, reason) if each != "Other")
        why = _target(groups.get("why") or "", reasons)
        if why is None:
            yield Text(f"Say why, such as: mark it as {target} because of {', '.join(reasons)}.")
            return
        arguments[reason] = why
        summary += f", {reason} {why}"
    if engine.read_one(context.path, select=name)[name] == target:
        yield Text(f"{context.title} is {target} already.")
        return
    require_possible(context, name, target)
    yield Proposal(f"update_{snake(context.entity)}", f"{summary}.", arguments)


def _target(said: str, states: tuple[str, ...]) -> str | None:
    wanted = said.replace(" ", "").replace("-", "").lower()
    names = {state.lower(): state for state in states}
    if wanted in names:
        return names[wanted]
    return next((state for state in _MEANT.get(wanted, ()) if state in states), None)
