"""Names found in the data: clients, colleagues, projects, cities, categories, countries.

They are looked up by the query engine under the caller's rights: a name that the caller may not
read does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import babel
from rapidfuzz import distance

from app.bi.nlq.loosely import Loosely
from app.bi.nlq.named import Match, Value
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.query import Query, run
from app.bi.words.categories import MOST_VALUES, Written, distinct, placed, together
from app.bi.words.spelling import is_spelt, spellings
from app.bi.words.tokens import SIMILAR, Token, phrase
from app.errors import ApiError
from app.models.searched import plain_letters
from app.odata.syntax.literal_text import quoted
from app.search import wordpiece

MOST_NAMES = 5000
# Runs of words that are looked up for one question: names are few, and each costs queries.
MOST_LOOKUPS = 40
_NUMBER = re.compile(r"[A-Za-z]{1,10}(?:-\d{4})?-\d{3,12}")  # INV-2026-00007, T-000001
LONGEST_NAME = 8
_SIGNS = ("sign", "other", "percent")
# Signs that stand between the words of a company's name.
_JOINING = ("&", "+")
# What stands between an invoice and what is on it.
_INCLUDING = ("include", "including", "contain", "containing", "list", "with")
# Codes of what is none: unions, and what is unknown.
_NO_COUNTRIES = ("EU", "EZ", "UN", "QO", "XA", "XB", "ZZ")
_ARTICLES = ("a", "an", "the", "our", "any")
# How long a word is, and how like a country's name, that is taken for a slip of it.
SHORTEST_SLIP, SIMILAR_COUNTRY = 6, 0.85


class Names(Loosely):
    """Looks up names for one question; what was looked up once is remembered."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[tuple[str, ...], tuple[Value, ...]] = {}
        self._found = {}
        self._tagged: dict[str, set[str]] = {}
        self._looked = 0

    def find(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """What the words from ``at`` on name, the longest run first; None for nothing."""
        if tokens[at].stem in self._vocabulary.tagging and entity.prop("tags") is not None:
            return self._tag(tokens, at, entity)
        if special := self._tagged_clients(tokens, at, entity) or self._line(tokens, at, entity):
            return special
        inside = at > 0 and tokens[at - 1].stem in self._vocabulary.inside
        for length in self._lengths(tokens, at):
            text = _said(tokens[at : at + length])
            if inside and text.lower() in self._vocabulary.languages:
                continue  # "in German" is no country
            if found := self._listed(text, entity):
                return Match(length, found)
        named = at > 0 and tokens[at - 1].stem in self._vocabulary.introduces
        for length in self._lengths(tokens, at):
            if found := self._record(tokens[at : at + length], named):
                return Match(length, found)
        introduced = at > 0 and tokens[at - 1].stem in ("in", "from")
        return self._almost(tokens[at]) if introduced else None

    @staticmethod
    def _almost(token: Token) -> Match | None:
        """``Swizerland``: the one country that a word is a slip of."""
        text = token.text.lower()
        if token.kind != "word" or not token.is_capital or len(text) < SHORTEST_SLIP:
            return None
        alike = distance.OSA.normalized_similarity
        near = {code: name for name, code in _countries().items()
                if alike(text, name) >= SIMILAR_COUNTRY}  # fmt: skip
        if len(near) != 1:
            return None
        code, name = next(iter(near.items()))
        return Match(1, (Value("country", name.title(), code, exact=False),))

    def _line(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``invoices that include a scanner``: what stands on a line of them."""
        before = [one.stem for one in tokens[max(0, at - 2) : at]]
        before = before[:-1] if before[-1:] and before[-1] in _ARTICLES else before
        if entity.key != "Invoices" or not before or before[-1] not in _INCLUDING:
            return None
        lines = self._vocabulary.entities["LineItems"]
        for length in self._lengths(tokens, at):
            words = phrase(_said(tokens[at : at + length]))
            for one in self._texts(lines, lines.texts["product"]):
                if phrase(one.name) == words:
                    return Match(length, (Value("line", one.name, one.name),))
        return None

    def _tag(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``tagged key account``, ``with the tag "pilot"``."""
        begin = at + 1
        while begin < len(tokens) and tokens[begin].stem in ("as", "with", "by"):
            begin += 1
        if begin == len(tokens):
            return None
        for length in self._lengths(tokens, begin):
            text = _said(tokens[begin : begin + length])
            for one in self._tags(entity.set):
                if phrase(one) == phrase(text):
                    return Match(begin + length - at, (Value("tag", one, one),))
        return None

    def _tagged_clients(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``key account clients``: a tag of clients before their noun."""
        clients = self._vocabulary.entities["Clients"]
        if entity is not clients and "client" not in entity.dimensions:
            return None
        for length in self._lengths(tokens, at):
            end = at + length
            if end < len(tokens) and tokens[end].stem in clients.nouns:
                words = phrase(_said(tokens[at:end]))
                tags = [one for one in self._tags(clients.set) if phrase(one) == words]
                if tags and entity is clients:
                    return Match(length, (Value("tag", tags[0], tags[0]),))
                if tags:
                    return Match(length + 1, (Value("client_tag", tags[0], tags[0]),))
        return None

    def _tags(self, set_name: str) -> set[str]:
        """The tags that records have; read once for a question."""
        if set_name not in self._tagged:
            self._tagged[set_name] = _tags(set_name)
        return self._tagged[set_name]

    def titled(self, tokens: Sequence[Token], at: int, entity: Entity) -> Match | None:
        """``data migration projects``, ``project Second site``: a name of projects beside the noun.

        Several projects may be called alike, and are all meant. So are the contacts that a job
        title names: "IT managers".
        """
        for length in self._lengths(tokens, at) if "called" in entity.data else ():
            words = phrase(_said(tokens[at : at + length]))
            if not set(words) & set(entity.data["called_as"]):
                continue
            known = (one for path in entity.data["called"] for one in self._texts(entity, path))
            found = [one for one in known if length > 1 and phrase(one.name) == words]
            if found:
                return Match(length, tuple(found[:1]))
        projects = self._vocabulary.entities["Projects"]
        behind = at > 0 and tokens[at - 1].stem in projects.nouns
        for length in self._lengths(tokens, at):
            end = at + length
            before = end < len(tokens) and tokens[end].stem in projects.nouns
            is_quoted = tokens[at].kind == "quoted"
            if (length == 1 and not is_quoted) or not (before or behind):
                continue
            words = phrase(_said(tokens[at:end]))
            for one in self._texts(projects, projects.name):
                if phrase(one.name) == words:
                    return Match(length, (Value("title", one.name, one.name),))
        return None

    @staticmethod
    def _lengths(tokens: Sequence[Token], at: int) -> Iterator[int]:
        longest = 1 if tokens[at].kind == "quoted" else min(LONGEST_NAME, len(tokens) - at)
        for length in range(longest, 0, -1):
            words = tokens[at : at + length]
            inner = [token for token in words[1:-1] if token.text not in _JOINING]
            if not any(token.kind in _SIGNS for token in (words[0], *inner, words[-1])):
                yield length

    def _listed(self, text: str, entity: Entity) -> tuple[Value, ...]:
        """A country, or a value of one of the texts that the entity lists."""
        own = self._own_text(text, entity) if len(text) == 2 else ()  # IT is a department, too
        if own:
            return own
        if region := self._vocabulary.wordings.regions.get(phrase(text)):
            return (Value("region", region.name, ",".join(region.codes)),)
        if code := _country(text, self._vocabulary):
            return (Value("country", text, code),)
        if _NUMBER.fullmatch(text):
            path = self._numbered(text, entity)
            return () if path is None else (Value(f"text:{path}", text.upper(), text.upper()),)
        if told := self._own_text(text, entity):
            return told
        stems = phrase(text)
        for name in entity.partly if len(stems) > 1 else ():
            known = self._texts(entity, entity.texts[name])
            found = [one for one in known if _has(phrase(one.name), stems)]
            if len(found) == 1 and not text.lower().endswith(stems[-1]):
                found = [one for one in known if stems[-1] in _head(one.name)]  # "training courses"
            if found:
                return tuple(found)
        return ()

    def own(self, token: Token, entity: Entity) -> tuple[Value, ...]:
        """A category of the entity that one word names."""
        return self._own_text(token.text, entity) if entity.join is None else ()

    def _own_text(self, text: str, entity: Entity) -> tuple[Value, ...]:
        """A value of one of the texts that the entity lists."""
        stems = phrase(self._vocabulary.places.get(text.lower(), text))
        forms: tuple[Written, ...] = (stems, together(text), plain_letters(text))
        for path in entity.texts.values():
            if not self._may_be(entity, path, lambda known: any(one in known for one in forms)):
                continue
            places = placed(self._names(entity, path))
            found = [places[form] for form in forms if form in places]
            if found:
                return (self._texts(entity, path)[min(found)],)
        return ()

    def _names(self, entity: Entity, path: str) -> tuple[str, ...]:
        return tuple(one.name for one in self._texts(entity, path))

    def _may_be(
        self, entity: Entity, path: str, is_in: Callable[[Mapping[Written, int]], bool]
    ) -> bool:
        """Whether a property can have a value: of the client of a record, whether clients have it.

        To look through the clients once costs less than to look through all that they have.
        """
        clients = self._vocabulary.entities["Clients"]
        own = path.removeprefix("Client/")
        if own == path or own not in clients.texts.values():
            return True
        names = self._names(clients, own)
        return len(names) >= MOST_VALUES or is_in(placed(names))

    def _numbered(self, text: str, entity: Entity) -> str | None:
        """The property that a number such as C-000457 is one of; its letters say whose."""
        key, path = self._vocabulary.numbers.get(text.partition("-")[0].upper(), ("", ""))
        if key in ("", entity.key):
            own = path or "number"
            return own if entity.prop(own) is not None else None
        whose = self._vocabulary.entities[key].one
        named = entity.dimensions.get(whose)
        owner = None if named is None else named.path.rpartition("/")[0]
        return f"{owner}/{path}" if owner else None

    def _texts(self, entity: Entity, path: str) -> tuple[Value, ...]:
        sought = (entity.set, path, entity.join or "")
        found = self._known.get(sought)
        if found is None:
            names = distinct(entity.set, path, entity.join)
            values = tuple(Value(f"text:{path}", one, one) for one in names)
            found = self._known[sought] = values
        return found

    def _record(self, words: Sequence[Token], named: bool) -> tuple[Value, ...]:
        """Colleagues, clients, projects; single small words are not taken for a part of a name."""
        text = _said(words)
        is_name = named or words[0].kind == "quoted" or words[0].text[:1].isupper()
        strange = len(words) == 1 and len(text) > 4 and not wordpiece.is_piece(text)
        if len(text) < 3 or not (is_name or strange or self._is_full(words)):
            return ()
        if words[-1].text.lower() in ("and", "or", "in", "by", "the", "this", "for", "with"):
            return ()
        found = self._known.get((text,))
        if found is None:
            if self._looked >= MOST_LOOKUPS:
                return ()
            self._looked += 1
            small = not (is_name or strange)
            found = _people(text) or (() if small else _records(text))
            self._known[(text,)] = found
        return found

    def _is_full(self, words: Sequence[Token]) -> bool:
        """``tom becker``: two words that mean nothing else, written small."""
        known = self._vocabulary.known
        return len(words) == 2 and all(
            token.kind == "word" and token.stem not in known for token in words
        )


def _said(words: Sequence[Token]) -> str:
    """The words as a name: ``Tom Becker's`` is about Tom Becker."""
    text = " ".join(token.text for token in words)
    return text.replace("\u2019", "'").removesuffix("'s")


# --- fixed lists


def _country(text: str, vocabulary: Vocabulary) -> str | None:
    code = _countries().get(text.lower())
    if code is None:
        code = vocabulary.country_codes.get(phrase(text))
    if code is None and len(text) == 2 and text.isupper() and text in _countries().values():
        code = text
    return code


@lru_cache(maxsize=1)
def _countries() -> dict[str, str]:
    names = babel.Locale("en").territories
    return {
        str(name).lower(): code
        for code, name in names.items()
        if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
    }


def _has(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Whether words stand in a name, in their order."""
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def _head(name: str) -> tuple[str, ...]:
    """The words that say what something is, without what it is for: a kit for printers is none."""
    return phrase(re.split(r",| for ", name)[0])


def _tags(set_name: str) -> set[str]:
    """The tags that records have."""
    try:
        rows = run(Query(set_name, {"select": "tags", "top": str(MOST_NAMES)}), MOST_NAMES).rows
    except ApiError:
        return set()
    return {tag for row in rows for tag in row.get("tags") or ()}


# --- records


def _people(text: str) -> tuple[Value, ...]:
    """Colleagues by full, given or family name."""
    wanted = plain_name(text)
    try:
        users = run(Query("Users", {"select": "id,displayName", "top": "1000"}), 1000).rows
    except ApiError:
        return ()
    names = [(row, row["displayName"]) for row in users]
    exact = [row for row, name in names if plain_name(name) == wanted or is_spelt(text, name)]
    part = exact or [row for row, name in names if any(
        plain_name(one) == wanted or is_spelt(text, one) for one in name.split())]  # fmt: skip
    if not part and wanted.endswith("s"):  # "Karins tickets"
        part = [row for row in users if wanted[:-1] in plain_name(row["displayName"]).split()]
    if not part and " " in wanted:
        part = [
            row for row in users
            if distance.OSA.normalized_similarity(wanted, plain_name(row["displayName"])) >= 0.85
        ]  # fmt: skip
    return tuple(Value("user", row["displayName"], str(row["id"])) for row in part)


def _records(text: str) -> tuple[Value, ...]:
    """Clients and projects whose name is the text, begins with it, or has it in it."""
    for spelt in spellings(text):
        for kind, set_name in (("client", "Clients"), ("project", "Projects")):
            if found := tuple(_by_name(kind, set_name, spelt)):
                return found
    return ()


def _by_name(kind: str, set_name: str, text: str) -> Iterator[Value]:
    # Word by word: a question leaves out the dots of "GmbH & Co. KG".
    parts = [
        f"contains(tolower(name),'{word}')" for word in dict.fromkeys(plain_name(text).split())
    ]
    if not parts:
        return
    options = {"filter": " and ".join(parts), "select": "id,name", "top": "50"}
    try:
        rows = run(Query(set_name, options), 50).rows
    except ApiError:
        return
    wanted = plain_name(text)
    named = [(row["name"], str(row["id"])) for row in rows]
    exact = [one for one in named if plain_name(one[0]) == wanted]
    begins = [one for one in named if f"{plain_name(one[0])} ".startswith(f"{wanted} ")]
    is_name = text[:1].isupper()
    whole = [one for one in named if is_name and f" {wanted} " in f" {plain_name(one[0])} "]
    if not (exact or begins or whole) and kind == "client" and len(wanted) > 5:
        whole = list(_alike(set_name, wanted))
    for name, key in (exact or begins or whole)[:5]:
        yield Value(kind, name, key)


def _alike(set_name: str, wanted: str) -> Iterator[tuple[str, str]]:
    """Names that are almost the text: what was misspelt by a letter or two."""
    options = {"filter": f"startswith(tolower(name),{quoted(wanted[:1])})", "select": "id,name"}
    for row in run(Query(set_name, options), MOST_NAMES).rows:
        if distance.OSA.normalized_similarity(wanted, plain_name(row["name"])) >= max(
            SIMILAR, 0.85
        ):
            yield row["name"], str(row["id"])


def plain_name(text: str) -> str:
    """A name as it is compared: small letters, no signs."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
