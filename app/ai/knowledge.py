"""Answers from articles: their sentences, word for word, each with its source.

To a how-to question the best of them; to a ticket that is to be solved those that fit it, and
tickets like it that were solved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

from app.ai.context import cited
from app.ai.lexicon import pattern, spoken_language
from app.ai.parts import Ask, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.references import without_numbers
from app.ai.wording import sentences
from app.container import engine
from app.http.security import current_caller
from app.kb.rendering import to_html
from app.kb.search import FoundArticle, SearchResult, search_articles
from app.kb.suggestions import question_of, read_ticket, suggest_for_ticket
from app.kb.usage import note_search
from app.localisation.catalogue import SOURCE, marked
from app.permissions import allowed
from app.search.analysis import language_of
from app.search.embedding import find_model

# The best article answers where it is so near, together with so much of the part of the question's
# words that an article has; a farther one does not (measured on help articles in two languages).
NEAR_ENOUGH, WORDS_COUNT = 0.393, 0.1
# One more that is quoted beside it is so near by itself.
ALSO_NEAR = 0.38
# Without the model: so much of the question's words, by their rarity, must be in the article.
COVERED_ENOUGH = 0.55
# A second article is quoted when it is nearly as good.
ALSO_GOOD = 0.93
_ITEM = re.compile(r"(?:-|\d+\.) ")
# "How to prove that ..." says what an article is about, and answers nothing.
_ANNOUNCEMENT = re.compile(r"(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)
NOT_ALLOWED = marked("You may not read the knowledge base.")
NOT_FOUND = marked(
    "I found nothing about that in the knowledge base. You could put it in other words, or open a"
    " ticket."
)


def answer_from_articles(ask: Ask) -> Iterator[Part]:
    """Quote the best article or two, or say that there is none."""
    if not allowed(current_caller(), "kb:read"):
        yield Text(ask.translated(NOT_ALLOWED))
        return
    question = without_numbers(ask.text)
    yield ToolCall("search_kb", {"q": question[:300]})
    result = search_articles(question, limit=5)
    note_search(ask.text, result)
    language = spoken_language(question, ask.language)
    good = [each for index, each in enumerate(result.found)
            if _answers(each, result, language, is_best=not index)]  # fmt: skip
    if result.found and good[:1] != result.found[:1]:
        good = []  # the best one is about something else, and so are the others
    yield ToolResult("ok", f"{len(good)} of {result.total} articles fit")
    if not good:
        yield Text(ask.translated(NOT_FOUND))
        return
    best = good[0]
    quoted = [best]
    if len(good) > 1 and good[1].score >= best.score * ALSO_GOOD:
        quoted.append(good[1])
    for index, match in enumerate(quoted):
        yield from _quote(question, match, whole=index == 0)


def _answers(match: FoundArticle, result: SearchResult, language: str, *, is_best: bool) -> bool:
    """Whether an article answers the question, in a language that its reader may read."""
    if result.mode == "keyword":
        return match.score >= COVERED_ENOUGH
    written = language_of(match.article["language"])
    if written not in (language, SOURCE) and result.covered < COVERED_ENOUGH:
        return False
    # The model was trained on English texts: in others all short ones are near each other.
    text = " ".join((match.article["title"], *match.passages))
    if written != SOURCE and not result.marker.words_in(text, written):
        return False
    if not is_best:
        return match.nearness >= ALSO_NEAR
    return match.nearness + WORDS_COUNT * result.covered >= NEAR_ENOUGH


def _quote(question: str, match: FoundArticle, *, whole: bool) -> Iterator[Part]:
    """The summary of an article, if it says something, and the piece that fits the question.

    Args:
        whole: whether the piece is quoted beside a summary, too.
    """
    key = match.article["id"]
    columns = "title,summary,body,bodyFormat,status"
    article = engine.find_one(f"KbArticles({key})", select=columns)
    if article is None or article["status"] != "Published":
        return  # taken back since it was found
    summary = article["summary"] or ""
    lines = [] if _ANNOUNCEMENT.match(summary) else [summary] if summary else []
    if whole or not lines:
        html = to_html(article["body"], article["bodyFormat"])
        lines += best_extract(question, article["title"], html)
    source = cited("KbArticle", key, article["title"], " ".join(lines)[:300])
    is_new_paragraph = not whole
    for line in lines:
        if _ITEM.match(line):
            yield Text(f"\n{line}", source)
            continue
        for sentence in sentences(line):
            yield Text(f"\n{sentence}" if is_new_paragraph else sentence, source)
            is_new_paragraph = False


# --- the piece of an article that answers a question: a paragraph, or a list with its introduction.
# Pieces are taken as they stand, so that a quotation reads as its author wrote it.

# More of an article is not looked through.
MOST_PIECES = 30
# A quotation: a paragraph or two, or a list of a few steps.
LONG_ENOUGH_WORDS = 25
EARLY_BONUS = 0.08
MOST_WORDS = 130
# A code in the question, ``E401``: the piece that has it is meant, whatever else is near.
# The number of a record is none: ``INV-2026-00042`` has nothing in common with another invoice.
_CODE = re.compile(r"(?<![\w-])(?:[a-z]{1,10}\d\w{0,10}|\d{3})(?![\w-])")
CODE_BONUS = 0.3
_BEFORE_MARK = re.compile(r" ([:,])")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = frozenset(("p", "li", "pre", "blockquote", "dd", "dt", "tr", "figcaption", "summary"))


@dataclass
class Piece:
    """A paragraph, with the list that follows it; ``heading`` is that of its section."""

    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def pieces_of(html: str) -> list[Piece]:
    """The pieces of an article that was made by ``to_html``; without those that say nothing."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return [piece for piece in reader.pieces if piece.text][:MOST_PIECES]


