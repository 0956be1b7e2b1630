"""Whether the caller's own message asks for an action (docs/adr/0039).

A model may be talked into an action by an article, a ticket or any other text that it reads. So
what it proposes is taken only where the words of the caller ask for an action of that kind: a
sentence of the message that wants it done, or a "yes" to the question whether to do it. What the
caller quotes, asks about or does not want is no wish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from app.ai.context import data_sets, states_of
from app.ai.parts import Ask
from app.search.analysis import Stems, stop_words, words

# What stands between marks was said by others, or is the text of what is to be made.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]+)*[.!?]*")
_CLAUSE = re.compile(r"[,;:]|\b(?:and|then|but|und|dann|aber|et|puis|mais|y|luego|e|poi)\b", re.I)
_PHRASAL = re.compile(r"\bset(?:ting)?[ -]up\b", re.I)
_ADDRESS = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_LANGUAGES = ("en", "de", "fr", "es", "it")


def _set(text: str) -> frozenset[str]:
    return frozenset(words(text))


# Closed classes of words, in the languages of the letters that the product writes most.
_ASKING = _set(
    "how what when where why who which whether wie was wann wo warum wer welche ob quand"
    " où pourquoi qui quel cómo qué cuándo dónde quién cuál come cosa dove perché chi quale"
)
# A question that begins so asks for no deed; "comment" is a how in French, and English for a note.
_STATING = _set(
    "did do does is are has have had was were should may might must i he she they it comment"
)
# "Can a ticket be closed?" asks whether, of any; "can this ticket be closed?" may be a wish.
_ANY = _set("a an any anyone anybody man ein eine einen un une una")
_NOT = _set(
    "not don doesn never no without nor nicht kein keine keinen nie ohne ne pas jamais sans"
    " nunca jamás sin non mai senza"
)
_YES = _set(
    "yes yeah yep ok okay sure please do it that so go ahead exactly right correct agreed fine"
    " ja bitte gern gerne mach das genau klar oui vas y d accord sí si claro hazlo vale certo va"
    " bene fallo"
)


@dataclass(frozen=True)
class Wish:
    """How an action is asked for: a verb with what it is done to, or a verb that says all.

    ``takes_state``: it is asked for by the name of a state too, and done to any record.
    """

    verbs: str
    objects: str
    alone: str = ""
    takes_state: bool = False
    takes_address: bool = False


WISHES: Mapping[str, Wish] = {
    "create_task": Wish(
        verbs="create add make setup schedule plan need want erstelle erstellen anlegen lege"
        " mache füge setze brauche crée créer ajoute fais prépare crea añade haz aggiungi",
        objects="task tasks todo reminder aufgabe erinnerung tâche rappel tarea recordatorio"
        " attività promemoria",
        alone="remind erinnere rappelle recuerda recuérdame ricorda ricordami",
    ),
    "add_note": Wish(
        verbs="add make write leave put record attach schreibe füge hinterlasse ergänze ajoute"
        " écris laisse añade escribe deja aggiungi scrivi lascia",
        objects="note comment remark notiz kommentar vermerk bemerkung commentaire remarque nota"
        " comentario commento",
        alone="note notiere vermerke noter anota annota",
    ),
    "draft_mail": Wish(
        verbs="draft write compose prepare send make schreibe schreib entwirf verfasse sende"
        " formuliere rédige écris prépare envoie escribe redacta prepara envía scrivi invia",
        objects="mail email message letter reply answer nachricht brief antwort message lettre"
        " réponse mensaje carta correo respuesta messaggio lettera risposta",
        alone="email mail reply answer antworte réponds responde rispondi",
        takes_address=True,
    ),
    "change_stage": Wish(
        verbs="change set move mark put update advance switch ändere setze verschiebe markiere"
        " stelle passe mets marque déplace cambia pon mueve marca sposta imposta segna",
        objects="stage status state it this them stufe phase zustand es statut étape estado etapa"
        " stato fase",
        alone="resolve finish reopen schließe löse erledige ferme résous termine cierra resuelve"
        " chiudi risolvi",
        takes_state=True,
    ),
}  # fmt: skip


def asks_for(ask: Ask, tool: str) -> bool:
    """Whether the caller wants an action of this kind, by the message and what it answers to."""
    wish = _Wanted.of(tool)
    if any(map(wish.is_in, _sentences(ask.text))):
        return True
    earlier = list(ask.dialogue)
    if not earlier or earlier[-1][0] != "assistant" or "?" not in earlier[-1][1]:
        return False
    offers = [sentence for sentence in _sentences(earlier[-1][1]) if sentence.endswith("?")]
    if _is_yes(ask.text):
        return any(map(wish.is_named, offers))
    # An answer to what was asked back: the wish is that of the message before.
    before = next((text for role, text in reversed(earlier) if role == "user"), "")
    return not ask.text.rstrip().endswith("?") and any(map(wish.is_in, _sentences(before)))


class _Wanted:
    """The stems of a wish."""

    def __init__(self, wish: Wish) -> None:
        self._verbs = _stems(wish.verbs)
        self._objects = _stems(wish.objects)
        self._alone = _set(wish.alone) | (
            frozenset(_imperatives()) if wish.takes_state else _set("")
        )
        self._takes_address = wish.takes_address
        if wish.takes_state:
            self._alone |= frozenset(_imperatives())
            self._objects |= _stems(_state_words()) | _stems(_type_words())

    @classmethod
    @cache
    def of(cls, tool: str) -> _Wanted:
        """That of a tool."""
        return cls(WISHES[tool])

    def is_in(self, sentence: str) -> bool:
        """Whether a sentence wants it done."""
        sentence = _PHRASAL.sub("setup", sentence)
        said = list(words(sentence))
        is_question = sentence.endswith("?")
        if is_question and said and said[0] in _STATING | _ASKING:
            return False
        for clause in _CLAUSE.split(sentence):
            spoken = list(words(clause))
            if set(spoken) & _NOT or set(spoken) & _ASKING:
                continue
            if is_question and ("i" in spoken[:3] or set(spoken[1:2]) & _ANY):
                continue  # "can I close it?" asks whether
            if self._is_wanted(spoken, clause):
                return True
        return False

    def is_named(self, sentence: str) -> bool:
        """Whether a sentence speaks of it at all."""
        stems = _stems_of(words(sentence))
        is_named = bool(stems & self._verbs and stems & self._objects)
        return is_named or bool(set(words(sentence)) & self._alone)

    def _is_wanted(self, said: list[str], clause: str) -> bool:
        content = [word for word in said if word not in _little_words()]
        # A wish begins with its verb, or ends with it: "eine Aufgabe anlegen".
        first, last = _stems_of(content[:2]), _stems_of(content[-1:])
        if set(content[:1]) & self._alone:
            return True
        if not (first | last) & self._verbs:
            return False
        is_addressed = self._takes_address and _ADDRESS.search(clause) is not None
        return is_addressed or bool(_stems_of(said) & self._objects)


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(_QUOTED.sub(" ", text)):
        yield found.group().strip()


def _is_yes(text: str) -> bool:
    said = list(words(text))
    return bool(said) and len(said) <= 12 and all(word in _YES for word in said)


@cache
def _little_words() -> frozenset[str]:
    """What a wish may begin with before its verb."""
    known = frozenset[str]().union(*map(stop_words, _LANGUAGES))
    asked = _set(" ".join(f"{wish.verbs} {wish.alone}" for wish in WISHES.values()))
    return known | _set("please kindly let lets also now just i you want like need bitte") - asked


def _stems(text: str) -> frozenset[str]:
    return _stems_of(words(text))


def _stems_of(found: Iterator[str] | list[str]) -> frozenset[str]:
    """Each word as a stem of each language: nobody says which it is in."""
    stems = [Stems.of(language) for language in _LANGUAGES]
    return frozenset(stem(word) for word in found for stem in stems)


def _state_words() -> str:
    """The words of every state that a record may have, as they are declared."""
    names = {
        state
        for home in data_sets().values()
        for name in ("stage", "status")
        for state in states_of(home.type.name, name)
    }
    return _apart(names)


def _imperatives() -> Iterator[str]:
    """``Closed`` is what ``close`` makes of a record."""
    for word in words(_state_words()):
        if word.endswith("ed"):
            yield from (word[:-1], word[:-2])


def _type_words() -> str:
    return _apart({home.type.name for home in data_sets().values()})


def _apart(names: set[str]) -> str:
    """``ClosedWon`` -> ``Closed Won``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join(sorted(names)))
