"""What is still to be done with records: ``invoices to be paid``, ``tickets to be answered``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TO_BE = "to be"


def pending_states(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The words and the state of each thing that may still have to be done.

    Args:
        data: what the vocabulary says of an entity; each of its ``pending`` has the ``state`` of
            records until it is done, the verbs (``words``), the ``date`` by which it is to be done
            and the ``amount`` that is left until then, where there are such.
    """
    for one in data.get("pending", ()):
        said = f"{TO_BE} {one['words'][0]}"  # "to answer" is said back as "to be answered"
        state = {"text": one["state"], "date": one.get("date"), "amount": one.get("amount"),
                 "words": said}  # fmt: skip
        for verb in one["words"]:
            yield f"{TO_BE} {verb}", state


def pending_verbs(data: Mapping[str, Any]) -> frozenset[str]:
    """The single verbs for it, so that ``calling`` is known as a form of ``call``."""
    words = (verb for one in data.get("pending", ()) for verb in one["words"])
    return frozenset(verb for verb in words if " " not in verb)


def is_pending(words: str) -> bool:
    """Whether these words are such a state."""
    return words.lower().startswith(f"{TO_BE} ")
