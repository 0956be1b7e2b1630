"""Which rules of the grammar earn their place: right answers that are made with them alone.

    python -m bench.nlq_rules [--most 20]

Of each rule that at most so many questions of the fitting part are read by: how many of these are
answered rightly, and how many no longer are without it; then how many of its own examples ask
something else. What loses none and changes no example says again what others say; the weights stay
as they are, so a rule that is gone may be worth less than is printed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.bi.answering import answer_question
from app.bi.periods.calendar import calendar
from app.bi.questions.answering import propose
from app.bi.questions.lexicon import LANGUAGES
from app.bi.questions.rules import rules_data
from app.bi.questions.understanding import understanding_of
from app.clock import utc_now
from bench.nlq import demonstration, judge
from bench.nlq_cases import Case
from bench.nlq_fit import labelled


def main() -> None:
    """Read all, then read again what each rare rule reads; print, the most useless first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=20, help="questions that a rule may read")
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder)):
        cases = _by_rule()
        rare = [name for name in (*rules_data()["rules"], *rules_data()["lifts"])
                if len(cases[name]) <= most]  # fmt: skip
        lines = []
        for name in rare:
            right = _right(cases[name])
            examples = rules_data()["rules"].get(name, {}).get("examples", ())
            asked = [_query(example) for example in examples]
            with _without(name):
                kept = _right(right)
                changed = sum(
                    _query(one) != query for one, query in zip(examples, asked, strict=True)
                )
            lost = [case.question for case in right if case not in kept]
            lines.append((len(lost), changed, len(right), name, "; ".join(lost[:3])))
    for count, changed, of, name, some in sorted(lines):
        print(f"{name:22} {count:3} lost of {of:3} right, {changed} examples changed  {some}")


def _by_rule() -> dict[str, list[Case]]:
    """The questions whose likeliest analysis each rule takes part in."""
    cases: dict[str, list[Case]] = defaultdict(list)
    for one in labelled():
        best = propose(one.case.question, calendar(utc_now())).understood.analyses[0]
        named = {feature.removeprefix("rule ").removesuffix(" before")
                 for feature in best.features if feature.startswith("rule ")}  # fmt: skip
        for name in named:
            cases[name].append(one.case)
    return cases


def _query(question: str) -> object:
    """What an answer asks the data, or that there is none."""
    answer = answer_question(question, limit=1)
    return answer["query"] or answer["status"]


def _right(cases: list[Case]) -> list[Case]:
    return [case for case in cases if judge(case).kind == "right"]


@contextmanager
def _without(name: str) -> Iterator[None]:
    """The grammar of each language without a rule."""
    grammars = [understanding_of(code).grammar for code in LANGUAGES]
    whole = [(grammar.rules, grammar.lifts) for grammar in grammars]
    for grammar in grammars:
        grammar.rules = defaultdict(list, {
            parts: [rule for rule in rules if rule.name.removesuffix(" before") != name]
            for parts, rules in grammar.rules.items()
        })  # fmt: skip
        grammar.lifts = defaultdict(list, {
            part: [lift for lift in lifts if lift[0] != name]
            for part, lifts in grammar.lifts.items()
        })  # fmt: skip
    yield
    for grammar, (rules, lifts) in zip(grammars, whole, strict=True):
        grammar.rules, grammar.lifts = rules, lifts


if __name__ == "__main__":
    main()
