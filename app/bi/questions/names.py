"""Names of the data in a question: countries, categories, colleagues, clients, numbers of records.

They are looked up by the query engine under the caller's rights: a name that the caller may not
read does not exist. What is a short list is kept for a minute, for each caller by itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar, cast

from rapidfuzz import distance

from app.bi.query import Query, Row, run
from app.bi.questions.algebra import OR, Equals, Mentions, Of, Restriction, Tagged
from app.bi.questions.lexicon import Lexicon, Options
from app.bi.questions.model import Kind
from app.bi.words.spelling import spellings, spelt
from app.bi.words.tokens import Token
from app.errors import ApiError
from app.extensions import Extension
from app.http.security import current_caller
from app.models.searched import plain_letters
from app.odata.syntax.literals import quoted
from app.search import wordpiece

_Found = TypeVar("_Found")
LONGEST_NAME = 6
MOST_LOOKUPS = 12  # of records by name, in one question
_KEPT_SECONDS, _MOST_KEPT = 60, 500
_MOST_USERS = 1000
_MOST_TAGGED = 1000  # records whose tags are looked at
_MOST_VALUES = 500
_BETWEEN_LETTERS = re.compile(r"[\W_]|(?<=\s)and(?=\s)")
_NUMBER = re.compile(r"[A-Za-z]{1,4}(?:-\d{4})?-\d{3,12}")  # INV-2026-00007, T-000001
_JOINING = frozenset(("&", "+"))
_SIMILAR = 0.83
_SHORTEST_WITHIN = 5  # letters of a word that may stand within a name
_LONGEST_TEXT = 4  # words that are looked for in records


@dataclass(frozen=True)
class Name:
    """A name from token ``start`` to ``end``; ``prior`` is how unsure it is."""

    start: int
    end: int
    options: Options
    prior: int = 0
    choices: tuple[str, ...] = ()  # the records that may be meant, where they are several


class Names:
    """Looks up the names of one question."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._kinds = lexicon.model.kinds
        self._looked = 0

    def find(
        self, tokens: Sequence[Token], stems: Sequence[str], known: Sequence[bool]
    ) -> Iterator[Name]:
        """The names in a question.

        Args:
            known: of each token, whether it means something else.
        """
        ends: dict[str, int] = {}
        for start in range(len(tokens)):
            yield from self._numbered(tokens, start)
            yield from self._texts(tokens, stems, start)
            longest = min(LONGEST_NAME, len(tokens) - start)
            length_found = 0
            for length in range(longest, 0, -1):
                words = tokens[start : start + length]
                if not _is_run(words):
                    continue
                text = _text(words)
                phrase = tuple(stems[start : start + length])
                for key, by_kind in self._listed(text, phrase):
                    length_found = max(length_found, length)
                    if ends.get(key, 0) < start + length:  # the same is not meant twice
                        ends[key] = start + length
                        yield Name(start, start + length, Options(key, by_kind))
            if not length_found:
                yield from self._almost(tokens[start], start, known)
                for name in self._partly(tokens, stems, start, known):
                    length_found = name.end - start - 1  # of a record as many words, or more
                    yield name
            yield from self._record(tokens, start, known, length_found)

    # --- lists

    @cached_property
    def _people(self) -> Mapping[str, Any]:
        return _remembered(("people",), _all_people)

    @cached_property
    def _categories(self) -> Mapping[Any, Mapping[str, Restriction]]:
        return _remembered(("categories", self._lexicon.code), self._all_categories)

    def _listed(
        self, text: str, phrase: tuple[str, ...]
    ) -> Iterator[tuple[str, Mapping[str, Restriction]]]:
        countries, people = self._lexicon.places, self._people
        others = [spelling.lower() for spelling in spellings(text)]
        written = [phrase, *others, *map(self._lexicon.phrase, others[1:])]  # "oesterreichische"
        country = next(filter(None, map(countries.get, written)), None)
        is_code = len(text) == 2 and text.isupper() and phrase not in self._lexicon.entries
        if country is None and is_code:  # "PL" is a project manager
            country = countries.get(f"code {text}")
        if country is not None:
            codes, label = country
            yield f"place:{codes}", self._in_country(codes, label)
        for form in (phrase, _together(text), plain_letters(text)):
            if (category := self._categories.get(form)) is not None:
                yield f"text:{form}", category
                break
        low = text.lower()
        if (person := people.get(low) or people.get(low.removesuffix("s"))) is not None:
            ids, name = person
            yield f"user:{ids}", self._of_person(ids, name)

    def _in_country(self, codes: str, label: str) -> dict[str, Restriction]:
        values = tuple(quoted(code) for code in codes.split(","))
        return {
            key: Equals(kind.dimensions["country"].path, values, label)
            for key, kind in self._kinds.items() if "country" in kind.dimensions
        }  # fmt: skip

    def _all_categories(self) -> dict[Any, dict[str, Restriction]]:
        """Values of the texts that records have, by their words and by their letters."""
        categories: dict[Any, dict[str, Restriction]] = {}
        clients = self._kinds["Clients"]
        for key, kind in self._kinds.items():
            for path in kind.data.get("texts", ()):
                source, own = kind, path
                if path.startswith("Client/"):  # what records have of their client, clients have
                    source, own = clients, path.removeprefix("Client/")
                for value in _values(source, own):
                    restriction = Equals(path, (quoted(value),), value)
                    for form in self._forms(value):
                        categories.setdefault(form, {}).setdefault(key, restriction)
        for tag in _tags(clients.set):
            for form in self._forms(tag):
                by_kind = categories.setdefault(form, {})
                by_kind.setdefault(clients.key, Tagged(tag))
                for key, kind in self._kinds.items():
                    if clients.key in kind.to_one:
                        by_kind.setdefault(key, Of(clients.key, (Tagged(tag),)))
        return categories

    def _forms(self, value: str) -> Iterator[Any]:
        yield self._lexicon.phrase(value)
        yield _together(value)
        yield from spelt(value)
        yield from map(self._lexicon.phrase, self._lexicon.data.get("values", {}).get(value, ()))

    # --- people

    def _of_person(self, ids: tuple[str, ...], name: str) -> dict[str, Restriction]:
        roles: dict[str, Restriction] = {}
        for key, kind in self._kinds.items():
            person = kind.person
            if person is not None and person.key:
                roles[key] = Equals(person.key, ids, name)
        return roles

    def mine(self) -> Options:
        """What belongs to whoever asks."""
        ids = (str(current_caller().user_id),)
        return Options(f"user:{ids}", self._of_person(ids, "you"))

    # --- records

    def _numbered(self, tokens: Sequence[Token], at: int) -> Iterator[Name]:
        """``INV-2026-00007``: the letters say whose number it is."""
        text = tokens[at].text.upper()
        if not _NUMBER.fullmatch(text):
            return
        prefix = text.partition("-")[0]
        owner = next((kind for kind in self._kinds.values() if kind.data.get("prefix") == prefix),
                     None)  # fmt: skip
        if owner is None:
            return
        path = owner.data.get("numbered", "number")
        by_kind: dict[str, Restriction] = {owner.key: Equals(path, (quoted(text),), text)}
        for key, kind in self._kinds.items():
            link = kind.to_one.get(owner.key) or kind.data.get("of_number", {}).get(owner.key)
            if link and key != owner.key:
                by_kind[key] = Equals(f"{link}/{path}", (quoted(text),), text)
        yield Name(at, at + 1, Options(f"number:{text}", by_kind))

    def _texts(self, tokens: Sequence[Token], stems: Sequence[str], at: int) -> Iterator[Name]:
        """What stands behind ``about`` and ``tagged``, between ``with`` and ``in the name``, or in
        quotation marks."""
        if tokens[at].kind == "quoted":
            yield Name(at, at + 1, self._said_of("f:about", tokens[at].text))
        longer: set[str] = set()
        for length, entry in self._lexicon.at(stems, at):
            if entry.category not in {"f:about", "f:tagged", "f:with", "f:topic"} - longer:
                continue
            if entry.category == "f:topic" and (longer or not self._is_text(stems, at)):
                continue
            longer.add(entry.category)  # "tagged as" is not tagged with "as"
            begin = at + length
            for end in range(begin + 1, min(begin + _LONGEST_TEXT, len(tokens)) + 1):
                if not _is_run(tokens[begin:end]):
                    continue
                if entry.category == "f:with" and not self._is_place(stems, end):
                    continue
                text = _text(tokens[begin:end])
                about = "f:tagged" if entry.category == "f:tagged" else "f:about"
                yield Name(at, end, self._said_of(about, text), prior=end - begin - 1)

    def _is_text(self, stems: Sequence[str], at: int) -> bool:
        """Whether records that are about something stand right before: ``articles on``."""
        kinds = (entry.value for entry in self._lexicon.entries.get(tuple(stems[at - 1 : at]), ())
                 if entry.category == "kind")  # fmt: skip
        return any(self._kinds[kind].data.get("about") for kind in kinds)

    def _is_place(self, stems: Sequence[str], at: int) -> bool:
        """Whether a bare text goes on with a property of records: ``in the subject``."""
        if "f:of" not in self._categories_at(stems, at):
            return False
        at += 1
        while at < len(stems) and stems[at] in self._lexicon.fillers:
            at += 1
        return "property" in self._categories_at(stems, at)

    def _categories_at(self, stems: Sequence[str], at: int) -> set[str]:
        return {entry.category for _, entry in self._lexicon.at(stems, at)}

    def _almost(self, token: Token, at: int, known: Sequence[bool]) -> Iterator[Name]:
        """``Swizerland``, ``logisitcs``: the one country or category that a word is a slip of."""
        if token.kind != "word" or known[at] or len(token.text) <= 5:
            return
        alike, word = distance.OSA.normalized_similarity, token.text.lower()
        countries, categories = self._lexicon.places, self._categories

        def near(names: Mapping[Any, Any]) -> list[str]:
            return [name for name in names if isinstance(name, str)
                    and alike(word, name, score_cutoff=_SIMILAR)]  # fmt: skip

        lands = {countries[name] for name in near(countries)} if token.is_capital else set()
        if len(lands) == 1:
            codes, label = lands.pop()
            yield Name(at, at + 1, Options(f"place:{codes}", self._in_country(codes, label)), 1)
        elif not wordpiece.is_piece(word) and len(values := near(categories)) == 1:
            yield Name(at, at + 1, Options(f"text:{values[0]}", categories[values[0]]), 1)

    def _partly(
        self, tokens: Sequence[Token], stems: Sequence[str], start: int, known: Sequence[bool]
    ) -> Iterator[Name]:
        """``label printer``: some words of what stands on lines of invoices."""
        kind = next(kind for kind in self._kinds.values() if "worded" in kind.data)
        values = _remembered(("worded", self._lexicon.code), lambda: [
            (self._lexicon.phrase(value), value) for value in _values(kind, kind.name)
        ])  # fmt: skip
        for length in range(min(4, len(tokens) - start), 0, -1):
            words = tuple(stems[start : start + length])
            if not _is_run(tokens[start : start + length]) or all(known[start : start + length]):
                continue
            fitting = [value for phrase, value in values if _stands_in(words, phrase)]
            if fitting:
                label = " ".join(token.text for token in tokens[start : start + length])
                quoted_values = tuple(quoted(value) for value in fitting)
                by_kind: dict[str, Restriction] = {
                    key: Equals(self._kinds[key].name, quoted_values, label)
                    for key in kind.data["worded"]
                }
                yield Name(start, start + length, Options(f"product:{words}", by_kind), 1)
                return

    def _said_of(self, category: str, text: str) -> Options:
        by_kind: dict[str, Restriction] = {}
        for key, kind in self._kinds.items():
            if category == "f:tagged" and kind.prop("tags") is not None and kind.join is None:
                by_kind[key] = Tagged(text)
            elif category == "f:about" and kind.data.get("about"):
                by_kind[key] = Mentions(_root(text))
        return Options(f"{category}:{text}", by_kind)

    def _record(
        self, tokens: Sequence[Token], start: int, known: Sequence[bool], length_found: int
    ) -> Iterator[Name]:
        """Clients, projects, contacts and leads whose name the words are, begin, or stand in."""
        for length in range(min(LONGEST_NAME, len(tokens) - start), length_found, -1):
            words = tokens[start : start + length]
            if not _is_run(words) or self._looked >= MOST_LOOKUPS:
                continue
            strange = not all(known[start : start + length])
            is_named = (
                words[0].is_capital or words[0].kind == "quoted" or (words[0].whole and strange)
            )
            if known[start] and not is_named:
                continue
            if known[start + length - 1] and not words[-1].is_capital:
                continue
            text = _text(words)
            capital = words[0].text[:1].isupper()
            piece = length == 1 and not capital and wordpiece.is_piece(text.lower())
            if len(text) < 3 or not (strange or capital or words[0].kind == "quoted"):
                continue
            self._looked += 1
            is_strange = not any(known[start : start + length])  # "lumiere" may be Lumière
            by_kind = {} if piece else _by_name(text, self._kinds, is_searched=is_strange)
            for kind, records in by_kind.items():
                yield Name(start, start + length, self.of_record(kind, records),
                           # Who is both has become a contact.
                           prior=any(known[start : start + length]) + (kind != next(iter(by_kind))),
                           choices=tuple(name for name, _ in records[1:]) and
                           tuple(name for name, _ in records))  # fmt: skip
            if by_kind:
                return
            if length == 1 and is_strange and (people := _of_family(text, self._kinds)):
                yield Name(start, start + 1, Options(f"family:{text.lower()}", people))

    def of_record(self, owner: str, records: Sequence[tuple[str, str]]) -> Options:
        """Records of a kind by name and key, as a restriction of them and of what is theirs."""
        ids = tuple(key for _, key in records)
        label = OR.join(name for name, _ in records)
        by_kind: dict[str, Restriction] = {owner: Equals("id", ids, label)}
        for key, kind in self._kinds.items():
            dimension = kind.dimensions.get(self._kinds[owner].data["one"])
            if key != owner and dimension is not None and dimension.key:
                by_kind[key] = Equals(dimension.key, ids, label)
        return Options(f"{owner}:{ids}", by_kind)


