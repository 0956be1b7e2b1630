"""What an answer is made of, in the order in which it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.bi.answers import SessionState
from app.localisation.catalogue import SOURCE, text_in

BUILT_IN = "built-in"


@dataclass(frozen=True)
class Context:
    """What the caller looks at: an area of the service, as it was given, or a record of it."""

    module: str

    @property
    def stored(self) -> dict[str, Any]:
        """The JSON that a message stores."""
        return {"module": self.module, "entityId": None, "title": None}


@dataclass(frozen=True)
class RecordContext(Context):
    """The record that the caller looks at."""

    entity: str
    entity_set: str
    key: int
    title: str

    @property
    def stored(self) -> dict[str, Any]:
        """The JSON that a message stores."""
        return {"module": self.module, "entityId": self.key, "title": self.title}

    @property
    def path(self) -> str:
        """The record's path below the OData service root."""
        return f"{self.entity_set}({self.key})"


@dataclass(frozen=True)
class Ask:
    """A message, what it is about, and the messages before it in the conversation.

    ``dialogue`` has who (``user`` or ``assistant``) said what; ``figures`` is what the last of the
    questions about figures meant; ``language`` is the one to answer in. ``replaces``: it changes
    what was proposed last.
    """

    text: str
    context: Context | None
    figures: SessionState | None = None
    dialogue: Sequence[tuple[str, str]] = ()
    language: str = SOURCE
    replaces: bool = False

    @property
    def record(self) -> RecordContext | None:
        return self.context if isinstance(self.context, RecordContext) else None

    def translated(self, text: str, /, **values: object) -> str:
        """A text of the catalogue in the language to answer in."""
        return text_in(self.language, text, **values)


@dataclass(frozen=True)
class ToolCall:
    """The service was asked something, under the caller's rights."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What came of the call before: ``ok``, ``denied`` or ``error``."""

    status: str
    summary: str


@dataclass(frozen=True)
class Citation:
    """A source; its number is given by its place among the citations of the answer."""

    type: str
    id: int
    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True)
class Text:
    """Words, and the source that they are from."""

    text: str
    source: Citation | None = None


@dataclass(frozen=True)
class Proposal:
    """A change that the caller may confirm.

    ``replaces``: what was proposed last in the conversation is not wanted any more.
    """

    tool: str
    summary: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    replaces: bool = False


@dataclass(frozen=True)
class Words:
    """A piece of a text as it is written, wherever it was cut."""

    text: str


@dataclass(frozen=True)
class Mark:
    """What was said last is from this source."""

    source: Citation


@dataclass(frozen=True)
class Served:
    """Who answers, and what it has used; a later one replaces an earlier one.

    ``status``: ``answered`` by the model, or ``fallback`` to the built-in assistant, with the
    reason in words.
    """

    model: str
    status: str
    reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


# A record among the parts is what the conversation is about from now on.
Part = ToolCall | ToolResult | Text | Words | Mark | Proposal | Served | SessionState | Context
