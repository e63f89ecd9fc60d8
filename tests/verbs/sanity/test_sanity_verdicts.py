"""Verdicts on data made so that we know what decides its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import disorder
from disorder.errors import BadData, UnknownName
from disorder.registry import CheckPart, parts
from disorder.requests.settings import Settings
from disorder.verbs.sanity.features import order, words
from disorder.verbs.sanity.rows import DatasetRows, read_rows

pytest.importorskip("sklearn", reason="needs scikit-learn")

NOUNS = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "bdkm"]
FAST: dict[str, Any] = {"limit": 800}


def made(n: int, decide: Any, seed: int = 0) -> list[dict[str, str]]:
    """Pairs of eight words; `decide` gives texts and label."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        a, b, label = decide(rng, i)
        found.append({"id": f"r{i}", "text_a": " ".join(a), "text_b": " ".join(b), "label": label})
    return found


def some(rng: np.random.Generator, n: int = 8) -> list[str]:
    return [str(word) for word in rng.choice(NOUNS, size=n, replace=False)]


def by_text_b(rng: np.random.Generator, i: int) -> tuple[list[str], list[str], str]:
    """The second text alone decides, by one of two words."""
    label = ("no", "yes")[i % 2]
    return some(rng), [*some(rng, 7), {"no": "never", "yes": "always"}[label]], label


def by_order(rng: np.random.Generator, i: int) -> tuple[list[str], list[str], str]:
    """The same words in both texts; the label is whether they stand in the same order."""
    pair = some(rng, 4)
    return ["so", *pair], ["so", *(pair if i % 2 else pair[::-1])], ("turned", "kept")[i % 2]


def by_nothing(rng: np.random.Generator, i: int) -> tuple[list[str], list[str], str]:
    return some(rng), some(rng), ("no", "yes")[int(rng.integers(2))]


def test_where_one_text_decides_both_are_not_needed() -> None:
    found = disorder.sanity(made(800, by_text_b), check=["texts", "order"], **FAST)
    assert found.verdict("both texts").answer == "not needed"
    assert found.verdict("order").answer == "not needed"
    assert found.original is not None
    assert found.original.value > 0.95


def test_where_order_decides_it_is_needed() -> None:
    found = disorder.sanity(made(800, by_order), check=["order", "texts", "baselines"], **FAST)
    assert found.verdict("order").answer == "needed"
    assert found.verdict("both texts").answer == "needed"
    assert found.verdict("bag of words").answer == "falls short"
    assert found.verdict("overlap only").answer == "no information"


def test_random_labels_leave_all_undecided() -> None:
    found = disorder.sanity(made(600, by_nothing), check=["order", "texts", "swap"], **FAST)
    for verdict in found.verdicts:
        assert verdict.answer == "undecided"
        assert "has not learned the task" in verdict.because


def test_it_names_the_half_of_the_built_in_data_that_needs_order() -> None:
    found = disorder.sanity(
        "builtin:sentiment", check=["order"], train_limit=2500, train="builtin:sentiment:train"
    )
    answers = {verdict.group: verdict.answer for verdict in found.verdicts}
    assert answers == {"all": "needed", "needs=order": "needed", "needs=words": "not needed"}


def test_the_same_seed_gives_the_same_scores() -> None:
    data = made(400, by_text_b)
    one, two = (disorder.sanity(data, check=["texts"], seed=3) for _ in range(2))
    assert [v.line for v in one.verdicts] == [v.line for v in two.verdicts]
    turned = disorder.sanity(data[::-1], check=["texts"], seed=3)
    assert [v.line for v in one.verdicts] == [v.line for v in turned.verdicts]


def test_numbers_are_ranked_and_what_needs_labels_is_named() -> None:
    rng = np.random.default_rng(0)
    data = []
    for i in range(500):
        a, share = some(rng), int(rng.integers(9))
        data.append(
            {
                "id": str(i),
                "text_a": " ".join(a),
                "text_b": " ".join([*a[:share], *some(rng, 8 - share)]),
                "label": f"{share + rng.random():.2f}",
            }
        )
    found = disorder.sanity(data, check=["order", "baselines", "overlap", "words"], limit=500)
    assert found.metric == "spearman"
    assert found.verdict("order").answer == "not needed"
    assert found.verdict("overlap only").answer == "gives away"
    reasons = {section.name: section.reason for section in found.sections if section.found is None}
    assert set(reasons) == {"overlap", "words"}
    assert all("numbers" in reason for reason in reasons.values())


def test_single_texts_one_label_and_ten_rows_name_what_cannot_be_done() -> None:
    single = [
        {
            "id": str(i),
            "text_a": f"{'good' if i % 2 else 'bad'} {NOUNS[i % 100]} {NOUNS[i % 37]}",
            "label": str(i % 2),
        }
        for i in range(200)
    ]
    found = disorder.sanity(single, check=["order", "texts", "swap", "overlap", "duplicates"])
    reasons = {section.name: section.reason for section in found.sections if section.found is None}
    assert reasons == dict.fromkeys(("texts", "swap", "overlap"), "there is no second text")
    same = [row | {"label": "x"} for row in single]
    found = disorder.sanity(same)
    built_in = [s for s in found.sections if parts(CheckPart)[s.name].is_built_in]
    assert {s.name for s in built_in if s.found} == {"labels", "duplicates"}
    assert all("'x'" in s.reason for s in found.sections if not s.found and s.name == "order")
    found = disorder.sanity(single[:10])
    assert "10 rows are too few" in next(s.reason for s in found.sections if s.name == "order")
    assert next(s for s in found.sections if s.name == "duplicates").found


