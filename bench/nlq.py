"""How many questions in plain words are answered rightly, and how fast.

    python -m bench.nlq [--questions FILE ...] [--misses] [--database postgresql://...]

Every question is put to the demonstration as it stands at a fixed moment; the expected rows come
from the OData query written beside it. An answer with other rows is wrong; a question that is sent
back (unsupported, or a choice) is missed. The file says what its notation means.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path
from typing import Any

import flask_migrate
import time_machine
from flask import Flask

from app.bi.nlq.answering import Answer, answer_question
from app.bi.query import Query, run
from app.bi.reports.saving import read_url
from app.config import Config, database_url
from app.demo.load import fill
from app.factory import create_app
from app.security import acting_as, system_caller

FOLDER = Path(__file__).parent.parent / "tests" / "bi"
SETS = tuple(sorted(FOLDER.glob("questions*.txt")))
QUESTIONS = FOLDER / "questions.txt"
PARAPHRASES = FOLDER / "paraphrases.txt"
MOMENT = datetime(2026, 6, 17, 10, 0, tzinfo=UTC)
HIGH = 0.8  # from here on an answer counts as confident
ROWS = 1000
_CENT = Decimal("0.01")
_REFUSALS = {"unsupported": "unsupported", "clarify": "needsClarification"}


@dataclass(frozen=True)
class Case:
    """A question, those before it in its session, and what is right."""

    section: str
    question: str
    before: tuple[str, ...]
    expected: str


@dataclass(frozen=True)
class Verdict:
    """``kind`` is right, missed or wrong; ``confidence`` that of the answer."""

    kind: str
    reason: str = ""
    confidence: float = 0.0
    seconds: float = 0.0


def main() -> int:
    """Measure, print; fails when a confident answer was wrong."""
    options = _options()
    verdicts: list[tuple[Case, Verdict]] = []
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder), options.database):
        for case in (case for path in options.questions for case in read_cases(path)):
            verdicts.append((case, judge(case)))
            if options.misses and verdicts[-1][1].kind != "right":
                verdict = verdicts[-1][1]
                print(f"{verdict.kind:6} {case.question}\n       {verdict.reason}")
    for section in dict.fromkeys(case.section for case, _ in verdicts):
        _print(section, [verdict for case, verdict in verdicts if case.section == section])
    confident = [v for _, v in verdicts if v.kind == "wrong" and v.confidence >= HIGH]
    return int(bool(confident))


def _print(section: str, verdicts: list[Verdict]) -> None:
    kinds = Counter(verdict.kind for verdict in verdicts)
    confident = sum(v.kind == "wrong" and v.confidence >= HIGH for v in verdicts)
    times = sorted(verdict.seconds * 1000 for verdict in verdicts)
    print(
        f"{section:10} {kinds['right']:4} right of {len(verdicts):4}"
        f" ({100 * kinds['right'] / len(verdicts):.1f} %), {kinds['missed']} missed,"
        f" {kinds['wrong']} wrong, {confident} of them confident;"
        f" median {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms"
    )


@contextmanager
def demonstration(folder: Path, database: str | None = None) -> Iterator[Flask]:
    """The demonstration at the fixed moment, whose clock stands still; everybody's rights."""
    url = database_url(database) if database else f"sqlite:///{folder / 'questions.db'}"
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
        flask_migrate.upgrade()
        fill()
        with acting_as(system_caller()):
            yield app


def read_cases(path: Path) -> Iterator[Case]:
    """The questions of a file."""
    section, names = "", {}
    before: tuple[str, ...] = ()
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
        elif section == "names":
            name, _, text = line.partition(": ")
            names["{" + name + "}"] = text
        else:
            question, _, expected = line.rpartition(" => ")
            for name, text in names.items():
                expected = expected.replace(name, text)
            goes_on = question.startswith("+")
            question = question.lstrip("+ ")
            before = before if goes_on else ()
            yield Case(section, question, before, expected)
            before = (*before, question)


def judge(case: Case) -> Verdict:
    """Ask the question and compare; runs inside the demonstration."""
    started_at = time.perf_counter()
    answer = answer_question(case.question, case.before, limit=ROWS)
    return judged(case, answer, time.perf_counter() - started_at)


def judged(case: Case, answer: Answer, seconds: float = 0.0) -> Verdict:
    """The answer to a question compared with what is right."""
    status, confidence = answer["status"], answer["confidence"]
    allowed = case.expected.split(" || ")
    refusals = {one: _REFUSALS[one] for one in allowed if one in _REFUSALS}
    if status in refusals.values():
        return Verdict("right", "", confidence, seconds)
    if status != "answered":
        return Verdict("missed", f"{status}: {answer['answer']}", confidence, seconds)
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


def read_paraphrases(path: Path = PARAPHRASES) -> list[tuple[str, ...]]:
    """The wordings of each question, the plainest first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(one.split(" | ")) for one in lines if one and not one.startswith("#")]


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
    parser.add_argument("--misses", action="store_true", help="show what was not right")
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
