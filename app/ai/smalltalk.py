"""What people say to be polite, and what the assistant says to that. It is about nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping

ABOUT = (
    "I answer how-to questions from the knowledge base, sum up the record that you look at, answer"
    " questions about figures, and propose changes that you confirm: create a task, add a note,"
    " draft a mail, change a stage or status."
)
WELCOME = "You are welcome."
FAREWELL = "Good bye."
ALL_RIGHT = "All right. Ask when there is something else."
DECIDE = (
    "A message decides nothing: what I proposed is done when you confirm it, and left when you"
    " reject it. For anything else, ask in a whole sentence."
)
WELL = f"I am a program, and I work. {ABOUT}"

# Words of English and of the languages that articles are written in most.
_GREETING = (
    r"hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus"
    r"|guten (?:morgen|tag|abend)|gr(?:\u00fc|ue)(?:\u00df|ss)(?: gott| dich)?|bonjour|bonsoir"
    r"|salut|hola|buenos d(?:\u00ed|i)as|buenas(?: tardes| noches)?|ciao|buongiorno|buonasera"
    r"|ol(?:\u00e1|a)|bom dia|goedemorgen|goedendag|dzie(?:\u0144|n) dobry|cze(?:\u015b\u0107|sc)"
)
_THANKS = (
    r"thanks?(?: you| u)?|thx|ty|cheers|much appreciated|(?:i )?appreciate (?:it|that)|danke"
    r"(?: dir| ihnen| sch(?:\u00f6|oe)n)?|(?:vielen|herzlichen|besten) dank|merci|gracias|grazie"
    r"|obrigad[oa]|bedankt|dank (?:je|u)(?: wel)?|dzi(?:\u0119|e)kuj(?:\u0119|e)"
)
_MUCH = (
    r"very much|so much|a lot|a bunch|a million|again|indeed|for (?:the|your|all your) help|all"
    r"|vielmals|sehr|beaucoup|bien|mucho|muchas|mille|molto|there|everyone|team|assistant|friend"
)
_PRAISE = (
    r"ok|okay|kk?|fine|great|perfect|super|cool|nice|good|excellent|awesome|wonderful|got it"
    r"|i see|understood|all right|alright|sounds good|(?:that|this|it) (?:really )?(?:helped|helps"
    r"|works|worked|was helpful|is helpful|is great|is perfect|'?s great|'?s perfect)|very helpful"
    r"|well done|good job|gut|prima|toll|alles klar|parfait|d'accord|vale|perfecto|perfetto"
)
_BYE = (
    r"(?:good ?)?bye(?: bye)?|see (?:you|ya)(?: later| soon| tomorrow)?|have a (?:nice|good|great)"
    r" (?:day|evening|weekend|one)|good night|tsch(?:\u00fc|ue)(?:\u00df|ss)|auf wiedersehen"
    r"|au revoir|adi(?:\u00f3|o)s|hasta luego|arrivederci|tot ziens"
)
_WELL = (
    r"how are you(?: doing)?(?: today)?|how(?:'s| is) it going|how do you do|what'?s up"
    r"|wie geht(?:'?s| es)(?: dir| ihnen)?|(?:comment )?(?:\u00e7|c)a va|qu(?:\u00e9|e) tal"
)
_DECISION = (
    r"yes|yep|yeah|sure|no|nope|do it|do that|go ahead|confirm(?:ed)?|please|ja|nein|oui|non"
    r"|s(?:\u00ed|i)"
)
_HELP = r"help|what can you do(?: for me)?|who are you|what are you|how do you work|menu|start"


def _said(*words: str) -> re.Pattern[str]:
    """Matches a message of nothing but such words, in any order, with signs between them."""
    alternatives = "|".join(words)
    return re.compile(rf"^\W*(?:(?:{alternatives})(?:\W+|$))+$", re.IGNORECASE)


_REPLIES: Mapping[re.Pattern[str], str] = {
    _said(_GREETING, r"there|all|team|everyone|assistant"): ABOUT,
    _said(_HELP, r"please|hi|hello"): ABOUT,
    _said(_DECISION): DECIDE,
    _said(_WELL, _GREETING, r"there"): WELL,
    _said(_THANKS, _MUCH, _PRAISE, _GREETING): WELCOME,
    _said(_THANKS, _MUCH, _PRAISE, _BYE): FAREWELL,
}
_IS_THANKS = re.compile(rf"\b(?:{_THANKS})\b", re.IGNORECASE)
_IS_PRAISE = _said(_PRAISE, _MUCH)
# Nobody is polite at length.
LONGEST = 120


def small_talk(text: str) -> str | None:
    """The reply to a message that is nothing but polite; None for all others."""
    if len(text) > LONGEST:
        return None
    for pattern, reply in _REPLIES.items():
        if pattern.match(text):
            if reply == WELCOME and not _IS_THANKS.search(text):
                return ALL_RIGHT if _IS_PRAISE.match(text) else None
            return reply
    return None
