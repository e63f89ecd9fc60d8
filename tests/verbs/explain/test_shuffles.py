"""Shuffles of single examples: labels, confidences, weighed words and tied words in one picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from disorder.errors import BadSetting, NothingToMeasure
from disorder.models import load
from disorder.requests.settings import Settings
from disorder.types import Dataset, Example, Floats, Task, Texts
from disorder.verbs.explain import Subject, text_versions
from disorder.verbs.explain.explanations.shuffles import WeighedVersion, shuffles, versions_figure
from disorder.verbs.explain.head_matching import TiedWords
from disorder.verbs.explain.word_importance import WeighedWords

TASK = Task("mood", labels=("negative", "positive"), breaks="a")
TEXTS = ("dull the old film was so", "good the old film was so")


class FirstWord:
    """Positive at 0.9 where the text has `good` or begins with `dull`, negative at 0.7 else: order
    matters to the second kind of text alone.
    """

    labels = TASK.labels
    fingerprint = ""

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        is_positive = np.array(["good" in a or a.startswith("dull") for a, _ in texts])
        return np.where(is_positive[:, None], [0.1, 0.9], [0.7, 0.3])


def subject(*texts: str) -> Subject:
    examples = [Example.of(text.split()[0], text, None, "positive") for text in texts]
    return Subject(
        load(FirstWord(), task=TASK),
        Dataset("toy", TASK, examples),
        Settings(q=3, short="use"),
        "shuffle_ngrams:n=1",
    )


def test_a_success_and_a_failure_are_both_shown() -> None:
    found = shuffles(subject(*TEXTS), q=3, samples=50)
    assert [figure.name for figure in found.figures] == ["shuffles_stays_1", "shuffles_changes_1"]
    [table] = found.tables
    stays, changes = table.rows[:4], table.rows[4:]
    assert {row["label"] for row in stays} == {"positive"}
    assert stays[0]["text a"] == TEXTS[1]
    assert stays[0]["heaviest word"] == "good"
    assert [row["version"] for row in changes] == [
        "original",
        "shuffle 1",
        "shuffle 2",
        "shuffle 3",
    ]
    for row in changes:
        is_first = row["text a"].startswith("dull")
        assert (row["label"], row["confidence"]) == (
            ("positive", 0.9) if is_first else ("negative", 0.7)
        )
    assert found.scores["stays"].value == 0.5
    drawn = found.figures[1].svg
    assert "original · positive 0.90" in drawn
    assert "negative 0.70" in drawn


def test_only_what_there_is_is_shown() -> None:
    found = shuffles(subject(TEXTS[1]), q=2, samples=50)
    assert [figure.name for figure in found.figures] == ["shuffles_stays_1"]
    with pytest.raises(NothingToMeasure, match="no example is predicted right"):
        shuffles(subject("so the old film was"), q=2)
    with pytest.raises(BadSetting, match="1 example or more"):
        shuffles(subject(*TEXTS), n=0)


def test_tied_words_are_framed_on_both_sides_and_named_in_the_caption() -> None:
    words = WeighedWords(("a", "dog", "the", "dog"), ("a", "a", "b", "b"), np.array([0, 0.5, 0, 0]))
    ties = TiedWords((2, 7), ((1, 1), (0, 0), (1, 0)), 1)
    version = WeighedVersion("original", ("a dog", "the dog"), "entailment", 0.8, words, ties)
    assert version.line.frames == {1: 0, 3: 0, 0: 1, 2: 1}
    assert version.row["head"] == "layer 2, head 7"
    figure = versions_figure("x", [version], "one pair")
    assert figure.svg.count('stroke-width="2.5"') == 4
    assert "3 word pairs" in figure.caption


def test_texts_of_a_paper_are_predicted_as_they_stand() -> None:
    found = text_versions(subject(*TEXTS), [("S", ("dull it is", None)), ("S_1", ("", None))])
    assert [(each.name, each.label) for each in found] == [("S", "positive")]
    assert "word pairs" not in versions_figure("x", found, "single texts").caption
