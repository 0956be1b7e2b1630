"""Figures by tax rate or category are of the tax groups of documents, not of their lines.

The groups are what a document states and a return declares: less the discount on the whole
document, and rounded once a group (docs/adr/0029). Lines know neither.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace

from app.bi.plans.entities import Measure, note_of
from app.bi.plans.plan import Plan
from app.container.measures import MEASURES

_PATH = re.compile(r"\bline/\w+")


def by_tax_group(plan: Plan) -> Plan:
    """The plan over the tax groups where it says of lines only what a group has as well."""
    groups = plan.entity.data.get("tax_groups")
    if groups is None or plan.kind != "measure" or plan.measure is None:
        return plan
    values: dict[str, list[str]] = groups["values"]
    texts = [measure.value for measure in plan.measures]
    texts += [condition.text for condition in plan.conditions]
    texts += [dimension.path for dimension in (*plan.dimensions, *plan.within)]
    paths = set(_PATH.findall(" ".join(texts)))
    if not paths.intersection(groups["by"]) or not paths.issubset((*groups["by"], *values)):
        return plan

    def of_group(measure: Measure) -> Measure:
        path = _PATH.search(measure.value)
        if path is None or path[0] not in values:
            return measure
        value, name = values[path[0]]
        note = note_of(measure.label, MEASURES[name].description)
        return replace(measure, value=_PATH.sub(value, measure.value), note=note)

    measured = {measure: of_group(measure) for measure in plan.measures}
    notes = {plan.say(old.note): plan.say(new.note) for old, new in measured.items()
             if old.note and new.note}  # fmt: skip
    entity = copy(plan.entity)
    entity.join = groups["join"]
    return replace(
        plan,
        entity=entity,
        measure=measured[plan.measure],
        figures=tuple(
            replace(figure, measure=measured.get(figure.measure)) if figure.measure else figure
            for figure in plan.figures
        ),
        assumptions=tuple(notes.get(text, text) for text in plan.assumptions),
    )
