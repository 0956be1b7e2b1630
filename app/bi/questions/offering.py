"""Questions that are offered in place of one that has no answer: its halves, its readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.bi.questions.algebra import Equals
from app.bi.questions.lexicon import Lexicon, first_place
from app.bi.questions.names import Name
from app.bi.questions.reading import Read
from app.bi.questions.understanding import Analysis
from app.bi.words.speech import capital

_ASKING = frozenset(("f:count", "f:who", "f:when"))
_MOST_NEARBY = 3
# What is asked most of a client or a person.
_OFTEN = ("Invoices", "Opportunities", "Tickets", "Documents", "Tasks", "Projects", "Contacts")
# What says of which records a question is, or what of them it asks for.
CONTENT = frozenset(("kind", "state", "named", "measure", "verb", "rate", "date"))


def halves(read: Read, lexicon: Lexicon) -> tuple[str, ...]:
    """The two questions of one: each begins with a word that asks, and says of what.

    ``and how much`` alone goes on with the same.
    """
    joints = lexicon.phrases("words", "and")
    ends = {leaf.start: leaf.end for leaf in read.leaves if leaf.category in _ASKING}
    asking = sorted(ends.items())
    for start, end in asking[1:]:
        begin, first_end = asking[0]
        is_joined = (read.tokens[start - 1].stem,) in joints
        if is_joined and _has_content(read, first_end, start) and _has_content(read, end):
            begin = 0 if _has_content(read, 0, begin) else begin  # no greeting
            words = _words(read)
            return _question(words[begin : start - 1]), _question(words[start:])
    return ()


def _has_content(read: Read, start: int, end: int | None = None) -> bool:
    last = len(read.tokens) if end is None else end
    return any(leaf.category in CONTENT and leaf.start >= start and leaf.end <= last
               for leaf in read.leaves)  # fmt: skip


def by_record(analysis: Analysis, read: Read) -> tuple[str, ...]:
    """The question once for each record of a name that several have; none where one is meant, or
    where it is said whose they are."""
    where = () if analysis.meaning is None else analysis.meaning.where
    is_told = any(isinstance(part, Equals) and len(part.values) == 1 and part.path.endswith("Id")
                  for part in where)  # fmt: skip
    if "several records" not in analysis.features or is_told:
        return ()
    name = next(name for name in read.names if name.choices)
    return tuple(_replaced(read, (name.start, name.end), f'"{choice}"') for choice in name.choices)


def by_figure(analysis: Analysis, read: Read, lexicon: Lexicon) -> tuple[str, ...]:
    """The question once for each figure that makes records the best; none where one is said."""
    ends = {leaf.category for leaf in read.leaves} & {"f:top", "f:bottom"}
    meaning = analysis.meaning
    if meaning is None or not ends or "rule best_of_kind" not in analysis.features:
        return ()
    figure = lexicon.first("measure", meaning.kind, meaning.figures[0].measure)
    many = lexicon.say.named(lexicon.model.kinds[meaning.kind].many)
    words = _question(_words(read)).removesuffix("?")
    return tuple(
        text.format(words=words, figure=figure, kind=many)
        for text in lexicon.data["refusing"]["best_by"]
    )


def nearest(read: Read, span: tuple[int, int], lexicon: Lexicon) -> tuple[str, ...]:
    """The question with what is not offered replaced by the nearest that is."""
    words = lexicon.data["refusing"]["nearest"]
    phrases = {lexicon.phrase(text): near for text, near in words.items()}
    near = phrases.get(read.stems[slice(*span)])
    return () if near is None else (_replaced(read, span, near),)


def candidates(read: Read, topic: str, lexicon: Lexicon) -> Iterator[str]:
    """A question that says nothing of what it is about, with a topic where one can stand."""
    open_words = {*lexicon.phrases("language", "vague"), *lexicon.phrases("language", "pronouns")}
    start, end = first_place(read.stems, open_words) or (len(read.tokens), len(read.tokens))
    asking = {at for leaf in read.leaves if leaf.category in ("f:list", "f:who")
              for at in range(leaf.start, leaf.end)}  # fmt: skip
    verbs = {leaf.start for leaf in read.leaves if leaf.category == "f:property_is"}
    begun = {leaf.start for leaf in read.leaves} - verbs
    places = [at for at, token in enumerate(read.tokens) if token.text and not start <= at < end]
    while places and (
        places[0] in asking or (read.stems[places[0]] in lexicon.fillers and places[0] not in begun)
    ):
        places.pop(0)
    words = [_words(read)[at] for at in places]
    first = {leaf.category: leaf.end - leaf.start
             for leaf in read.leaves if leaf.start in places[:1]}  # fmt: skip
    if length := max(first.get(category, 0) for category in ("f:compare", "f:count", "f:much")):
        yield _question([*words[:length], topic, *words[length:]])
    is_behind = first.keys() & {"f:by", "f:of", "period", "grain"} and not read.is_ranked
    yield _question([topic, *words] if is_behind else [*words, topic])


def nearby(read: Read, lexicon: Lexicon) -> tuple[str, ...]:
    """Questions about what is recognised in one that has no answer: a client or person, or a kind.

    ``Open invoices of Lumière Handel SA``; none where nothing is.
    """
    say, model = lexicon.say, lexicon.model.kinds
    kinds = [leaf.meaning[0] for leaf in read.leaves if leaf.category == "kind"]
    whose = next(filter(None, (_whose(name, lexicon) for name in read.names)), {})
    order = [key for key in dict.fromkeys((*kinds, *_OFTEN)) if key in whose]
    if order:
        return tuple(
            capital(say("{many} of {name}", many=_open(key, lexicon), name=whose[key]))
            for key in order[:_MOST_NEARBY]
        )  # fmt: skip
    offered = [capital(_open(key, lexicon)) for key in dict.fromkeys(kinds)]
    for key in dict.fromkeys(kinds):
        for dimension in (model[key].dimensions.get("client"), model[key].person):
            if dimension is not None:
                groups = say("by {groups}", groups=say.named(dimension.label))
                offered.append(capital(f"{_many(key, lexicon)} {groups}"))
    return tuple(offered[:_MOST_NEARBY])


def _many(key: str, lexicon: Lexicon) -> str:
    return lexicon.say.named(lexicon.model.kinds[key].many)


def _open(key: str, lexicon: Lexicon) -> str:
    """Those that are still open, where records of a kind can be so."""
    is_open = {"open", "status.Open"} & lexicon.model.kinds[key].states.keys()
    many = _many(key, lexicon)
    return lexicon.say("open {many}", many=many) if is_open else many


def _whose(name: Name, lexicon: Lexicon) -> dict[str, str]:
    """What a name of a client or a person is in full, by the kind of what belongs to it."""
    names: dict[str, str] = {}
    for key, restriction in name.options.by_kind.items():
        kind = lexicon.model.kinds[key]
        owners = (kind.dimensions.get("client"), kind.person)
        paths = {path for each in owners if each is not None for path in (each.path, each.key)}
        if not name.choices and isinstance(restriction, Equals) and restriction.path in paths:
            names[key] = restriction.label
    return names


def report_of(read: Read, lexicon: Lexicon) -> str:
    """The key of the built-in report that a question calls for; empty where it calls for none."""
    reports = lexicon.data.get("reports", {})
    called = (
        report for report in reports if first_place(read.stems, lexicon.phrases("reports", report))
    )
    return next(called, "")


def _words(read: Read) -> list[str]:
    """The words of a question as they were meant: misspelt ones as they were written."""
    return [token.repaired_from or token.text for token in read.tokens]


def _replaced(read: Read, span: tuple[int, int], word: str) -> str:
    words = _words(read)
    return _question([*words[: span[0]], word, *words[span[1] :]])


def _question(words: Sequence[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}?"
