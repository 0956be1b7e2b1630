"""Words that name nothing by themselves: a part of a category, a person, what a subject says.

They are looked at last, when a word would mean nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

from app.bi.nlq.named import Match, Value
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.query import Query, run
from app.bi.words.categories import Written, has_word
from app.bi.words.tokens import Token, phrase, stem
from app.errors import ApiError
from app.odata.model import edm
from app.odata.syntax.literal_text import quoted

SHORTEST_PART = 4  # of a word that is a part of a category
MOST_TEXTS = 8  # properties that a quoted text is looked for in
_NEAR = 4  # words between a property and the text that it is said to be
_PERSONS = ("fullName", "Contact/fullName")


class Loosely:
    """The part of looking up names that is about what nothing else is made of."""

    _vocabulary: Vocabulary
    _found: dict[tuple[str, str, str], str | None]

    @abstractmethod
    def _texts(self, entity: Entity, path: str) -> tuple[Value, ...]:
        """The values of a property, if they are few enough to be categories."""

    @abstractmethod
    def _may_be(
        self, entity: Entity, path: str, is_in: Callable[[Mapping[Written, int]], bool]
    ) -> bool:
        """Whether a property can have a value."""

    def loosely(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """What a word names that nothing else is made of."""
        token = tokens[at]
        if entity.join is not None or (token.kind != "word" and token.kind != "quoted"):
            return None
        if token.kind == "quoted":
            return self._quoted(tokens, at, entity) or self._person(tokens, at, entity)
        if token.stem in self._vocabulary.known:
            return None
        found = self._person(tokens, at, entity) or self._part(token, entity)
        return found or self._told(tokens, at, entity)

    def _person(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``score of Sabine Hartmann``: leads and contacts by their full name."""
        own = entity.prop("fullName") is not None
        path = _PERSONS[0] if own else _PERSONS[1]
        if not own and "Contact" not in entity.type.navigation:
            return None
        lengths = (1,) if tokens[at].kind == "quoted" else (3, 2)
        for length in lengths:
            words = tokens[at : at + length]
            plain = all(one.kind in ("word", "quoted") for one in words)
            if len(words) < length or not plain or any(one.apart for one in words[1:]):
                continue
            text = " ".join(one.text for one in words).replace("\u2019", "'").removesuffix("'s")
            people = entity if own else self._vocabulary.entities["Contacts"]
            if name := self._equal(people, _PERSONS[0], text):
                return Match(length, (Value(f"text:{path}", name, name),))
        return None

    def _part(self, token: Token, entity: Entity) -> Match | None:
        """``food companies``: the one category that has the word in it."""
        word = phrase(token.text)
        if len(token.text) < SHORTEST_PART or len(word) != 1:
            return None
        paths = [path for path in entity.texts.values()
                 if self._may_be(entity, path, lambda known: has_word(known, word[0]))]  # fmt: skip
        found = [one for path in paths for one in self._texts(entity, path)
                 if word[0] in phrase(one.name)]  # fmt: skip
        names = dict.fromkeys((one.kind, one.name, one.key) for one in found)
        if len(names) != 1:
            return None
        return Match(1, tuple(Value(*one, exact=False) for one in names))

    def _told(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``webhook tickets``: what they are about, where there are such."""
        behind = tokens[at + 1] if at + 1 < len(tokens) else None
        if behind is None or behind.stem not in entity.nouns or "about" not in entity.data:
            return None
        if (
            len(tokens[at].text) < SHORTEST_PART
            or tokens[at].stem in self._vocabulary.wordings.qualities
        ):
            return None
        text = stem(tokens[at].text)
        where = " or ".join(f"contains(tolower({path}),{quoted(text)})"
                            for path in entity.data["about"])  # fmt: skip
        found = self._first(entity, where, entity.name)
        return None if found is None else Match(1, (Value("told", text, where, exact=False),))

    def _quoted(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``next step is "Send the revised offer"``: a property that has just this text."""
        named = _named_before(tokens, at, entity)
        for path in [named] if named else list(_text_properties(entity))[:MOST_TEXTS]:
            if value := self._equal(entity, path, tokens[at].text):
                return Match(1, (Value(f"text:{path}", value, value),))
        return None

    def _equal(self, entity: Entity, path: str, text: str) -> str | None:
        """The value of a property that is a text, whatever the letters' case."""
        return self._first(entity, f"tolower({path}) eq {quoted(text.lower())}", path)

    def _first(self, entity: Entity, where: str, path: str) -> str | None:
        """As ``_look_up``; every reading of a question asks for the same."""
        sought = (entity.set, where, path)
        if sought not in self._found:
            self._found[sought] = _look_up(entity, where, path)
        return self._found[sought]


def _named_before(tokens: Sequence[Token], at: int, entity: Entity) -> str | None:
    """The property that a text is said to be."""
    for place in range(at - 1, max(-1, at - 1 - _NEAR), -1):
        for length in (3, 2, 1):
            stems = tuple(one.stem for one in tokens[max(0, place - length + 1) : place + 1])
            for one in entity.lexicon.get(stems, ()):
                if one.kind == "property" and _is_text(entity.prop(one.value)):
                    return str(one.value)
    return None


def _text_properties(entity: Entity) -> Iterator[str]:
    """The properties that a text may be, the name of the records first."""
    if _is_text(entity.prop(entity.name)):
        yield entity.name
    for name, prop in entity.type.properties.items():
        if name != entity.name and _is_text(prop):
            yield name


def _is_text(prop: edm.Property | None) -> bool:
    plain = prop is not None and getattr(prop.type, "name", "") == "Edm.String"
    return bool(plain and prop is not None and not prop.allowed and not prop.on_request)


def _look_up(entity: Entity, where: str, path: str) -> str | None:
    """The value of a property of the first record that passes a filter."""
    navigation, _, part = path.rpartition("/")
    shown = {"expand": f"{navigation}($select={part})"} if navigation else {"select": path}
    try:
        rows = run(Query(entity.set, {"filter": where, "top": "1", **shown}), 1).rows
    except ApiError:
        return None  # what may not be read does not exist
    return None if not rows else str(rows[0].get(path) or "") or None
