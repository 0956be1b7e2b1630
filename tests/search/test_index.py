"""The index in memory: scores, changes, and the order that two scores make."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy
import pytest

from app.search.analysis import fold, terms, words
from app.search.embedding import find_model
from app.search.entries import SHORTEST, WORDS, make_entry, passages, query_terms
from app.search.index import K1, TITLE_WEIGHT, B, Entry, Hits, Index, Segment
from app.search.ranking import rank
from app.search.results import Marker


def entry(key: int, text: str, *, title: str = "", vectors: Any = None) -> Entry:
    columns = make_entry(title, text, "en", None)
    return Entry(key, key, "en", None, columns.terms, columns.length, vectors)


def scores(index: Index, question: str, vector: Any = None) -> dict[int, float]:
    hits = index.search(query_terms(question, ["en"]), vector)
    return dict(zip(hits.keys.tolist(), hits.words.tolist(), strict=True))


def test_words_are_scored_by_bm25() -> None:
    index = Index([Segment([entry(1, "red apple apple"), entry(2, "green pear", title="Apple")])])
    by_key = scores(index, "apples")
    rarity = math.log(1 + 0.5 / 2.5)
    mean = (3 + 3) / 2
    for key, count in ((1, 2), (2, TITLE_WEIGHT)):
        norm = K1 * (1 - B + B * 3 / mean)
        assert by_key[key] == pytest.approx(rarity * count * (K1 + 1) / (count + norm), rel=1e-5)


@pytest.mark.parametrize(("question", "mended"), [
    ("forgot my pasword", "forgot my password"), ("Passwort vergesen", "password vergesen"),
    ("invoce reminder", "invoic reminder"), ("S40 prnter", "S40 printer"),
    ("passwords and invoices", "passwords and invoices"), ("Kubernetes", "Kubernetes"),
    ("word " * 20 + "pasword", "word " * 20 + "pasword"),
])  # fmt: skip
def test_a_word_that_no_text_has_is_mended_where_one_is_near(question: str, mended: str) -> None:
    texts = ("The password of the printer", "An invoice and its reminder", "The S40 is forgotten")
    index = Index([Segment([entry(key, text) for key, text in enumerate(texts, 1)])])
    assert index.mended(question) == mended


def test_changes_replace_add_and_remove() -> None:
    index = Index([Segment([entry(1, "apple"), entry(2, "pear"), entry(3, "plum")])])
    changed = index.with_changes([entry(2, "apple"), entry(4, "apple")], [1, 2, 4])
    assert len(changed) == 3
    by_key = scores(changed, "apple pear plum")
    assert by_key.keys() == {1, 2, 4}
    assert scores(changed, "pear")[2] == 0


def test_many_small_segments_are_worn() -> None:
    index = Index()
    for key in range(Index.MOST_SEGMENTS + 1):
        assert not index.is_worn()
        index = index.with_changes([entry(key, "apple")], range(100))
    assert index.is_worn()


def test_meaning_counts_the_best_passage_and_the_whole() -> None:
    near, far = numpy.eye(4, dtype=numpy.float32)[:2]
    vectors = numpy.stack([near, far])
    index = Index([Segment([entry(1, "a", vectors=vectors), entry(2, "b")])])
    hits = index.search([], near)
    assert hits.meaning.tolist() == pytest.approx([0.7 + 0.3 / math.sqrt(2), 0.0])


def test_an_empty_index_finds_nothing() -> None:
    for index in (Index(), Index([Segment([entry(1, "apple")])]).with_changes([], [])):
        assert rank(index.search(["en:apple"], None), "hybrid", 10) == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_scores_lie_between_0_and_1_and_go_down(mode: Any) -> None:
    model = find_model()
    assert model is not None
    texts = ["Resetting a password", "Paying an invoice", "Cleaning the scanner", "Password rules"]
    entries = []
    for key, text in enumerate(texts):
        columns = make_entry(text, text, "en", model)
        entries.append(Entry(key, key, "en", None, columns.terms, columns.length, columns.vectors))
    hits = Index([Segment(entries)]).search(
        query_terms("forgot password", ["en"]), model.embed(["forgot password"])[0]
    )
    ranked = rank(hits, mode, 10)
    values = [each.score for each in ranked]
    assert values == sorted(values, reverse=True)
    assert all(0 < value <= 1 for value in values)
    assert ranked[0].key in (0, 3)
    assert rank(hits, mode, 1) == ranked[:1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Größe, naïve ÉCOLE", ["grosse", "naive", "ecole"]), ("a_b-c", ["a", "b", "c"]),
     ("東京駅", ["東京", "京駅"]), ("ab東京", ["ab", "東京"]), ("", []), ("!?", [])],
)  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected
    assert fold(fold(text)) == fold(text)


def test_terms_are_stems_without_little_words() -> None:
    assert terms("How are the invoices paid?", "en") == ["invoic", "paid"]
    assert terms("Wie werden die Rechnungen bezahlt?", "de") == ["rechnung", "bezahlt"]
    assert terms("The invoices", "xx") == ["the", "invoices"]


def test_passages_have_about_110_words_and_lose_none() -> None:
    text = " ".join(str(number) for number in range(WORDS * 2 + SHORTEST - 1))
    assert [len(piece.split()) for piece in passages(text)] == [WORDS, WORDS + SHORTEST - 1]
    assert " ".join(passages(text)) == text
    assert passages("") == [""]


def test_a_snippet_is_the_densest_place_and_safe() -> None:
    filler = " ".join(["filler"] * 100)
    text = f"{filler} the <b>refund</b> of your invoice {filler}"
    marker = Marker("refunds for invoices", ["en"])
    snippet = marker.snippet([filler, text], "en")
    assert "&lt;b&gt;<mark>refund</mark>&lt;/b&gt; of your <mark>invoice</mark>" in snippet
    assert snippet.startswith("… ") and snippet.endswith(" …")
    assert marker.words_in(text, "en") == ["refund", "invoice"]


def hits_of(words: list[float], meaning: list[float]) -> Hits:
    """Texts 1, 2, 3 ... with these scores."""
    columns = (numpy.array(words, numpy.float32), numpy.array(meaning, numpy.float32))
    keys = numpy.arange(1, len(words) + 1)
    nothing = numpy.array([None] * len(words), dtype=object)
    around = numpy.zeros(len(words), numpy.float32)
    return Hits(keys, *columns, around, nothing, nothing, {None: max(*words, 1.0)})


def order(words: list[float], meaning: list[float]) -> list[int]:
    return [each.key for each in rank(hits_of(words, meaning), "hybrid", 100)]


def test_the_order_does_not_depend_on_how_a_question_scales_its_scores() -> None:
    dice = numpy.random.default_rng(26)
    for _ in range(50):
        words = (dice.exponential(2.0, 40) * (dice.random(40) < 0.4)).tolist()
        meaning = dice.normal(0.3, 0.1, 40).clip(0.21, 1).tolist()
        expected = order(words, meaning)
        assert order([3 * score for score in words], meaning) == expected
        assert order(words, [0.95 * score for score in meaning])[:5] == expected[:5]


def test_what_stands_out_by_one_score_wins_over_what_is_common_by_the_other() -> None:
    alike = [0.3 + 0.002 * at for at in range(30)]
    # Common words, which many texts have: the one that is meant is first.
    assert order([1.0 + 0.02 * at for at in range(30)], [*alike[:-1], 0.2])[0] != 1
    assert order([1.0 + 0.02 * (30 - at) for at in range(30)], [*alike[:-1], 0.9])[0] == 30
    # A rare word, which one text has, where all mean much the same.
    assert order([*[0.0] * 15, 9.0, *[0.5] * 14], alike)[0] == 16


@pytest.mark.parametrize("count", [1, 2])
def test_few_texts_are_found_too(count: int) -> None:
    assert order([1.0] * count, [0.4] * count) == [*range(1, count + 1)]
    assert order([0.0] * count, [0.4] * count) == [*range(1, count + 1)]
    assert order([1.0] * count, [0.0] * count) == [*range(1, count + 1)]


def test_words_count_as_far_as_a_text_has_the_words_of_the_question() -> None:
    by_words, by_meaning = [4.0, 0.0, 0.0], [0.38, 0.42, 0.41]
    hits = hits_of(by_words, by_meaning)
    assert rank(hits, "hybrid", 1)[0].key == 1
    # The same scores where a text with every word would score twenty times as much.
    by_chance = replace(hits, ceilings={None: 80.0})
    assert [each.key for each in rank(by_chance, "hybrid", 3)] == [2, 3, 1]


def test_words_are_believed_where_their_best_text_is_near_or_alone_with_them() -> None:
    near, far = [0.7, 0.5, 0.5, 0.2], [0.3, 0.7, 0.5, 0.2]
    # Two texts have the words, and the better one means something else: meaning decides.
    assert order([5.0, 0.0, 0.0, 4.9], far)[0] == 2
    assert order([5.0, 0.0, 0.0, 4.9], near)[0] == 1
    # One text alone has the word.
    assert order([5.0, 0.0, 0.0, 0.0], far)[0] == 1


def test_what_is_around_the_nearest_text_counts_a_little() -> None:
    hits = hits_of([1.0, 1.0, 1.0, 0.0], [0.6, 0.42, 0.4, 0.2])
    kin = replace(hits, around=numpy.array([1.0, 0.1, 0.9, 0.1], numpy.float32))
    assert [each.key for each in rank(hits, "hybrid", 3)] == [1, 2, 3]
    assert [each.key for each in rank(kin, "hybrid", 3)] == [1, 3, 2]
    assert [each.key for each in rank(kin, "semantic", 3)] == [1, 2, 3]


def test_the_index_tells_what_is_around_the_nearest_text() -> None:
    vectors = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.6, 0.8], [1.0, 0.0, 0.0]]
    entries = [
        replace(entry(key, f"text {key}"), vectors=numpy.array([vector], numpy.float32))
        for key, vector in enumerate(vectors, 1)
    ]
    index = Index([Segment(entries[:2]), Segment(entries[2:])])
    index.segments[1].drop(4)  # gone, though as near as the first
    question = numpy.array([1.0, 0.0, 0.0], numpy.float32)
    terms = query_terms("text", ["en"])
    assert index.search(terms, question).around.tolist() == pytest.approx([1.0, 0.8, 0.0])
    assert not index.search(terms, None).around.any()
    assert not Index([Segment([entry(1, "text")])]).search(terms, question).around.any()


def test_a_question_says_nothing_in_the_languages_of_other_articles() -> None:
    english = entry(1, "how to reset a password")
    columns = make_entry("", "Rechnungen bezahlen", "de", None)
    german = Entry(2, 2, "de", None, columns.terms, columns.length, None)
    question = query_terms("reset password", ["de", "en"])
    alone = Index([Segment([english, entry(2, "pay invoices")])]).search(question, None)
    both = Index([Segment([english, german])]).search(question, None)
    assert both.covered == pytest.approx(alone.covered, rel=0.05)
