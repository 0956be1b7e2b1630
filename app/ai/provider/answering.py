"""An answer of the model: it asks for tools, gets their results, and speaks from its sources."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from app.ai.parts import Ask, Mark, Part, Proposal, Served, Text, ToolCall, ToolResult, Words
from app.ai.provider.budget import estimated, note_usage, require_budget
from app.ai.provider.completions import ask as ask_model
from app.ai.provider.errors import EMPTY, ProviderError
from app.ai.provider.health import Health
from app.ai.provider.options import Options
from app.ai.provider.prompts import first_messages
from app.ai.provider.proposing import PROPOSING
from app.ai.provider.reading import READING
from app.ai.provider.redaction import Redactor
from app.ai.provider.replies import Call, Reply
from app.ai.provider.saying import Cite, Sayer
from app.ai.provider.sources import Sources
from app.ai.provider.toolbox import Use, read_arguments, use_tool
from app.types import json_text

# Exchanges of one answer: in the last one no tools may be used, so that it ends.
ROUNDS = 5
# Words are shown a few at a time: each showing is a commit.
WORTH_SHOWING = 40
WORTH_WAITING = 0.2
CUT = "\n\n(The answer was cut: it reached the limit of its length.)"
UNCITED = "\n\n(No source is cited for this answer.)"


@dataclass
class Provider:
    """The provider of an application."""

    options: Options
    health: Health = field(default_factory=Health)

    def answer(self, ask: Ask) -> Iterator[Part]:
        """The parts of the model's answer.

        Raises: ProviderError, it has none, with the tokens that were used all the same; parts may
            have been given before.
        """
        conversation = _Conversation(self, ask)
        with self.health.answering():
            try:
                yield from conversation.parts()
            except ProviderError as error:
                error.used = conversation.used
                raise


class _Conversation:
    """The exchanges that make one answer."""

    def __init__(self, provider: Provider, ask: Ask) -> None:
        self._options = provider.options
        self._health = provider.health
        self._ask = ask
        self._until = time.monotonic() + provider.options.seconds
        self._redactor = Redactor(provider.options.redacted)
        self._use = Use(ask, Sources())
        self._tools = [tool for tool in (*READING, *PROPOSING) if tool.is_allowed()]
        self._messages: list[dict[str, Any]] = []
        self._said = ""
        self._cited = False
        self._read = self._written = 0

    @property
    def used(self) -> tuple[int, int]:
        """Tokens read and written so far."""
        return self._read, self._written

    def parts(self) -> Iterator[Part]:
        for message in first_messages(self._ask):
            self._add(message)
        yield from self._look_first()
        for number in range(1, ROUNDS + 1):
            reply = Reply()
            yield from self._exchange(reply, is_last=number == ROUNDS)
            if not reply.calls or number == ROUNDS:
                break
            self._keep_reply(reply)
            for call in reply.calls:
                yield from self._call(call)
        yield from self._end(reply)

    def _look_first(self) -> Iterator[Part]:
        """What a model that asks for nothing has to know: the record, and articles that fit."""
        context = self._ask.context
        calls = []
        if context is not None and context.key is not None:
            calls.append(("read_record", {"set": context.entity_set, "id": context.key}))
        if any(tool.name == "search_kb" for tool in self._tools):
            calls.append(("search_kb", {"q": self._ask.text[:1000]}))
        reply = Reply()
        for number, (name, arguments) in enumerate(calls, 1):
            reply.calls.append(Call(f"first_{number}", name, json_text(arguments)))
        if reply.calls:
            self._keep_reply(reply)
            for call in reply.calls:
                yield from self._call(call)

    def _exchange(self, reply: Reply, *, is_last: bool) -> Iterator[Part]:
        require_budget(self._options.day_tokens)
        tools = [tool.declared() for tool in self._tools]
        sayer = Sayer(self._redactor.show)
        try:
            with closing(
                ask_model(
                    self._options, self._messages, tools, reply, self._until, may_call=not is_last
                )
            ) as pieces:
                yield from self._spoken(pieces, sayer)
        finally:
            self._count(reply)

    def _spoken(self, pieces: Iterator[str], sayer: Sayer) -> Iterator[Part]:
        """Words as they come, gathered into pieces that are worth a commit."""
        held, shown_at = "", time.monotonic()
        is_first = bool(self._said)
        for item in _items(pieces, sayer):
            if isinstance(item, Cite):
                source = self._use.sources.find(item.number)
                if source is None:
                    continue  # the model made it up
                if held:
                    yield self._say(held)
                    held = ""
                self._cited = True
                yield Mark(source)
                continue
            if is_first:
                item = f"\n\n{item.lstrip()}"
                is_first = False
            held += item
            now = time.monotonic()
            if len(held) >= WORTH_SHOWING or (held.strip() and now - shown_at > WORTH_WAITING):
                yield self._say(held)
                held, shown_at = "", now
        if held:
            yield self._say(held)

    def _say(self, text: str) -> Words:
        self._said += text
        return Words(text)

    def _call(self, call: Call) -> Iterator[Part]:
        arguments = read_arguments(self._redactor.show(call.arguments))
        yield ToolCall(call.name[:60], arguments if arguments is not None else {})
        proposed = len(self._use.parts)
        result = use_tool(self._tools, call.name, arguments, self._use)
        yield ToolResult(result.status, result.summary)
        yield from self._use.parts[proposed:]
        self._add({"role": "tool", "tool_call_id": call.key, "content": result.content})

    def _end(self, reply: Reply) -> Iterator[Part]:
        has_proposals = any(isinstance(part, Proposal) for part in self._use.parts)
        if not self._said.strip():
            if not has_proposals:
                raise ProviderError(EMPTY)
            yield Text("I propose this; nothing happens until you confirm it.")
        if reply.finish == "length":
            yield Words(CUT)
        for known in (self._ask.text, *(text for _, text in self._ask.dialogue)):
            self._use.sources.learn(known)
        self._use.sources.learn(self._messages[0]["content"])
        unknown = self._use.sources.unknown_figures(self._said)
        if unknown:
            yield Words(f"\n\n(Not found in the sources: {'; '.join(unknown[:10])}.)")
        elif self._said.strip() and not self._cited and not has_proposals:
            yield Words(UNCITED)
        yield Served(self._options.model, "answered", None, *self.used)

    def _keep_reply(self, reply: Reply) -> None:
        calls = [
            {"id": call.key, "type": "function",
             "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in reply.calls
        ]  # fmt: skip
        self._add({"role": "assistant", "content": reply.text or None, "tool_calls": calls})

    def _add(self, message: dict[str, Any]) -> None:
        """Nothing gets among the messages but through here: what is to be hidden is hidden."""
        hidden = self._redactor.hide
        if message["content"]:
            message = {**message, "content": hidden(message["content"])}
        if "tool_calls" in message:
            message["tool_calls"] = [
                {**call, "function": {**call["function"],
                                      "arguments": hidden(call["function"]["arguments"])}}
                for call in message["tool_calls"]
            ]  # fmt: skip
        self._messages.append(message)

    def _count(self, reply: Reply) -> None:
        """Count the tokens of an exchange, also of one that failed on its way."""
        if not (reply.text or reply.calls or reply.input_tokens or reply.finish):
            return
        read = reply.input_tokens
        if read is None:
            read = estimated([str(message["content"] or "") for message in self._messages])
        written = reply.output_tokens
        if written is None:
            written = estimated([reply.text, *(call.arguments for call in reply.calls)])
        self._read += read
        self._written += written
        self._health.count(read, written)
        note_usage(read, written)


def _items(pieces: Iterator[str], sayer: Sayer) -> Iterator[str | Cite]:
    for piece in pieces:
        yield from sayer.take(piece)
    yield from sayer.end()
