"""How many questions in plain words are answered rightly, and how fast.

    python -m bench.nlq [--questions FILE ...] [--part kept] [--misses] [--database postgresql://...]
    python -m bench.nlq --store tests/bi/ratchet.json
    python -m bench.nlq --explain "overdue invoices by client"
    python -m bench.nlq --restated [--sample 300] [--misses]

Every question is put to the demonstration as it stands at a fixed moment; the expected rows come
from the OData query written beside it. An answer with other rows is wrong; a question that is sent
back (unsupported, or a choice) is missed. The file says what its notation means. ``--part`` asks
only those that ``bench.nlq_split`` keeps, or fits; a ``.tsv`` has translations of some. ``--store``
writes the counts of each set, and beside them what the examples of the rules ask the data: both are
held by ``tests/bi/test_questions.py``. ``--sample`` asks so many of the questions, the same each
time. ``--restated`` says how many meanings of the fitting part are read again from how the answer
tells them. Each ends with the lines of Python that understand.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import flask_migrate
import time_machine
from flask import Flask

from app.bi.answering import answer_question, state_after
from app.bi.answers import Answer
from app.bi.periods.calendar import calendar
from app.bi.plans.phrasing import restated
from app.bi.query import Query, run
from app.bi.questions.ranker import fitted
from app.bi.questions.rules import rules_data
from app.bi.questions.understanding import understanding_of
from app.bi.reports.saving import read_url
from app.clock import utc_now
from app.config import Config, database_url
from app.demo.load import fill
from app.factory import create_app
from app.http.security import acting_as, system_caller
from bench.nlq_cases import SETS, Case, read_cases, read_wordings
from bench.nlq_explain import explained
from bench.nlq_split import split

MOMENT = datetime(2026, 6, 17, 10, 0, tzinfo=UTC)
HIGH = 0.8  # from here on an answer counts as confident
ROWS = 1000
EXAMPLES = "examples.json"  # beside the counts of the sets
_CENT = Decimal("0.01")
_REFUSALS = {"unsupported": "unsupported", "clarify": "needsClarification"}


@dataclass(frozen=True)
class Verdict:
    """``kind`` is right, missed or wrong; ``confidence`` that of the answer."""

    kind: str
    reason: str = ""
    confidence: float = 0.0
    seconds: float = 0.0
    status: str = "answered"  # or needsClarification, unsupported


def main() -> int:
    """Measure, print; fails when a confident answer was wrong."""
    options = _options()
    verdicts: dict[str, list[Verdict]] = {}
    cases = [(path.stem, one) for path in options.questions for one in _chosen(path, options.part)]
    if options.sample:
        cases = random.Random(7).sample(cases, min(options.sample, len(cases)))
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder), options.database):
        if options.explain:
            print(explained(options.explain, calendar(utc_now())))
            return 0
        if options.restated:
            told = restatements(options.sample)
            for one in told if options.misses else ():
                print(one.text if one.is_read_again else f"not read again: {one.text}")
            print(f"{sum(one.is_read_again for one in told)} of {len(told)} are read again")
            return 0
        examples = example_queries() if options.store else {}
        for name, case in cases:
            verdict = judge(case)
            verdicts.setdefault(name, []).append(verdict)
            if options.misses and verdict.kind != "right":
                print(f"{verdict.kind:6} {case.question}\n       {verdict.reason}")
    for name, found in verdicts.items():
        print(f"{name:13} {_line(found)}")
    everything = [one for found in verdicts.values() for one in found]
    print(f"{'all':13} {_line(everything)}\n{_times(everything)}\n{reliability(everything)}")
    print(f"app/bi/questions: {python_lines()} lines of Python")
    if options.store:
        stored = {name: counts(found) for name, found in verdicts.items()}
        options.store.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        text = json.dumps(examples, indent=0, ensure_ascii=False)
        options.store.with_name(EXAMPLES).write_text(f"{text}\n", encoding="utf-8")
    return int(bool(counts(everything)["confidently wrong"]))


def example_queries() -> dict[str, str]:
    """What the examples of each rule ask the data; ``needsClarification`` or ``unsupported`` of one
    that is sent back. Runs inside the demonstration."""
    rules = rules_data()["rules"].values()
    asked = sorted({question for rule in rules for question in rule.get("examples", ())})
    answers = {question: answer_question(question, limit=1) for question in asked}
    return {question: answer["query"]["odata"] if answer["query"] else answer["status"]
            for question, answer in answers.items()}  # fmt: skip


def _chosen(path: Path, part: str) -> Iterator[Case]:
    """The questions of a file, or those of one part of them."""
    if path.suffix == ".tsv":
        return read_wordings(path)
    if part == "all":
        return read_cases(path)
    wanted = {one.number for one in split() if one.set_name == path.stem and one.part == part}
    return (case for number, case in enumerate(read_cases(path)) if number in wanted)


@dataclass(frozen=True)
class Restatement:
    """How a meaning is told, and whether that is read as a question that asks the same."""

    text: str
    is_read_again: bool


def restatements(sample: int) -> list[Restatement]:
    """The likeliest meanings of questions of the fitting part; runs inside the demonstration."""
    now, language = calendar(utc_now()), understanding_of("en")
    weights = fitted().weights
    asked = [one.case.question for one in split() if one.part == "fitted" and not one.case.before]
    found: dict[str, Restatement] = {}
    for question in random.Random(5).sample(asked, sample) if sample else asked:
        best = language.understand(question, now, weights).analyses[0]
        if best.plan is None or best.query in found:
            continue
        text = f"{restated(best.plan)}."
        again = language.understand(text, now, weights).analyses[0]
        found[best.query] = Restatement(text, again.query == best.query)
    return list(found.values())


def python_lines() -> int:
    """Lines of the modules that understand questions."""
    folder = Path(inspect.getfile(understanding_of)).parent
    return sum(len(one.read_text("utf-8").splitlines()) for one in folder.glob("**/*.py"))


def counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many were right, sent back in either way, wrong, and wrong with confidence."""
    kinds = Counter(one.kind if one.kind != "missed" else one.status for one in verdicts)
    sure = sum(one.kind == "wrong" and one.confidence >= HIGH for one in verdicts)
    return {
        "asked": len(verdicts), "right": kinds["right"], "asked back": kinds["needsClarification"],
        "unsupported": kinds["unsupported"], "wrong": kinds["wrong"], "confidently wrong": sure,
    }  # fmt: skip