def best_extract(question: str, title: str, html: str) -> list[str]:
    """The lines of the piece that fits a question best, and of the next where that is short."""
    pieces = pieces_of(html)
    if not pieces:
        return []
    values = _fitness(question, title, pieces)
    start = max(range(len(pieces)), key=lambda index: (values[index], -index))
    return list(_quoted(pieces, start))


def _quoted(pieces: Sequence[Piece], start: int) -> Iterator[str]:
    words = 0
    for piece in pieces[start:]:
        if words and (words >= LONG_ENOUGH_WORDS or piece.heading != pieces[start].heading):
            return
        for line in piece.lines:
            words += len(line.split())
            if words > MOST_WORDS and words > len(line.split()):
                return
            yield line


def _fitness(question: str, title: str, pieces: Sequence[Piece]) -> Any:
    model = find_model()
    if model is None:
        words = set(question.lower().split())
        return [len(words & set(piece.text.lower().split())) for piece in pieces]
    import numpy  # large, as the model

    texts = [". ".join(filter(None, (title, piece.heading, piece.text))) for piece in pieces]
    vectors = model.embed([question, *texts])
    lengths = numpy.array([len(piece.text.split()) for piece in pieces])
    # A piece of a few words is near everything that has the same title; and what an article is
    # for stands at its beginning, so that a later piece must fit clearly better.
    early = EARLY_BONUS * (1 - numpy.arange(len(pieces)) / len(pieces))
    codes = codes_of(question)
    coded = numpy.array([len(codes & codes_of(piece.text)) for piece in pieces])
    return vectors[1:] @ vectors[0] + early - 0.1 * (lengths < 8) + CODE_BONUS * coded


def codes_of(text: str) -> set[str]:
    """``E401 of an Aurora S40, INV-2026-00042`` -> ``{"e401", "s40"}``."""
    return set(_CODE.findall(text.lower()))


