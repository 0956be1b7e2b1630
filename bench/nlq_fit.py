"""Fits the choice among analyses from the fitted four fifths of the labelled questions.

    python -m bench.nlq_fit [--most 500] [--misses FILE]

Writes ``app/bi/questions/weights.json``, the same to the byte each time. Each analysis of a
question is compiled and compared with the rows that are right; the weights make those that are
right likelier than all others together (log-linear, L2 around the priors), or that nothing was
understood where that is right; where it is not and yet no analysis is right, this counts little.
Sets of what was not read when they were made are left out: fitted to failures, more is refused.
Questions of the fitting part that were translated into German are fitted as well, and wordings
that tests hold.
Which analyses there are depends on the weights too: a sample is read by the priors, and all by
what was fitted from it. How sure an answer is, and what is printed of questions that were not
fitted, is told from five folds, each judged by weights that were fitted without it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.bi.currencies import in_one_currency
from app.bi.periods.calendar import calendar
from app.bi.periods.spans import Calendar
from app.bi.plans.compiling import compiled
from app.bi.query import Query, Row, run
from app.bi.questions import ranker
from app.bi.questions.refusing import refused
from app.bi.questions.understanding import language_of, understanding_of
from app.clock import utc_now
from app.errors import ApiError
from bench.nlq import HIGH, demonstration, difference, expected_query
from bench.nlq_cases import GERMAN, HELD, read_cases, read_wordings
from bench.nlq_split import UNKEPT_SETS, Labelled, meaning, split

FILE = Path(__file__).parent.parent / "app" / "bi" / "questions" / "weights.json"
FOLDS = 5
STEPS, RATE, L2 = 150, 0.15, 1.0  # the rate falls to 0, else the last step is one of chance
_FIRST = 800  # questions of the sample that is read by the priors
_HOPELESS = 0.1  # what a question counts that has an answer, and no analysis with it
L2_SIGNS = 3.0
_RAREST = 5  # questions that a feature has to occur in
_RAREST_SIGN = 10  # answers that a sign has to occur in
_NEWTON = 20
SAFE = 0.998  # share of plain answers with confidence that are right
SUREST, ALL = 0.95, 1.0
_REFUSALS = ("unsupported", "clarify")
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A question: of each of its analyses the features, the query, and whether it is right.

    ``answers``: whether it is answered, not refused; ``counts``: how much the question does.
    """

    fold: int
    counts: float
    analyses: tuple[Mapping[str, int], ...]
    queries: tuple[str, ...]
    right: tuple[bool, ...]
    answers: tuple[bool, ...]


class Judge:
    """Says which analyses give rows that are right; remembers the rows of each query."""

    def __init__(self, now: Calendar) -> None:
        self.now = now
        self._rows: dict[str, list[Row]] = {}
        self._verdicts: dict[tuple[str, str], bool] = {}

    def example(self, told: Labelled, weights: ranker.Weights) -> Example:
        """One question read with some weights, in its language."""
        understanding = understanding_of(language_of(told.case.question))
        understood = understanding.understand(told.case.question, self.now, weights)
        queries = [
            None if one.plan is None else compiled(in_one_currency(one.plan)).query
            for one in understood.analyses
        ]
        right = [self._is_right(told.case.expected, one) for one in queries]
        hopeless = _wants_answer(told) and not any(right)
        if not any(right):
            right = [one.plan is None for one in understood.analyses]
        digest = hashlib.sha256(meaning(told.case).encode()).hexdigest()
        features = tuple(Counter(one.features) for one in understood.analyses)
        urls = tuple(one.query for one in understood.analyses)
        answers = tuple(
            one.plan is not None and refused(one, understood.read, understanding.lexicon) is None
            for one in understood.analyses
        )
        fold, counts = int(digest[8:16], 16) % FOLDS, _HOPELESS if hopeless else 1.0
        return Example(fold, counts, features, urls, tuple(right), answers)

    def _is_right(self, expected: str, query: Query | None) -> bool:
        if query is None:
            return False
        try:
            key = (expected, query.url)
            if key not in self._verdicts:
                given = self._rows_of(query.url, query)
                self._verdicts[key] = any(
                    difference(self._rows_of(text, expected_query(text)), given,
                               ordered="$orderby" in text) is None
                    for text in expected.split(" || ") if text not in _REFUSALS
                )  # fmt: skip
            return self._verdicts[key]
        except ApiError:
            return False

    def _rows_of(self, key: str, query: Query) -> list[Row]:
        if key not in self._rows:
            self._rows[key] = list(run(query, 5000).rows)
        return self._rows[key]


