"""Medians: asked for as averages are, computed by OData's own method, told by their name."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask

MEDIAN = "with BusinessPlatform.median as"


@pytest.mark.parametrize(
    "question",
    [
        "What is the {average} deal size?",
        "{average} invoice amount by month",
        "{average} resolution time by priority",
        "{average} days to pay this year",
        "{average} invoice total of German clients",
        "{average} amount and number of payments by method",
        "{Durchschnitt} Auftragswert nach Monat",
        "Was ist der {Durchschnitt} der Lösungszeit nach Priorität?",
        "{Durchschnitt} Umsatz der Kunden",
    ],
)
def test_a_median_is_what_an_average_would_be_by_another_method(ask: Ask, question: str) -> None:
    words = {"average": "median", "Durchschnitt": "Median"}
    average = ask(question.format_map({word: word for word in words}))
    median = ask(question.format_map(words))
    assert (average["status"], median["status"]) == ("answered", "answered"), (average, median)
    of_average = unquote(average["query"]["odata"])
    assert "with average as" in of_average
    assert unquote(median["query"]["odata"]) == of_average.replace("with average as", MEDIAN)
    assert "edian" in median["interpretation"]
    assert len(median["rows"]) == len(average["rows"])


def test_a_follow_up_takes_the_average_in_place_of_the_median(ask: Ask) -> None:
    first = ask("median deal size")
    second = ask("and the average?", sessionId=first["sessionId"])
    assert " with average " in unquote(second["query"]["odata"])
