"""Faults of the service's own processes: killed, or with a clock that jumps."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from bench.callers import NO_ANSWER, Caller
from bench.kills import run_out_leases
from tests.faults.bed import Bed, wait_for_port
from tests.faults.results import RECOVERY_SECONDS, Report
from tests.faults.servers import children_of
from tests.faults.traffic import Ledger, caller_at, traffic

START_SECONDS = 15.0
PASSWORD = "three-blue-kettles-and-a-cup"


def web_process_killed(bed: Bed, report: Report) -> None:
    """One of the web processes is killed under load, four times; its master starts another."""
    with traffic(bed.port, bed.key, each=4) as ledger:
        at = 0.0
        for _ in range(4):
            time.sleep(3)
            at = time.monotonic()
            os.kill(_web_processes(bed)[0], signal.SIGKILL)
        time.sleep(8)
    _check_cut(report, ledger, at, per_kill=8, kills=4)
    bed.check_kept(report, ledger)


def web_killed(bed: Bed, report: Report) -> None:
    """The whole web server is killed under load, and started again by its keeper."""
    with traffic(bed.port, bed.key) as ledger:
        time.sleep(6)  # what ends sooner after its start is not started again
        at = time.monotonic()
        master = children_of(bed.web.pid)
        for pid in master:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
        took = bed.wait_until_ready() + 0.5
        back_at = time.monotonic()
        time.sleep(8)
    report.check(
        f"answers again within {START_SECONDS:.0f} s", took < START_SECONDS, f"{took:.1f} s"
    )
    flawed = [one for one in ledger.errors() if one.status != NO_ANSWER or one.began < at - 5]
    report.check("nothing but cut connections", not flawed, ledger.told())
    late = ledger.errors(back_at + RECOVERY_SECONDS)
    report.check("no error after that", not late, f"{len(late)}")
    bed.check_kept(report, ledger)


def worker_killed(bed: Bed, report: Report) -> None:
    """The worker is killed under load, and started again by its keeper; no request notices."""
    with traffic(bed.port, bed.key) as ledger:
        time.sleep(6)
        for pid in children_of(bed.worker.pid):
            os.kill(pid, signal.SIGKILL)
        time.sleep(8)
    report.check_no_errors(ledger)
    run_out_leases(bed.place)
    bed.check_kept(report, ledger)


def clock_jumps(bed: Bed, report: Report) -> None:
    """The clock of one host jumps by -2 minutes and by +1 hour; the other's does not."""
    clock = bed.place.folder / "clock"
    clock.write_text("0")
    port = bed.port + 40
    process = bed.place.start(
        "tests.faults.skewed", str(clock), "--config", "gunicorn.conf.py", "wsgi:app",
        PORT=str(port), WEB_CONCURRENCY="1",
    )  # fmt: skip
    try:
        for jump in (-120, 3600):
            clock.write_text("0")
            wait_for_port(port)
            _try_clock(bed, report, port, clock, jump)
    finally:
        process.terminate()
        process.wait(40)


def _try_clock(bed: Bed, report: Report, port: int, clock: Path, jump: int) -> None:
    aside = Ledger()
    right, skewed = caller_at(bed.port, bed.key, aside), caller_at(port, bed.key, aside)
    user = _user(bed)
    before = _sign_in(right, user)
    with traffic(port, bed.key) as busy:
        time.sleep(1)
        clock.write_text(str(jump))
        time.sleep(3)
        seen = {
            "right token, right host": _ask_me(right, before),
            "right token, skewed host": _ask_me(skewed, before),
            "skewed token, skewed host": _ask_me(skewed, _sign_in(skewed, user)),
            "skewed token, right host": _ask_me(right, _sign_in(skewed, user)),
        }
        clock.write_text("0")
        time.sleep(3)
        after = _ask_me(skewed, before)
    name = f"{jump:+} s: "
    report.check(name + "no request with an API key fails", not busy.errors(), busy.told())
    fine = (seen["right token, right host"], seen["skewed token, skewed host"])
    report.check(name + "tokens of a host are good there", fine == (200, 200), fine)
    others = {status for status in seen.values() if status not in (200, 401)}
    report.check(name + "a token is at worst refused", not others, seen)
    report.check(name + "all is well when the clock is", after == 200, after)
    bed.check_kept(report, busy)


def _user(bed: Bed) -> str:
    name = f"clock{time.monotonic_ns()}"
    with bed.place.app.app_context(), transaction(), acting_as(system_caller("cli")):
        create_user(
            username=name, email=None, display_name=name, password=PASSWORD, roles=["Viewer"]
        )
    return name


def _sign_in(caller: Caller, user: str) -> str:
    answer = caller.send(
        "login", "POST", "/api/auth/login", {"username": user, "password": PASSWORD}
    )
    return str(answer.body["accessToken"]) if answer.status == 200 else ""


def _ask_me(caller: Caller, token: str) -> int:
    return caller.send("me", "GET", "/api/auth/me", None, Authorization=f"Bearer {token}").status


def _check_cut(report: Report, ledger: Ledger, last: float, *, per_kill: int, kills: int) -> None:
    """Only what a killed process was working on is cut off."""
    errors = ledger.errors()
    flawed = [one for one in errors if one.status != NO_ANSWER]
    report.check(
        "only what it was working on is cut off",
        not flawed and len(errors) <= per_kill * kills,
        ledger.told(),
    )
    late = ledger.errors(last + RECOVERY_SECONDS)
    report.check(f"no error {RECOVERY_SECONDS:.0f} s after", not late, f"{len(late)}")


def _web_processes(bed: Bed) -> list[int]:
    return children_of(bed.web_master)
