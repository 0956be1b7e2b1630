"""Public retrieval collections, and how good a ranking of their documents is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.demo.support import body_of
from app.demo.vocabulary import ARTICLES

# Questions in words of their own to the English articles of the demonstration: key, question.
SUPPORT = Path(__file__).parent / "questions" / "support.tsv"
# Of a ranking that many count.
DEPTH = 10


@dataclass(frozen=True)
class Collection:
    """Documents (id, title, text), questions (id, text) and judgements: question -> id -> grade."""

    documents: Sequence[tuple[str, str, str]]
    questions: Sequence[tuple[str, str]]
    relevant: Mapping[str, Mapping[str, int]]


def read_collection(folder: Path, split: str | None = None) -> Collection:
    """A collection in either layout."""
    is_beir = (folder / "corpus.jsonl").exists()
    return _read_beir(folder, split) if is_beir else _read_cranfield(folder)


def read_support(*, brief: bool) -> Collection:
    """What people ask a support desk, and the demonstration's articles.

    Args:
        brief: of an article its title and summary alone, as in a list of frequent questions.
    """
    articles = [article for article in ARTICLES if article.language == "en"]
    lines = [line.split("\t") for line in SUPPORT.read_text("utf-8").splitlines()]
    return Collection(
        [
            (each.key, each.title, each.summary if brief else f"{each.summary}\n{body_of(each)}")
            for each in articles
        ],
        [(str(place), question) for place, (_, question) in enumerate(lines)],
        {str(place): {key: 1} for place, (key, _) in enumerate(lines)},
    )


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


def _read_beir(folder: Path, split: str | None) -> Collection:
    documents = [
        (str(row["_id"]), row.get("title") or "", row.get("text") or "")
        for row in _rows(folder / "corpus.jsonl")
    ]
    relevant: dict[str, dict[str, int]] = {}
    for path in sorted((folder / "qrels").glob(f"{split or '*'}.tsv")):
        for question, document, grade in _judgements(path):
            if grade > 0:
                relevant.setdefault(question, {})[document] = grade
    questions = [
        (str(row["_id"]), row["text"])
        for row in _rows(folder / "queries.jsonl")
        if str(row["_id"]) in relevant
    ]
    if not questions:
        raise SystemExit(f"no judged questions in {folder}")
    return Collection(documents, questions, relevant)


def _judgements(path: Path) -> Iterator[tuple[str, str, int]]:
    """Question, document, grade; with a heading or without, in three columns or TREC's four."""
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) >= 3 and fields[-1].lstrip("-").isdigit():
            yield fields[0], fields[-2], int(fields[-1])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def ndcg(found: Sequence[str], grades: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain of the first ten (gain is the grade)."""
    gain = sum(grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(found))
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
