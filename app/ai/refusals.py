"""What the assistant does not do, whoever asks, and how it says so."""

from __future__ import annotations

import re

from app.ai.lexicon import languages, message_of
from app.written.catalogue import marked

_SECRETS = re.compile(
    r"\b(show|tell|give|list|print|reveal|dump|export|what('s| is| are))\b.{0,40}"
    r"\b(passwords?|password hash(es)?|api[- ]keys?|secrets?|access tokens?|credentials?"
    r"|system prompt|signing keys?)\b(?!.{0,20}\b(work|do|for|mean|used)\b)",
    re.IGNORECASE,
)
_RULES = re.compile(
    r"\b(ignore|forget|disregard|override|bypass)\b.{0,30}\b(rules?|instructions?|prompts?"
    r"|restrictions?|permissions?|guidelines?)\b|\byou are now\b"
    r"|\bact as (an? )?(admin|root|system)"
    r"|\b(ignorier\w*|vergiss|missachte|umgehe)\b.{0,30}\b(regeln?|anweisung\w*|vorgaben|rechte)\b"
    r"|\b(ignore[sz]?|oublie[sz]?|contourne[sz]?)\b.{0,30}\b(r\u00e8gles?|regles?|consignes?|instructions)\b"
    r"|\b(ignora|olvida|omite|dimentica)\b.{0,30}\b(reglas|instrucciones|normas|regole|istruzioni)\b",
    re.IGNORECASE,
)
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
    " mail, change a stage or status."
)


def refusal_of(text: str) -> str | None:
    """What to say to a message that asks for what nobody gets; None for all others."""
    if _RULES.search(text):
        return NO_RULES
    if _CODE.search(text):
        return NO_CODE
    if _SECRETS.search(text):
        return NO_SECRETS
    return None


def is_command(text: str) -> bool:
    """Whether a message wants something done, rather than told."""
    for code in languages():
        message = message_of(text, code)
        start = message.skipped(0, "language.leads", "language.polite")
        if message.at("commands.words", start):
            return True
    return False
