"""Mini-tree scores as UNLI section 6 defines them: values by hand, and 1 for a corpus of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.errors import BadSetting, UnknownName
from disorder.transformations.words import split
from disorder.types import Sentence
from disorder.verbs.explain import explain
from disorder.verbs.explain.explanations.minitree import (
    UNIVERSAL,
    in_order,
    minitree_scores,
    neighbours_of,
    numbers_of,
    signatures,
    tagged_again,
    top,
)


def sentence(words: str, tags: str) -> Sentence:
    return replace(split(words, words="spaces"), tags=np.array(tags.split(), dtype="U5"))


CAT = sentence("the cat saw a big dog", "DET NOUN VERB DET ADJ NOUN")


def named(counts: Any) -> dict[str, float]:
    return {tag: float(n) for tag, n in zip(UNIVERSAL, counts.tolist(), strict=True) if n}


def test_neighbours_leave_the_word_itself_out() -> None:
    found = neighbours_of(numbers_of(CAT)[None, :], 2)[0]
    assert named(found[0]) == {"NOUN": 1, "VERB": 1}
    assert named(found[2]) == {"DET": 2, "NOUN": 1, "ADJ": 1}
    assert named(neighbours_of(numbers_of(CAT)[None, :], 99)[0][5]) == {
        "DET": 2,
        "NOUN": 1,
        "VERB": 1,
        "ADJ": 1,
    }


def test_psi_averages_over_texts_and_the_released_form_counts() -> None:
    short, long = sentence("cat ran", "NOUN VERB"), sentence("a The cat", "DET DET NOUN")
    paper = signatures([short, long], 2)
    assert named(paper.of(["CAT"])[0]) == {"VERB": 0.5, "DET": 0.5}
    released = signatures([short, long], 2, fidelity="released")
    assert named(released.of(["cat"])[0]) == pytest.approx({"VERB": 1 / 3, "DET": 2 / 3})
    assert paper.n[paper.places["cat"]] == 2
    assert not paper.of(["dog"]).any()


def test_ties_go_by_the_alphabet_and_absent_classes_count_in_the_released_form_alone() -> None:
    counts = np.zeros(17)
    counts[[UNIVERSAL.index("VERB"), UNIVERSAL.index("DET"), UNIVERSAL.index("NOUN")]] = [1, 1, 2]
    assert [UNIVERSAL[i] for i in np.flatnonzero(top(counts, 2))] == ["DET", "NOUN"]
    assert top(counts, 5).sum() == 3
    assert [UNIVERSAL[i] for i in np.flatnonzero(top(counts, 5, fidelity="released"))] == [
        "ADJ",
        "ADP",
        "DET",
        "NOUN",
        "VERB",
    ]


@given(
    st.lists(st.sampled_from(UNIVERSAL), min_size=2, max_size=12),
    st.integers(1, 6),
    st.integers(1, 4),
)
def test_a_text_has_all_its_classes_in_a_corpus_of_itself(
    tags: list[str], k: int, radius: int
) -> None:
    """Of k compared (Eq. 4): a word with fewer classes around it scores less than 1; the released
    form fills up to k with absent ones.
    """
    text = sentence(" ".join(f"w{i}" for i in range(len(tags))), " ".join(tags))
    own = np.arange(len(tags))[None, :]
    for fidelity in ("paper", "released"):
        trained = signatures([text], radius, fidelity=fidelity)  # type: ignore[arg-type]
        score = minitree_scores(text, own, trained, k=k, radius=radius, fidelity=fidelity)  # type: ignore[arg-type]
        around = [
            len({tags[j] for j in range(len(tags)) if 0 < abs(i - j) <= radius})
            for i in range(len(tags))
        ]
        shares = np.minimum(around, k) / k
        assert score[0] == pytest.approx(1.0 if fidelity == "released" else shares.mean())


def test_a_permutation_by_hand() -> None:
    text = sentence("the cat saw rain", "DET NOUN VERB NOUN")
    trained = signatures([text], 1)
    # reversed, every word keeps its neighbours; "cat the saw rain": cat has DET (usual DET, VERB),
    # the has NOUN and VERB
    # (usual NOUN), saw has DET and NOUN (usual NOUN), rain has VERB (usual VERB)
    rows = np.array([[3, 2, 1, 0], [1, 0, 2, 3]])
    assert minitree_scores(text, rows, trained, k=2, radius=1).tolist() == [
        (0.5 + 1 + 0.5 + 0.5) / 4,  # of two compared: the and saw and rain have one class around
        (0.5 + 0.5 + 0.5 + 0.5) / 4,
    ]
    assert minitree_scores(text, rows[1:], trained, k=2, radius=1, fidelity="released")[0] < 1


def test_the_released_form_tags_permuted_texts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def by_place(sentences: Any, *, tagger: str) -> list[Sentence]:
        """What stands first is a noun, the rest are verbs."""
        seen.extend(each.text for each in sentences)
        return [
            replace(each, tags=np.array(["NOUN"] + ["VERB"] * (len(each) - 1), dtype="U5"))
            for each in sentences
        ]

    monkeypatch.setattr("disorder.verbs.explain.explanations.minitree.tagged", by_place)
    rows = np.array([[3, 2, 1, 0], [1, 0, 2, 3]])
    text = sentence("the cat saw rain", "DET NOUN VERB NOUN")
    assert in_order(text, rows[0]).words == ["rain", "saw", "cat", "the"]
    own = tagged_again(text, rows, "any")
    assert seen == ["rain saw cat the", "cat the saw rain"]
    assert [UNIVERSAL[i] for i in own[0].tolist()] == ["NOUN", "VERB", "VERB", "VERB"]
    trained = signatures([text], 1)
    paper = minitree_scores(text, rows, trained, k=2, radius=1)
    again = minitree_scores(text, rows, trained, k=2, radius=1, classes=own)
    assert again.tolist() == [(0.5 + 0.5 + 0.5 + 0.0) / 4, (0.5 + 0.5 + 0.0 + 0.5) / 4]
    assert paper.tolist() != again.tolist()
    asked = "minitree:train=builtin:nli:train,n_train=20"
    seen.clear()
    explain("builtin:bow", by=asked, limit=12, q=3, fidelity="released")
    n_released = len(seen)
    seen.clear()
    explain("builtin:bow", by=asked, limit=12, q=3, fidelity="paper")
    assert n_released > len(seen), "permuted texts are tagged under released alone"


def test_words_never_seen_score_0() -> None:
    other = signatures([sentence("an unseen thing", "DET ADJ NOUN")], 2)
    for fidelity in ("paper", "released"):
        assert minitree_scores(
            CAT, np.arange(6)[None], other, k=4, radius=2, fidelity=fidelity
        ).tolist() == [0.0]  # type: ignore[arg-type]


@pytest.fixture
def _tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    def tag(sentences: Any, *, tagger: str) -> list[Sentence]:
        kinds = ("NOUN", "VERB", "DET", "ADJ")
        return [
            replace(s, tags=np.array([kinds[len(w) % 4] for w in s.words], dtype="U5"))
            for s in sentences
        ]

    monkeypatch.setattr("disorder.verbs.explain.explanations.minitree.tagged", tag)


@pytest.mark.usefixtures("_tagger")
def test_a_bag_of_words_does_not_mind_word_classes() -> None:
    found = explain(
        "builtin:bow", by="minitree:train=builtin:nli:train,n_train=100", limit=60, q=10
    )["minitree"]
    assert found.scores["slope_within"].value == 0
    assert (
        found.scores["score of original texts"].value > found.scores["score of permutations"].value
    )
    assert "100 of " in found.notes[0]
    assert sum(row["value"] for row in found.figures[1].rows) == pytest.approx(2, abs=1e-4)


@pytest.mark.usefixtures("_tagger")
def test_a_word_can_be_named() -> None:
    found = explain("builtin", by="minitree:word=the,k=2,r=1", limit=60, q=5)["minitree"]
    assert "“the”" in found.figures[1].caption.lower()
    with pytest.raises(UnknownName):
        explain("builtin", by="minitree:word=xylophone", limit=60, q=5)
    with pytest.raises(BadSetting):
        explain("builtin", by="minitree:k=0", limit=60, q=5)