def _is_run(words: Sequence[Token]) -> bool:
    """Whether words can be one name: no mark between them, no sign at its ends."""
    if any(word.apart for word in words[1:]):
        return False
    ends = (words[0], words[-1])
    if any(word.kind in ("sign", "other", "percent", "number", "date") for word in ends):
        return False
    inner = words[1:-1]
    return not any(word.kind in ("sign", "other") and word.text not in _JOINING for word in inner)


def _stands_in(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Whether a name has these words in their order: of a document scanner ``S40 scanner``."""
    rest = iter(phrase)
    return all(word in rest for word in words)


def _text(words: Sequence[Token]) -> str:
    """Words as they were written, a compound in one."""
    cut = {word.start: word.whole for word in words if word.whole}
    whole = [word for word in words if word.whole or word.start not in cut]
    text = " ".join(word.whole or word.text for word in whole)
    return text.replace("\u2019", "'").removesuffix("'s")


def _root(text: str) -> str:
    """``printers`` finds a printer."""
    return text.lower().removesuffix("s") if len(text) > 4 and not text.endswith("ss") else text


def _tags(set_name: str) -> list[str]:
    """What the records of a set are tagged with."""
    rows = _rows(set_name, {"select": "tags", "top": str(_MOST_TAGGED)}, _MOST_TAGGED)
    return sorted({tag for row in rows for tag in row["tags"] or ()})


def _all_people() -> dict[str, tuple[tuple[str, ...], str]]:
    """Colleagues by full, given and family name, however their letters are written."""
    options = {"select": "id,displayName", "top": str(_MOST_USERS)}
    people: dict[str, tuple[tuple[str, ...], str]] = {}
    for row in _rows("Users", options, _MOST_USERS):
        name, key = str(row["displayName"]), str(row["id"])
        for part in (name, *name.split()):
            for form in (part.lower(), plain_letters(part), *spelt(part)):
                ids, label = people.get(form, ((), name))
                if part == name or key not in ids:
                    people[form] = ((key,), name) if part == name else ((*ids, key), label)
    return {form: person for form, person in people.items() if len(form) > 2}


def _by_name(
    text: str, kinds: Mapping[str, Kind], *, is_searched: bool
) -> dict[str, list[tuple[str, str]]]:
    """The records of the first kind that has some of this name, or people of two words."""
    several = [[kind] for kind in kinds.values() if kind.called_by == "name"]
    several += [_people(kinds)] if " " in text else []
    ways = (*((written, False) for written in spellings(text)), *((text, True),) * is_searched)
    for written, is_found in ways:
        for each in several:
            named = {kind.key: _named(kind, written, is_searched=is_found) for kind in each}
            if records_by_kind := {key: records for key, records in named.items() if records}:
                return records_by_kind
    return {}


def _people(kinds: Mapping[str, Kind]) -> list[Kind]:
    return [kind for kind in kinds.values() if kind.called_by == "family name"]


def _of_family(text: str, kinds: Mapping[str, Kind]) -> dict[str, Restriction]:
    """People by their family name: all that have it."""
    people: dict[str, Restriction] = {}
    for kind in _people(kinds):
        options = {"filter": f"tolower(lastName) eq {quoted(text.lower())}", "select": "lastName"}
        for row in _rows(kind.set, {**options, "top": "1"}, 1):
            name = str(row["lastName"])
            people[kind.key] = Equals("lastName", (quoted(name),), name)
    return people


def _named(kind: Kind, text: str, *, is_searched: bool) -> list[tuple[str, str]]:
    """Records by their name as it is written; searched for: without the marks of its letters."""
    path, wanted = kind.name, _plain(text)
    parts = [f"contains(tolower({path}),{quoted(word)})" for word in dict.fromkeys(wanted.split())]
    if not parts or (is_searched and not wanted.isascii()):
        return []
    options = {"search": wanted} if is_searched else {"filter": " and ".join(parts)}
    rows = _rows(kind.set, {**options, "select": f"id,{path}", "top": "50"}, 50)
    named = [(str(row[path]), str(row["id"])) for row in rows]
    plain = {name: _plain(plain_letters(name) if is_searched else name) for name, _ in named}
    exact = [record for record in named if plain[record[0]] == wanted]
    begins = [record for record in named if f"{plain[record[0]]} ".startswith(f"{wanted} ")]
    long = len(text) >= _SHORTEST_WITHIN or text[:1].isupper()
    whole = [record for record in named if long and f" {wanted} " in f" {plain[record[0]]} "]
    return (exact or begins or whole)[:5]


def _plain(text: str) -> str:
    """A name as it is compared: small letters, no signs."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


class KeptLists:
    """Short lists of names, for a minute and for the caller that read them."""

    def __init__(self) -> None:
        self._lists: dict[tuple[Any, ...], tuple[float, Any]] = {}
        self._lock = Lock()

    def find(self, key: tuple[str, ...], make: Callable[[], _Found]) -> _Found:
        """The list of a minute ago at most; ``make`` reads it where there is none."""
        whole = (*key, current_caller().user_id)
        now = time.monotonic()
        with self._lock:
            until, listed = self._lists.get(whole, (0.0, None))
        if now < until:
            return cast(_Found, listed)
        value = make()
        with self._lock:
            # The oldest go first, those that are over among them.
            while len(self._lists) >= _MOST_KEPT:
                del self._lists[next(iter(self._lists))]
            self._lists.pop(whole, None)
            self._lists[whole] = (now + _KEPT_SECONDS, value)
        return value


kept_lists = Extension("question_names", KeptLists)


def _remembered(key: tuple[str, ...], make: Callable[[], _Found]) -> _Found:
    return kept_lists.current.find(key, make)


def _values(kind: Kind, path: str) -> list[str]:
    """The different values of a property of records; read once, whoever needs them."""
    return _remembered(("values", kind.set, path, kind.join or ""), lambda: _distinct(kind, path))


def _distinct(kind: Kind, path: str) -> list[str]:
    """The different values of a property, if they are not too many to be categories."""
    joined = f"join({kind.join})/" if kind.join else ""
    options = {"apply": f"{joined}compute({path} as v)/groupby((v))", "top": str(_MOST_VALUES)}
    return [row["v"] for row in _rows(kind.set, options, _MOST_VALUES) if row["v"]]


def _rows(set_name: str, options: dict[str, str], most: int) -> Sequence[Row]:
    """Rows that the caller may read; none of what is not allowed."""
    try:
        return run(Query(set_name, options), most).rows
    except ApiError:
        return []


def _together(text: str) -> str:
    """``Health care`` and ``healthcare`` alike, ``Food and drink`` and ``food & drink``."""
    return _BETWEEN_LETTERS.sub("", text.lower())
