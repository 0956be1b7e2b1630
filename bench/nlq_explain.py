"""How a question is read, for people who add words and rules: leaves, analyses, features, query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from app.bi.currencies import in_one_currency
from app.bi.periods.spans import Calendar
from app.bi.plans.compiling import compiled
from app.bi.plans.phrasing import interpretation
from app.bi.questions import ranker
from app.bi.questions.answering import propose
from app.bi.questions.chart import Item
from app.bi.questions.understanding import Analysis

MOST_SHOWN = 5


def explained(question: str, now: Calendar) -> str:
    """The best analyses of a question, each with what it was made of and what it asks the data."""
    proposal = propose(question, now)
    read, weights = proposal.understood.read, ranker.fitted().weights
    lines = ["words: " + " ".join(token.stem for token in read.tokens)]
    for leaf in read.leaves:
        words = " ".join(token.text for token in read.tokens[leaf.start : leaf.end])
        lines.append(f"  {words}: {leaf.category}")
    if proposal.understood.is_cut:
        lines.append("the budget of steps ended before all was tried")
    chances = proposal.understood.chances
    for analysis, chance in list(zip(proposal.understood.analyses, chances, strict=True))[
        :MOST_SHOWN
    ]:
        lines += [f"{chance:.3f}", *_analysis(analysis, weights)]
    lines.append(f"confidence {proposal.confidence}")
    return "\n".join(lines)


def _analysis(analysis: Analysis, weights: ranker.Weights) -> Iterator[str]:
    for feature, count in Counter(analysis.features).items():
        yield f"    {weights[feature] * count:+.2f} {feature}"
    if analysis.plan is None:
        yield "    nothing is answered"
        return
    if analysis.item is not None:
        yield from _tree(analysis.item, 2)
    yield f"    {analysis.meaning}"
    plan = in_one_currency(analysis.plan)
    yield f"    {interpretation(plan)}"
    yield f"    {compiled(plan).query.url}"


def _tree(item: Item, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{item.category}: {', '.join(item.features)}"
    for part in (item.left, item.right):
        if part is not None:
            yield from _tree(part, depth + 1)
