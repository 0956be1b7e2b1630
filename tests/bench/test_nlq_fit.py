"""The fit of the choice among analyses, on examples small enough to be judged by eye."""

from __future__ import annotations

import numpy as np

from app.bi.questions.ranker import chance_of
from bench.nlq import HIGH
from bench.nlq_fit import SAFE, Answered, Example, Table, answered, ceilings, sureness

RIGHT, WRONG, NOTHING = {"kind A": 1}, {"kind B": 1}, {"nothing": 1}


def example(number: int, *right: bool, counts: float = 1.0) -> Example:
    """A question with a right reading, a wrong one, and that it is not answered."""
    return Example(
        number % 5, counts, (RIGHT, WRONG, NOTHING), ("A", "B", ""), right, (True, True, False)
    )


def test_the_right_analysis_is_the_likeliest_also_of_questions_that_were_not_fitted() -> None:
    table = Table([example(number, True, False, False) for number in range(50)])
    for scores in (table.scores(table.fitted()), table.unfitted()):
        assert all(table.right[at] for at in table.best(scores))


def test_what_has_no_right_analysis_counts_as_little_as_it_is_told() -> None:
    hopeless = [example(number, False, False, True, counts=0.1) for number in range(50)]
    table = Table([*(example(number, True, False, False) for number in range(50)), *hopeless])
    assert not any(table.nothing[at] for at in table.best(table.unfitted()))


def test_analyses_of_the_same_query_are_one_answer() -> None:
    analyses = ({"rule one": 1}, {"rule other": 1}, {"nothing": 1})
    table = Table([Example(0, 1.0, analyses, ("A", "A", ""), (True, True, False), (True,) * 3)])
    assert table.best(np.log([0.25, 0.35, 0.4])) == [1]
    assert table.best(np.log([0.1, 0.2, 0.7])) == [2]


def test_what_is_refused_is_no_answer() -> None:
    examples = [example(number, False, False, True) for number in range(20)]
    table = Table(examples)
    assert answered(table, examples, table.scores(table.fitted())) == []


def test_confidence_begins_where_nearly_all_are_right() -> None:
    answers = [
        Answered(number % 5, number >= 100, True, {"always": 1.0, "chance": number / 100})
        for number in range(1000)
    ]
    (least, most), _ = ceilings(answers)[0]
    told = sureness(answers)
    sure = [one.is_right for one in answers if chance_of(one.signs, told) >= least]
    assert most < HIGH and len(sure) > 800 and sum(sure) >= SAFE * len(sure)
