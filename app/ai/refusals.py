"""What the assistant says without looking at data: what it does not do, and to the polite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.ai.lexicon import ASKING, Message, languages, message_of, pattern
from app.localisation.catalogue import marked

_CODE = re.compile(
    r"\b(drop|truncate|alter)\s+table\b|\bdelete\s+from\b|\binsert\s+into\b|\bupdate\s+\w+\s+set\b"
    r"|\bselect\s+.{1,80}\bfrom\b.{1,40}(;|\bwhere\b|--|$)|\bunion\s+select\b",
    re.IGNORECASE | re.DOTALL,
)
NO_SECRETS = marked("I do not show passwords, keys or other secrets to anybody.")
NO_RULES = marked("I work within your rights and my rules, and a message does not change either.")
NO_CODE = marked(
    "I do not run database commands. Ask in your own words, or use the OData interface."
)
NO_WRITES = marked(
    "I cannot do that. What I can propose, for you to confirm: create a task, add a note, draft a"
    " mail, make or change a record, and what its page offers, such as to register a payment."
)

MANY = marked(
    "I propose a change of one record at a time, and write to one recipient. To change many, mark"
    " them in their list: there you see how many they are before anything happens."
)


def refusal_of(text: str) -> str | None:
    """What to say to a message that asks for what nobody gets; None for all others."""
    if pattern("other_rules").search(text):
        return NO_RULES
    if _CODE.search(text):
        return NO_CODE
    if pattern("secrets").search(text):
        return NO_SECRETS
    return None


def is_command(text: str) -> bool:
    """Whether a message wants something done, rather than told."""
    for code in languages():
        message = message_of(text, code)
        start = message.skipped(0, "language.leads", "language.polite")
        is_last = message.at("commands.behind", len(message) - 1)
        if message.at("commands.words", start) or (
            is_last and not message.at_any((*ASKING, "language.how_to"), start)
        ):
            return True
    return False


ABOUT = marked(
    "I answer how-to questions from the knowledge base, sum up the record that you look at, answer"
    " questions about figures, and propose changes that you confirm: create a task, add a note,"
    " draft a mail, make or change a record, and what its page offers, such as to register a"
    " payment."
)
WELCOME = marked("You are welcome.")
FAREWELL = marked("Good bye.")
ALL_RIGHT = marked("All right. Ask when there is something else.")
DECIDE = marked(
    "A message decides nothing: what I proposed is done when you confirm it, and left when you"
    " reject it. For anything else, ask in a whole sentence."
)
WELL = marked("I am a program, and I work.")

# A message of nothing but such words, in any order -> the reply to it.
_REPLIES: Sequence[tuple[tuple[str, ...], str]] = (
    (("greeting", "there"), ABOUT),
    (("help",), ABOUT),
    (("decision",), DECIDE),
    (("well", "greeting", "there"), WELL),
    (("praise", "much"), ALL_RIGHT),
    (("thanks", "much", "praise", "greeting"), WELCOME),
    (("thanks", "much", "praise", "bye"), FAREWELL),
)
# Nobody is polite at length.
LONGEST = 120


def small_talk(text: str) -> str | None:
    """The reply to a message that is nothing but polite; None for all others."""
    if len(text) > LONGEST:
        return None
    messages = [message_of(text, code) for code in languages()]
    for kinds, reply in _REPLIES:
        paths = [f"talk.{kind}" for kind in kinds]
        if _is_only(messages, paths):
            is_kind = any(each.has("talk.praise") or each.has("talk.thanks") for each in messages)
            return reply if is_kind or reply not in (ALL_RIGHT, WELCOME) else None
    return None


def _is_only(messages: Sequence[Message], paths: Sequence[str]) -> bool:
    """Whether a message has words, and all of them are of some lists, whatever the languages."""
    index, tokens = 0, messages[0].tokens
    is_said = False
    while index < len(tokens):
        length = max(message.at_any(paths, index) for message in messages)
        if not length and tokens[index].kind not in ("sign", "other"):
            return False
        is_said = is_said or bool(length)
        index += length or 1
    return is_said
