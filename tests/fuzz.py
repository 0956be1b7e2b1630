"""Fuzzing with a fixed time: ``python -m tests.fuzz [seconds for each target] [target ...]``.

Whatever reads what others wrote gets random and damaged input, anew in every run: it understands it
or refuses it with an error of its own, and nothing else comes out. A finding is printed in the
smallest form that shows it, with the seed, and the status is 1. The tests of each part have the
same in short, and always the same; this is the long form.
"""

from __future__ import annotations

import io
import secrets
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_range_header

from app.config import ConfigError, database_url
from app.errors import ApiError
from app.http.json_body import parse_json
from app.http.multipart import read_form
from app.importing.tables import open_table
from app.invoices.pdf.render import render_pdf
from app.mail.address import parse_mail_url
from app.odata.batch.json_form import read_json_batch
from app.odata.batch.multipart import read_multipart
from app.odata.errors import QueryError
from app.odata.syntax.options import parse_filter, parse_options, read_options
from app.odata.syntax.path import parse_path
from app.outbound.addresses import UrlError, read_url
from tests.invoices.pdf.test_hostile import document_full_of

SECONDS = 20
EXAMPLES_AT_ONCE = 200
REFUSALS = (ApiError, QueryError, UrlError, ConfigError, HTTPException)

# Pieces that mean something, in any order: deeper than random characters come.
_QUERY = st.lists(
    st.sampled_from(
        [
            "name", "id", " eq ", " and ", " or ", "not ", "(", ")", "'", "''", "/", ",", "any(",
            "all(", "d:d/", "contains(", "cast(", "isof(", "Edm.String", "null", "true", "1", "-1",
            "9" * 20, "1e9", "INF", "2026-01-01", "T00:00:00Z", "duration'P1D'", "geo", "$it",
            "$count", "$root/", " in ", " has ", "{", "}", "[", "]", '"', ":", "%", "\\", "\x00",
            "\ud7ff", "\U0001f600", " add ", " div ", " mod ", "case(", "now()", "\t", ";", "@p",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip
_TEXT = st.one_of(st.text(max_size=200), _QUERY)
_JSON = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [b"{", b"}", b"[", b"]", b'"a"', b":", b",", b"1", b"-", b"1e999", b"NaN", b"null",
             b'"\\ud800"', b'"\\u0000"', b"\xff", b" ", b"true", b"9" * 30, b'"requests"', b'"id"']
        ),
        max_size=40,
    ).map(b"".join),
)  # fmt: skip
_PARTS = st.lists(
    st.sampled_from(
        [
            b"--b", b"--b--", b"\r\n", b"\n", b"Content-Disposition: form-data; name=\"file\"",
            b"; filename=\"a.csv\"", b"Content-Type: application/http", b"Content-ID: 1",
            b"Content-Type: multipart/mixed; boundary=c", b"--c", b"--c--", b"GET A HTTP/1.1",
            b"POST Clients HTTP/1.1", b"Content-Length: 5", b"{}", b"\x00", b"\xff\xfe", b": ",
            b"Content-Transfer-Encoding: binary", b"\r\n\r\n",
        ]
    ),
    max_size=50,
).map(b"".join)  # fmt: skip
_URL = st.lists(
    st.sampled_from(
        [
            "http", "https", "://", ":", "/", "@", "127.0.0.1", "[::1]", "localhost", "0x7f", ".",
            "example.com", "%00", "%2e", "\\", "#", "?", "a", "9" * 6, "[", "]", "\u3002", "\xad",
            "smtp", "smtps", "postgresql", "sqlite", "user", " ", "\n", "starttls=never", "\u2460",
        ]
    ),
    max_size=12,
).map("".join)  # fmt: skip
_CELLS = st.one_of(
    st.binary(max_size=400),
    st.lists(st.sampled_from(["name", ";", ",", "\t", '"', "\r\n", "\n", "x" * 300, "ä", "\x00"]),
             max_size=60).map(lambda parts: "".join(parts).encode("utf-8")),
)  # fmt: skip
_RANGE = st.lists(
    st.sampled_from(["bytes", "=", "-", ",", "0", "1", "9" * 30, " ", "x", "=-", "\t", "+"]),
    max_size=10,
).map("".join)  # fmt: skip


def _table(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        with open_table(Path(file.name)) as table:
            for _ in table.rows:
                pass


def _form(content: bytes) -> None:
    form = read_form(io.BytesIO(content), "multipart/form-data", {"boundary": "b"})
    for part in form.parts():
        part.text()


def _mail_url(text: str) -> None:
    with suppress(ValueError):  # what stops the start, with a message
        parse_mail_url(text)


TARGETS: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "filter": (_TEXT, parse_filter),
    "path": (_TEXT, parse_path),
    "options": (_TEXT, lambda text: parse_options(read_options(f"$filter={text}&$expand={text}"))),
    "json": (_JSON, parse_json),
    "form": (_PARTS, _form),
    "batch": (_PARTS, lambda body: read_multipart(body, "multipart/mixed; boundary=b", 100)),
    "json batch": (_JSON, lambda body: read_json_batch(parse_json(body), 100)),
    "table": (_CELLS, _table),
    "range": (_RANGE, parse_range_header),
    "webhook address": (_URL, read_url),
    "mail address": (_URL, _mail_url),
    "database address": (_URL, database_url),
    "pdf": (_TEXT, lambda text: render_pdf(document_full_of(text))),
}


def main(arguments: list[str]) -> int:
    """Fuzz every target for its time; returns 1 when something was found."""
    seconds = float(arguments[0]) if arguments else SECONDS
    found = 0
    for name in arguments[1:] or TARGETS:
        strategy, function = TARGETS[name]
        count, problem = fuzz(strategy, function, seconds)
        print(f"{name:18} {count:>8} inputs  {'FOUND' if problem else 'nothing found'}", flush=True)
        if problem:
            print(problem, flush=True)
            found = 1
    return found


def fuzz(strategy: Any, function: Callable[[Any], object], seconds: float) -> tuple[int, str]:
    """How many inputs were tried, and the smallest that was neither read nor refused."""
    count = 0

    def attempt(value: Any) -> None:
        nonlocal count
        count += 1
        with suppress(*REFUSALS):
            function(value)

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        number = secrets.randbits(32)
        run = settings(
            max_examples=EXAMPLES_AT_ONCE, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
        )(seed(number)(given(strategy)(attempt)))  # fmt: skip
        try:
            run()
        except Exception:  # whatever comes out is the finding
            return count, f"seed {number}\n{traceback.format_exc(limit=-4)}"
    return count, ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
