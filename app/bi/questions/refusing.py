"""What is understood and has no answer: it contradicts itself, lies ahead, was not kept, is two.

Each is a rule over the meaning, its plan and the model; a language says only which words look
ahead or back, and how the reason is told (``[refusing]`` of its lexicon).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise

from app.bi.plans.entities import members_of, spoken
from app.bi.plans.filtering import bounds, is_of_all
from app.bi.plans.phrasing import SIGNS
from app.bi.plans.plan import Plan
from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Dated,
    Equals,
    Figure,
    Has,
    Is,
    Meaning,
    Not,
    Restriction,
    inner,
)
from app.bi.questions.chart import Item
from app.bi.questions.contradictions import is_possible
from app.bi.questions.lexicon import LONGEST_PHRASE, Lexicon, Phrase
from app.bi.questions.model import Kind, State
from app.bi.questions.periods import unit_of_age
from app.bi.questions.ranker import is_decisive
from app.bi.questions.reading import Read
from app.bi.questions.understanding import Analysis
from app.bi.words.tokens import Token

_ASKING = frozenset(("f:count", "f:who", "f:list", "f:when"))
# Words that join what stands beside a period to it, and set nothing against it.
_CASES = frozenset((("in",), ("of",), ("to",), ("with",), ("on",)))
_MOST_NAMED = 3  # words that are said to be unknown
_CONTENT = frozenset(("kind", "state", "named", "measure", "verb", "rate", "date"))


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
        return self.reason in (
            "two",
            "subject",
            "ranking",
            "gap",
            "aside",
            "several",
            "either",
            "best",
            "open",
        )

    @property
    def is_final(self) -> bool:
        """Whether it asks for something that no question can do."""
        return self.reason in ("secret", "command", "forbidden")

    def told(self, lexicon: Lexicon) -> str:
        """The reason as a sentence of a language."""
        joint = lexicon.data["refusing"]["joint"]
        sentence: str = lexicon.data["refusing"][self.reason]
        words = (
            lexicon.say("“{word}”", word=one.strip("“”")) if one.startswith("“") else one
            for one in self.words
        )
        return sentence.format(words=f" {joint} ".join(words))


def refused(analysis: Analysis, read: Read, lexicon: Lexicon) -> Refusal | None:
    """Why what is understood has no answer; None where it may have one."""
    meaning, plan = analysis.meaning, analysis.plan
    if (halves := _two_questions(read, lexicon)) is not None:
        return Refusal("two", questions=halves)
    if meaning is None or plan is None:
        return None
    if questions := _several_records(analysis, read):
        return Refusal("several", questions=questions)
    if _is_vague(read, lexicon):
        return Refusal("open")
    if (beyond := _beyond(analysis, read, lexicon)) is not None:
        return beyond
    if verb := _commanded(analysis, read, lexicon):
        return Refusal("command", (f"“{verb}”",))
    if questions := _best_by(analysis, read, lexicon):
        return Refusal("best", questions=questions)
    if (unknown := passed_over(analysis, read, ("cross name",))) is not None:
        return unknown
    kind = lexicon.model.kinds[meaning.kind]
    stems = read.stems
    if words := _conflict(kind, meaning, plan):
        return Refusal("contradiction", words)
    if _says(stems, lexicon, "unreal"):
        return Refusal("unreal")
    if _says(stems, lexicon, "ahead") and not _is_planned(kind, meaning, plan):
        return Refusal("ahead")
    if _says(stems, lexicon, "needless"):
        return Refusal("needless")
    if (
        _is_of_manner(read, lexicon)
        or _is_alike(read, lexicon)
        or _crosses(analysis, read, lexicon, "unmeasured")
    ):
        return Refusal("vague")
    if _is_counter(kind, meaning, analysis):
        return Refusal("uncounted")
    if _says(stems, lexicon, "neither") and _is_timed(kind, meaning):
        return Refusal("apart")
    if _is_denied_in_time(kind, meaning, undone=_says(stems, lexicon, "undone")):
        return Refusal("denied")
    if _is_to_be_done_in_time(kind, meaning, plan):
        return Refusal("undated")
    if _has_gap(plan, read, lexicon):
        return Refusal("gap")
    if _is_converted_elsewhere(meaning):
        return Refusal("currency")
    if _is_denied_since(meaning, read):
        return Refusal("denied")
    if aside := _left_aside(analysis, read):
        return Refusal("aside", aside)
    if _is_of_none(meaning, read):
        return Refusal("absent")
    if _is_ranked_by_two(meaning):
        return Refusal("ranking")
    if maker := _maker(kind, analysis, meaning, read):
        return Refusal("maker", (maker,))
    if _is_of_each(kind, meaning, read):
        return Refusal("each")
    if meaning.against is None and _crosses(analysis, read, lexicon, "opposing"):
        is_state = any(_passes(kind, name) for name in _states(meaning))
        return Refusal("earlier" if is_state else "incomparable")
    if _sets_two_apart(meaning, read):
        return Refusal("incomparable")
    if _is_earlier_state(kind, meaning, plan, looks_back=_says(stems, lexicon, "back")):
        return Refusal("earlier")
    if _is_of_anything(analysis, meaning, read):
        return Refusal("subject")
    return None


def unread(read: Read, lexicon: Lexicon) -> Refusal | None:
    """Why nothing is understood: it asks for what questions do not do, or in words of nothing."""
    stems = read.stems
    words = lexicon.data["refusing"]["words"]
    phrases = {
        "secret": words["secret"], "manual": words["manual"],
        "command": lexicon.data["language"]["commands"],
        "beyond": lexicon.data["language"]["beyond"],
    }  # fmt: skip
    for reason, texts in phrases.items():
        found = _place(stems, {lexicon.phrase(text) for text in texts})
        if found is not None:
            start, end = found
            text = " ".join(one.text for one in read.tokens[start:end])
            return Refusal(reason, (f"“{text}”",), _nearest(read, found, lexicon))
    named = {at for one in read.leaves for at in range(one.start, one.end)}
    unknown = (
        f"“{one.text}”" for at, one in enumerate(read.tokens)
        if one.kind == "word" and at not in named and not lexicon.count_known([one.text])
    )  # fmt: skip
    if said := tuple(islice(unknown, _MOST_NAMED)):
        return Refusal("unknown", said)
    return Refusal("open") if _is_open_of(read, lexicon) else None


def passed_over(
    analysis: Analysis, read: Read, crossings: Container[str] = ("cross unknown", "cross name")
) -> Refusal | None:
    """That an analysis leaves words aside that nothing is known of."""
    places = [one for one in analysis.crossed if read.crossing[one] in crossings]
    said = tuple(f"“{one}”" for one in read.words_at(places))
    return Refusal("unknown", said[:_MOST_NAMED]) if said else None


def _best_by(analysis: Analysis, read: Read, lexicon: Lexicon) -> tuple[str, ...]:
    """The question once for each figure that makes records the best; none where one is said."""
    ends = {one.category for one in read.leaves} & {"f:top", "f:bottom"}
    if analysis.meaning is None or not ends or "rule best_of_kind" not in analysis.features:
        return ()
    meaning = analysis.meaning
    figure = lexicon.first("measure", meaning.kind, meaning.figures[0].measure)
    words = " ".join(one.repaired_from or one.text for one in read.tokens)
    return tuple(
        text.format(words=f"{words[:1].upper()}{words[1:]}", figure=figure,
                    kind=lexicon.say.named(lexicon.model.kinds[meaning.kind].many))
        for text in lexicon.data["refusing"]["best_by"]
    )  # fmt: skip


def _is_vague(read: Read, lexicon: Lexicon) -> bool:
    """Whether it is asked how things are, and not of what: ``how are we doing``, ``numbers``."""
    vague = _place(read.stems, lexicon.phrases("language", "vague"))
    if vague is None:
        return False
    outside = (one for one in read.leaves if not vague[0] <= one.start < vague[1])
    is_of_property = any(one.category == "property" for one in outside)  # "phone numbers"
    return not is_of_property and _is_open_of(read, lexicon)


def _is_open_of(read: Read, lexicon: Lexicon) -> bool:
    """Whether all words are understood, and none says of which records it is."""
    vague = _place(read.stems, lexicon.phrases("language", "vague")) or (0, 0)
    strange = ["cross unknown", "cross name", *([] if read.is_ranked else ["cross number"])]
    is_strange = any(
        read.crossing[place] in strange and not vague[0] <= at < vague[1]
        for at, (place, behind) in enumerate(pairwise(read.places)) if behind > place
    )  # fmt: skip
    told = [one for one in read.leaves if not vague[0] <= one.start < vague[1]]
    # "tell me about Umbrella": a text that may stand anywhere, or a name that nobody has.
    if any(one.category == "value" and one.meaning.key.startswith("f:") for one in told):
        return False
    is_told = any(one.category in _CONTENT - {"state", "date"} for one in told)
    return bool(read.length) and not is_strange and not is_told


def candidates(read: Read, topic: str, lexicon: Lexicon) -> Iterator[str]:
    """A question that says nothing of what it is about, with a topic where one can stand."""
    open_words = {*lexicon.phrases("language", "vague"), *lexicon.phrases("language", "pronouns")}
    start, end = _place(read.stems, open_words) or (len(read.tokens), len(read.tokens))
    asking = {at for one in read.leaves if one.category in ("f:list", "f:who")
              for at in range(one.start, one.end)}  # fmt: skip
    begun = {one.start for one in read.leaves} - {
        one.start for one in read.leaves if one.category == "f:property_is"
    }
    places = [at for at, one in enumerate(read.tokens) if one.text and not start <= at < end]
    while places and (
        places[0] in asking or (read.stems[places[0]] in lexicon.fillers and places[0] not in begun)
    ):
        places.pop(0)
    words = [read.tokens[at].repaired_from or read.tokens[at].text for at in places]
    first = {one.category: one.end - one.start for one in read.leaves if one.start in places[:1]}
    if behind := max((first.get(one, 0) for one in ("f:compare", "f:count", "f:much")), default=0):
        yield _question([*words[:behind], topic, *words[behind:]])
    if first.keys() & {"f:by", "f:of", "period", "grain"} and not read.is_ranked:
        yield _question([topic, *words])
    else:
        yield _question([*words, topic])


def report_of(read: Read, lexicon: Lexicon) -> str:
    """The key of the built-in report that a question calls for; empty where it calls for none."""
    reports = lexicon.data.get("reports", {})
    called = (one for one in reports if _place(read.stems, lexicon.phrases("reports", one)))
    return next(called, "")


def _place(stems: Phrase, phrases: Container[Phrase]) -> tuple[int, int] | None:
    """Where the first and longest of some phrases stands."""
    for start in range(len(stems)):
        for length in range(LONGEST_PHRASE, 0, -1):
            if stems[start : start + length] in phrases and start + length <= len(stems):
                return start, start + length
    return None


def _nearest(read: Read, place: tuple[int, int], lexicon: Lexicon) -> tuple[str, ...]:
    """The question with what is not offered replaced by the nearest that is."""
    start, end = place
    words = lexicon.data["refusing"]["nearest"]
    phrases = {lexicon.phrase(text): near for text, near in words.items()}
    near = phrases.get(tuple(one.stem for one in read.tokens[start:end]))
    if near is None:
        return ()
    words_of = [one.repaired_from or one.text for one in read.tokens]
    return (_question([*words_of[:start], near, *words_of[end:]]),)


def _several_records(analysis: Analysis, read: Read) -> tuple[str, ...]:
    """The question once for each record of a name that several have; none where one is meant."""
    if "several records" not in analysis.features:
        return ()
    words = [one.repaired_from or one.text for one in read.tokens]
    name = next(one for one in read.names if one.choices)
    return tuple(
        _question([*words[: name.start], f'"{choice}"', *words[name.end :]])
        for choice in name.choices
    )


def _says(stems: Phrase, lexicon: Lexicon, name: str) -> bool:
    """Whether a question has one of the phrases of a language, and not as part of a longer one
    that means something else."""
    phrases = lexicon.phrases("refusing", "words", name)
    others = lexicon.phrases("refusing", "words", "politely")
    at = 0
    while at < len(stems):
        found = [stems[at : at + length] for length in range(LONGEST_PHRASE, 0, -1)]
        if polite := next((one for one in found if one in others), None):
            at += len(polite)
        elif any(one in phrases for one in found):
            return True
        else:
            at += 1
    return False


# --- what contradicts itself


def _conflict(kind: Kind, meaning: Meaning, plan: Plan) -> tuple[str, ...]:
    """What two parts of a plan say that no record is at once; nothing where one can be."""
    parts = list(_parts(kind, meaning, plan))
    base = [] if plan.base is None or is_of_all(plan) else [plan.base]
    if is_possible(kind.type, [*base, *(text for text, _ in parts)]):
        return ()
    for (one, words), (other, more) in combinations(parts, 2):
        if not is_possible(kind.type, [*base, one, other]):
            return words, more
    return tuple(words for _, words in parts if words)


def _parts(kind: Kind, meaning: Meaning, plan: Plan) -> Iterator[tuple[str, str]]:
    """The filters of a plan, each with what says it."""
    limits = [one for told in meaning.where for one in inner(told)
              if isinstance(one, Compares) and not one.factor]  # fmt: skip
    for condition in plan.conditions:
        limit = next((one for one in limits
                      if condition.text.endswith(f" {one.sign} {one.number}")), None)  # fmt: skip
        yield condition.odata, plan.told(condition) if limit is None else _limit(plan, limit)
    measure = plan.measure if plan.kind in ("measure", "share") else None
    if measure is not None and measure.filter and kind.join is None:
        yield measure.filter, plan.say.lower(measure.label)
    if plan.period is not None and plan.compared is None and kind.join is None:
        words = f"{plan.say.named(spoken(str(plan.date)))} {plan.say.period(plan.period)}"
        yield from ((text, words) for text in bounds(plan, plan.period))


def _limit(plan: Plan, one: Compares) -> str:
    return plan.say(SIGNS[one.sign], limit=plan.say.digits(one.number))


# --- what lies ahead, and what was not kept


def _is_planned(kind: Kind, meaning: Meaning, plan: Plan) -> bool:
    """Whether what is asked for is planned: it has a date ahead, or is still to be done."""
    data = kind.data
    ahead = {*data.get("ahead", ()), *data.get("planned", {}).values(), data.get("to_come")}
    states = [kind.states[name] for name in _states(meaning)]
    planned = (one.startswith("to.") for one in _states(meaning))
    if plan.date in ahead or any(planned) or any(one.date in ahead for one in states):
        return True
    # What is said of no time, and of nothing that happened, is as it is now.
    return plan.period is None and not any(one.date for one in states)


def _is_counter(kind: Kind, meaning: Meaning, analysis: Analysis) -> bool:
    """Whether it is asked when something was counted that is kept as a number alone.

    A date that is said is that of the records, where these are named.
    """
    counters = kind.data.get("counters", ())
    if not any(one.measure in counters for one in meaning.figures):
        return False
    is_unnamed = f"kind unnamed {meaning.kind}" in analysis.features
    dated = meaning.dated is not None and (is_unnamed or not meaning.dated.date)
    grained = any(one.grain and not one.date for one in meaning.groups)
    return dated or grained or meaning.against is not None


def _is_earlier_state(kind: Kind, meaning: Meaning, plan: Plan, *, looks_back: bool) -> bool:
    """Whether records are asked for that were in a state at another time, which is not kept.

    A state with a date of its own was entered then; one that passes has none. A period beside it
    is of the records, unless the question looks back or sets it against another time.
    """
    if not any(_passes(kind, name) for name in _states(meaning)):
        return False
    if meaning.dated is not None and meaning.dated.date:
        return False
    if meaning.against is not None:
        return plan.date == kind.date
    is_past = plan.period is not None and plan.period.end is not None and plan.today is not None
    return looks_back and is_past and plan.date == kind.date


def _passes(kind: Kind, name: str) -> bool:
    """Whether a state is one that records are in for a while, and nothing says since when."""
    state = kind.states[name]
    if state.date:
        return False
    if not state.path:
        return _is_open(state)
    if state.path not in ("status", "stage"):
        return False
    prop = kind.prop(state.path)
    members = members_of(prop) if prop is not None else ()
    member = state.value.strip("'")
    # What every record begins as is dated by its making, what is issued by its own date.
    if member == members[0]:
        return all(kind.states[f"{state.path}.{one}"].date for one in members[1:])
    return f"'{member}'" not in (kind.issued or "")


def _is_denied_in_time(kind: Kind, meaning: Meaning, *, undone: bool) -> bool:
    """Whether something did not happen in a period: at another time, or not at all.

    ``undone``: the question says that it was not done, which no property of the records dates.
    """
    denied = [one.of for one in meaning.where if isinstance(one, Not)]
    if any(isinstance(one, Dated) and not _is_last(kind, one) for one in denied):
        return True
    states = (kind.states[one.state] for one in denied if isinstance(one, Is))
    is_dated = meaning.dated is not None and not meaning.dated.date
    return undone and is_dated and any(not one.date for one in states)


def _is_last(kind: Kind, one: Dated) -> bool:
    """Whether it is the last time of something, lately: what was not so then was so before."""
    return one.date in kind.data.get("last", ()) and bool(unit_of_age(one.when))


def _is_to_be_done_in_time(kind: Kind, meaning: Meaning, plan: Plan) -> bool:
    """Whether something is to be done in a period, and no property of the records dates that."""
    pending = (kind.states[one] for one in _states(meaning) if one.startswith("to."))
    is_dated = plan.period is not None and plan.date == kind.date
    return is_dated and any(not one.date for one in pending)


def _is_denied_since(meaning: Meaning, read: Read) -> bool:
    """Whether related records are missing in a period that stands right behind them.

    ``deals with no tasks since May`` says the time of the tasks, and not when deals were made.
    """
    missing = any(isinstance(one, Not) and isinstance(one.of, Has) for one in meaning.where)
    if not missing or meaning.dated is None or meaning.dated.date:
        return False
    periods = {one.start for one in read.leaves if one.category == "period"}
    denied = {one.end for one in read.leaves if one.category == "f:without"}
    return any(one.category == "kind" and one.start in denied and one.end in periods
               for one in read.leaves)  # fmt: skip


def _is_timed(kind: Kind, meaning: Meaning) -> bool:
    """Whether one of the restrictions is how long something took, or when it was."""
    inside = [part for told in meaning.where for part in inner(told)]
    if any(isinstance(one, Dated) for one in inside):
        return True
    numbers = (one.subject for one in inside if isinstance(one, Compares))
    measures = (kind.figures.get(one) or kind.lasts(one) for one in numbers)
    return any(one is not None and one.unit in ("hours", "days") for one in measures)


def _has_gap(plan: Plan, read: Read, lexicon: Lexicon) -> bool:
    """Whether two periods with days between them are joined, and not set against each other."""
    first, second = plan.compared, plan.period
    if first is None or second is None or first.end is None or first.end == second.start:
        return False
    joints = lexicon.phrases("words", "and")
    setting = ("f:compare", "f:change", "f:shift_year", "f:shift_year_month",
               "f:shift_year_quarter", "f:shift_month", "f:previous")  # fmt: skip
    said = (tuple(token.stem for token in read.tokens[one.start : one.end])
            for one in read.leaves if one.category in (*setting, "f:versus"))  # fmt: skip
    periods = sum(one.category == "period" for one in read.leaves)
    return periods > 1 and all(one in joints or one in _CASES for one in said)


def _is_converted_elsewhere(meaning: Meaning) -> bool:
    """Whether amounts are to be converted into a currency: records keep their rate into one."""
    currencies = (one for one in meaning.where if isinstance(one, Equals))
    return meaning.is_converted and any(one.path.endswith("currency") for one in currencies)


# --- what says more than the records tell


def _is_of_manner(read: Read, lexicon: Lexicon) -> bool:
    """Whether it is said how something happened, in a word without a measure: ``quickly``."""
    manner = lexicon.phrases("refusing", "words", "manner")
    happened = {one.end for one in read.leaves if one.category in ("state", "date", "verb")}
    return any((one.stem,) in manner and at in happened for at, one in enumerate(read.tokens))


def _is_alike(read: Read, lexicon: Lexicon) -> bool:
    """Whether records are asked for that are like one that is named."""
    alike = lexicon.phrases("refusing", "words", "alike")
    named = {one.start for one in read.leaves if one.category == "value"}
    named |= {at for at, one in enumerate(read.tokens) if one.is_capital}
    return any((one.stem,) in alike and at + 1 in named for at, one in enumerate(read.tokens))


def _beyond(analysis: Analysis, read: Read, lexicon: Lexicon) -> Refusal | None:
    """That it leaves aside what no figure tells: a median is not the sum."""
    found = _place(read.stems, lexicon.phrases("language", "beyond"))
    if found is None:
        return None
    # "Do we owe" is no part of what clients owe.
    is_phrase = found[1] - found[0] > 1 and not any(
        one.start <= found[0] and one.end >= found[1] for one in read.leaves
    )
    places = range(read.places[found[0]], read.places[found[1]])
    if not is_phrase and not analysis.crossed.issuperset(places):
        return None
    text = " ".join(one.text for one in read.tokens[found[0] : found[1]])
    return Refusal("beyond", (f"“{text}”",), _nearest(read, found, lexicon))


def _commanded(analysis: Analysis, read: Read, lexicon: Lexicon) -> str:
    """The verb that a question begins with and that is one of changing something, or empty."""
    commands = lexicon.phrases("language", "commands")
    for at, one in enumerate(read.tokens):
        if read.places[at] == read.places[at + 1]:
            continue  # "please", "can you"
        words = (one.stem,) in commands or read.stems[at : at + 2] in commands
        return one.text if words and read.places[at] in analysis.crossed else ""
    return ""


def _crosses(analysis: Analysis, read: Read, lexicon: Lexicon, name: str) -> bool:
    """Whether nothing was made of a word of the language that changes what is asked.

    ``unmeasured``: an amount without a number (``many``); ``opposing``: that two are set against
    each other (``versus``).
    """
    words = lexicon.phrases("refusing", "words", name)
    return any(
        (token.stem,) in words and place in analysis.crossed
        for token, place in zip(read.tokens, read.places, strict=False)
    )


def _left_aside(analysis: Analysis, read: Read) -> tuple[str, ...]:
    """The words that were left aside and may be about other records altogether."""
    # The first noun says what is asked for, whatever follows it.
    nouns = [read.places[one.start] for one in read.leaves if one.category == "kind"]
    asked = {min(nouns)} & set(analysis.aside) if nouns else set()
    places = [one for one in analysis.crossed if one in asked or is_decisive(read.crossing[one])]
    return tuple(read.words_at(places))


def _is_of_none(meaning: Meaning, read: Read) -> bool:
    """Whether groups are asked for that have no such records: only those with some are there."""
    if not meaning.groups or not any(isinstance(one, Not) for one in meaning.where):
        return False
    denied = {one.end for one in read.leaves if one.category == "f:without"}
    stated = {one.start: one.end for one in read.leaves if one.category in ("state", "value")}
    nouns = {one.start for one in read.leaves if one.category == "kind"}
    return any(end in stated and stated[end] in nouns for end in denied)


def _is_ranked_by_two(meaning: Meaning) -> bool:
    """Whether the first few are asked for by two figures, each of which has its own first few."""
    ranking, figures = meaning.ranking, meaning.figures
    counted = any(one.measure == COUNT for one in figures)
    return ranking is not None and ranking.limit > 1 and len(figures) > 1 and not counted


def _is_open(state: State) -> bool:
    return state.filter.startswith(("status ", "isOverdue"))


def _states(meaning: Meaning) -> list[str]:
    return [one.state for told in meaning.where for one in _positive(told) if isinstance(one, Is)]


def _positive(one: Restriction) -> list[Restriction]:
    return [] if isinstance(one, Not) else list(inner(one))


def _maker(kind: Kind, analysis: Analysis, meaning: Meaning, read: Read) -> str:
    """The word by which it is asked who made records; empty where that is not asked.

    Only who is responsible for them is kept, as a group or as a column.
    """
    person = kind.person
    paths = () if person is None else (person.path, person.key)
    told = person is not None and any(one.dimension == person.name for one in meaning.groups)
    named = any(isinstance(one, Equals) and one.path in paths for one in meaning.where)
    # "who joined" are clients themselves; what has no address of its own was made by somebody.
    is_made = f"kind unnamed {kind.key}" in analysis.features and kind.prop("email") is None
    if not (told or is_made or named) and not any(one in paths for one in meaning.columns):
        return ""
    asked = {one.end for one in read.leaves if one.category == "f:who"}
    by = {one.start for one in read.leaves if named and one.category == "f:person"}
    return next((
        read.tokens[one.start].text for one in read.leaves
        if one.category == "date" and (one.start in asked or one.end in by)
        and one.meaning.by_kind.get(kind.key) == "createdAt"
    ), "")  # fmt: skip


def _is_of_each(kind: Kind, meaning: Meaning, read: Read) -> bool:
    """Whether groups would be shares of themselves, or the first record of each month is asked for.

    Each lost deal has a reason and no other has one: of each reason all are lost.
    """
    first = meaning.figures[0] if meaning.figures else Figure(COUNT)
    hits = kind.rates[first.measure].hits if first.is_rate else ""
    implies = kind.data.get("implies", {})
    for one in meaning.groups:
        implied = implies.get(one.dimension, "")
        if implied and (meaning.part == Is(implied) or kind.states[implied].filter == hits):
            return True
    if meaning.ranking is None or meaning.ranking.limit != 1 or first.measure == COUNT:
        return False
    nouns = {one.start for one in read.leaves if one.category == "kind"}
    highest = (one.end in nouns for one in read.leaves
               if one.category in ("f:highest", "f:lowest"))  # fmt: skip
    return any(one.grain for one in meaning.groups) and any(highest)


def _sets_two_apart(meaning: Meaning, read: Read) -> bool:
    """Whether one figure is to be more than another, and the meaning compares nothing."""
    inside = (part for told in meaning.where for part in inner(told))
    if meaning.against is not None or any(isinstance(one, Compares) for one in inside):
        return False
    figures = [one for one in read.leaves if one.category in ("property", "measure")]
    more = {one.end for one in read.leaves if one.category in ("f:more", "f:less")}
    joints = {one.start: one.end for one in read.leaves if one.category == "f:compare"}
    behind = {one.start for one in figures}
    return any(one.start in more and joints.get(one.end) in behind for one in figures)


# --- whose it is, and how many questions


def _says_amount(item: Item, read: Read) -> bool:
    """Whether the property that is asked for is no more than an amount: of whatever has one."""
    spans = {(one.start, one.end) for one in read.leaves if one.category == "f:amount"}
    bare = [one.meaning for one in read.leaves
            if one.category == "property" and (one.start, one.end) in spans]  # fmt: skip
    return any(one.category == "property" and one.meaning in bare for one in item.leaves())


def _is_of_anything(analysis: Analysis, meaning: Meaning, read: Read) -> bool:
    """Whether records of several kinds are counted that only a state names, which all can have."""
    if analysis.item is None or f"kind unnamed {meaning.kind}" not in analysis.features:
        return False
    flags = getattr(analysis.item.meaning, "flags", ())
    is_amount = "bare amount" in flags or _says_amount(analysis.item, read)
    is_amount = is_amount and not meaning.where and not meaning.dated
    plain = is_amount or all(one.measure == COUNT for one in meaning.figures)
    named = any(not isinstance(one, Is) for one in meaning.where)
    kinds = getattr(analysis.item.meaning, "common_kinds", ())
    is_open = is_amount or len(kinds) > 1
    return plain and not named and not meaning.groups and is_open


def _two_questions(read: Read, lexicon: Lexicon) -> tuple[str, ...] | None:
    """The two questions of one: each begins with a word that asks, and says of what.

    ``and how much`` alone goes on with the same.
    """
    joints = lexicon.phrases("words", "and")
    asking = {one.start: one.end for one in read.leaves if one.category in _ASKING - {"f:list"}}
    first = min(asking, default=len(read.tokens))
    for start in sorted(asking):
        if start <= first or (read.tokens[start - 1].stem,) not in joints:
            continue
        if _has_content(read, asking[first], start) and _has_content(read, asking[start], None):
            begin = 0 if _has_content(read, 0, first) else first  # no greeting
            return _said(read.tokens[begin : start - 1]), _said(read.tokens[start:])
    return None


def _has_content(read: Read, start: int, end: int | None) -> bool:
    last = len(read.tokens) if end is None else end
    return any(one.category in _CONTENT and one.start >= start and one.end <= last
               for one in read.leaves)  # fmt: skip


def _said(tokens: Sequence[Token]) -> str:
    return _question([one.repaired_from or one.text for one in tokens])


def _question(words: Sequence[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}?"
