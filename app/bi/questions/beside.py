"""What a question asks of the one record that is looked at: properties, or the record itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.bi.questions.algebra import COUNT, Equals, Is, Known, Meaning, Restriction
from app.bi.questions.model import Kind, Model


def asked_of(
    record: Meaning, meaning: Meaning, columns: Sequence[str], model: Model
) -> tuple[str, ...] | None:
    """The properties of a record that a meaning asks for, each a path of its type.

    ``is it paid`` asks for its status, ``who owns it`` for ``Owner/displayName``, and ``how much do
    they owe`` for the outstanding balance of the client.

    Args:
        record: the meaning that names it.
        columns: those of the plan of the meaning, where the date of a state stands for any.
    Returns: none where only the record is named; None where something else is asked.
    """
    kind = model.kinds[record.kind]
    if meaning.kind != kind.key:
        return _dealt_with(record, meaning, model)
    states = tuple(part for part in meaning.where
                   if not (isinstance(part, Equals) and part.path in kind.keys))  # fmt: skip
    plain = Meaning(kind.key, figures=meaning.figures, groups=meaning.groups, where=meaning.where,
                    columns=meaning.columns, chart=meaning.chart, asked=meaning.asked)  # fmt: skip
    if len(states) != len(meaning.where) - 1 or plain != meaning:
        return None
    paths = tuple(dict.fromkeys((*columns, *_values(meaning, states, kind))))
    if not paths:
        paths = tuple(path for state in states for path in _paths_of(state, kind))
    is_told = all(path.replace("/", "").isalnum() and kind.leads_along(path) for path in paths)
    return paths if is_told else None


def _values(meaning: Meaning, states: Sequence[Restriction], kind: Kind) -> Iterator[str]:
    """The properties that figures add up, and that records are grouped by; ``""`` of others."""
    for group in meaning.groups:
        yield kind.dimensions[group.dimension].path if group.dimension else ""
    amounts = {state.amount for state in kind.stated(states)}
    for figure in meaning.figures:
        if figure.measure == COUNT and meaning.groups:
            continue
        value = kind.path_of(figure.measure)
        yield value if not states or value in amounts else ""


def _paths_of(part: Restriction, kind: Kind) -> Sequence[str]:
    """The properties whose values say whether it is so; ``""`` where that is not one of them.

    Of what is due they are the amount, and when.
    """
    if isinstance(part, Known):
        return (part.path,)
    if not isinstance(part, Is):
        return ("",)
    state = kind.states[part.state]
    path = state.path or (state.filter if kind.prop(state.filter) is not None else "")
    return (state.amount, *kind.data.get("ahead", ())) if state.amount and not path else (path,)


def _dealt_with(record: Meaning, meaning: Meaning, model: Model) -> tuple[str, ...] | None:
    """The property that an amount of other records of it adds up to."""
    for path, (other, figure, owner) in model.kinds[record.kind].data.get("dealings", {}).items():
        key = model.kinds[other].dimensions[owner].key
        of_it = [isinstance(part, Equals) and part.path == key for part in meaning.where]
        names = [each.measure for each in meaning.figures]
        if other == meaning.kind and names == [figure] and of_it == [True] and not meaning.groups:
            return (path,) if meaning.dated is None and meaning.ranking is None else None
    return None