def test_word_classes_say_which_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from disorder.errors import MissingPackage
    from disorder.transformations.applying.transformation import Transformation

    def missing(self: Transformation, language: str = "en") -> Transformation:
        raise MissingPackage("tagger=nltk", "nltk", "nlp")

    monkeypatch.setattr(Transformation, "tried", missing)
    found = disorder.sanity(made(100, by_text_b), check=["classes", "labels"])
    assert "pip install" in found.sections[1].reason


def test_a_word_class_that_decides_is_needed() -> None:
    pytest.importorskip("nltk", reason="needs nltk")
    names = ["house", "river", "garden", "teacher", "window"]

    def decide(rng: np.random.Generator, i: int) -> tuple[list[str], list[str], str]:
        label = ("bad", "good")[i % 2]
        mood = rng.choice(["happy", "kind", "bright"] if i % 2 else ["sad", "cruel", "dark"])
        return (
            ["the", str(rng.choice(names)), "was", "there"],
            ["it", "was", "a", str(mood), str(rng.choice(names))],
            label,
        )

    found = disorder.sanity(made(600, decide), check=["classes"])
    assert found.verdict("ADJ").answer == "needed"
    assert found.verdict("DET").answer == "not needed"
    assert found.verdict("word classes").because.startswith("Needed: ADJ")
    assert "NUM" not in {verdict.question for verdict in found.verdicts}
    assert found.sections[0].found
    assert "no row has a word of the class NUM" in found.sections[0].found.notes


def test_rows_with_one_premise_stay_in_one_part() -> None:
    data = [
        {"id": str(i), "text_a": f"premise {i // 3}", "text_b": f"b {i}", "label": str(i % 3)}
        for i in range(300)
    ]
    rows = read_rows(data, None, folds=4, margin=0.05, settings=Settings())
    parts: dict[str, set[int]] = {}
    for example, part in zip(rows.examples, rows.fold.tolist(), strict=True):
        parts.setdefault(example.text_a, set()).add(part)
    assert all(len(found) == 1 for found in parts.values())
    assert rows.folds == [0, 1, 2, 3]


def test_a_training_split_is_found_by_name(shared_data: Any) -> None:
    settings = Settings(data_dir=str(shared_data))

    def read(name: str, **limits: int) -> DatasetRows:
        about: dict[str, Any] = {"folds": None, "margin": 0.05, "settings": settings}
        return read_rows(name, None, **limits, **about)

    rows = read("mnli", train_limit=100)
    assert rows.train is not None
    assert (rows.train.name, (rows.fold == -1).sum(), (rows.fold == 0).sum()) == (
        "mnli:train",
        100,
        1537,
    )
    rows = read("rte", train_limit=400)
    assert rows.design.startswith("cross-fitted: 400 rows of rte:dev and rte:train")
    assert sum(not example.id.startswith("train") for example in rows.examples) == 277
    assert read("rte", limit=100, train_limit=200).design.startswith(
        "trained on 200 rows of rte:train, tested on 100 rows of rte:dev"
    )
    assert read("anli", train_limit=100).train is None


def test_the_limit_is_of_the_data_for_every_check() -> None:
    data = made(500, by_text_b)
    found = disorder.sanity(data, check=["labels", "texts", "words", "duplicates"], limit=120)
    assert found.n_rows == {"data": 120, "train": 0, "tested": 120, "families_tested": 120}
    assert "of 120 rows" in found.verdict("labels").because
    assert found.verdict("duplicates").because == "No row of 120 seems to repeat another"
    assert any("380 rows left out (not drawn (--limit))" in note for note in found.notes)
    train = made(300, by_text_b, seed=1)
    split = disorder.sanity(data, train=train, check="texts", limit=90, train_limit=200)
    assert split.design == "trained on 200 rows of data, tested on 90 rows of data"
    assert split.command.endswith("limit=90, train_limit=200, check=['texts'])")


def test_order_features_see_order_and_word_features_do_not() -> None:
    a, b = "the cat chased the dog.", "the dog chased the cat."
    none = np.empty(0, dtype=np.uint64)

    def seen(found: tuple[Any, Any]) -> list[set[int]]:
        return [set(found[1][found[0] == row].tolist()) for row in range(2)]

    single, pair = seen(words([(a, None), (b, None)])), seen(words([(a, a), (a, b)]))
    assert single[0] == single[1]
    assert pair[0] == pair[1]
    single, pair = seen(order([(a, None), (b, None)], none)), seen(order([(a, a), (a, b)], none))
    assert single[0] != single[1]
    assert pair[0] != pair[1]


def test_features_of_a_row_do_not_depend_on_the_other_rows() -> None:
    rows = [
        ("The cat sat on a mat.", "A mat was sat on by the cat."),
        ("", "x"),
        ("one two three", ""),
        ("dogs", "dogs bark"),
    ]
    none = np.empty(0, dtype=np.uint64)
    for look in (words, lambda texts: order(texts, none)):
        together_rows, together = look(rows)
        for i, row in enumerate(rows):
            _, alone = look([row])
            assert set(together[together_rows == i].tolist()) == set(alone.tolist())


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownName, match="order"):
        disorder.sanity("builtin", check=["odrer"])
    with pytest.raises(UnknownName):
        disorder.sanity("builtin", model="bilstn")
    with pytest.raises(BadData, match="other labels"):
        disorder.sanity("builtin", train="builtin:sentiment:train")
