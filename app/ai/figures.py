"""Questions about figures: asked of the area that answers them, as the caller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from app.ai.lexicon import language_of
from app.ai.parts import Ask, Citation, Part, Text, ToolCall, ToolResult
from app.bi.answering import LONGEST_QUESTION, Reply, reply_to, speech_of
from app.bi.words.speech import Speech
from app.http.security import current_caller
from app.permissions import allowed
from app.written.catalogue import marked

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
_GERMAN_FIGURES = re.compile(
    r"^\W*(?:bitte |und )?wie ?viele?n?\b|\b(wie hoch|anzahl|summe|durchschnitt\w*|umsatz|top \d+"
    r"|(am )?(meisten|wenigsten)|(gr\u00f6\u00df|h\u00f6ch|niedrig)ste[nrs]?|anteil|\w+quote"
    r"|(offene|unbezahlte|gewonnene|verlorene)[nrs]?|\u00fcberf\u00e4llig(e[nrs]?)?"
    r"|welche (kunden|rechnungen|tickets|leads|verkaufschancen|projekte|aufgaben|ansprechpartner)"
    r"|(nach|pro|je) (monat|woche|jahr|quartal|kunde|land|status|priorit\u00e4t|quelle|phase)"
    r"|(letzte|diese)[nmrs]? (monat|woche|jahr|quartal)s?)\b",
    re.IGNORECASE,
)
# Questions for numbers in other languages: an article would be quoted for them otherwise.
_FOREIGN = re.compile(
    r"^\W*(?:et |y |e )?(combien|cu(?:\u00e1|a)nt[oa]s?|quant[oaie]|hoeveel|ile"
    r"|quel(?:le)? (?:est|\u00e9tait) le total|chiffre d'affaires|fatturato|facturaci(?:\u00f3|o)n"
    r"|omzet)\b",
    re.IGNORECASE,
)
TWO_LANGUAGES = marked(
    "I understand questions about figures in English and German only, such as: How many open"
    " tickets are there? What the knowledge base says I find in every language of its articles."
)
# Words for the client in whose context something is asked.
_THEM = re.compile(
    r"\b(?:(?:this|that) (?:client|customer|company|account)|they|them|their)\b", re.I
)
_IHNEN = re.compile(r"(?<=\s)(?:sie|ihnen)\b")  # in small letters: "Sie" may be whoever is asked
# Beside a client, such records are the client's ...
_OF_ONE = re.compile(
    r"^\W*how much (?:is|are|was) (?:still )?(?:overdue|unpaid|open|late)\b"
    r"|^\W*(?:(?:and|please|show(?: me)?|list|which|what|any|the|are|is|was|were|when"
    r"|how many)\s+)*"
    r"(?:(?:open|unpaid|overdue|outstanding|late|last|latest|newest|recent|active|paid)\s+)*"
    r"(?:invoices?|payments?|tickets?|deals?|opportunit(?:y|ies)|projects?|contacts|credit notes?"
    r"|documents)\b",
    re.IGNORECASE,
)
_OF_ONE_GERMAN = re.compile(
    r"^\W*(?:(?:und|bitte|zeig\w*|welche|was|die|gibt es|sind|wann|wie viele)\s+)*"
    r"(?:(?:offen|unbezahlt|\u00fcberf\u00e4llig|letzt|neuest|j\u00fcngst|aktuell)\w*\s+)*"
    r"(?:rechnung(?:en)?|zahlung(?:en)?|tickets?|deals?|verkaufschancen?|projekte?|kontakte"
    r"|gutschrift(?:en)?|dokumente?)\b",
    re.IGNORECASE,
)
# ... unless all of them are meant.
_OF_ALL = re.compile(
    r"\b(?:all|our|we|us|my|every\w*|each|overall|in total|altogether|per|by|there|clients"
    r"|customers|compan(?:y|ies)|top|of|for|from|with|alle\w*|unser\w*|wir|uns|meine?|jede\w*"
    r"|insgesamt|pro|je|nach|kunden|von|f\u00fcr|mit|bei)\b",
    re.IGNORECASE,
)
# A reading of a question that is less sure than this is no answer.
SURE_ENOUGH = 0.5
# Of what does not sound like figures, only what is read without any doubt is one.
SURE = 0.9
MOST_CHOICES = 4
MOST_ROWS = 10


def is_about_figures(text: str) -> bool:
    """Whether a message asks for numbers or lists of records."""
    return any(words.search(text) for words in (_FIGURES, _GERMAN_FIGURES))


def is_about_one(ask: Ask) -> bool:
    """Whether a message beside a client asks for records of that client."""
    return _question(ask) != ask.text


def is_foreign_figures(text: str) -> bool:
    """Whether a message asks for numbers in a language in which they cannot be asked for."""
    return _FOREIGN.search(text) is not None


class Figures:
    """What the figures say to a message: they are asked once, by whatever needs it first."""

    def __init__(self, ask: Ask) -> None:
        self._text, self._figures, self._question = ask.text, ask.figures, _question(ask)

    @cached_property
    def _answered(self) -> Reply | None:
        """The answer; None where they may not be asked."""
        if not allowed(current_caller(), "bi:query") or len(self._question) > LONGEST_QUESTION:
            return None
        # What is put for "they" says whose records are meant, whatever was asked before.
        before = self._figures if self._question == self._text else None
        return reply_to(self._question, before, limit=MOST_ROWS)

    def answer(self, least: float = SURE_ENOUGH) -> Iterator[Part]:
        """The answer; nothing at all where there is none that is so sure."""
        answered = self._answered
        if answered is None:
            return
        figures, status = answered.answer, answered.answer["status"]
        least = SURE_ENOUGH if answered.goes_on else least
        if status == "needsClarification":
            yield from _choices(self._question, figures)
            yield answered.state
        elif status == "answered" and figures["confidence"] >= least:
            yield from _answer(self._question, figures, answered.say)
            yield answered.state
        elif status == "unsupported" and figures["interpretation"]:
            # Understood, and not for this caller: an article would be no answer.
            yield Text(str(figures["answer"]))

    def refusal(self) -> str | None:
        """Why a message that sounds like figures has no answer; None for others."""
        if not is_about_figures(self._text) or len(self._text) > LONGEST_QUESTION:
            return None
        if not allowed(current_caller(), "bi:query"):
            return speech_of(self._text)("You may not ask for figures.")
        answered = self._answered
        if answered is None or answered.answer["status"] != "unsupported":
            return None
        return str(answered.answer["answer"])


def _question(ask: Ask) -> str:
    """What is asked; beside a client, ``they`` and unpaid invoices are those of that client."""
    if ask.record is None or ask.record.entity != "Client":
        return ask.text
    title = ask.record.title
    # A name may have words of its own: "e. K." is no category of tax where it stands in quotes.
    name = title if '"' in title else f'"{title}"'
    refers = _THEM.search(ask.text) or _IHNEN.search(ask.text) or _OF_ALL.search(ask.text)
    if not refers and (_OF_ONE.search(ask.text) or _OF_ONE_GERMAN.search(ask.text)):
        of = "von" if language_of(ask.text, ask.language) == "de" else "of"
        return f"{ask.text.rstrip(' ?!.')} {of} {name}"
    if _IHNEN.search(ask.text):
        return _IHNEN.sub(name, ask.text)
    return _THEM.sub(lambda word: f"{title}'s" if word[0].lower() == "their" else name, ask.text)


def _answer(question: str, figures: Mapping[str, Any], say: Speech) -> Iterator[Part]:
    url = str((figures.get("query") or {}).get("odata") or "")
    interpretation = str(figures.get("interpretation") or "")
    yield ToolCall("ask_figures", {"question": question})
    yield ToolResult("ok", url or interpretation)
    source = Citation("Query", 0, interpretation.rstrip("."), url, str(figures["answer"])[:300])
    yield Text(str(figures["answer"]), source)
    if interpretation:
        yield Text(f"\n({say('Understood as: {meaning}.', meaning=interpretation.rstrip('.'))})")


def _choices(question: str, figures: Mapping[str, Any]) -> Iterator[Part]:
    yield ToolCall("ask_figures", {"question": question})
    yield ToolResult("ok", "needs clarification")
    yield Text(str(figures["answer"]))
    for choice in list(figures.get("alternatives") or [])[:MOST_CHOICES]:
        yield Text(f"\n- {choice}")
