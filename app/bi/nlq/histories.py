"""What records had at one time and not at another: ``bought in 2025 but not once this year``.

Such a sentence is said plainly, as two restrictions: ``with invoices in 2025 and without invoices
this year``. The words are data, the sentences are made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Idiom = tuple[re.Pattern[str], str]

_END = r"(?=[?.! ]*$)"
# Who it was, before what was done.
_WHO = (
    r"(?:,? ?\b(?:who|that|which|whom|we|we've|they|have|has|had|did|do|were|was|been|ever|once|"
    r"already|at least once|got|previously)){0,6}"
)
_MORE = (
    r"(?: (?:anything|something|things|stuff|from us|with us|by us|us|of us|at least once|"
    r"at all)){0,3}"
)
_LINK = (
    r"(?: ?[,;(]| -| \u2013)? ?(?:\b(?:but|and|yet|then|though|although|have|has|had|did|do|who|"
    r"that|which|we|we've|were|was|they|are|is) ){0,6}"
)
_NO = (
    r"(?:not|never|nothing|none|haven't|hasn't|hadn't|didn't|don't|weren't|wasn't|(?:with )?no|"
    r"without)"
)
_SINCE = r"(?:(?:in|during|since|within|over|for|after|throughout|this|last) ?.{1,30}?)"
_EARLIER = r"(?:before|in the past|previously|earlier|once|at some point|already|formerly)"
_FIRST = r"(?:their|his|its|her|a|the)? ?(?:very |ever ){0,2}first(?:[- ]ever)?"


def histories(data: Mapping[str, Any]) -> list[Idiom]:
    """How histories are said, and how that is plainly said."""
    said = _histories(data["histories"])
    return [(re.compile(rf"(?<!\w){one}(?!\w)", re.IGNORECASE), plain) for one, plain in said]


def _histories(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    people = _any(data["people"])
    doing = _any(data["doing"])
    verbs = _any([v for v, _ in data["done"].values() for v in v])
    yield from _clients(people, verbs, doing)
    for noun, (verbs_of, nouns) in data["done"].items():
        had = _had(verbs_of, nouns, doing)
        for other, (other_verbs, other_nouns) in data["done"].items():
            yield from _not_again(had, noun, other, other_verbs, other_nouns)
        yield from _first(noun, verbs_of, nouns, doing)
        if verbs_of:
            nothing = rf"{_WHO} ?\b(?:{_any(verbs_of)}) nothing"
            yield rf"{nothing}(?: at all| ever| yet| so far)?{_END}", f" without {noun}"
            yield (rf"{nothing} (?P<t>{_SINCE})(?=[?.! ]*$| (?:but|and)\b)",
                   rf" without {noun} \g<t>")  # fmt: skip
            yield (rf"first[- ](?:time|ever) ({people})(?: in| during)? (?P<t>.{{3,30}}?){_END}",
                   rf"\1 with {noun} in \g<t> and without {noun} before \g<t>")  # fmt: skip
        yield from _times(noun, had)


def _clients(people: str, verbs: str, doing: str) -> Iterator[tuple[str, str]]:
    """``who bought for the first time``: of clients, who are not named; who never paid late."""
    yield rf"^((?:{verbs})\b[^,;]{{0,40}}?,? but (?:then )?{_NO})", r"clients who \1"
    done = rf"(?:(?:has|have|was|were|is) )?(?:(?:never|not|yet|ever|been|us) ){{0,4}}(?:{verbs})"
    told = r"(?=\b.* (?:but|and|once|first time)|[?.! ]*$)"
    yield rf"^who ({done}){told}", r"clients who \1"
    yield rf"^who ((?:{doing}) {_FIRST})", r"clients who \1"
    yield r"^whose ((?:very )?first)", r"clients whose \1"
    never = r"(?:never|not ever|not once) paid (?:us )?(?:too )?late"
    plain = "with issued invoices and without invoices paid late and without overdue invoices"
    yield rf"({people})((?: \w+){{0,4}}?) ?{_WHO} ?\b{never}", rf"\1\2 {plain}"


def joins(data: Mapping[str, Any]) -> list[Idiom]:
    """``Dormant customers - bought before but ...``: what a word means is said behind it."""
    told = data["histories"]
    verbs = _any([one for verbs, _ in told["done"].values() for one in verbs])
    pattern = (rf"(?:(?:{_any(told['lapsed'])}) )?\b({_any(told['people'])}) ?"
               rf"(?:[-\u2013:,(]|i\.e\.){{1,2}} ?((?:\w+ )?(?:{verbs}))\b")  # fmt: skip
    return [(re.compile(pattern, re.IGNORECASE), r"\1 who \2")]


def _had(verbs: Sequence[str], nouns: Sequence[str], doing: str) -> str:
    """What was done, or what they had: ``bought``, ``with tickets``."""
    named = rf"(?:{doing}) (?:an? |any |some |at least one )?(?:{_any(nouns)})"
    return rf"(?:{_any(verbs)}|{named}){_MORE}" if verbs else rf"{named}{_MORE}"


def _not_again(
    had: str, noun: str, other: str, verbs: Sequence[str], nouns: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """``bought last year but not this year``, ``invoiced but never paid anything``."""
    again = _any([*verbs, *nouns])
    trail = (
        r"(?: (?:once|again|anything|something|a single (?:one|thing|time|\w+)|one|an?|any|at all|"
        rf"ever|been|have|has|more|from us|us|with us|yet|single|{again})){{0,8}}"
    )
    said = (
        rf"(?: (?:once|again|anything|one|any|ever|been|have|has|an?|single)){{0,4}}? (?:{again})"
    )
    before = rf"(?: (?:{_EARLIER}|(?P<t1>(?:in|during|since|over)? ?[^,;]{{3,30}}?)))?"
    when = rf"{_LINK}{_NO}"
    if noun == other:
        yield (rf"{_WHO} ?\b{had}{before[:-1]}{when}{trail} (?P<t2>{_SINCE}){_END}",
               rf" with {noun} \g<t1> and without {noun} \g<t2>")  # fmt: skip
        linked = rf"(?: ?[,;(]| -| (?:but|and|yet)\b){when}"  # "bought nothing in May" is not
        yield (rf"{_WHO} ?\b{had}{linked}{trail} (?P<t2>{_SINCE}){_END}",
               rf" with {noun} and without {noun} \g<t2>")  # fmt: skip
        both = r"(?: (?:(?:and|then) ){0,2}(?:also |again |both |as well ){1,3}|,? and then )"
        first = r"(?P<t1>(?:in|during)? ?[^,;]{3,30}?)"
        yield (rf"{_WHO} ?\b{had} {first}{both}(?P<t2>{_SINCE}){_END}",
               rf" with {noun} \g<t1> and with {noun} \g<t2>")  # fmt: skip
        none = rf"(?:with|without|had|have|having|has)? ?no (?:{_any(nouns)})"
        some = r"(?:some|one|any|again|several|more|did|\w+ed)(?: again| some| one)?"
        yield (rf"{_WHO} ?\b{none}{_MORE} (?P<t2>{_SINCE}?){_LINK}{some} "
               rf"(?P<t1>{_SINCE}|before){_END}",
               rf" with {noun} \g<t1> and without {noun} \g<t2>")  # fmt: skip
        yield (rf"{_WHO} ?\b{had} in both (?P<t1>[^,;]{{3,20}}?) and (?P<t2>[^,;]{{3,20}}?){_END}",
               rf" with {noun} in \g<t1> and with {noun} in \g<t2>")  # fmt: skip
        return
    yield (rf"{_WHO} ?\b{had}{before}{when}{said}{trail}(?: (?P<t2>{_SINCE}))?{_END}",
           rf" with {noun} \g<t1> and without {other} \g<t2>")  # fmt: skip


def _first(
    noun: str, verbs: Sequence[str], nouns: Sequence[str], doing: str
) -> Iterator[tuple[str, str]]:
    """``got their very first invoice this quarter``, ``bought for the first time in May``."""
    when = r"(?:in |during |since )?(?P<t>.{3,30}?)"
    whole = rf" with {noun} in \g<t> and without {noun} before \g<t>"
    things = _any(nouns)
    yield rf"{_WHO} ?\b(?:{doing}) {_FIRST} (?:{things}){_MORE} {when}{_END}", whole
    yield (
        rf"whose (?:very )?first (?:{things}) (?:was|is|came|dates?|fell)(?: from)? {when}{_END}",
        whole,
    )
    if verbs:
        time = r"for the (?:very )?first time(?: ever)?"
        yield rf"{_WHO} ?\b(?:{_any(verbs)}){_MORE} {time} {when}{_END}", whole


def _times(noun: str, had: str) -> Iterator[tuple[str, str]]:
    """``bought just once``, ``ordered more than once this year``."""
    one = r"(?:(?:only|just|exactly) (?:the )?(?:one time|once)|a single time)"
    yield rf"{_WHO} ?\b{had} {one}\b", f" with exactly 1 {noun}"
    many = r"(?:more than once|several times|repeatedly|at least twice|twice or more|many times)"
    yield rf"{_WHO} ?\b{had} {many}\b", f" with more than 1 {noun}"


def _any(words: Sequence[str]) -> str:
    """One of some words, the longer ones first."""
    return "|".join(sorted(words, key=len, reverse=True))
