"""How soon a bulk import is found by its meaning: 5,000 articles, until all are embedded.

    python -m bench.indexing [--articles 5000] [--postgresql postgresql://postgres@127.0.0.1:5432]

The articles, of some 200 words each, are made of the sentences of the demonstration's English ones,
the same at every run. ``import_records`` takes them in, as ``flask import records`` does; then one
worker process embeds them, and what is still waiting is told as the console and the metric
``queue_depth`` tell it. The budget is for two cores that do nothing else: the CPU of the worker
divided by its threads must stay below it, whatever else the machine does meanwhile.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from app.db.engines import primary_engine
from app.importing.history import import_records
from app.jobs.leases import waiting
from app.kb.indexing import THREADS
from bench.services import ROOT, Place, service

BUDGET_SECONDS = 300
WORDS = 200


def main() -> int:
    """Import, wait, print; fail when two cores would need longer than the budget."""
    parser = argparse.ArgumentParser(prog="bench.indexing")
    parser.add_argument("--articles", type=int, default=5000)
    parser.add_argument("--postgresql")
    options = parser.parse_args()
    with service(options.postgresql) as place:
        wall, cpu = time.monotonic(), time.process_time()
        with place.app.app_context():
            import_records({"KbArticles": articles(options.articles)})
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        print(f"imported {options.articles:,} articles: {wall:.0f} s here, {cpu:.0f} s of CPU")
        wall, cpu = embed(place, options.articles)
    alone, each = cpu / THREADS, cpu / options.articles * 1000
    print(f"all embedded: {wall:.0f} s here, {cpu:.0f} s of CPU, {each:.0f} ms each")
    print(f"two cores that do nothing else: {alone:.0f} s, budget {BUDGET_SECONDS} s")
    return int(alone > BUDGET_SECONDS)


def embed(place: Place, count: int) -> tuple[float, float]:
    """Let a worker take all in, telling how far it is; its wall and CPU seconds."""
    worker, begin, told = place.start_worker(), time.monotonic(), 0
    with place.app.app_context():
        while True:
            with primary_engine().connect() as connection:
                left, _ = waiting(connection, "search")
            seconds, cpu = time.monotonic() - begin, cpu_seconds(worker.pid)
            done = count - left
            if done * 10 // count > told or not left:
                told = done * 10 // count
                print(
                    f"{done:7,} embedded, {left:,} waiting: {seconds:4.0f} s, {cpu:4.0f} s of CPU"
                )
            if not left:
                return seconds, cpu
            time.sleep(1)


def articles(count: int) -> list[dict[str, Any]]:
    """Published articles as a file of ``flask import records`` has them."""
    sentences = [
        sentence
        for path in sorted((ROOT / "app/demo/articles").glob("*.md"))
        if "language: en" in (text := path.read_text("utf-8"))
        for sentence in re.split(r"(?<=[.!?])\s+", text)
        if len(sentence.split()) > 5
    ]
    chance = random.Random(1)
    return [article(number, sentences, chance) for number in range(1, count + 1)]


def article(number: int, sentences: list[str], chance: random.Random) -> dict[str, Any]:
    """One of them."""
    body, words = [], 0
    while words < WORDS:
        body.append(chance.choice(sentences))
        words += len(body[-1].split())
    title = " ".join(chance.choice(sentences).split()[:8])
    return {
        "id": number, "title": f"{title} ({number})", "body": " ".join(body),
        "bodyFormat": "Markdown", "status": "Published", "visibility": "Public", "language": "en",
    }  # fmt: skip


def cpu_seconds(process: int) -> float:
    """What a process has used, its threads and ended children included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
