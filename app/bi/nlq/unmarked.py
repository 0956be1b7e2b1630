"""Names of clients, projects and colleagues that stand in a question without capitals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.bi.nlq.values import LONGEST_NAME, plain_name
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.query import Query, run
from app.bi.words.tokens import Token
from app.errors import ApiError
from app.odata.syntax.literal_text import quoted
from app.search import wordpiece

MOST_ALIKE = 200
# Each word that is looked up costs queries, and nobody names more records at once.
MOST_WORDS = 6
SHORTEST = 3


class Unmarked:
    """Finds names before misspelt words are mended, which some of their words look like."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._found: dict[str, list[tuple[str, ...]]] = {}

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens, the words of a name as one of them, as if it stood in quotes."""
        made: list[Token] = []
        at = 0
        while at < len(tokens):
            length = self._length(tokens, at)
            if length:
                text = " ".join(token.text for token in tokens[at : at + length])
                text = text.replace("\u2019", "'").removesuffix("'s")
                made.append(replace(tokens[at], text=text, stem=text.lower(), kind="quoted"))
            else:
                made.append(tokens[at])
            at += length or 1
        return made

    def _length(self, tokens: Sequence[Token], at: int) -> int:
        """How many words from here on are a name; 0 for none."""
        token = tokens[at]
        if not self._is_strange(tokens, at):
            return 0
        longest = 0
        words = [_words(one) for one in tokens[at : at + LONGEST_NAME]]
        for name in self._names(words[0][0]):
            longest = max(longest, _same(name, words))
        is_word = wordpiece.is_piece(token.text.lower())  # "label", which is no name alone
        alone = not is_word or (words[0][0],) in self._names(words[0][0])
        return longest if longest > 1 or alone else 0

    def _is_strange(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether the word is written small and means nothing else here."""
        token = tokens[at]
        if token.kind != "word" or token.text[:1].isupper() or len(token.text) < SHORTEST:
            return False
        return token.stem not in self._vocabulary.known and token.stem not in self._vocabulary.talk

    def _names(self, word: str) -> list[tuple[str, ...]]:
        """The names that begin with a word, each as its words."""
        if word not in self._found:
            enough = len(self._found) >= MOST_WORDS
            self._found[word] = [] if enough else _beginning(word)
        return self._found[word]


def _beginning(word: str) -> list[tuple[str, ...]]:
    found = []
    for set_name in ("Clients", "Projects"):
        names = _read(set_name, "name", f"startswith(tolower(name),{quoted(word)})")
        found += [name for name in names if name[:1] == (word,)]
    for name in _read("Users", "displayName", f"contains(tolower(displayName),{quoted(word)})"):
        if word in name:  # colleagues are called by each of their names
            found += [(word,), name[name.index(word) :]]
    return found


def _read(set_name: str, path: str, where: str) -> set[tuple[str, ...]]:
    """Names that may be read, as their words."""
    options = {"filter": where, "select": path, "orderby": path, "top": str(MOST_ALIKE)}
    try:
        rows = run(Query(set_name, options), MOST_ALIKE).rows
    except ApiError:
        return set()  # what may not be read does not exist
    return {tuple(plain_name(row[path]).split()) for row in rows}


def _words(token: Token) -> tuple[str, ...]:
    """The words of a token as names are compared; none of a sign such as ``&``."""
    written = token.text.replace("\u2019", "'").removesuffix("'s")
    return tuple(plain_name(written).split()) or ("",)


def _same(name: tuple[str, ...], words: Sequence[tuple[str, ...]]) -> int:
    """How many tokens are the beginning of a name."""
    place = 0
    length = 0
    for count, parts in enumerate(words, 1):
        said = tuple(part for part in parts if part)
        if name[place : place + len(said)] != said:
            break
        place += len(said)
        length = count if said else length
        if place == len(name):
            break
    return length
