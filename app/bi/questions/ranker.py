"""The choice among analyses: log-linear, its weights fitted (``python -m bench.nlq_fit``)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

# What is so before anything was learned: words are crossed at a price, and nothing is for nothing.
PRIORS = {
    "cross unknown": -2.5, "cross name": -4.0, "cross number": -4.0, "cross period": -4.0,
    "cross value": -3.0, "cross content": -2.5, "longer phrase": 0.4, "unsure name": -0.6,
    "event without a period": -0.8, "count for granted": -0.4, "kind open": -0.3,
    "list of one figure": -0.5, "ranked within": -0.5, "extreme of records": -0.3,
    "nothing": -6.0, "nothing command first": 4.0, "nothing beyond": 3.0,
    "against unsaid": -0.2, "leaf moment": -1.0, "leaf number word": -0.1, "negated": 0.0,
}  # fmt: skip
_STRONG = frozenset((
    "not", "without", "most", "least", "fewest", "share", "percentage", "percent", "average",
    "more", "less", "over", "under", "above", "below", "never", "no", "neither", "except",
    "outside", "vs",
    "versus", "compare", "compared", "growth", "different", "top", "worst", "best", "biggest",
    "largest", "smallest", "oldest", "newest", "nobody", "excluding", "median",
))  # fmt: skip
_LIGHT = frozenset((
    "of", "in", "for", "with", "to", "on", "from", "at", "and", "is", "are", "list", "show",
    "which", "what", "who", "have", "has", "had", "by",
))  # fmt: skip


@lru_cache(maxsize=4096)
def prior(feature: str) -> float:
    """What a feature weighs before anything was learned."""
    if feature in PRIORS:
        return PRIORS[feature]
    if feature.startswith("cross "):
        word = feature.rpartition(" ")[2]
        if word in _STRONG:
            return -3.0
        if feature.startswith("cross content"):
            return -2.0
        return -0.2 if word in _LIGHT else -0.8
    if feature.startswith("rule "):
        return -0.15
    if feature.startswith("kind unnamed"):
        return -0.6
    if feature.startswith("nothing"):
        return 0.0
    return 0.0


class Weights(dict[str, float]):
    """Fitted weights; a feature that none was fitted of has its prior."""

    def __missing__(self, feature: str) -> float:
        value = self[feature] = prior(feature)
        return value

    def get(self, feature: str, default: float | None = None) -> float:  # type: ignore[override]
        """The weight of a feature, the prior where none was fitted."""
        return self[feature]


@dataclass(frozen=True)
class Fitted:
    """What the command writes: weights, and how a lead in score becomes a confidence."""

    weights: Weights
    calibration: tuple[tuple[float, float], ...]  # (chance at least, confidence), rising


@lru_cache(maxsize=4)
def fitted(code: str = "en") -> Fitted:
    """The weights of the repository; the priors alone where there are none."""
    path = files(__package__).joinpath("weights.json")
    if not path.is_file():
        return Fitted(Weights(), ())
    data = json.loads(path.read_text(encoding="utf-8"))
    calibration = tuple((float(low), float(high)) for low, high in data["calibration"])
    return Fitted(Weights(data["weights"]), calibration)


def score(features: Iterable[str], weights: Mapping[str, float]) -> float:
    """The sum of the weights of all features."""
    return sum(weights[one] for one in features)


def counted(features: Iterable[str]) -> Mapping[str, int]:
    """How often each feature occurs."""
    return Counter(features)


def chances(scores: Sequence[float]) -> list[float]:
    """How likely each of some analyses is, if one of them is right."""
    if not scores:
        return []
    highest = max(scores)
    weights = [math.exp(max(one - highest, -50.0)) for one in scores]
    total = sum(weights)
    return [one / total for one in weights]


def calibrated(chance: float, calibration: Sequence[tuple[float, float]]) -> float:
    """The share of right answers among those that had such a chance."""
    found = chance if not calibration else 0.0
    for low, confidence in calibration:
        if chance >= low:
            found = confidence
    return found
