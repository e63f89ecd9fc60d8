"""Scores of people: worked by hand, against scikit-learn, printed as in the papers, and left out
where nothing can be measured.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from conftest import NLI
from disorder.cli import main
from disorder.errors import DisorderError, NothingToMeasure
from disorder.metrics import share
from disorder.results.render import render
from disorder.types import Score
from disorder.verbs.human import HumanScores, score
from disorder.verbs.human.answer_store import AnswerStore, HumanAnswer
from disorder.verbs.human.ratings import paired_difference, weighted_sum
from disorder.verbs.human.task_folder import (
    Annotator,
    HumanTask,
    ItemKey,
    TaskItem,
    TaskKind,
    write_folder,
)

E, N, C = NLI.labels
LABELS = list(NLI.labels)


def folder_of(
    path: Path,
    gold: Sequence[str],
    answers: Mapping[str, Sequence[str | None]],
    *,
    kind: TaskKind = "label",
    sets: Sequence[str | None] | None = None,
    transformations: Sequence[str] | None = None,
    model: Sequence[str] | None = None,
) -> Path:
    """A task folder with these answers; None is no answer."""
    labels = LABELS if kind == "label" else ["valid", "invalid"]
    task = HumanTask(
        kind=kind,
        question="?",
        labels=labels,
        text_names=["Text"],
        source="toy",
        seed=0,
        n_items=len(gold),
        made="now",
        is_accepted_only=model is not None,
    )
    names = [f"i{k:03d}" for k in range(len(gold))]
    key = [
        ItemKey(
            item=name,
            gold=gold[k],
            transformation=transformations[k] if transformations else "derange",
            label=gold[k],
            set=sets[k] if sets else None,
            length="short",
            example=name,
            original_a="x",
            model_answer=model[k] if model else None,
        )
        for k, name in enumerate(names)
    ]
    people = [Annotator(name=name, token="t" * 20 + name) for name in answers]
    write_folder(
        path,
        task,
        [TaskItem(item=n, text_a="x") for n in names],
        key,
        instructions="",
        annotators=people,
    )
    rows = [
        HumanAnswer(who, names[k], 0, answer, 2.0, "now", "import")
        for who, given in answers.items()
        for k, answer in enumerate(given)
        if answer is not None
    ]
    AnswerStore(path).add(rows)
    return path


def value(scores: HumanScores, *place: str, transformation: str = "all") -> float:
    record = scores.score(*place, transformation=transformation)
    assert record is not None
    return record.value


def printed(scores: HumanScores, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    return render(scores.result, "terminal", console=console)


@pytest.fixture
def three(tmp_path: Path) -> HumanScores:
    """Six items, three annotators, worked by hand below."""
    gold = [E, E, N, N, C, C]
    answers = {
        "x": [E, E, N, N, C, C],
        "y": [E, N, N, C, C, E],
        "z": [E, N, C, E, C, None],
    }
    sets = ["D_c", "D_f", "D_c", "D_f", "D_c", "D_f"]
    return score(folder_of(tmp_path / "t", gold, answers, sets=sets, model=gold))


def test_one_annotator_by_hand(three: HumanScores) -> None:
    assert value(three, "x", "accuracy") == 1
    assert value(three, "y", "accuracy") == 0.5
    assert value(three, "y", "accuracy", "set=D_c") == 1
    assert value(three, "y", "accuracy", "set=D_f") == 0
    record = three.score("z", "accuracy")
    assert record is not None
    assert (record.value, record.n, record.skipped) == (0.4, 5, 1)
    wilson = share(np.array([True, True, False, False, False]))
    assert (record.low, record.high) == (
        pytest.approx(wilson.low, abs=1e-6),
        pytest.approx(wilson.high, abs=1e-6),
    )
    # y: entailment 1 of 2 given, 1 of 2 gold: F1 1/2; neutral the same; contradiction the same
    assert value(three, "y", "macro_f1") == pytest.approx(0.5)
    assert three.median_seconds == {"x": 2.0, "y": 2.0, "z": 2.0}
    assert three.answered == {"x": 6, "y": 6, "z": 5}


def test_all_count_each_item_once(three: HumanScores) -> None:
    # right answers by item: 3/3, 1/3, 2/3, 1/3, 3/3, 1/2
    record = three.score("all", "accuracy")
    assert record is not None
    assert record.value == pytest.approx((1 + 1 / 3 + 2 / 3 + 1 / 3 + 1 + 1 / 2) / 6, abs=1e-6)
    assert record.n == 6


def test_the_majority_by_hand(three: HumanScores) -> None:
    # votes: E, N, N, tie of N C E, C; the last item has two answers only
    record = three.score("majority", "accuracy")
    assert record is not None
    assert (record.value, record.n, record.skipped) == (0.75, 4, 2)
    assert three.n_ties == 1
    assert "no majority on 1 items" in printed(three)


def test_the_gap_is_on_the_same_items(three: HumanScores) -> None:
    assert value(three, "model", "accuracy") == 1
    assert value(three, "y", "gap") == 0.5
    assert value(three, "z", "gap") == pytest.approx(0.6)
    assert "1 by construction" in printed(three)


def test_kappas_and_alpha_are_there(three: HumanScores) -> None:
    # x & y agree on 3 of 6; each gave every label twice, so 1/3 by chance
    assert value(three, "x & y", "cohen_kappa") == pytest.approx((0.5 - 1 / 3) / (2 / 3), abs=1e-6)
    for metric in ("fleiss_kappa", "krippendorff_alpha"):
        assert three.score("all", metric) is not None
    assert {r.evaluator for r in three.scores if r.metric == "cohen_kappa"} == {
        "x & y",
        "x & z",
        "y & z",
    }


def test_macro_f1_and_accuracy_as_scikit_learn(tmp_path: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for k in range(20):
        gold = [LABELS[i] for i in rng.integers(1 + k % 3, size=12 + k)]
        given = [LABELS[i] for i in rng.integers(3, size=12 + k)]
        scores = score(folder_of(tmp_path / str(k), gold, {"x": given}))
        assert value(scores, "x", "macro_f1") == pytest.approx(
            metrics.f1_score(gold, given, average="macro"), abs=1e-6
        )
        assert value(scores, "x", "accuracy") == pytest.approx(
            metrics.accuracy_score(gold, given), abs=1e-6
        )


def test_more_answers_to_the_same_items_are_not_more_evidence(tmp_path: Path) -> None:
    """Ten annotators with identical answers are no more evidence than one."""
    rng = np.random.default_rng(1)
    gold, given = (
        [LABELS[i] for i in rng.integers(3, size=60)],
        [LABELS[i] for i in rng.integers(3, size=60)],
    )
    one = score(folder_of(tmp_path / "one", gold, {"x": given})).score("x", "accuracy")
    ten = score(folder_of(tmp_path / "ten", gold, {f"x{k}": given for k in range(10)})).score(
        "all", "accuracy"
    )
    assert one is not None
    assert ten is not None
    assert ten.high - ten.low > 0.85 * (one.high - one.low)


def test_validity_as_word_salad_table_4(tmp_path: Path) -> None:
    names = ["original"] * 4 + ["sort"] * 4 + ["reverse"] * 2
    gold = ["valid"] * 4 + ["invalid"] * 6
    v, i = "valid", "invalid"
    answers = {
        "x": [v, v, v, i, i, i, i, i, i, i],
        "y": [v, v, v, i, i, i, i, v, i, i],
        "z": [v, v, i, v, i, i, v, v, i, i],
    }
    scores = score(folder_of(tmp_path / "t", gold, answers, kind="valid", transformations=names))
    assert value(scores, "majority", "invalid", transformation="original") == 0.25
    assert value(scores, "majority", "invalid", transformation="sort") == 0.75
    assert value(scores, "majority", "invalid", transformation="reverse") == 1
    assert (
        value(scores, "majority", "invalid", transformation="lexical") == 0.875
    )  # each transformation has the same weight
    assert value(scores, "majority", "accuracy") == 0.8
    text = printed(scores)
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["original"][1] == "4"
    assert "25.00" in rows["original"]
    assert "87.50" in text
    assert scores.score("majority", "drop") is None
    assert not any(record.metric == "gap" for record in scores.scores)


def test_original_against_perturbed_as_in_word_salad(tmp_path: Path) -> None:
    names, gold = ["original"] * 10 + ["shuffle"] * 10, [E] * 20
    scores = score(
        folder_of(
            tmp_path / "t",
            gold,
            {"x": [E] * 8 + [N] * 2 + [E] * 3 + [C] * 7},
            transformations=names,
        )
    )
    record = scores.score("x", "drop")
    assert record is not None
    assert record.value == pytest.approx(0.5)
    assert 0 < record.low < 0.5 < record.high < 1
    assert "accuracy on original − on perturbed texts, x: 0.500" in printed(scores)
    assert {entry.metric: entry.reason for entry in scores.omitted}[
        "gap"
    ] == "there is no model prediction for these texts"


def test_what_cannot_be_measured_is_left_out_with_the_reason(tmp_path: Path) -> None:
    alone = score(folder_of(tmp_path / "alone", [E, N, C], {"x": [E, N, N]}))
    same = score(folder_of(tmp_path / "same", [E, N, C], {"x": [E, E, E], "y": [E, E, E]}))
    apart = score(
        folder_of(
            tmp_path / "apart", [E, N, C, E], {"x": [E, N, None, None], "y": [None, None, C, E]}
        )
    )
    for scores, reason in (
        (alone, "one annotator only"),
        (same, "chance is certain"),
        (apart, "0 items"),
    ):
        why = {
            entry.metric: entry.reason
            for entry in scores.omitted
            if entry.metric.endswith(("kappa", "alpha"))
        }
        assert set(why) == {"cohen_kappa", "fleiss_kappa", "krippendorff_alpha"}
        assert all(reason in text for text in why.values())
        assert not any(record.metric in why for record in scores.scores)
        assert "not measured: Cohen’s κ" in printed(scores, 200)
    assert all(
        np.isfinite([r.value, r.low, r.high]).all() for s in (alone, same, apart) for r in s.scores
    )
    assert "nan" not in printed(apart)


def test_unli_table_4_fits_a_terminal(three: HumanScores) -> None:
    lines = printed(three).splitlines()
    head = next(line for line in lines if "Evaluator" in line)
    assert head.split("  ")[0].strip() == "Evaluator"
    assert [
        head.index(name) for name in ("Accuracy", "Macro F1", "Acc on D_c", "Acc on D_f")
    ] == sorted(head.index(name) for name in ("Accuracy", "Macro F1", "Acc on D_c", "Acc on D_f"))
    assert any("majority of 3" in line for line in lines)
    assert any(line.split()[:2] == ["chance", "0.333"] for line in lines)


def test_json_is_flat_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path / "t", [E, N, C], {"x": [E, N, N], "y": [E, C, C]})
    with pytest.raises(SystemExit) as done:
        main(["human", "score", str(folder), "--json"])
    assert done.value.code == 0
    found = json.loads(capsys.readouterr().out)
    fields = {
        "evaluator",
        "transformation",
        "metric",
        "group",
        "value",
        "low",
        "high",
        "n",
        "skipped",
    }
    assert all(set(record) == fields for record in found["scores"])


def test_no_answers_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path / "t", [E, N], {"x": [None, None]})
    with pytest.raises(NothingToMeasure, match="no answers yet"):
        score(folder)
    with pytest.raises(SystemExit) as done:
        main(["human", "score", str(tmp_path)])
    assert done.value.code == 2
    assert "not a task folder" in capsys.readouterr().err


def test_a_key_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "t", [E, N], {"x": [E, N]})
    lines = (folder / "key.jsonl").read_text().splitlines()
    (folder / "key.jsonl").write_text(lines[0] + "\n")
    with pytest.raises(DisorderError, match="the key has 1 items"):
        score(folder)
    (folder / "key.jsonl").write_text("\n".join([lines[0], lines[1].replace(N, "maybe")]))
    with pytest.raises(DisorderError, match="names a label"):
        score(folder)
    (folder / "key.jsonl").write_text("{}\n")
    with pytest.raises(DisorderError, match="line 1 is damaged"):
        score(folder)


def test_a_difference_of_shares_is_newcombes() -> None:
    """Newcombe (1998), method 10, case 56/70 against 48/80: 0.2 with [0.0524, 0.3339]."""
    shares = [share(np.arange(n) < k) for k, n in ((56, 70), (48, 80))]
    found = weighted_sum(shares, [1.0, -1.0])
    assert (round(found.value, 4), round(found.low, 4), round(found.high, 4)) == (
        0.2,
        0.0524,
        0.3339,
    )


def test_a_paired_difference_keeps_its_sign() -> None:
    found: Score = paired_difference(np.array([1.0, 1, 0, 1]), np.array([0.0, 1, 1, 0]))
    assert found.value == 0.25
    assert -1 <= found.low < 0.25 < found.high <= 1
