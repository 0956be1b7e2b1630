"""How good and how dear the search of the knowledge base is, on a public retrieval collection.

    python -m bench.kb --collection DIR [--database postgresql://...] [--limit N] [--split test]
    python -m bench.kb --support
    python -m bench.kb --vectors 100000 --articles 10000

DIR has either the Cranfield layout (cran.all.1400, cran.qry, cranqrel) or the BEIR layout
(corpus.jsonl, queries.jsonl, qrels/*.tsv; every split of the judgements unless one is named). Its
documents become published articles of a new database, the worker's own functions index them, and
every question goes through the service: index, query engine, permission. For keyword, semantic and
hybrid it prints nDCG@10 and recall@10, and CPU of this process per question (median and 95th of a
hundred). A judgement above 0 counts as relevant; graded ones count by their grade in BEIR
collections, as usual there. ``--support`` asks 150 questions of a support desk, which were written
without looking at what is found, of the demonstration's articles, and of their summaries alone.

``--vectors`` times the nearest of so many passages, beside comparing all of them; ``--articles``
times questions to so many articles, made of words at random with vectors at random: what a question
costs depends on neither. Both print the memory of the model too.
"""

from __future__ import annotations

import argparse
import html
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import flask_migrate
import numpy
import psycopg
from flask import Flask
from sqlalchemy import make_url

from app.clock import utc_now
from app.config import Config, database_url
from app.db import records
from app.db.engines import transaction
from app.extensions import db
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.kb.indexing import ARTICLE, index_articles
from app.kb.search import search_articles
from app.models.kb_article import KbArticle
from app.search.embedding import DIMENSION
from app.search.entries import make_entry, store
from app.search.index import Vectors
from app.search.index_cache import index_cache_of
from app.search.results import MODES
from app.search.wordpiece import vocabulary
from bench.retrieval import DEPTH, Collection, cut, ndcg, read_collection, read_support

TITLE_LENGTH = 255
NAME = "business_platform_bench_kb"


def main() -> int:
    """Measure each database."""
    options = _options()
    if options.vectors or options.articles:
        tell_model_memory()
    if options.vectors:
        time_vectors(options.vectors)
    if options.articles:
        for url in options.database or [""]:
            with tempfile.TemporaryDirectory() as folder, database(url, Path(folder)) as address:
                time_articles(options.articles, address, Path(folder))
    collections = [read_support(brief=brief) for brief in (False, True)] if options.support else []
    if options.collection is not None:
        collections.append(read_collection(options.collection, options.split))
    for collection in collections:
        if options.limit:
            collection = cut(collection, options.limit)
        print(f"{len(collection.documents)} documents, {len(collection.questions)} questions")
        for url in options.database or [""]:
            with tempfile.TemporaryDirectory() as folder, database(url, Path(folder)) as address:
                measure(collection, address, Path(folder))
    return 0


def measure(collection: Collection, address: str, folder: Path) -> None:
    """Index the collection into a database and ask every question in every mode."""
    app = service_app(folder, address)
    print(f"\n{make_url(address).get_backend_name()}")
    with app.app_context(), acting_as(system_caller("bench")):
        flask_migrate.upgrade()
        names = fill(collection.documents)
        before = resident_mb()
        wall, cpu = time.monotonic(), time.process_time()
        while index_articles():
            pass
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        print(f"index: {wall:.0f} s, {cpu:.0f} s of CPU; memory {before} -> {resident_mb()} MB")
        cpu = time.process_time()
        index_cache_of(ARTICLE).current()
        print(f"load into the process: {time.process_time() - cpu:.2f} s of CPU")
        print("mode       nDCG@10  recall@10   CPU p50   CPU p95")
        for mode in ("keyword", "semantic", "hybrid"):
            assert mode in MODES
            ask(collection, names, mode)
        print(f"memory at the end: {resident_mb()} MB")
        for engine in db.engines.values():
            engine.dispose()


