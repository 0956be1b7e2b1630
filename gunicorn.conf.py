"""How gunicorn serves the application; WEB_CONCURRENCY is the number of its processes."""

import gc
import os
import shutil
import socket
import sys
from contextlib import suppress
from typing import Any

from dotenv import load_dotenv

from app.config import ConfigError, data_folder, web_port, web_processes
from app.http.connections import Listener, connections_for, ends_connection, read_on
from app.http.succession import leave_in_order, succession
from app.start import heap
from app.start.checks import check_web_processes

load_dotenv()
heap.bound()

# On a laptop only this machine gets in; in production the host's router, or the proxy in front.
_host = "0.0.0.0" if os.environ.get("APP_ENV") == "production" else "127.0.0.1"
try:
    bind = f"{_host}:{web_port(os.environ)}"
    workers = web_processes(os.environ)
    check_web_processes(workers, os.environ.get("REDIS_URL"))
except ConfigError as error:
    sys.exit(f"Cannot start: {error}")
worker_class = "gthread"
# Whose X-Forwarded-* headers count is said by TRUSTED_PROXIES, and done by ProxyFix.
forwarded_allow_ips = ""
threads = 16
worker_connections = connections_for(1000, threads)
# Idle connections leave room for those that ask.
most_kept = worker_connections * 3 // 4
# Who has said nothing waits there as well, and takes no open file.
backlog = 2048
keepalive = 75
# The longest that gunicorn takes (contract P12); longer queries are sent in a body.
limit_request_line = 8190
# Else a file that a client does not take is waited for without end.
sendfile = False

# Longer than the longest export or PDF takes, so that a restart cuts nothing off.
graceful_timeout = 30
timeout = 60
max_requests = 50_000
max_requests_jitter = 5_000
control_socket_disable = True
accesslog = None

if workers > 1 and os.environ.get("METRICS_TOKEN"):
    # Each process tells the numbers of all: they lie in files, made anew with every start.
    _numbers = data_folder(os.environ) / "metrics"
    shutil.rmtree(_numbers, ignore_errors=True)
    _numbers.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_numbers)


def when_ready(master: Any) -> None:
    """The port refuses until a process can answer: a proxy asks another host meanwhile.

    Linux stops to listen so, and keeps the port; elsewhere callers wait. What is inherited from
    systemd, or from the process before (USR2), goes on.
    """
    if not {"LISTEN_FDS", "GUNICORN_PID"} & os.environ.keys():
        for listener in master.LISTENERS:
            with suppress(OSError):
                listener.sock.shutdown(socket.SHUT_RDWR)


def on_reload(arbiter: Any) -> None:
    """The processes of before serve until those that are started now can."""
    succession.begin()


def post_worker_init(worker: Any) -> None:
    """What was loaded at the start stays: the collector need not look through it again."""
    gc.collect()
    gc.freeze()
    for listener in worker.sockets:
        listener.sock = Listener.of(listener.sock)
        listener.sock.listen(worker.cfg.backlog)
    leave_in_order(worker)


def pre_request(worker: Any, req: Any) -> None:
    """The answer says that the connection ends: after a long body, and where it gets crowded."""
    if worker.nr_conns > most_kept or ends_connection(req.headers):
        req.force_close()


def post_request(worker: Any, req: Any, environ: dict[str, Any], resp: Any) -> None:
    """A client that still sends gets to read its answer."""
    if resp is not None and resp.status is not None and resp.should_close():
        read_on(req.body)
