"""A bulk change of the console over many records, with the worker killed in the middle of it.

    python -m bench.bulk [--records 10000] [--kills 1] [--undo] [--postgresql postgresql://...]

All clients of a list get a tag, by a worker process that is killed (SIGKILL) and started again.
Counted are the request that begins the run, the records a second, the page that tells how far it
is, and what a kill left: what the page says is done must be what is done, once each.
"""

from __future__ import annotations

import argparse
import logging
import signal
import subprocess
import sys
import time

from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.console.session import ROOT, TOKEN
from app.db.engines import primary_engine
from app.models.bulk_run import BulkItem, BulkRun
from app.models.client import Client
from app.models.event import AuditRecord
from bench.lists import add_clients, sign_in
from bench.services import Place, service, signal_group

# A lease of a worker that was killed runs out before another takes the run over.
LONGEST_SECONDS = 600


def main() -> int:
    """Print the figures; returns 1 where a record was left half done, or done twice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--undo", action="store_true")
    parser.add_argument("--postgresql")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with service(options.postgresql, RATE_LIMIT_USER="1000000/minute") as place:
        with place.app.app_context():
            add_clients(options.records)
        browser = sign_in(place.app)
        form = {"all": "1", "action": "tag", "value": "measured", "confirm": "1", "query": ""}
        wrong = _run(place, browser, "clients/bulk", form, options.records, options.kills)
        if options.undo:
            wrong += _run(place, browser, "bulk/1", {"step": "undo"}, options.records, 0)
    return int(wrong > 0)


def _run(
    place: Place, browser: FlaskClient, path: str, form: dict[str, str], records: int, kills: int
) -> int:
    """Begin a run and follow it to its end; how many records are not as its page says."""
    with browser.session_transaction(f"{ROOT}/") as session:
        token = session[TOKEN]
    begun, spent = time.monotonic(), time.process_time()
    answer = browser.post(f"{ROOT}/{path}", data={"csrf": token, **form})
    spent = time.process_time() - spent
    assert answer.status_code == 303, answer.text
    run_id = int(answer.headers["Location"].rpartition("/")[2])
    print(f"run {run_id}, {path}: begun with {spent * 1000:.0f} ms of CPU")
    at = [records * (number + 1) // (kills + 1) for number in range(kills)]
    worker, pages, wrong, idle = place.start_worker(), [], 0, 0.0
    while True:
        looked = time.process_time()
        size = len(browser.get(f"{ROOT}/bulk/{run_id}").data)
        pages.append((time.process_time() - looked) * 1000)
        done, is_over = _done(place, run_id)
        if is_over or time.monotonic() - begun > LONGEST_SECONDS:
            break
        if at and done >= at[0]:
            at.pop(0)
            wrong += _kill(place, worker, run_id)
            killed, worker = time.monotonic(), place.start_worker()
            left = _done(place, run_id)[0]
            while _done(place, run_id)[0] == left:
                time.sleep(0.2)
            idle += time.monotonic() - killed
            print(f"  taken over after {time.monotonic() - killed:.0f} s")
        time.sleep(0.5)
    seconds = time.monotonic() - begun - idle
    signal_group(worker, signal.SIGTERM)
    wrong += _compare(place, run_id) + (0 if is_over else 1)
    print(f"  {done} of {records} done, {done / seconds:.0f} a second;", end=" ")
    print(f"its page: {max(pages):.0f} ms of CPU at most, {size:,} bytes; {wrong} wrong")
    return wrong


def _done(place: Place, run_id: int) -> tuple[int, bool]:
    """How many records are done, and whether the run is over."""
    with place.app.app_context(), primary_engine().connect() as connection:
        noted = select(func.count()).where(BulkItem.run_id == run_id, BulkItem.status == "done")
        ended = select(BulkRun.finished_at).where(BulkRun.id == run_id)
        is_over = connection.execute(ended).scalar() is not None
        return connection.execute(noted).scalar_one(), is_over


def _kill(place: Place, worker: subprocess.Popen[bytes], run_id: int) -> int:
    signal_group(worker, signal.SIGKILL)
    worker.wait()
    wrong = _compare(place, run_id)
    print(f"  worker killed after {_done(place, run_id)[0]} records, {wrong} half done")
    return wrong


def _compare(place: Place, run_id: int) -> int:
    """How many records are not what their lines say: changed once where done, else as before."""
    with place.app.app_context(), primary_engine().connect() as connection:
        lines = dict(
            connection.execute(
                select(BulkItem.record_id, BulkItem.status).where(BulkItem.run_id == run_id)
            ).all()
        )
        before = run_id - 1  # a run that undoes changes each record a second time
        told = dict(
            connection.execute(
                select(AuditRecord.entity_id, func.count())
                .where(AuditRecord.action == "client.updated")
                .group_by(AuditRecord.entity_id)
            ).all()
        )
        versions = dict(connection.execute(select(Client.id, Client.version)).all())
    expected = {key: before + (status == "done") for key, status in lines.items()}
    return sum(
        told.get(key, 0) != count or versions[key] != count + 1 for key, count in expected.items()
    )


if __name__ == "__main__":
    sys.exit(main())