class _Reader(HTMLParser):
    """Collects pieces; the HTML was cleaned before, so that it is well formed enough."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self._heading = ""
        self._text: list[str] = []
        self._kind = ""
        self._numbers: list[int | None] = []
        self._cells = 0
        self._is_header = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in ("ol", "ul"):
            self._end()
            self._numbers.append(1 if tag == "ol" else None)
        elif tag in _HEADINGS or tag in _BLOCKS:
            if not (tag == "p" and self._kind in ("li", "blockquote")):
                self._end()
                self._kind = tag
                self._cells = 0
        elif tag in ("td", "th"):
            self._is_header = tag == "th"
            self._text.append(": " if self._cells == 1 else ", " if self._cells else "")
            self._cells += 1
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and self._kind in ("li", "blockquote"):
            self._text.append(" ")
        elif tag in ("ol", "ul"):
            self._end()
            if self._numbers:
                self._numbers.pop()
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        text = " ".join("".join(self._text).split())
        kind, self._kind = self._kind, ""
        self._text.clear()
        if not text:
            return
        if kind in _HEADINGS:
            self._heading = text
        elif kind == "li":
            self._add(f"{self._mark()} {text}", joined=True)
        elif kind == "tr":
            if not self._is_header:
                self._add("- " + _BEFORE_MARK.sub(r"\1", text), joined=True)
        else:
            self._add(text, joined=False)

    def _mark(self) -> str:
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            return "-"
        self._numbers[-1] = number + 1
        return f"{number}."

    def _add(self, line: str, *, joined: bool) -> None:
        last = self.pieces[-1] if self.pieces else None
        if joined and last is not None and last.heading == self._heading:
            last.lines.append(line)
        else:
            self.pieces.append(Piece(self._heading, [line]))


# --- how a ticket may be solved

MOST_ARTICLES = 3
NONE_FOUND = marked("I found none.")


def find_help(ask: Ask, record: RecordContext) -> str | None:
    """What kind of help with the ticket in the context is asked for, if any."""
    if record.entity != "Ticket":
        return None
    if pattern("similar_tickets").search(ask.text):
        return "similar"
    if pattern("helpful_articles").search(ask.text):
        return "articles"
    return "solution" if pattern("solution").search(ask.text) else None


def answer_help(ask: Ask, key: int, kind: str) -> Iterator[Part]:
    """What the best article says to the ticket, the articles that fit, or the tickets like it."""
    if not allowed(current_caller(), "kb:read"):
        yield Text(ask.translated(NOT_ALLOWED))
        return
    quoted: list[Part] = []
    if kind == "solution":
        quoted = list(answer_from_articles(replace(ask, text=question_of(read_ticket(key)))))
        quoted = [part for part in quoted if part != Text(ask.translated(NOT_FOUND))]
        yield from quoted
    yield ToolCall("suggest_articles", {"ticketId": key})
    suggested = suggest_for_ticket(key, MOST_ARTICLES)
    articles = suggested["items"] if kind == "articles" else []
    tickets = [] if kind == "articles" else suggested["similarTickets"]
    if kind == "solution":
        tickets = [each for each in tickets if each["resolution"]]
    yield ToolResult(
        "ok", f"{len(suggested['items'])} articles, {len(suggested['similarTickets'])} tickets"
    )
    yield from _listed(ask.translated("Articles that fit:"), [
        (f"{each['title']} ({each['reason']})", "KbArticle", each["id"], each["title"])
        for each in articles
    ])  # fmt: skip
    yield from _listed(ask.translated("Solved tickets like it:"), [
        (" ".join(f"{each['number']} {each['subject']}: {each['resolution'] or each['status']}"
                  .split()), "Ticket", each["id"], each["subject"])
        for each in tickets
    ])  # fmt: skip
    if not (articles or tickets or any(isinstance(part, Text) for part in quoted)):
        nothing = NOT_FOUND if kind == "solution" else NONE_FOUND
        yield Text(ask.translated(nothing))


def _listed(title: str, lines: list[tuple[str, str, int, str]]) -> Iterator[Part]:
    if lines:
        yield Text(f"\n{title}")
    for line, entity, key, name in lines:
        yield Text(f"\n- {line}", cited(entity, key, name, line))