def reliability(verdicts: Sequence[Verdict]) -> str:
    """How many of the answers of each confidence are right."""
    lines = ["confidence   answered  right"]
    answered = [one for one in verdicts if one.status == "answered"]
    for low, high in pairwise((0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)):
        found = [one for one in answered if low <= one.confidence < high]
        right = sum(one.kind == "right" for one in found)
        share = f"{100 * right / len(found):.1f} %" if found else "-"
        lines.append(f"{low:.2f}-{min(high, 1):.2f} {len(found):9}  {share}")
    return "\n".join(lines)


def _line(verdicts: Sequence[Verdict]) -> str:
    found = counts(verdicts)
    share = 100 * found["right"] / max(1, found["asked"])
    return f"{share:5.1f} %  " + ", ".join(f"{count} {name}" for name, count in found.items())


def _times(verdicts: Sequence[Verdict]) -> str:
    times = sorted(one.seconds * 1000 for one in verdicts)
    last = times[int(len(times) * 0.95)]
    return f"CPU of a question: median {statistics.median(times):.0f} ms, p95 {last:.0f} ms"


@contextmanager
def demonstration(folder: Path, database: str | None = None) -> Iterator[Flask]:
    """The demonstration at the fixed moment, whose clock stands still; everybody's rights.

    On SQLite a folder that has one already is taken as it is.
    """
    file = folder / "questions.db"
    is_filled = database is None and file.exists()
    url = database_url(database) if database else f"sqlite:///{file}"
    config = Config(
        SECRET_KEY="only-for-the-measurement-of-questions-1234",
        DATA_DIR=folder,
        SQLALCHEMY_DATABASE_URI=url,
        STORAGE_URL=f"file://{folder / 'files'}",
        MAIL_URL=f"file://{folder / 'mail'}",
        RATE_LIMIT_USER="1000000/minute",
    )
    app = create_app(config)
    with time_machine.travel(MOMENT, tick=False), app.app_context():
        if not is_filled:
            flask_migrate.upgrade()
            fill()
        with acting_as(system_caller()):
            yield app


