"""How good and how dear the search of the knowledge base is, on a public retrieval collection.

    python -m bench.kb --collection DIR [--database postgresql://...] [--limit N] [--vectors 100000]

DIR has either the Cranfield layout (cran.all.1400, cran.qry, cranqrel) or the BEIR layout
(corpus.jsonl, queries.jsonl, qrels/test.tsv). Its documents become published articles of a new
database, the worker's own functions index them, and every question goes through the service: index,
query engine, permission. For keyword, semantic and hybrid it prints nDCG@10 and recall@10, and CPU
of this process per question (median and 95th of a hundred). A judgement above 0 counts as relevant;
graded ones count by their grade in BEIR collections, as usual there.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flask_migrate
import psycopg
from flask import Flask
from sqlalchemy import make_url

from app import records
from app.clock import utc_now
from app.config import Config, database_url
from app.database import transaction
from app.extensions import db
from app.factory import create_app
from app.kb.indexing import ARTICLE, index_articles
from app.kb.search import search_articles
from app.lazy import lazy
from app.models.kb_article import KbArticle
from app.search.ranking import MODES
from app.search.shelf import shelf_of
from app.security import acting_as, system_caller

numpy: Any = lazy("numpy")
DEPTH = 10
TITLE_LENGTH = 255
NAME = "business_platform_bench_kb"


@dataclass(frozen=True)
class Collection:
    """Documents (id, title, text), questions (id, text) and judgements: question -> id -> grade."""

    documents: Sequence[tuple[str, str, str]]
    questions: Sequence[tuple[str, str]]
    relevant: Mapping[str, Mapping[str, int]]


def main() -> int:
    """Measure each database."""
    options = _options()
    if options.vectors:
        time_vectors(options.vectors)
    if options.collection is None:
        return 0
    collection = read_collection(options.collection)
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
        shelf_of(ARTICLE).current()
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


def ndcg(found: Sequence[str], grades: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain of the first ten (gain is the grade)."""
    gain = sum(grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(found))
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))


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


def read_collection(folder: Path) -> Collection:
    """A collection in either layout."""
    return _read_beir(folder) if (folder / "corpus.jsonl").exists() else _read_cranfield(folder)


def cut(collection: Collection, most: int) -> Collection:
    """The first ``most`` questions, and all documents."""
    return Collection(collection.documents, collection.questions[:most], collection.relevant)


def _read_cranfield(folder: Path) -> Collection:
    documents = []
    for part in _parts(folder / "cran.all.1400"):
        number, _, rest = part.partition("\n")
        title = rest.partition(".T\n")[2].partition("\n.A\n")[0]
        text = rest.partition("\n.W\n")[2]
        documents.append((number.strip(), _line(title), _line(text)))
    # The judgements number the questions by their order.
    questions = [
        (str(place), _line(part.partition(".W\n")[2]))
        for place, part in enumerate(_parts(folder / "cran.qry"), 1)
    ]
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "cranqrel").read_text().splitlines():
        fields = line.split()
        if len(fields) >= 3 and int(fields[2]) > 0:
            relevant.setdefault(fields[0], {})[fields[1]] = 1
    return Collection(documents, [pair for pair in questions if pair[0] in relevant], relevant)


def _parts(path: Path) -> Iterator[str]:
    text = "\n" + path.read_text(encoding="latin-1")
    yield from text.split("\n.I ")[1:]


def _line(text: str) -> str:
    return " ".join(text.split())


def _read_beir(folder: Path) -> Collection:
    documents = [
        (str(row["_id"]), row.get("title") or "", row.get("text") or "")
        for row in _rows(folder / "corpus.jsonl")
    ]
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")[:3]
        if int(grade) > 0:
            relevant.setdefault(question, {})[document] = int(grade)
    questions = [
        (str(row["_id"]), row["text"])
        for row in _rows(folder / "queries.jsonl")
        if str(row["_id"]) in relevant
    ]
    return Collection(documents, questions, relevant)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def time_vectors(count: int) -> None:
    """How long the nearest of ``count`` vectors take to find."""
    random = numpy.random.default_rng(1)
    matrix = random.standard_normal((count, 384), dtype=numpy.float32)
    times = []
    for place in range(50):
        begin = time.process_time()
        near = matrix @ matrix[place]
        numpy.argpartition(-near, DEPTH)[:DEPTH]
        times.append((time.process_time() - begin) * 1000)
    times.sort()
    print(f"{count} vectors: median {times[25]:.1f} ms, 95th {times[47]:.1f} ms of CPU")


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
        "--database", action="append",
        help="'' for SQLite or the address of a PostgreSQL server; may be given several times",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, default=0, help="only the first questions")
    parser.add_argument("--vectors", type=int, default=0, help="time a search in so many vectors")
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
