"""What a fault showed: requirement by requirement, with what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.callers import Answer
from tests.faults.traffic import Ledger

# A service is back this long after what it needs.
RECOVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Result:
    """``passed`` is None where it could not be tried here; ``seen`` says why."""

    fault: str
    requirement: str
    passed: bool | None
    seen: str


@dataclass
class Report:
    """The results of one fault."""

    fault: str
    results: list[Result] = field(default_factory=list)

    def check(self, requirement: str, passed: bool, seen: object = "") -> None:
        """Note whether a requirement is met."""
        self.results.append(Result(self.fault, requirement, passed, str(seen)))

    def leave_out(self, why: str) -> None:
        """Note that the fault could not be tried."""
        self.results.append(Result(self.fault, "tried", None, why))

    def check_answers(self, ledger: Ledger, *, within: float, back_at: float) -> None:
        """The errors are bounded, and over soon after ``back_at`` (monotonic)."""
        errors = ledger.errors()
        flawed = [one for one in errors if one.flaw is not None]
        self.check(
            "errors are 503 with Retry-After, in the form of errors",
            not flawed,
            ledger.told() if not flawed else f"{len(flawed)}: {_told(flawed[0])}",
        )
        self.check_in_time(ledger, within)
        late = ledger.errors(back_at + RECOVERY_SECONDS)
        after = [one for one in ledger.answers if one.began >= back_at + RECOVERY_SECONDS]
        last = max((one.began for one in errors), default=back_at)
        self.check(
            f"answers again {RECOVERY_SECONDS:.0f} s after, without a restart",
            bool(after) and not late,
            f"last error {max(last - back_at, 0.0):.1f} s after, {len(after)} answers since"
            + (f", {len(late)} errors: {_told(late[0])}" if late else ""),
        )

    def check_in_time(self, ledger: Ledger, within: float) -> None:
        """No answer took longer than ``within`` seconds."""
        slowest = max(ledger.answers, key=lambda one: one.seconds, default=None)
        self.check(
            f"no answer takes longer than {within:.0f} s",
            slowest is not None and slowest.seconds <= within,
            "no answers" if slowest is None else f"{slowest.seconds:.1f} s, {slowest.kind}",
        )

    def check_no_errors(self, ledger: Ledger, what: str = "no request fails") -> None:
        """Nobody notices."""
        errors = ledger.errors()
        seen = ledger.told() + (f"; {_told(errors[0])}" if errors else "")
        self.check(what, bool(ledger.answers) and not errors, seen)


def percentile(ledger: Ledger, share: float, wanted: Callable[[Answer], bool] = bool) -> float:
    """Seconds within which this share of the answers came."""
    seconds = sorted(one.seconds for one in ledger.answers if wanted(one))
    return seconds[min(int(len(seconds) * share), len(seconds) - 1)] if seconds else 0.0


def _told(answer: Answer) -> str:
    return (
        f"{answer.kind} {answer.status or 'no answer'} after {answer.seconds:.1f} s: {answer.flaw}"
    )
