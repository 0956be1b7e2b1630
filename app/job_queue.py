"""The queue of the jobs that come round by the clock, for whoever only wants to know of it.

The library that runs it loads some thirteen megabytes, with the drivers of every database that it
knows: the worker needs them (app/jobs.py), a web process does not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from flask import Flask

NAME = "business-platform"
# Where the library keeps what waits: a list in Redis, whose key has plain letters only.
_KEY = "huey.redis.businessplatform"
_WAITING = "SELECT count(*) FROM task WHERE queue = ?"
SECONDS = 5.0

# Every how many minutes a job runs.
MINUTES: Mapping[str, int] = {
    "heartbeat": 1,
    "prune-expired": 10,
    "ticket-clocks": 1,
    "overdue-tasks": 1,
    "invoice-clocks": 10,
    "expired-articles": 10,
    "end-expired-links": 10,
    "clean-documents": 60,
    "fill-normal-forms": 10,
    "tidy-reports": 60,
    "tidy-imports": 60,
    "tidy-search-index": 1,
}


def queue_file(app: Flask) -> Path:
    """The embedded queue, where there is no Redis; made by the first worker."""
    path: Path = app.config["DATA_DIR"] / "queue.db"
    return path


def waiting_jobs(app: Flask) -> int | None:
    """How many jobs wait for a worker; None where the queue does not answer."""
    import redis  # heavy, and only a page of the console and the metrics ask

    try:
        if url := app.config["REDIS_URL"]:
            with redis.Redis.from_url(
                url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
            ) as client:
                return int(client.llen(_KEY))
        if not queue_file(app).exists():
            return 0
        with closing(sqlite3.connect(queue_file(app), timeout=SECONDS)) as connection:
            (count,) = connection.execute(_WAITING, (NAME,)).fetchone()
            return int(count)
    except (OSError, sqlite3.Error, redis.RedisError):
        return None