class Table:
    """All features of all analyses as one sparse table."""

    def __init__(self, examples: Sequence[Example]) -> None:
        seen = Counter(
            name for one in examples for name in {name for told in one.analyses for name in told}
        )
        self.names = sorted(name for name, count in seen.items() if count >= _RAREST)
        places = {name: at for at, name in enumerate(self.names)}
        rows, columns, values, rest = [], [], [], []
        self.starts = np.cumsum([0, *(len(one.analyses) for one in examples)])
        row = 0
        for one in examples:
            for told in one.analyses:
                features = sorted(told.items())  # the same order each time, so the same sums
                rest.append(sum(ranker.prior(name) * count for name, count in features
                                if name not in places))  # fmt: skip
                for name, count in features:
                    if name in places:
                        rows.append(row)
                        columns.append(places[name])
                        values.append(count)
                row += 1
        self.rows, self.columns = np.array(rows), np.array(columns)
        self.values = np.array(values, dtype=np.float64)
        self.rest = np.array(rest)  # what features weigh that are too rare to be fitted
        self.right = np.array([told for one in examples for told in one.right])
        self.example = np.repeat(np.arange(len(examples)), np.diff(self.starts))
        self.folds = np.array([one.fold for one in examples])[self.example]
        self.counts = np.array([one.counts for one in examples])[self.example]
        keys = [(number, url) for number, one in enumerate(examples) for url in one.queries]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        self.query = np.array([numbers[key] for key in keys])
        self.nothing = np.array([not url for _, url in keys])
        self.partial = np.array([ranker.is_partial(told) for one in examples
                                 for told in one.analyses])  # fmt: skip
        self.priors = np.array([ranker.prior(name) for name in self.names])

    def scores(self, weights: Vector) -> Vector:
        """The score of each analysis."""
        sums = np.bincount(self.rows, self.values * weights[self.columns], len(self.rest))
        return np.asarray(sums + self.rest)

    def chances(self, scores: Vector, among: NDArray[np.bool_] | None = None) -> Vector:
        """How likely each analysis is, among those of its question that count."""
        highest = np.maximum.reduceat(scores, self.starts[:-1])
        raised = np.exp(scores - highest[self.example])
        if among is not None:
            raised = raised * among + 1e-12
        totals = np.add.reduceat(raised, self.starts[:-1])
        return np.asarray(raised / totals[self.example])

    def fitted(self, without: int | None = None) -> Vector:
        """The weights that are likeliest, one fold left out."""
        weights, squares = self.priors.copy(), np.zeros(len(self.names))
        used = (self.folds != without) * self.counts
        for step in range(STEPS):
            scores = self.scores(weights)
            wanted = self.chances(scores, self.right) - self.chances(scores)
            slope = np.bincount(self.columns, self.values * (wanted * used)[self.rows],
                                len(self.names))  # fmt: skip
            slope -= L2 * (weights - self.priors)
            squares = 0.9 * squares + 0.1 * slope**2
            weights += RATE * (1 - step / STEPS) * slope / (np.sqrt(squares) + 1e-3)
        return weights

    def unfitted(self) -> Vector:
        """The score of each analysis by weights that were fitted without its fold."""
        found = [self.scores(self.fitted(fold)) for fold in range(FOLDS)]
        return np.choose(self.folds, found)

    def of_queries(self, chances: Vector) -> Vector:
        """How likely the query of each analysis is: those that ask the same are one answer."""
        return np.asarray(np.bincount(self.query, chances)[self.query])

    def best(self, scores: Vector) -> list[int]:
        """The analysis that is chosen of each question: the likeliest of the likeliest query,
        or of those that pass over nothing."""
        chances = self.chances(scores)
        order = np.lexsort((-chances, self.partial, -self.of_queries(chances), self.example))
        return [int(at) for at in order[self.starts[:-1]]]


@dataclass(frozen=True)
class Answered:
    """An answer that was chosen by weights of other folds: its signs, and whether it is right."""

    fold: int
    is_right: bool
    is_plain: bool
    signs: Mapping[str, float]


def answered(table: Table, examples: Sequence[Example], scores: Vector) -> list[Answered]:
    """The answers that some scores choose, without what is refused."""
    analyses = [told for one in examples for told in one.analyses]
    is_given = [told for one in examples for told in one.answers]
    chances = table.of_queries(table.chances(scores))
    return [
        Answered(int(table.folds[at]), bool(table.right[at]), ranker.is_plain(analyses[at]),
                 ranker.signs(Counter(analyses[at]).elements(), float(chances[at])))
        for at in table.best(scores) if is_given[at]
    ]  # fmt: skip


def sureness(answers: Sequence[Answered]) -> dict[str, float]:
    """What each sign says of an answer (logistic regression by Newton's steps)."""
    counted = Counter(name for one in answers for name in one.signs)
    names = sorted(name for name, count in counted.items() if count >= _RAREST_SIGN)
    places = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(answers), len(names)))
    for row, one in enumerate(answers):
        for name, value in one.signs.items():
            if name in places:
                table[row, places[name]] = value
    right = np.array([one.is_right for one in answers], dtype=np.float64)
    penalty = np.array([0.01 if name in ("always", "chance") else L2_SIGNS for name in names])
    weights = np.zeros(len(names))
    for _ in range(_NEWTON):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (right - likely) - penalty * weights
        bend = (table.T * (likely * (1 - likely))) @ table + np.diag(penalty)
        weights += np.linalg.solve(bend, slope)
    return {name: round(float(weights[at]), 3) for name, at in places.items()}


