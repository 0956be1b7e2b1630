"""Questions in German are read by the same grammar, in words of another lexicon."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from operator import itemgetter
from pathlib import Path

import pytest

from app.bi.answering import answer_question, state_after
from app.bi.periods.spans import Calendar
from app.bi.plans.entities import spoken
from app.bi.plans.phrasing import GRAIN_WORDS, SIGNS
from app.bi.questions.periods import Periods
from app.bi.questions.understanding import language_of, understanding_of
from app.bi.words.tokens import tokenise
from bench.nlq import counts, judge
from bench.nlq_cases import GERMAN, read_wordings
from bench.nlq_split import split

NOW = Calendar(date(2026, 6, 17))
RIGHT = 88
APP = Path(__file__).parents[3] / "app"
# Words that stand in every sentence of English and in none of German.
ENGLISH = re.compile(
    r"\b(the|of|by|with|and|or|not|is|are|to|from|there|first|more|number|average|share|largest|"
    r"smallest|newest|oldest|no|yes|over|under|at|compared|amounts|each|days|hours|issued|open|"
    r"overdue|month|week|year|you|can|cannot|what|which|how|many|none|last|this|since|until)\b",
    re.IGNORECASE,
)


@pytest.mark.usefixtures("demo")
def test_as_many_translated_questions_are_right_as_before_and_none_wrong_with_confidence() -> None:
    found = counts([judge(case) for case in read_wordings(GERMAN)])
    assert found["right"] >= RIGHT
    assert found["confidently wrong"] == 0


@pytest.mark.usefixtures("demo")
def test_a_german_question_is_answered() -> None:
    answer = answer_question("Wie viele Kunden haben wir?")
    assert (answer["status"], answer["rows"]) == ("answered", [{"count": 500}])


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    "wordings",
    [
        ("Umsatz April bis Juni", "umsatz apr-jun", "umsatz 1.4.-30.6.",
         "umsatz vom 1.4. bis 30.6."),
        ("Kunden mit mindestens 1 Projekt", "kunden mit mindestens einem projekt bitte"),
        ("Umsatz im Mai gegen April", "umsatz mai > april", "lag der maiumsatz über dem vom april",
         "ist der umsatz von april auf mai gestiegen"),
        ("Rechnungen der Branche Retail", "rechnungen der einzelhandelsbranche",
         "rechnungen branche einzelhandel"),
        ("Anzahl Tickets nach Bearbeiter", "wie viele tickets liegen bei welchem bearbeiter"),
        ("größte offene Deals, nur 5", "groesste offene deals, nur fünf"),
        ("verlorene Deals nach Verlustgrund 2026", "verlustgründe 2026"),
        ("Konversionsrate nach Quartal", "konversionsrate quartal für quartal",
         "konversionsrate in den einzelnen quartalen"),
        ("größte 5 Rechnungen nach Betrag", "die fünf höchsten rechnungsbeträge"),
        ("häufigste zahlungsart 2026", "welche zahlungsart kam 2026 am häufigsten vor"),
    ],
    ids=itemgetter(0),
)  # fmt: skip
def test_wordings_of_a_kind_ask_the_same(wordings: tuple[str, ...]) -> None:
    queries = [answer_question(wording)["query"] for wording in wordings]
    assert None not in queries
    assert [query for query in queries if query != queries[0]] == []


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Wie viele Kunden haben wir?", ("Es gibt 500 Kunden.", "Anzahl Kunden.")),
        ("liste gesperrte Kunden", ("12 Kunden (gesperrt): ", " und 9 weitere.")),
        ("Umsatz im Mai 2026", (
            "Nettoumsatz (Mai 2026): 44.990,62 CHF, 344.615,80 EUR",
            "mit Ausstellungsdatum im Mai 2026 (01.05.2026 bis 31.05.2026)",
            "ohne Steuer, nach Ausstellungsdatum.")),
        ("offene Tickets nach Priorität", ("Anzahl Tickets (offen): normal ", "niedrig ")),
        ("monatlicher Umsatz seit Januar", ("Januar 2026 ", "(ab dem 01.01.2026)")),
        ("In welcher Stadt haben wir die meisten Kunden?",
         ("Anzahl Kunden: Rostock 26.", "größte zuerst, nur 1.")),
        ("Anzahl Tickets diese Woche gegenüber letzter Woche",
         ("Anzahl Tickets: 15.06.2026 bis 21.06.2026 46, 08.06.2026 bis 14.06.2026 49 (-6,1 %).",)),
        ("Wie viel Prozent der Tickets haben das SLA verletzt?",
         ("Verletzt: 22,6 %, 97 von 430 Tickets.", "Anteil an Tickets: verletzt.")),
        ("Kunden ohne Steuernummer in Deutschland", ("Es gibt keine Kunden (",)),
        ("wann wurde das letzte Ticket erstellt?",
         (", 17.06.2026)", "Ticket - neueste zuerst, nur 1.")),
        ("überfällige Rechnungen halt nach Kunde", ("„halt“ bleibt außer Acht.",)),
        ("top 5 Schuldner", ("nach ihrem Wert in EUR geordnet, zum Kurs je Rechnung",)),
        ("Namen und Telefonnummern aller Kunden in Zürich", (" Kunden (", "(Stadt Zürich)")),
        ("Zahlungen oder Rechnungen im Mai",
         ("Ich kann „oder“ nicht mit dem Rest der Frage verbinden. Ist das gemeint?",)),
        ("wie viele Etikettendrucker haben wir seit Januar verkauft",
         ("„Etikettendrucker“", "Fragen kann man nach Kunden")),
        ("Wie viele Tickets haben Amina und Ole jeweils im Mai gelöst?",
         ("Bearbeiter Amina Haddad oder Ole Jensen", "mit Lösungsdatum im Mai 2026")),
    ],
)  # fmt: skip
def test_an_answer_of_each_kind_is_in_german(question: str, parts: tuple[str, ...]) -> None:
    answer = answer_question(question)
    text = f"{answer['answer']} {answer['interpretation']}"
    assert [part for part in parts if part not in text] == [], text


@pytest.mark.usefixtures("demo")
def test_no_answer_to_a_german_question_has_a_word_of_english() -> None:
    for case in read_wordings(GERMAN):
        answer = answer_question(case.question, limit=3)
        text = answer["answer"]
        for value in {str(one) for row in answer["rows"] for one in row.values()}:
            text = text.replace(value, "") if len(value) > 3 else text  # names are as they are
        labels = (one["label"] for one in answer["columns"])
        said = [text, answer["interpretation"], *labels, *answer["alternatives"]]
        assert ENGLISH.findall(" ".join(said)) == [], (case.question, said)


def test_every_sentence_of_answers_is_there_in_german_with_its_parts() -> None:
    known = understanding_of("de").lexicon.data["sentences"]
    assert {one for one in _sentences() if one not in known} == set()
    for english, german in known.items():
        assert _parts(english) == _parts(german), english


def _parts(sentence: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence)} - {None}


def _sentences() -> Iterator[str]:
    """What code says: the texts that ``say`` and ``with_assumption`` are called with."""
    yield from SIGNS.values()
    for path in (*APP.glob("bi/**/*.py"), *APP.glob("ai/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("say", "with_assumption"):
                options = [node.args[0]]
                if isinstance(node.args[0], ast.IfExp):
                    options = [node.args[0].body, node.args[0].orelse]
                for one in options:
                    if isinstance(one, ast.Constant) and _is_text(one.value):
                        yield one.value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and any(
        piece.strip(" %") for piece, *_ in string.Formatter().parse(value)
    )


def test_everything_that_answers_name_is_called_something_in_german() -> None:
    lexicon = understanding_of("de").lexicon
    named = set(GRAIN_WORDS.values())
    notes = set()
    for kind in lexicon.model.kinds.values():
        named |= {kind.one, kind.many, *(one.label for one in kind.dimensions.values())}
        named |= {one.label for one in kind.figures.values()}
        named |= {kind.labels.get(name, name) for name in kind.rates}
        named |= {spoken(path) for path in kind.dates}
        named |= {
            spoken(name.rpartition(".")[2]) for name, one in kind.states.items()
            if one.path and not one.path.endswith("taxCategory")
        }  # fmt: skip
        notes |= {one.note for one in kind.figures.values() if one.note}
        notes |= {str(kind.data[name]) for name in ("date_note",) if name in kind.data}
    assert {one for one in named if one.lower() not in lexicon.data["labels"]} == set()
    assert notes <= set(lexicon.data["sentences"])


@pytest.mark.usefixtures("demo")
def test_what_goes_on_is_read_in_the_language_of_the_question_before() -> None:
    answer = answer_question("2025", state_after(["Wie viele Rechnungen hatten wir im Mai 2026?"]))
    assert "2025-01-01" in answer["query"]["odata"]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("overdue invoices by client", "en"), ("überfällige Rechnungen nach Kunde", "de"),
        ("Ticketzahl dieser Woche", "de"), ("top 5 tickets", "en"), ("2026", "en"),
        ("Hvor mange kunder har vi?", "en"), ("le chiffre d'affaires du mois dernier", "en"),
    ],
)  # fmt: skip
def test_the_language_is_that_of_most_words(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Ticketzahl", ("Ticket", "zahl")), ("Neukunden", ("Neu", "kunden")),
        ("Umsatz", ("Umsatz",)),
        ("Frankenrechnungen", ("Franken", "rechnungen")),
        ("unqualifizierte", ("nicht", "qualifizierte")), ("Unternehmen", ("Unternehmen",)),
    ],
)  # fmt: skip
def test_a_closed_compound_is_its_parts(word: str, parts: tuple[str, ...]) -> None:
    assert understanding_of("de").lexicon.parts(word) == parts


@pytest.mark.parametrize(
    "forms",
    ["offen offene offenem offenen", "Rechnung Rechnungen", "neu neue neuen", "Betrag Beträge",
     "wartend warten", "Stadt Städten", "überfällig ueberfaellige", "größte groesste grösster"],
)  # fmt: skip
def test_forms_of_a_word_are_one(forms: str) -> None:
    assert len({understanding_of("de").lexicon.form(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("german", "words"),
    [
        ("im letzten Quartal", "in last quarter"), ("seit März", "since march"),
        ("im Vormonat", "in last month"), ("Januar bis März 2026", "january until march 2026"),
        ("in den letzten 30 Tagen", "last 30 days"), ("Apr bis Jun", "april until june"),
        ("Sept. 2025", "september 2025"), ("1.5. bis 15.5.", "1 may until 15 may"),
    ],
)  # fmt: skip
def test_periods_are_kept_in_the_words_of_english(german: str, words: str) -> None:
    lexicon = understanding_of("de").lexicon
    tokens = [replace(token, stem=lexicon.stem(token.text)) for token in tokenise(german)]
    periods = Periods(lexicon.reader, NOW, lexicon.english)
    assert words in {one.when.words for one in periods.find(tokens)}


def test_only_questions_of_the_fitting_part_are_translated() -> None:
    fitted = {(one.set_name, str(one.number)) for one in split() if one.part == "fitted"}
    lines = Path(GERMAN).read_text(encoding="utf-8").splitlines()
    assert {tuple(line.split("\t")[1:]) for line in lines} <= fitted
