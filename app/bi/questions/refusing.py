"""What is understood and has no answer: it contradicts itself, lies ahead, was not kept, is two.

Each is a rule over the meaning, its plan and the model; a language says only which words look
ahead or back, and how the reason is told (``[refusing]`` of its lexicon).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, pairwise

from app.bi.plans.entities import spoken
from app.bi.plans.filtering import bounds, is_of_all
from app.bi.plans.plan import Plan
from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Equals,
    Figure,
    Is,
    Meaning,
    Not,
    positive,
)
from app.bi.questions.contradictions import is_possible
from app.bi.questions.lexicon import Lexicon, Phrase, first_place, places
from app.bi.questions.model import Kind
from app.bi.questions.offering import CONTENT, by_figure, by_record, halves, nearest
from app.bi.questions.ranker import is_decisive
from app.bi.questions.reading import Leaf, Read
from app.bi.questions.understanding import Analysis
from app.container.words import options_of

_MOST_NAMED = 3  # words that are said to be unknown
_ASKING_BACK = frozenset((
    "two", "subject", "ranking", "aside", "several", "either", "best", "open",
))  # fmt: skip
_DONE = frozenset(("cross content verb", "cross content date/verb"))  # verbs, and nothing else
_FINAL = frozenset(("secret", "command", "forbidden"))


@dataclass(frozen=True)
class Refusal:
    """Why a question has no answer: the name of the reason, and the words that it is about.

    ``questions`` are those that it can be asked as instead.
    """

    reason: str
    words: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    @property
    def asks_back(self) -> bool:
        """Whether it has an answer once a reading is chosen."""
        return self.reason in _ASKING_BACK

    @property
    def is_final(self) -> bool:
        """Whether it asks for something that no question can do."""
        return self.reason in _FINAL

    def sentence(self, lexicon: Lexicon) -> str:
        """The reason as a sentence of a language."""
        joint = lexicon.data["refusing"]["joint"]
        sentence: str = lexicon.data["refusing"][self.reason]
        words = (lexicon.say("“{word}”", word=word.strip("“”")) if word.startswith("“") else word
                 for word in self.words)  # fmt: skip
        return sentence.format(words=f" {joint} ".join(words))


def refused(analysis: Analysis, read: Read, lexicon: Lexicon) -> Refusal | None:
    """Why what is understood has no answer; None where it may have one."""
    offered = {"two": halves(read, lexicon), "several": by_record(analysis, read),
               "best": by_figure(analysis, read, lexicon)}  # fmt: skip
    for reason, questions in offered.items():
        if questions:
            return Refusal(reason, questions=questions)
    meaning, plan = analysis.meaning, analysis.plan
    if meaning is None or plan is None:
        return None
    question = _Question(analysis, meaning, plan, read, lexicon)
    for reason, rule in _RULES:
        if refusal := rule(question):
            words = refusal if isinstance(refusal, tuple) else ()
            return refusal if isinstance(refusal, Refusal) else Refusal(reason, words)
    return None


def unread(read: Read, lexicon: Lexicon) -> Refusal | None:
    """Why nothing is understood: it asks for what questions do not do, or in words of nothing."""
    phrases = {name: lexicon.phrases("refusing", "words", name) for name in ("secret", "manual")}
    phrases |= {"command": lexicon.commands, "beyond": lexicon.beyond}
    for reason, texts in phrases.items():
        span = first_place(read.stems, texts)
        if span and (span[1] - span[0] > 1 or not _is_text(read, span[0])):
            return _of_words(reason, read, span, lexicon)
    named = {at for leaf in read.leaves for at in range(leaf.start, leaf.end)}
    words = (token.text for at, token in enumerate(read.tokens)
             if token.kind == "word" and at not in named)  # fmt: skip
    unknown = (f"“{word}”" for word in words if not lexicon.is_known(word))
    if unknown_words := tuple(islice(unknown, _MOST_NAMED)):
        return Refusal("unknown", unknown_words)
    return Refusal("open") if _is_open_of(read, lexicon) else None


def _is_text(read: Read, at: int) -> bool:
    """Whether a word is one of a text that records are about."""
    return any(leaf.start < at < leaf.end and leaf.category == "value" for leaf in read.leaves)


def passed_over(
    analysis: Analysis, read: Read, crossings: Container[str] = ("cross unknown", "cross name")
) -> Refusal | None:
    """That an analysis leaves words aside that nothing is known of."""
    places = [position for position in analysis.crossed if read.crossing[position] in crossings]
    quoted = tuple(f"“{word}”" for word in read.words_at(places))
    return Refusal("unknown", quoted[:_MOST_NAMED]) if quoted else None


def _of_words(reason: str, read: Read, span: tuple[int, int], lexicon: Lexicon) -> Refusal:
    words = " ".join(token.text for token in read.tokens[slice(*span)])
    return Refusal(reason, (f"“{words}”",), nearest(read, span, lexicon))


def _is_open_of(read: Read, lexicon: Lexicon) -> bool:
    """Whether all words are understood, and none says of which records it is."""
    start, end = first_place(read.stems, lexicon.vague) or (0, 0)
    strange = ["cross unknown", "cross name", *([] if read.is_ranked else ["cross number"])]
    if any(next_place > crossed and read.crossing[crossed] in strange and not start <= at < end
           for at, (crossed, next_place) in enumerate(pairwise(read.places))):  # fmt: skip
        return False
    outside = [leaf for leaf in read.leaves if not start <= leaf.start < end]
    # "tell me about Umbrella": a text that may stand anywhere, or a name that nobody has.
    if any(leaf.category == "value" and leaf.meaning.key.startswith("f:") for leaf in outside):
        return False
    is_told = any(leaf.category in CONTENT - {"state", "date"} for leaf in outside)
    return bool(read.length) and not is_told


@dataclass(frozen=True)
class _Question:
    """What the rules look at: a question as it was understood."""

    analysis: Analysis
    meaning: Meaning
    plan: Plan
    read: Read
    lexicon: Lexicon

    @cached_property
    def kind(self) -> Kind:
        return self.lexicon.model.kinds[self.meaning.kind]

    @property
    def is_unnamed(self) -> bool:
        """Whether no noun says of which kind of record it is."""
        return f"kind unnamed {self.meaning.kind}" in self.analysis.features

    @cached_property
    def states(self) -> list[str]:
        """What the records are said to be, without what they are said not to be."""
        parts = (part for restriction in self.meaning.where for part in positive(restriction))
        return [part.state for part in parts if isinstance(part, Is)]

    def leaves(self, *categories: str) -> Iterator[Leaf]:
        return (leaf for leaf in self.read.leaves if leaf.category in categories)

    def starts(self, *categories: str) -> set[int]:
        """Where words of such a category begin."""
        return {leaf.start for leaf in self.leaves(*categories)}

    def ends(self, *categories: str) -> set[int]:
        """Behind which token words of such a category end."""
        return {leaf.end for leaf in self.leaves(*categories)}

    def words(self, name: str) -> frozenset[Phrase]:
        """Words of the language that change what is asked."""
        return self.lexicon.phrases("refusing", "words", name)

    def says(self, name: str) -> bool:
        """Whether it has such words, and not as part of a longer phrase that means no more."""
        stems, politely = self.read.stems, self.words("politely")
        polite = {at for start, end in places(stems, politely) for at in range(start, end)}
        return any(start not in polite for start, _ in places(stems, self.words(name)))

    def crosses(self, name: str) -> bool:
        """Whether nothing was made of such a word."""
        placed = zip(self.read.stems, self.read.places, strict=False)
        return any((stem,) in self.words(name) and at in self.analysis.crossed
                   for stem, at in placed)  # fmt: skip


# --- of which records, and how many questions


def _is_vague(question: _Question) -> bool:
    """Whether it is asked how things are, and not of what: ``how are we doing``, ``numbers``."""
    span = first_place(question.read.stems, question.lexicon.vague)
    is_told = any(figure.measure != COUNT for figure in question.meaning.figures)
    is_told |= len(question.analysis.draft.common_kinds) == 1
    if span is None or (is_told and question.states):  # "sum of everything overdue"
        return False
    is_of_property = any(not span[0] <= at < span[1] for at in question.starts("property"))
    return not is_of_property and _is_open_of(question.read, question.lexicon)  # "phone numbers"


def _is_of_anything(question: _Question) -> bool:
    """Whether records of several kinds are counted that only a state names, which all can have."""
    item, meaning = question.analysis.item, question.meaning
    if item is None or not question.is_unnamed:
        return False
    spans = {(leaf.start, leaf.end) for leaf in question.leaves("f:amount")}
    bare = [leaf.meaning for leaf in question.leaves("property") if (leaf.start, leaf.end) in spans]
    says_amount = any(
        leaf.category == "property" and leaf.meaning in bare for leaf in item.leaves()
    )
    draft = question.analysis.draft
    is_amount = (
        ("bare amount" in draft.flags or says_amount) and not meaning.where and not meaning.dated
    )
    is_plain = is_amount or all(figure.measure == COUNT for figure in meaning.figures)
    is_named = any(not isinstance(restriction, Is) for restriction in meaning.where)
    is_open = is_amount or len(draft.common_kinds) > 1
    return is_plain and not is_named and not meaning.groups and is_open


def _is_ranked_by_two(question: _Question) -> bool:
    """Whether the first few are asked for by two figures, each of which has its own first few."""
    ranking, figures = question.meaning.ranking, question.meaning.figures
    is_counted = any(figure.measure == COUNT for figure in figures)
    return ranking is not None and ranking.limit > 1 and len(figures) > 1 and not is_counted


# --- words of which nothing was made


def _beyond(question: _Question) -> Refusal | None:
    """What no figure tells: a median is not the sum."""
    read, span = question.read, first_place(question.read.stems, question.lexicon.beyond)
    if span is None:
        return None
    start, end = span
    # "Do we owe" is no part of what clients owe; articles about travel expenses are kept.
    is_part = any(leaf.start <= start and leaf.end >= end for leaf in read.leaves)
    is_phrase = end - start > 1 and not is_part
    if end - start == 1 and _is_text(read, start):
        return None
    places = range(read.places[start], read.places[end])
    if not is_phrase and not set(question.analysis.aside).issuperset(places):
        return None
    return _of_words("beyond", read, span, question.lexicon)


def _command(question: _Question) -> tuple[str, ...]:
    """The verb of changing something that a question or a clause of it begins with, or ends with.

    ``Change the due date``, ``drafts: delete those``, ``void invoice INV-1``; ``Entwürfe löschen``.
    """
    read, lexicon = question.read, question.lexicon
    # "Change the due date", "void invoice INV-1": what it is done to follows at once.
    objects = lexicon.phrases("language", "objects") | lexicon.phrases("language", "pronouns")
    last_words, done = (
        lexicon.phrases("language", f"commands_{name}") for name in ("behind", "done")
    )
    # "Ticket T-000125 schließen": nothing is asked of what only its number names.
    is_named = any(leaf.meaning.key.startswith("number:") for leaf in question.leaves("value"))
    is_named &= not any(question.leaves("f:list", "f:who", "f:when", "f:count", "f:tobe"))
    # Without "please" and "can you".
    own_places = [at for at in range(len(read.tokens)) if read.places[at] < read.places[at + 1]]
    for at in own_places:
        token, stems = read.tokens[at], read.stems
        is_left = read.places[at] in question.analysis.crossed
        is_one = any(map(str.isdigit, "".join(stems[at + 2 : at + 3])))
        is_done_to = stems[at + 1 : at + 2] in objects or is_one
        if at == own_places[-1] and (is_left or is_named) and (token.stem,) in last_words:
            return (f"“{token.text}”",)
        is_command = (token.stem,) in lexicon.commands or stems[at : at + 2] in lexicon.commands
        is_command &= not read.means(at, at + 1)  # "add up", a name
        is_begun = at == own_places[0] or token.apart
        if is_command and at == own_places[0] and is_left:
            return (f"“{token.text}”",)
        if (is_command or (token.stem,) in done) and is_begun and is_done_to:
            return (f"“{token.text}”",)
    return ()


def _is_unmeasured(question: _Question) -> bool:
    """Whether it is said how much, how or like whom, in a word without a number."""
    is_measured = any(isinstance(restriction, Compares) for restriction in question.meaning.where)
    happened, manner = question.ends("state", "date", "verb"), question.words("manner")
    named, alike = question.starts("value"), question.words("alike")
    return (question.crosses("unmeasured") and not is_measured) or any(
        ((stem,) in manner and at in happened) or ((stem,) in alike and at + 1 in named)
        for at, stem in enumerate(question.read.stems)
    )


def _nobody(question: _Question) -> tuple[str, ...]:
    """The word for whom or what records are of, where nothing is known of it: ``of sorensen``."""
    read, whose = question.read, question.ends("f:of", "f:person")
    ends = {at for at in whose if at + 1 == len(read.tokens)
            or (at + 1 < len(read.tokens) and read.tokens[at + 1].apart)}  # fmt: skip
    places = {read.places[at] for at in ends} & question.analysis.crossed
    words = read.words_at(
        position for position in places if read.crossing[position] == "cross unknown"
    )
    return tuple(f"“{word}”" for word in words)


def _left_aside(question: _Question) -> tuple[str, ...]:
    """The words that were left aside and may be about other records altogether."""
    analysis, read = question.analysis, question.read
    # The first noun says what is asked for, whatever follows it.
    nouns = [read.places[at] for at in question.starts("kind")]
    first = {min(nouns)} & set(analysis.aside) if nouns else set()
    if question.meaning == Meaning(question.meaning.kind):  # all of a kind: which is not said
        first |= {at for at in analysis.aside if read.crossing[at].startswith("cross content")}
    decisive = {position for position in analysis.crossed if is_decisive(read.crossing[position])}
    # "What did Granit buy" asks for more than who that is.
    restrictions = () if question.meaning.figures else question.meaning.where
    is_bare = any(isinstance(part, Equals) and part.path == "id" for part in restrictions)
    done = {position for position in analysis.aside if is_bare and read.crossing[position] in _DONE}
    return tuple(read.words_at(decisive | done | first))


# --- what contradicts itself


def _conflict(question: _Question) -> tuple[str, ...]:
    """What two parts of a plan say that no record is at once; nothing where one can be."""
    plan, kind = question.plan, question.kind
    parts = list(_parts(question))
    base = [] if plan.base is None or is_of_all(plan) else [plan.base]
    if is_possible(kind.type, [*base, *(text for text, _ in parts)]):
        return ()
    for (first_part, words), (other, more) in combinations(parts, 2):
        if not is_possible(kind.type, [*base, first_part, other]):
            return words, more
    return tuple(words for _, words in parts if words)


def _parts(question: _Question) -> Iterator[tuple[str, str]]:
    """The filters of a plan, each with what says it."""
    plan, kind, say = question.plan, question.kind, question.plan.say
    yield from ((condition.odata, plan.words_of(condition)) for condition in plan.conditions)
    measure = plan.measure if plan.kind in ("measure", "share") else None
    if measure is not None and measure.filter and kind.join is None:
        yield measure.filter, say.lower(measure.label)
    if plan.period is not None and plan.compared is None and kind.join is None:
        words = f"{say.named(spoken(str(plan.date)))} {say.period(plan.period)}"
        yield from ((text, words) for text in bounds(plan, plan.period))


# --- what lies ahead, and what was not kept


def _is_ahead(question: _Question) -> bool:
    """Whether it lies ahead and is not planned: it has no date there, and is not still to do."""
    kind, plan, data = question.kind, question.plan, question.kind.data
    if not question.says("ahead"):
        return False
    ahead = {*data.get("ahead", ()), *data.get("planned", {}).values()}
    dates = [kind.states[name].date for name in question.states]
    dated = question.meaning.dated
    is_planned = dated is None or dated.date or data.get("to_come")
    is_to_do = any(name.startswith("to.") for name in question.states)
    if (plan.date in ahead and is_planned) or is_to_do:
        return False
    # What is said of no time, and of nothing that happened, is as it is now.
    is_now = plan.period is None and not any(dates)
    return not is_now and ahead.isdisjoint(dates)


def _is_counter(question: _Question) -> bool:
    """Whether it is asked when something was counted that is kept as a number alone.

    A date that is said is that of the records, where these are named.
    """
    meaning, counters = question.meaning, question.kind.data.get("counters", ())
    if not any(figure.measure in counters for figure in meaning.figures):
        return False
    is_dated = meaning.dated is not None and (question.is_unnamed or not meaning.dated.date)
    is_grained = any(group.grain and not group.date for group in meaning.groups)
    is_grained &= meaning.dated is None or not meaning.dated.date
    return is_dated or is_grained or meaning.against is not None


def _is_denied_in_time(question: _Question) -> bool:
    """Whether something was not done in a period, which no property of the records dates."""
    kind, dated = question.kind, question.meaning.dated
    denied = [part.of for part in question.meaning.where if isinstance(part, Not)]
    names = [part.state for part in denied if isinstance(part, Is)]
    names += [name for name in question.states if name.startswith("to.")]
    crossed = {question.read.places[start] for start in question.starts("period")}
    is_timed = (dated is not None and not dated.date) or crossed & question.analysis.crossed
    is_undated = any(not kind.states[name].date for name in names)
    return bool(is_timed and is_undated) and question.says("undone")


def _is_converted_elsewhere(question: _Question) -> bool:
    """Whether amounts are to be converted into a currency: records keep their rate into one."""
    paths = [part.path for part in question.meaning.where if isinstance(part, Equals)]
    return question.meaning.is_converted and any(path.endswith("currency") for path in paths)


def _is_earlier_state(question: _Question) -> bool:
    """Whether records are asked for that were in a state at another time, which is not kept.

    A state with a date of its own was entered then; one that passes has none. A period beside it
    is of the records, unless the question looks back or sets it against another time; where
    that was said before, it is of the records (``only the unpaid ones``).
    """
    meaning, plan, kind = question.meaning, question.plan, question.kind
    if meaning.dated is not None and meaning.dated.date:
        return False
    is_past = plan.period is not None and plan.period.end is not None
    against = getattr(question.analysis.item and question.analysis.item.meaning, "against", True)
    is_back = (meaning.against is not None and against is not None) or (
        is_past and question.says("back")
    )
    if plan.date == kind.date and is_back and any(_passes(kind, name) for name in question.states):
        return True
    return is_past and meaning.against is None and _is_as_of(question, is_back=is_back)


def _is_as_of(question: _Question, *, is_back: bool) -> bool:
    """Whether it is asked how something was on a day that is past: ``receivables as of 17 May``."""
    meaning, kind, period = question.meaning, question.kind, question.plan.period
    is_ago = meaning.dated is not None and meaning.dated.when.words.endswith(" ago")
    end = period.end if period is not None and period.grain == "day" else None
    is_day = end is not None and end <= (question.plan.today or end)
    names = {*(group.dimension for group in meaning.groups), *meaning.columns}
    if is_ago and not question.states and names & {"status", "stage"}:
        return True
    lasting = {name for name, figure in kind.figures.items()
              if figure.snapshot or _passes(kind, kind.state_with(figure.filter))}  # fmt: skip
    is_level = any(figure.measure in lasting for figure in meaning.figures)
    is_passing = is_ago and any(not kind.states[name].date for name in question.states)
    return (is_level and (is_day or is_ago)) or (is_back and is_passing)


def _passes(kind: Kind, name: str) -> bool:
    """Whether a state is one that records are in for a while, and nothing says since when."""
    state = kind.states.get(name)
    if state is None or state.date:
        return False
    if not state.path:
        return state.filter.startswith(("status ", "isOverdue"))
    if state.path not in ("status", "stage"):
        return False
    prop = kind.prop(state.path)
    members = options_of(prop) if prop is not None else ()
    member = state.value.strip("'")
    # What every record begins as is dated by its making, what is issued by its own date.
    if member == members[0]:
        return all(kind.states[f"{state.path}.{member}"].date for member in members[1:])
    return f"'{member}'" not in (kind.issued or "")


# --- what says more than the records tell


def _is_of_none(question: _Question) -> bool:
    """Whether groups are asked for that have no such records: only those with some are there."""
    denied = any(isinstance(restriction, Not) for restriction in question.meaning.where)
    if not question.meaning.groups or not denied:
        return False
    stated = {leaf.start: leaf.end for leaf in question.leaves("state", "value")}
    nouns = question.starts("kind")
    return any(stated.get(end) in nouns for end in question.ends("f:without"))


def _maker(question: _Question) -> tuple[str, ...]:
    """The word by which it is asked who made records; none where that is not asked.

    Only who is responsible for them is kept, as a group or as a column.
    """
    kind, meaning, person = question.kind, question.meaning, question.kind.person
    paths = () if person is None else (person.path, person.key)
    is_told = person is not None and any(group.dimension == person.name for group in meaning.groups)
    is_named = any(isinstance(part, Equals) and part.path in paths for part in meaning.where)
    # "who joined" are clients themselves; what has no address of its own was made by somebody.
    is_made = question.is_unnamed and kind.prop("email") is None
    is_shown = any(column in paths for column in meaning.columns)
    if not (is_told or is_made or is_named or is_shown):
        return ()
    who, people = question.ends("f:who"), question.starts("f:person") if is_named else set()
    who -= {leaf.start for leaf in question.leaves("verb") if kind.key in leaf.meaning.by_kind}
    dates = (leaf for leaf in question.leaves("date") if leaf.start in who or leaf.end in people)
    words = (question.read.tokens[leaf.start].text for leaf in dates
             if leaf.meaning.by_kind.get(kind.key) == "createdAt")  # fmt: skip
    return tuple(islice(words, 1))


def _is_of_each(question: _Question) -> bool:
    """Whether groups would be shares of themselves, or the first record of each month is asked for.

    Each lost deal has a reason and no other has one: of each reason all are lost.
    """
    kind, meaning = question.kind, question.meaning
    first = meaning.figures[0] if meaning.figures else Figure(COUNT)
    hits = kind.rates[first.measure].hits if first.is_rate else ""
    implies = kind.data.get("implies", {})
    for group in meaning.groups:
        implied = implies.get(group.dimension, "")
        if implied and (meaning.part == Is(implied) or kind.states[implied].filter == hits):
            return True
    if meaning.ranking is None or meaning.ranking.limit != 1 or first.measure == COUNT:
        return False
    is_first = question.ends("f:highest", "f:lowest") & question.starts("kind")
    return bool(is_first) and any(group.grain for group in meaning.groups)


def _sets_two_apart(question: _Question) -> bool:
    """Whether two are set against each other which the meaning does not compare, or there are to be
    more records of one kind than of another."""
    if question.meaning.against is None and question.crosses("opposing"):
        return True
    more, nouns_start = question.ends("f:more", "f:less"), question.starts("kind")
    joints = {leaf.start: leaf.end for leaf in question.leaves("f:compare")}
    nouns = question.leaves("kind")
    return any(leaf.start in more and joints.get(leaf.end) in nouns_start for leaf in nouns)


# The first that says so is the reason: what is asked for comes before what it is asked of.
_RULES: tuple[tuple[str, Callable[[_Question], Refusal | tuple[str, ...] | bool | None]], ...] = (
    ("open", _is_vague),
    ("beyond", _beyond),
    ("command", _command),
    ("unknown", lambda question: passed_over(question.analysis, question.read, ("cross name",))),
    ("contradiction", _conflict),
    ("unreal", lambda question: question.says("unreal")),
    ("ahead", _is_ahead),
    ("needless", lambda question: question.says("needless")),
    ("vague", _is_unmeasured),
    ("unknown", _nobody),
    ("uncounted", _is_counter),
    ("denied", _is_denied_in_time),
    ("currency", _is_converted_elsewhere),
    ("aside", _left_aside),
    ("absent", _is_of_none),
    ("ranking", _is_ranked_by_two),
    ("maker", _maker),
    ("each", _is_of_each),
    ("incomparable", _sets_two_apart),
    ("earlier", _is_earlier_state),
    ("subject", _is_of_anything),
)
