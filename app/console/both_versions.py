"""Two people at one record: what each of them typed, and which of it is to stand.

A form carries what its fields were made of, as short hashes. When the record is another by the time
it is saved, they tell what this person changed, what the other did, and where both did.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.console.form_fields import texts_of
from app.console.language import translated
from app.console.named_records import names_by_key
from app.console.sets import Page

# The checkboxes with which the stored value is taken carry the name of the field.
TAKEN = "take"


class BothVersions(NamedTuple):
    """The texts of a form in which both versions are joined.

    ``stored`` are those of the record where both people changed the same field. ``who`` was the
    other one, ``at`` when.
    """

    texts: Mapping[str, str]
    stored: Mapping[str, str]
    who: str
    at: str


def digests_of(texts: Mapping[str, str]) -> str:
    """What the fields of a form are made of."""
    return json.dumps({name: _digest(text) for name, text in texts.items() if text})


def joined(
    set_page: Page, record: Mapping[str, Any], form: Mapping[str, str], stored: Mapping[str, str]
) -> BothVersions:
    """A form that was typed over an older version, and the record as it is now.

    Args:
        stored: what else the form would be made of now, besides the fields of the record.
    """
    now = {**texts_of(set_page, record), **stored}
    seen = _parsed(form.get("seen"))
    texts, both = dict(now), {}
    for name, text in now.items():
        typed = _typed(form, name, text)
        if typed is None or typed == text:
            continue
        before = None if seen is None else seen.get(name, _digest(""))
        if before == _digest(typed):
            continue  # only the other one has changed it
        texts[name] = typed
        if before != _digest(text):
            both[name] = text
    editor = record.get("updatedById")
    person = names_by_key("User", [editor]).get(editor) if editor else None
    return BothVersions(
        texts, both, person.name if person else translated("somebody else"), record["updatedAt"]
    )


def merged_form(
    form: Mapping[str, str], taken: list[str], now: Mapping[str, str]
) -> dict[str, str]:
    """The form with the stored values of the fields for which they were taken."""
    return {**form, **{name: now[name] for name in taken if name in now}}


def _typed(form: Mapping[str, str], name: str, text: str) -> str | None:
    """What was typed into a field; a box that is not checked is not sent."""
    if text in ("true", "false"):
        return "true" if form.get(name) == "true" else "false"
    typed = form.get(name)
    return None if typed is None else typed.replace("\r\n", "\n")


def _digest(text: str) -> str:
    return hashlib.blake2s(text.replace("\r\n", "\n").encode(), digest_size=4).hexdigest()


def _parsed(text: str | None) -> Mapping[str, str] | None:
    try:
        texts = json.loads(text or "")
    except ValueError:
        return None
    return texts if isinstance(texts, dict) else None
