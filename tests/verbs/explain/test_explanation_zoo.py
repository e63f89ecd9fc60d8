"""Every explanation's sentence on models whose mechanism is known, and on noise.

`scripts/explain_zoo.py` writes the table in docs/results/explain/README.md from the same runs.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pytest
from mechanisms import BAD, GOOD, MECHANISMS

from disorder.registry import ExplanationPart, parts
from disorder.verbs.explain import Explained, Explanations, explain

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
from explain_zoo import BY, LACKING, table

NAMES = list(MECHANISMS)
BLIND = ("bag of words", "length only", "overlap only")  # to order
READERS = ("first word", "adjacent bigram", "order of two words")
PARTS = ("length", "words", "global order", "local order")


@cache
def explained(name: str) -> Explanations:
    """All explanations of one mechanism, found once."""
    mechanism = MECHANISMS[name]
    return explain(mechanism, mechanism.rows(), by=list(BY.values()))


def found(name: str, by: str) -> Explained:
    return explained(name)[by]


def test_every_explanation_of_labels_is_in_the_zoo() -> None:
    every = {name for name, part in parts(ExplanationPart).items() if part.is_built_in}
    assert every == {*BY, *LACKING}


RELIES = {
    "first word": "it relies on global order and local order, more on global",
    "adjacent bigram": "it relies on local order and global order, more on local",
    "order of two words": "it relies on global order, more on global",
    "bag of words": "it relies on words; no use of order is shown",
    "length only": "it relies on length; no use of order is shown",
    "overlap only": "it relies on words; no use of order is shown",
    "noise": "no skill to split: balanced accuracy",
}


@pytest.mark.parametrize("by", ["ladder", "overview"])
@pytest.mark.parametrize("name", NAMES)
def test_the_ladder_says_what_a_model_relies_on(name: str, by: str) -> None:
    assert found(name, by).finding.startswith(RELIES[name])


@pytest.mark.parametrize("name", ["length only", "noise"])
def test_no_words_are_credited_to_models_that_read_none(name: str) -> None:
    words = found(name, "ladder").scores["words"]
    assert words.low <= 0 <= words.high
    assert "no words are named" in found(name, "overview").finding


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", NAMES)
def test_other_texts_of_a_mechanism_give_the_same_sentence(name: str, seed: int) -> None:
    mechanism = MECHANISMS[name]
    ladder = explain(mechanism, mechanism.rows(seed=seed + 1), by="ladder")["ladder"]
    named = RELIES[name].partition(",")[0].partition(":")[0]
    if name in READERS:  # which of two orders comes first may differ
        order = {"adjacent bigram": "more on local"}.get(name, "more on global")
        assert order in ladder.finding or name == "first word"
        assert "words" not in ladder.finding.partition(":")[0]
        assert ladder.scores["order"].low > 0
    else:
        assert ladder.finding.startswith(named)


NAMED = {
    "first word": {*GOOD, *BAD},
    "adjacent bigram": {"not", "boring"},
    "order of two words": {"dog", "man"},
    "bag of words": {*GOOD, *BAD},
}


@pytest.mark.parametrize("by", ["overview", "leave_one_out", "lime"])
@pytest.mark.parametrize("name", NAMES)
def test_the_words_that_decide_are_named_and_no_others(name: str, by: str) -> None:
    finding = found(name, by).finding
    words = re.findall(r"(\w+) \(([\d.]+) in", finding)
    assert {word for word, value in words if float(value) > 0.1} <= NAMED.get(name, set())
    if name in NAMED:
        assert "heaviest words: " in finding
        assert len([value for _, value in words if float(value) > 0.1]) >= 2
    else:
        assert "heaviest words" not in finding


@pytest.mark.parametrize("by", ["leave_one_out"])
@pytest.mark.parametrize("name", BLIND)
def test_an_order_blind_model_has_the_same_top_words_in_every_order(name: str, by: str) -> None:
    """Ties are compared as sets: hard labels give many."""
    scores = found(name, by).scores
    assert scores["same_top"].value == 1
    assert scores["change"].value == 0


@pytest.mark.parametrize("name", NAMES)
def test_minimal_pairs_flip_readers_only(name: str) -> None:
    scores = found(name, "neighbours").scores
    flipped = scores["flipped within the budget"].value
    backwards = scores["unchanged backwards"].value
    assert (flipped, backwards) == (0, 1) if name in BLIND else flipped > 0.4 > backwards - 0.3


@pytest.mark.parametrize("name", NAMES)
def test_surviving_pieces_matter_to_the_bigram_alone(name: str) -> None:
    slope = found(name, "overlap").scores["slope_within_bleu2"]
    assert (slope.low > 0) == (name == "adjacent bigram")


@pytest.mark.parametrize("by", ["omega_curve", "shuffles", "accepted_by_length", "minitree"])
@pytest.mark.parametrize("name", BLIND)
def test_order_blind_models_accept_every_permutation_or_none(name: str, by: str) -> None:
    scores = found(name, by).scores
    match by:
        case "omega_curve":
            assert {round(scores[each].value, 9) for each in scores} == {0.9}
        case "shuffles":
            assert scores["stays"].value == 1
        case "minitree":
            assert scores["slope_within"].value == 0
        case _:
            assert {score.value for score in scores.values()} <= {0.0, 1.0}


@pytest.mark.parametrize("name", READERS)
def test_readers_lose_permutations(name: str) -> None:
    assert found(name, "omega_curve").scores["omega_all"].value < 0.2
    assert found(name, "shuffles").scores["stays"].high < 0.5
    lengths = found(name, "accepted_by_length").scores
    assert all(score.value < 0.8 for title, score in lengths.items() if "right" in title)


def test_the_side_of_a_pair_does_not_matter_to_overlap() -> None:
    scores = found("overlap only", "sides").scores
    assert {round(score.value, 9) for score in scores.values()} == {0.9}


@pytest.mark.parametrize("name", NAMES)
def test_hard_labels_have_no_entropy(name: str) -> None:
    reason = next(each.reason for each in explained(name).sections if each.name == "entropy")
    assert "labels without probabilities" in reason


@pytest.mark.parametrize("name", NAMES)
def test_a_share_lies_between_nothing_and_all(name: str) -> None:
    for section in explained(name).sections:
        for title, score in section.found.scores.items() if section.found else ():
            is_change = any(word in title for word in ("slope", "change", "total", "order"))
            if not is_change and title not in PARTS:
                assert 0 <= score.low <= score.high <= 1, (section.name, title)


@pytest.mark.parametrize("name", NAMES)
def test_explanations_of_known_models_do_not_disagree(name: str) -> None:
    assert explained(name).disagreements == []


def test_the_table_in_the_documentation_is_of_these_runs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "results" / "explain" / "README.md").read_text(
        encoding="utf-8"
    )
    assert table({name: explained(name) for name in NAMES}) in page