def ceilings(answers: Sequence[Answered]) -> tuple[list[tuple[float, float]], str]:
    """Below which chance of being right an answer is said to be at most how sure, and a report.

    Told by plain answers of folds that were not fitted: ``HIGH`` and more is said only from where
    on ``SAFE`` of these are right, and ``SUREST`` from where on ``ALL`` are.
    """
    found: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        told = sureness([one for one in answers if one.fold != fold])
        found += [(ranker.chance_of(one.signs, told), one.is_right)
                  for one in answers if one.fold == fold and one.is_plain]  # fmt: skip
    found.sort(reverse=True)
    right = np.cumsum([one for _, one in found])
    shares = right / np.arange(1, len(found) + 1)
    steps, report = [], []
    for level, share in ((HIGH, SAFE), (SUREST, ALL)):
        safe = np.flatnonzero(shares >= share)
        last = int(safe[-1]) if len(safe) else 0
        steps.append((round(found[last][0], 4), round(level - 0.01, 2)))
        report.append(f"{last + 1} at {level} and more, {right[last]} of them right")
    for least in (0.5, 0.6, 0.7, 0.8):
        count = sum(chance >= least for chance, _ in found)
        report.append(f"{count} likelier than {least}, {right[count - 1]} right")
    return steps, "; ".join(report)


def labelled() -> list[Labelled]:
    """The questions that are fitted: those that go on from none, are translated, or are held."""
    asked = [
        one for one in split()
        if one.part == "fitted" and not one.case.before and one.set_name not in UNKEPT_SETS
    ]  # fmt: skip
    for path, cases in ((GERMAN, read_wordings(GERMAN)), (HELD, read_cases(HELD))):
        asked += [Labelled(path.stem, at, case, "fitted") for at, case in enumerate(cases)]
    return asked


def basis() -> str:
    """What weights belong to: a digest of the questions and of what is right for each."""
    told = [f"{one.case.question} => {one.case.expected}" for one in labelled()]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def main() -> None:
    """Fit and write; prints how many questions are right, of those fitted and of those not."""
    options = _options()
    asked = labelled()
    if options.most:
        asked = random.Random(1).sample(asked, options.most)
    weights = ranker.Weights()
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder)):
        judge = Judge(calendar(utc_now()))
        for questions in (random.Random(2).sample(asked, min(_FIRST, len(asked))), asked):
            examples = [judge.example(one, weights) for one in questions]
            table = Table(examples)
            fitted = table.fitted()
            weights = ranker.Weights(dict(zip(table.names, fitted.round(3).tolist(), strict=True)))
    scores, unseen = table.scores(fitted), table.unfitted()
    _report("fitted", table, scores)
    _report("not fitted", table, unseen)
    if options.misses:
        _misses(options.misses, asked, table, unseen)
    told = {name: value for name, value in sorted(weights.items())
            if abs(value - ranker.prior(name)) >= 0.02}  # fmt: skip
    answers = answered(table, examples, unseen)
    steps, report = ceilings(answers)
    data = {"basis": basis(), "ceilings": steps, "sureness": sureness(answers), "weights": told}
    FILE.write_text(json.dumps(data, indent=0) + "\n", encoding="utf-8")
    print(f"{len(told)} weights; of {len(answers)} answers that were not fitted: {report}")


def _report(part: str, table: Table, scores: Vector) -> None:
    best = table.best(scores)
    given = [at for at in best if not table.nothing[at]]
    right = sum(bool(table.right[at]) for at in given)
    possible = np.logical_or.reduceat(table.right & ~table.nothing, table.starts[:-1]).sum()
    print(f"{part}: {len(best)} questions, {possible} with a right analysis, "
          f"{right} answered rightly, {len(given) - right} wrongly", flush=True)  # fmt: skip


def _misses(path: Path, asked: Sequence[Labelled], table: Table, scores: Vector) -> None:
    """Writes each question that is not answered rightly, and whether it could be; surest first."""
    chances, lines = table.of_queries(table.chances(scores)), []
    for number, (one, at) in enumerate(zip(asked, table.best(scores), strict=True)):
        start, end = table.starts[number], table.starts[number + 1]
        nothing = bool(table.nothing[at])
        if not table.right[at] or (nothing and _wants_answer(one)):
            known = any(table.right[start:end] & ~table.nothing[start:end])
            kind = f"{chances[at]:.4f} {'nothing' if nothing else 'other'} {known}"
            lines.append(f"{kind} | {one.case.question} | {one.case.expected}\n")
    path.write_text("".join(sorted(lines, reverse=True)), encoding="utf-8")


def _wants_answer(told: Labelled) -> bool:
    return any(text not in _REFUSALS for text in told.case.expected.split(" || "))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", type=Path, help="write what is not answered rightly there")
    parser.add_argument("--most", type=int, default=0, help="a sample of the questions, to try")
    return parser.parse_args()


if __name__ == "__main__":
    main()