def ask(collection: Collection, names: Mapping[int, str], mode: Any) -> None:
    """Ask every question in one mode and print its line."""
    gains, recalls, times = [], [], []
    search_articles("warm up", mode=mode)
    for key, text in collection.questions:
        begin = time.process_time()
        result = search_articles(text, mode=mode, limit=DEPTH)
        times.append(time.process_time() - begin)
        found = [names[each.article["id"]] for each in result.found]
        grades = collection.relevant[key]
        gains.append(ndcg(found, grades))
        recalls.append(len(set(found) & set(grades)) / len(grades))
    times.sort()
    p50, p95 = times[len(times) // 2] * 1000, times[int(len(times) * 0.95)] * 1000
    print(
        f"{mode:9} {sum(gains) / len(gains):8.4f} {sum(recalls) / len(recalls):10.4f}"
        f" {p50:6.1f} ms {p95:6.1f} ms"
    )


def fill(documents: Sequence[tuple[str, str, str]]) -> dict[int, str]:
    """The documents as published articles; returns id -> name in the collection."""
    names = {}
    now = utc_now()
    with transaction():
        for number, (name, title, text) in enumerate(documents):
            article = {
                "title": title[:TITLE_LENGTH], "body": html.escape(text), "body_format": "Html",
                "status": "Published", "visibility": "Public", "slug": f"d{number}",
                "created_at": now, "updated_at": now,
            }  # fmt: skip
            names[records.insert(KbArticle.__table__, article)] = name
    return names


def time_vectors(count: int) -> None:
    """How long the nearest of ``count`` passages take to find."""
    random = numpy.random.default_rng(1)
    matrix = random.standard_normal((count, DIMENSION), dtype=numpy.float32)
    matrix /= numpy.linalg.norm(matrix, axis=1, keepdims=True)
    vectors = Vectors(matrix[:, None, :])
    took = []
    for place in range(0, count, count // 50):
        begin = time.process_time()
        numpy.argpartition(-vectors.nearness(matrix[place]), DEPTH)[:DEPTH]
        took.append((time.process_time() - begin) * 1000)
    print(f"{count} passages: {percentiles(took)} of CPU")


def time_articles(count: int, address: str, folder: Path) -> None:
    """What a question costs with ``count`` articles of some 300 words."""
    random = numpy.random.default_rng(1)
    app = service_app(folder, address)
    with app.app_context(), acting_as(system_caller("bench")):
        flask_migrate.upgrade()
        # Words as often as in a language: the second half as often as the first, and so on.
        words = numpy.array(list(vocabulary())[2000:22_000])
        drawn = numpy.minimum(random.zipf(1.2, (count, 300)) - 1, len(words) - 1)
        texts = [" ".join(words[row]) for row in drawn]
        fill([(str(place), text[:60], text) for place, text in enumerate(texts)])
        for place, text in enumerate(texts, 1):
            made = make_entry(text[:60], text, "en", None)
            block = random.standard_normal((len(made.passages), DIMENSION), dtype=numpy.float32)
            block /= numpy.linalg.norm(block, axis=1, keepdims=True)
            with transaction():
                store(
                    ARTICLE, place, replace(made, vectors=block),
                    revision=1, language="en", category=None,
                )  # fmt: skip
        for mode in MODES:
            times = []
            for text in (f"how do I {one[100:160]}" for one in texts[:100]):
                begin = time.process_time()
                search_articles(text, mode=mode, limit=DEPTH)
                times.append((time.process_time() - begin) * 1000)
            print(f"{count} articles, {mode:9}: {percentiles(times[5:])} of CPU a question")
        for engine in db.engines.values():
            engine.dispose()


def tell_model_memory() -> None:
    """What the model adds to a process, and how much at most while it is loaded."""
    code = (
        "import os\n"
        "os.environ['ORT_DISABLE_TELEMETRY'] = '1'\n"
        "import numpy, onnxruntime, re\n"
        "from app.search.embedding import find_model\n"
        "def now(name):\n"
        "    text = open('/proc/self/status').read()\n"
        "    return int(re.search(name + r':\\s+(\\d+)', text)[1]) // 1024\n"
        "before = now('VmRSS')\n"
        "find_model().embed(['How do I reset my password?'])\n"
        "print(before, now('VmRSS'), now('VmHWM'))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    before, after, peak = map(int, found.stdout.split())
    print(
        f"model: a process of {before} MB has {after} MB with it, {peak} MB while it is loaded:"
        f" {after - before} MB for the model, {peak - before} MB at most"
    )


def percentiles(times: Sequence[float]) -> str:
    """Median and 95th of a hundred."""
    ordered = sorted(times)
    middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
    return f"median {middle:.1f} ms, 95th {late:.1f} ms"


def service_app(folder: Path, address: str) -> Flask:
    """The service on a database of its own."""
    return create_app(
        Config(
            SECRET_KEY="only-for-this-measurement-0123456789",
            DATA_DIR=folder,
            SQLALCHEMY_DATABASE_URI=address,
            LOG_FORMAT="json",
        )
    )


@contextmanager
def database(url: str, folder: Path) -> Iterator[str]:
    """A new database: a file, or one on the PostgreSQL server of ``url``; gone at the end."""
    if not url:
        yield f"sqlite:///{folder / 'bench.db'}"
        return
    server = make_url(database_url(url))
    plain = server.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {NAME}")
        connection.execute(f"CREATE DATABASE {NAME}")
        try:
            yield server.set(database=NAME).render_as_string(hide_password=False)
        finally:
            connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def resident_mb() -> int:
    """Memory of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, help="folder of the collection")
    parser.add_argument(
        "--support", action="store_true", help="ask the questions of a support desk"
    )
    parser.add_argument(
        "--database", action="append",
        help="'' for SQLite or the address of a PostgreSQL server; may be given several times",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, default=0, help="only the first questions")
    parser.add_argument("--split", help="judgements to use of a BEIR collection, such as test")
    parser.add_argument("--vectors", type=int, default=0, help="time a search in so many vectors")
    parser.add_argument(
        "--articles", type=int, default=0, help="time questions to so many articles"
    )
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
