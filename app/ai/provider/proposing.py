"""Tools that propose a change: nothing is done until the caller confirms it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from app.ai.intent import sentences_asking
from app.ai.parts import Ask, Proposal
from app.ai.provider.toolbox import ModelTool, Use, proposals
from app.ai.tools.listed import may_propose, tools
from app.ai.tools.tool import Arguments, Tool
from app.container import engine
from app.errors import ForbiddenError, ValidationError
from app.odata.syntax.literals import quoted

MOST_PROPOSALS = 3
LONGEST_SUMMARY = 480
NOT_ASKED_FOR = "The user's message does not ask for that. You may ask whether to do it."
# Where records have addresses to write to.
_ADDRESSES = {
    "Clients": ("email", "invoiceEmail"), "Contacts": ("email",), "Leads": ("email",),
    "Tickets": ("requesterEmail",),
}  # fmt: skip
_ADDRESS = re.compile(r"[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+")


def proposing() -> Iterator[ModelTool]:
    """The tools with which the caller may change something."""
    for tool in tools().values():
        if may_propose(tool, {}):
            yield _model_tool(tool)


def _model_tool(tool: Tool) -> ModelTool:
    def run(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
        return _propose(tool, arguments, use)

    return ModelTool(
        tool.name,
        f"Propose, for the user to confirm: {tool.description}",
        lambda: tool.schema,
        dict,
        run,
        is_writing=True,
        is_offered=lambda ask: bool(sentences_asking(ask, tool.wish)),
    )


def _propose(tool: Tool, arguments: Arguments, use: Use) -> tuple[Any, str]:
    """A proposal that the caller asked for, to those who may confirm it.

    Raises: ForbiddenError; ValidationError, there are enough of them; what cannot be done.
    """
    sentences = sentences_asking(use.ask, tool.wish)
    if not sentences:
        raise ForbiddenError(NOT_ASKED_FOR)
    if not may_propose(tool, arguments):
        raise ForbiddenError("The role of the caller does not allow that.")
    if not all(_is_known(address, use.ask) for address in _addresses(arguments)):
        raise ForbiddenError("The user named no such address, and no record has it.")
    if sum(1 for _ in proposals(use.parts)) >= MOST_PROPOSALS:
        raise ValidationError([("tool", f"at most {MOST_PROPOSALS} changes an answer")])
    text = " ".join(tool.check(arguments, sentences).split())
    if len(text) > LONGEST_SUMMARY:
        text = f"{text[:LONGEST_SUMMARY]}\N{HORIZONTAL ELLIPSIS}"
    use.parts.append(Proposal(tool.name, f"{text}.", dict(arguments)))
    return {"proposed": text, "note": "Nothing is done until the user confirms it."}, "proposed"


def _addresses(value: Any) -> Iterator[str]:
    """The values within some arguments that are e-mail addresses."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, str):
        yield from _ADDRESS.findall(value) if _ADDRESS.fullmatch(value.strip()) else ()
    elif isinstance(value, Sequence):
        for each in value:
            yield from _addresses(each)


def _is_known(address: str, ask: Ask) -> bool:
    """Whether the caller names an address, or a record has it as one."""
    messages = [ask.text, *(text for role, text in ask.dialogue if role == "user")]
    if any(address.lower() in text.lower() for text in messages):
        return True
    for name, properties in _ADDRESSES.items():
        condition = " or ".join(f"{each} eq {quoted(address)}" for each in properties)
        with suppress(ForbiddenError):
            if engine.read_many(name, filter=condition, select="id", top=1):
                return True
    return False
