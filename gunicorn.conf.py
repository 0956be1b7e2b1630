"""How gunicorn serves the application; WEB_CONCURRENCY is the number of its processes."""

import gc
import os
import shutil
import sys
from functools import lru_cache

import gunicorn.http.message
import gunicorn.http.wsgi
import gunicorn.util
import gunicorn.workers.gthread
from dotenv import load_dotenv

from app import heap
from app.config import ConfigError, data_folder
from app.start.checks import check_web_processes
from app.web_request import create
from app.web_response import JoinedResponse, http_date
from app.web_sockets import hold_back, let_in
from app.web_worker import LingeringWorker, succession

load_dotenv()
heap.bound()

# On a laptop only this machine gets in; in production the host's router, or the proxy in front.
_host = "0.0.0.0" if os.environ.get("APP_ENV") == "production" else "127.0.0.1"
bind = f"{_host}:{os.environ.get('PORT') or 8000}"

workers = int(os.environ.get("WEB_CONCURRENCY") or 1)
worker_class = "app.web_worker.LingeringWorker"
# Whose X-Forwarded-* headers count is said by TRUSTED_PROXIES, and done by ProxyFix.
forwarded_allow_ips = ""
threads = 16
backlog = 512
keepalive = 75

# Longer than the longest export or PDF takes, so that a restart cuts nothing off.
graceful_timeout = 30
timeout = 60
max_requests = 50_000
max_requests_jitter = 5_000

# The application answers a URL over 16 KB in its own error form (contract P12); gunicorn would cut
# off at 8 KB, and its ceiling is a constant.
gunicorn.http.message.MAX_REQUEST_LINE = 131_072
limit_request_line = 131_072
# Which class answers is fixed as well, and what makes the environment of a request.
gunicorn.http.wsgi.Response = JoinedResponse
gunicorn.http.wsgi.create = create
gunicorn.util.http_date = http_date
# Where an application writes its errors to is looked up for each request.
gunicorn.http.wsgi.WSGIErrorsWrapper = lru_cache(maxsize=1)(gunicorn.http.wsgi.WSGIErrorsWrapper)
hold_back()
control_socket_disable = True

# A worker that ends keeps its idle connections for so long; docs/nginx.conf gives them up earlier.
gunicorn.workers.gthread.STOP_KEEPALIVE_LINGER = 3.0
accesslog = None

if workers > 1 and os.environ.get("METRICS_TOKEN"):
    # Each process tells the numbers of all: they lie in files, made anew with every start.
    _numbers = data_folder(os.environ) / "metrics"
    shutil.rmtree(_numbers, ignore_errors=True)
    _numbers.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_numbers)

try:
    check_web_processes(workers, os.environ.get("REDIS_URL"))
except ConfigError as error:
    sys.exit(f"Cannot start: {error}")


def on_reload(arbiter: object) -> None:
    """The workers of before serve until those that are started now can."""
    succession.begin()


def post_worker_init(worker: LingeringWorker) -> None:
    """What was loaded at the start stays: the collector need not look through it again."""
    gc.collect()
    gc.freeze()
    let_in(worker)
    succession.note_ready(worker)