def judge(case: Case) -> Verdict:
    """Ask the question and compare; runs inside the demonstration."""
    started_at = time.process_time()
    answer = answer_question(case.question, state_after(case.before), limit=ROWS)
    return judged(case, answer, time.process_time() - started_at)


def judged(case: Case, answer: Answer, seconds: float = 0.0) -> Verdict:
    """The answer to a question compared with what is right."""
    status, confidence = answer["status"], answer["confidence"]
    allowed = case.expected.split(" || ")
    refusals = {one: _REFUSALS[one] for one in allowed if one in _REFUSALS}
    if status in refusals.values():
        return Verdict("right", "", confidence, seconds, status)
    if status != "answered":
        return Verdict("missed", f"{status}: {answer['answer']}", confidence, seconds, status)
    given = run(read_url(answer["query"]["odata"]), 5000).rows
    reason = f"answered: {answer['answer']}"
    for text in allowed:
        if text in refusals:
            continue
        expected = run(expected_query(text), 5000).rows
        found = difference(expected, given, ordered="$orderby" in text)
        if found is None:
            return Verdict("right", "", confidence, seconds)
        reason = f"{found}; {answer['query']['odata']}"
    return Verdict("wrong", reason, confidence, seconds)


def differing(wordings: Sequence[str]) -> list[str]:
    """Wordings that are answered with confidence, and otherwise than the first of them."""
    first = answer_question(wordings[0], limit=ROWS)
    found = []
    for one in wordings[1:]:
        answer = answer_question(one, limit=ROWS)
        sure = answer["status"] == "answered" and answer["confidence"] >= HIGH
        if sure and answer["query"] != first["query"]:
            reason = difference(first["rows"], answer["rows"], ordered=False)
            found += [] if reason is None else [f"{one}: {reason}; {answer['interpretation']}"]
    return found


def expected_query(text: str) -> Query:
    """``Set?$option=...&$option=...`` as it stands in the file, nothing encoded."""
    name, _, rest = text.partition("?")
    parts = [part.partition("=") for part in rest.split("&$")]
    return Query(name, {option.lstrip("$"): value for option, _, value in parts})


def difference(
    expected: list[Mapping[str, Any]] | list[dict[str, Any]],
    given: list[Mapping[str, Any]] | list[dict[str, Any]],
    *,
    ordered: bool,
) -> str | None:
    """What rows lack: each must have all values of an expected one, in whichever columns."""
    if len(expected) != len(given):
        return f"{len(expected)} rows expected, {len(given)} given"
    left = [Counter(_plain(value) for value in row.values()) for row in given]
    for at, row in enumerate(expected):
        wanted = Counter(_plain(value) for value in row.values())
        places = [at] if ordered else range(len(left))
        found = next((place for place in places if not wanted - left[place]), None)
        if found is None:
            return f"no row has {dict(row)}"
        if not ordered:
            del left[found]
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | Decimal):
        return Decimal(value).quantize(_CENT, ROUND_HALF_UP)
    return str(value)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, nargs="+", default=SETS)
    parser.add_argument("--part", choices=("all", "kept", "fitted"), default="all")
    parser.add_argument("--store", type=Path, help="write the counts of each set into this file")
    parser.add_argument("--explain", help="how the grammar reads this question")
    parser.add_argument("--sample", type=int, default=0, help="ask so many of the questions")
    parser.add_argument("--restated", action="store_true", help="what is told, read again")
    parser.add_argument("--misses", action="store_true", help="show what was not right")
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
