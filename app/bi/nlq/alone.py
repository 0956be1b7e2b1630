"""Records that no word names, told by what only they have: ``whose credit limit is exceeded``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from app.bi.nlq.checking import has_head
from app.bi.nlq.reading import Reading
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.words.tokens import Token

# Who may be asked for by "who", of whom a property tells no more than that they are some of these.
_PERSONS = ("Clients", "Contacts", "Leads")
_COMMON = ("status", "createdAt", "updatedAt", "ownerId", "type", "id", "currency", "priority")
_NAME = re.compile(r"[a-z]\w*")


def is_headed(reading: Reading, tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a word says what is asked for, or a property that such records alone have."""
    if has_head(reading):
        return True
    nouns = {one["noun"] for one in reading.slots if "noun" in one}
    if nouns - {reading.entity.key}:
        return False  # "which customers are at risk": that is known of tickets
    asked = bool(tokens) and tokens[0].stem in ("who", "whose", "who's")
    own = {match[0] for _, one in reading.conditions if (match := _NAME.match(one.text))}
    own = {one for one in own - set(_COMMON) if not one.endswith("Id")}
    alone = _alone(vocabulary)
    if not reading.subjects and any(alone.get(one) == reading.entity.key for one in own):
        return asked or "list" in reading.flags
    if asked and reading.entity.key in _PERSONS and own:
        return True
    ranked = [one.path for one in reading.subjects if reading.rank is not None]
    return any(alone.get(one) == reading.entity.key for one in ranked)


def other_words(tokens: Sequence[Token], entity: Entity, vocabulary: Vocabulary) -> tuple[str, ...]:
    """``credit balance``: words that begin like these records and are a property of others."""
    taken = _taken(vocabulary).get(entity.key, frozenset())
    stems = tuple(one.stem for one in tokens)
    said = {stems[at : at + length] for at in range(len(stems)) for length in (2, 3, 4)}
    return tuple(" ".join(one) for one in sorted(taken & said))


@lru_cache(maxsize=4)
def _alone(vocabulary: Vocabulary) -> Mapping[str, str]:
    """Property -> the one entity that has it."""
    found: dict[str, list[str]] = {}
    sets: dict[str, str] = {}
    for entity in vocabulary.entities.values():
        if entity.join is None and entity.set not in sets:
            sets[entity.set] = entity.key
            for name in entity.type.properties:
                found.setdefault(name, []).append(entity.key)
    return {name: keys[0] for name, keys in found.items() if len(keys) == 1}


@lru_cache(maxsize=4)
def _taken(vocabulary: Vocabulary) -> Mapping[str, frozenset[tuple[str, ...]]]:
    """Entity -> phrases for a state or a property of others that begin with its noun."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for entity in vocabulary.entities.values():
        if entity.key == "Clients":
            continue  # "company names" are those of clients, too
        for other in vocabulary.entities.values():
            for stems, meanings in other.lexicon.items() if other is not entity else ():
                kinds = {one.kind for one in meanings}
                if (
                    len(stems) > 1
                    and stems[0] in entity.nouns
                    and not {stems, stems[1:]} & entity.lexicon.keys()
                    and {"state", "property"} & kinds
                    and "noun" not in kinds
                ):
                    found.setdefault(entity.key, set()).add(stems)
    return {key: frozenset(words) for key, words in found.items()}
