"""Whatever is asked, an answer comes: beginnings and ends of questions, put together at random."""

from random import Random

import pytest

from app.bi.answering import answer_question, state_after
from app.http.security import acting_as, system_caller
from bench.nlq_cases import WORDINGS, read_wordings


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("code", ["en", "de"])
def test_beginnings_and_ends_of_questions_are_answered_or_sent_back(code: str) -> None:
    paths = [path for path in WORDINGS if f"_{code}" in path.stem]
    questions = [case.question for path in paths for case in read_wordings(path)]
    random = Random(11)
    questions = [
        "Wie hoch ist im Juni der Anteil der Rechnungen an Schweizer Kunden?",
        *(_joined(*random.sample(questions, 2), random) for _ in range(150)),
    ]
    with acting_as(system_caller("test")):
        states = {answer_question(question)["status"] for question in questions}
    assert states <= {"answered", "needsClarification", "unsupported"}


@pytest.mark.usefixtures("demo")
def test_marks_alone_are_sent_back_also_after_a_question() -> None:
    with acting_as(system_caller("test")):
        for text in ("?", "???", "…", "🦄", ",", ", ,", "((", "—", "''", '"', "%", "=", "\u200b?"):
            for before in ((), ("overdue invoices",)):
                answer = answer_question(text, state_after(before))
                assert answer["status"] in ("unsupported", "needsClarification"), (text, before)


def _joined(first: str, second: str, random: Random) -> str:
    head, tail = first.split(), second.split()
    return " ".join((*head[: random.randint(1, len(head))], *tail[random.randrange(len(tail)) :]))
