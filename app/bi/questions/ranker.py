"""The choice among analyses: log-linear, its weights fitted (``python -m bench.nlq_fit``)."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from app.bi.questions.roles import roles, roles_data

# The crossing of a word that says nothing by itself, though a phrase begins with it.
FILLER = "cross filler"
_OWN_METHOD = re.compile(r"median|percentile\d+")
_AGAIN = 1.0  # of what is passed over, what the meaning has anyway


def roles_in(crossing: str) -> set[str]:
    """The roles of the word that is passed over."""
    return set(crossing.split()[2:])


def is_light(crossing: str) -> bool:
    """Whether what is passed over carries no content."""
    own = roles_in(crossing)
    light = bool(own & {"of", "with"}) or own <= roles("light")
    return crossing in ("going on", FILLER) or (crossing.startswith("cross word ") and light)


def is_decisive(crossing: str, *, is_ranked: bool = True) -> bool:
    """Whether what is passed over can be about something else altogether: ``not``, a number."""
    own = roles_in(crossing)
    is_superlative = not is_ranked and bool(own) and own <= roles("ranking")
    is_strong = not is_light(crossing) and bool(own & roles("decisive"))
    return crossing == "cross number" or is_strong or is_superlative


def is_partial(features: Iterable[str]) -> bool:
    """Whether an analysis passes over some word."""
    return any(feature.startswith("cross ") for feature in features)


@lru_cache(maxsize=16_384)
def prior(feature: str) -> float:
    """What a feature weighs before anything was learned."""
    if (known := roles_data()["priors"].get(feature)) is not None:
        return float(known)
    if feature.startswith("cross "):
        own = roles_in(feature)
        if feature.startswith("cross content"):
            return -3.0 if own & roles("strong") else -2.0
        if own & {"of", "with"}:
            return -0.2
        return -3.0 if own & roles("strong") else -0.2 if own <= roles("light") else -0.8
    if feature.startswith("rule "):
        return -0.15
    if feature.startswith("again "):
        return _AGAIN
    return -0.6 if feature.startswith("kind unnamed") else 0.0


class Weights(dict[str, float]):
    """Fitted weights; a feature that none was fitted of has its prior.

    Medians and percentiles are asked for as averages are, and much more seldom: what is told of an
    average counts.
    """

    def __missing__(self, feature: str) -> float:
        average = _OWN_METHOD.sub("average", feature)
        return prior(feature) if average == feature else self[average]


@dataclass(frozen=True)
class Fitted:
    """What the command writes: weights, what the signs of an answer say, and how sure that is.

    ``ceilings``: below which chance of being right an answer is said to be at most how sure.
    """

    weights: Weights
    sureness: Mapping[str, float] = field(default_factory=dict)
    ceilings: tuple[tuple[float, float], ...] = ()

    def confidence(self, signs: Mapping[str, float]) -> float:
        """The share of right answers among those with such signs."""
        chance = chance_of(signs, self.sureness)
        return min([chance, *(most for least, most in self.ceilings if chance < least)])


@lru_cache(maxsize=1)
def fitted() -> Fitted:
    """The weights of the repository; the priors alone where there are none."""
    path = files(__package__).joinpath("weights.json")
    if not path.is_file():
        return Fitted(Weights())
    data = json.loads(path.read_text(encoding="utf-8"))
    ceilings = tuple((float(least), float(most)) for least, most in data["ceilings"])
    return Fitted(Weights(data["weights"]), data["sureness"], ceilings)


def score(features: Iterable[str], weights: Mapping[str, float]) -> float:
    """The sum of the weights of all features."""
    return sum(weights[feature] for feature in features)


def chances(scores: Sequence[float]) -> list[float]:
    """How likely each of some analyses is, if one of them is right."""
    if not scores:
        return []
    highest = max(scores)
    weights = [math.exp(max(score - highest, -50.0)) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def signs(features: Iterable[str], chance: float) -> dict[str, float]:
    """What tells how sure an answer is: how clear the choice was, what it passed over and took."""
    counted = Counter(sign for feature in features for sign in _signs(feature))
    odds = min(max(chance, 1e-3), 1 - 1e-4)
    clear = {"always": 1.0, "chance": math.log(odds / (1 - odds))}
    return clear | {name: float(min(count, 3)) for name, count in counted.items()}


def _signs(feature: str) -> tuple[str, ...]:
    first, _, rest = feature.partition(" ")
    if first == "cross":
        return () if is_light(feature) else (feature, f"cross {rest.partition(' ')[0]}")
    if first == "again":
        return (first,)
    if feature.startswith("kind unnamed"):
        return ("kind unnamed",)
    return (feature,) if feature in roles("granted") else ()


def is_plain(features: Iterable[str]) -> bool:
    """Whether every word with content is used once, and nothing but the usual is taken for granted.

    Where nothing says whether records are counted or listed, a period makes that unsure; by what
    records are ranked, and how many are meant, is seldom said.
    """
    names = set(features)
    counted = roles("counted") if "groups" in names else frozenset[str]()
    if names & (roles("granted") | {"figures listed"}) - counted:
        return False
    is_bare = "records bare" in names
    return not any(
        (feature.startswith("cross ") and not is_light(feature))
        or feature.startswith(("again ", "kind unnamed", *(("dated ",) * is_bare)))
        or (feature.startswith("ranking ") and feature.endswith("of records"))
        for feature in names
    )


def chance_of(signs: Mapping[str, float], sureness: Mapping[str, float]) -> float:
    """The probability that an answer with such signs is right."""
    total = sum(sureness.get(name, 0.0) * value for name, value in signs.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
