"""Retrieval collections as they lie about, and the measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.retrieval import cut, ndcg, read_collection

CORPUS = (
    '{"_id": "d1", "title": "A", "text": "one"}\n{"_id": 2, "text": "two"}\n\n'
    '{"_id": "d3", "title": null, "text": "three", "metadata": {}}\n'
)
QUERIES = '{"_id": "q1", "text": "first?"}\n{"_id": "q2", "text": "second?"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    qrels = tmp_path / "qrels"
    qrels.mkdir()
    (qrels / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\n")
    (qrels / "train.tsv").write_text("q2 0 2 1\n")
    return tmp_path


def test_a_beir_folder_is_read(folder: Path) -> None:
    found = read_collection(folder)
    assert found.documents == [("d1", "A", "one"), ("2", "", "two"), ("d3", "", "three")]
    assert found.questions == [("q1", "first?"), ("q2", "second?")]
    assert found.relevant == {"q1": {"d1": 2}, "q2": {"2": 1}}
    assert cut(found, 1).questions == [("q1", "first?")]


def test_one_split_of_the_judgements(folder: Path) -> None:
    assert read_collection(folder, "test").relevant == {"q1": {"d1": 2}}
    with pytest.raises(SystemExit, match="no judged questions"):
        read_collection(folder, "dev")


def test_gain_falls_with_the_place() -> None:
    grades = {"a": 2, "b": 1}
    assert ndcg(["a", "b", "c"], grades) == 1
    assert ndcg(["b", "a"], grades) == pytest.approx((1 + 2 / 1.5849625) / (2 + 1 / 1.5849625))
    assert ndcg(["c"], grades) == 0
