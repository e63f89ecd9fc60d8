"""Does an audit give the known answers for models whose behaviour is known, and the same bytes
however it is run?
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

import disorder
from conftest import NLI, pairs
from disorder import read_run
from disorder.data import read_data
from disorder.errors import BadModel, BadSetting, DisorderError, UnknownName
from disorder.models.uniform import Uniform
from disorder.results.progress import OVERALL
from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import DISORDER, Dataset, Example
from disorder.verbs.audit.pipeline import audit
from disorder.verbs.perturb import perturb

Write = Callable[..., Path]
SAMPLES = {
    "example",
    "transformation",
    "variant",
    "family",
    "repeat",
    "segment",
    "outcome",
    "n_variants",
    "positions_a",
    "positions_b",
    "label",
    "probabilities",
    "written_a",
    "written_b",
    *DISORDER,
}


def bag(texts: Sequence[tuple[str, str]]) -> list[str]:
    """A model that sees the sorted words alone."""
    bags = [" ".join(sorted(f"{a} {b}".lower().replace(".", "").split())) for a, b in texts]
    return [NLI.labels[crc32(words.encode()) % 3] for words in bags]


def classifier(rows: Sequence[dict[str, str]]) -> Any:
    """A scikit-learn pipeline over single texts."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression())
    return pipeline.fit([row["text_a"] for row in rows], [row["label"] for row in rows])


def files_of(folder: Path) -> dict[str, bytes]:
    """What must not change: the scores of run.json, and every sample."""
    scores = json.loads((folder / "run.json").read_text())["scores"]
    samples = {
        path.name: path.read_bytes() for path in sorted((folder / "samples").glob("*.parquet"))
    }
    return {"scores": json.dumps(scores).encode(), **samples}


SINGLE = [
    {"id": f"s{i}", "text_a": f"{word} the old film {i} was not so {other} at all.", "label": label}
    for i, (word, other, label) in enumerate(
        [("Great", "bad", "positive"), ("Awful", "good", "negative")] * 12
    )
]


class TestSameBytes:
    @pytest.mark.parametrize(
        "model", ["uniform", "always:neutral", bag], ids=["uniform", "always", "bag"]
    )
    def test_row_order_and_batch_size_change_nothing(
        self, jsonl: Write, tmp_path: Path, model: Any
    ) -> None:
        rows = pairs(30)
        shuffled = random.Random(0).sample(rows, len(rows))
        made = []
        for number, (given, batch_size) in enumerate(
            ((rows, None), (shuffled, 1), (rows[::-1], 7))
        ):
            folder = tmp_path / f"run{number}"
            audit(model, str(jsonl(given)), q=5, out=folder, batch_size=batch_size)
            made.append(files_of(folder))
        assert made[0] == made[1] == made[2]
        assert (
            len(made[0]) == 1 + 1 + 6 + 6 + 2
        )  # scores, original texts, the transformations of the suite and their controls, repeats

    def test_the_same_for_a_scikit_learn_classifier(self, jsonl: Write, tmp_path: Path) -> None:
        model, made = classifier(SINGLE), []
        for number, rows in enumerate((SINGLE, SINGLE[::-1])):
            audit(model, str(jsonl(rows)), q=5, out=tmp_path / f"run{number}", task="sst2")
            made.append(files_of(tmp_path / f"run{number}"))
        assert made[0] == made[1]

    def test_a_limit_draws_the_same_examples_whatever_their_order(
        self, jsonl: Write, tmp_path: Path
    ) -> None:
        rows, made = pairs(40), []
        for number, given in enumerate((rows, rows[::-1])):
            run = audit("uniform", str(jsonl(given)), q=3, limit=12, out=tmp_path / f"run{number}")
            assert (run.n_examples, run.n_available) == (12, 40)
            assert run.skips["data"] == {"not drawn (--limit)": 28}
            made.append(files_of(tmp_path / f"run{number}"))
        assert made[0] == made[1]

    def test_a_limit_is_a_random_draw_by_seed(self, jsonl: Write, tmp_path: Path) -> None:
        path, drawn = str(jsonl(pairs(40))), []
        for seed in (0, 1):
            audit(
                "uniform",
                path,
                limit=12,
                seed=seed,
                with_=["sort"],
                out=tmp_path / f"run{seed}",
            )
            drawn.append(
                pq.read_table(tmp_path / f"run{seed}" / "examples.parquet")["id"].to_pylist()
            )
        assert drawn[0] != drawn[1]
        assert all(ids != [f"e{i:04d}" for i in range(12)] for ids in drawn)

    def test_another_seed_draws_others(self, jsonl: Write) -> None:
        path = str(jsonl(pairs(40)))
        runs = [
            audit("uniform", path, q=3, limit=12, seed=seed, with_=["derange"])
            for seed in (0, 0, 1)
        ]
        assert runs[0].hashes == runs[1].hashes
        assert runs[0].scores == runs[1].scores
        assert runs[0].scores != runs[2].scores


class TestKnownModels:
    def test_a_bag_of_words_keeps_every_answer(self, jsonl: Write) -> None:
        run = audit(bag, str(jsonl(pairs(60))), q=10)
        accuracy = run.score("derange", "accuracy_used")
        assert accuracy is not None
        assert 0 < accuracy.value < 1
        for metric in ("omega_max", "omega_rand", "omega_all", "omega@0.5"):
            assert run["derange", metric].value == accuracy.value
        assert run["derange", "p_c"].value == 1
        assert run.score("derange", "p_f") is None
        assert {
            r.transformation for r in run.scores if r.metric == "agreement" and r.value == 1
        } == set(run.transformations)
        omitted = {(o.transformation, o.metric): o.reason for o in run.omitted}
        assert omitted["derange", "p_f"] == "no wrong prediction was flipped by a permutation"
        assert run["derange", "wos"].value == 0

    def test_one_prediction_for_everything(self, jsonl: Write) -> None:
        """A third of the labels is neutral: the model is right on those, original or perturbed, and
        on no other.
        """
        run = audit("always:neutral", str(jsonl(pairs(60))), q=10, with_=["derange"])
        for metric in ("accuracy_used", "omega_max", "omega_all"):
            assert run["derange", metric].value == pytest.approx(1 / 3, abs=1e-6)
        assert run["derange", "agreement"].value == 1
        assert run["derange", "p_c"].value == 1
        reasons = {
            omitted.metric: omitted.reason
            for omitted in run.omitted
            if omitted.transformation == "derange"
        }
        assert reasons["wos"] == (
            "no one-sentence text with the gold label entailment or contradiction is predicted "
            "right, so that no balanced set is left"
        )

    @pytest.mark.parametrize("q", [3, 10])
    def test_a_guess_is_within_its_binomial_band(self, jsonl: Write, q: int) -> None:
        """Ω_max is 1 − (2/3)^q and Ω_rand P(Binomial(q, 1/3) > q/3): both within their 99 % bands
        over 450 pairs.
        """
        n = 450
        run = audit("uniform", str(jsonl(pairs(n))), q=q, with_=["derange"])
        expected = {
            "accuracy_used": 1 / 3,
            "omega_max": 1 - (2 / 3) ** q,
            "omega_rand": float(binom.sf(q // 3, q, 1 / 3)),
            "omega_all": (1 / 3) ** q,
        }
        for metric, p in expected.items():
            low, high = binom.interval(0.99, n, p)
            record = run.score("derange", metric)
            assert record is not None
            assert record.n == n
            assert low / n <= record.value <= high / n, metric

    def test_progress_is_told_with_a_running_accuracy(self, jsonl: Write) -> None:
        told: list[tuple[str, int, int, str]] = []
        path = str(jsonl(pairs(6)))
        audit(
            "always:neutral",
            path,
            q=2,
            with_=["derange"],
            progress=lambda *step: told.append(step),
        )
        assert next(step for step in told if step[0] != OVERALL) == ("original", 6, 6, "")
        assert ("derange", 6, 6, "accuracy so far 0.333") in told

    def test_a_regression_is_measured_by_rank(self, jsonl: Write) -> None:
        rows = [
            {
                "id": str(i),
                "text_a": "w " * (i + 3),
                "text_b": f"one two three {i}",
                "label": i + 0.5,
            }
            for i in range(20)
        ]

        def length(texts: Sequence[tuple[str, str]]) -> list[float]:
            return [float(len(a)) for a, _ in texts]

        run = audit(length, str(jsonl(rows)), q=3, with_=["shuffle_ngrams"])
        assert run.chance is None
        assert run["original", "spearman"].value == 1
        assert run["shuffle_ngrams", "spearman"].value == 1
        assert run["shuffle_ngrams", "skill_kept"].value == 1
        assert {record.metric for record in run.scores} == {"spearman", "skill_kept"}

    def test_groups_have_their_own_scores(self, jsonl: Write) -> None:
        rows = [{**row, "genre": "news" if i < 20 else "chat"} for i, row in enumerate(pairs(30))]
        run = audit("always:neutral", str(jsonl(rows)), q=2, with_=["derange"], group_by=["genre"])
        assert run.groups == ["genre=chat", "genre=news"]
        sizes = [run["original", "accuracy", group].n for group in ("all", *run.groups)]
        assert sizes == [30, 10, 20]


class TestRunFolder:
    def test_run_json_holds_what_design_lists(self, jsonl: Write, tmp_path: Path) -> None:
        path = jsonl([*pairs(12), {"id": "none", "text_a": "a b", "text_b": "c", "label": None}])
        run = audit(
            "uniform",
            str(path),
            q=4,
            seed=5,
            with_=["derange", "sort"],
            out=tmp_path / "run",
        )
        raw = json.loads((tmp_path / "run" / "run.json").read_text())
        assert raw["schema_version"] == 1
        assert raw["status"] == "done"
        assert (raw["model"], raw["data"], raw["seed"]) == ("uniform", str(path), 5)
        assert raw["settings"]["q"] == 4
        both = ["surface:of=derange", "derange", "surface:of=sort", "sort"]
        assert raw["transformations"] == both
        assert {"disorder", "numpy", "python"} <= set(raw["versions"])
        assert raw["hashes"] == {"data": read_data(str(path)).fingerprint, "model": "uniform:0"}
        assert "git" in raw
        assert raw["skips"]["data"] == {"no gold label": 1}
        assert raw["n_predictions"] == 12 + 12 * 4 + 12 + 2 * 12 + 2 * 12  # controls, repeats
        assert all(
            set(r) == {"transformation", "metric", "group", "value", "low", "high", "n", "skipped"}
            for r in raw["scores"]
        )
        assert all(r["low"] <= r["value"] <= r["high"] and r["n"] > 0 for r in raw["scores"])
        metrics = {r["metric"] for r in raw["scores"] if r["transformation"] == "derange"}
        assert {
            "accuracy",
            "accuracy_used",
            "omega_max",
            "omega_rand",
            "omega_all",
            "omega@0.5",
            "agreement",
        } <= metrics
        assert read_run(tmp_path / "run").model_dump_json() == run.model_dump_json()

    def test_samples_hold_the_texts_and_their_predictions(
        self, jsonl: Write, tmp_path: Path
    ) -> None:
        path, spec = str(jsonl(pairs(5))), "derange"
        given = {"q": 3, "with_": [spec, "reverse"], "out": tmp_path / "run"}
        audit("uniform", path, fidelity="paper", **given)
        samples = pq.read_table(
            tmp_path / "run" / "samples" / "01-derange-00000.parquet"
        ).to_pylist()
        assert set(samples[0]) == SAMPLES
        assert len(samples) == 15
        records = list(perturb(path, with_=spec, q=3, fidelity="paper"))
        model = Uniform(NLI.labels, "", 0)
        for row, record in zip(
            samples, sorted(records, key=lambda r: (r["id"], r["variant"])), strict=True
        ):
            assert (row["example"], row["variant"], row["segment"]) == (
                record["id"],
                record["variant"],
                "text_a+text_b",
            )
            assert (row["positions_a"], row["positions_b"]) == (
                record["positions_a"],
                record["positions_b"],
            )
            answer = model([(record["text_a"], record["text_b"])])[0]
            assert row["probabilities"] == answer.tolist()
            assert row["label"] == NLI.labels[int(answer.argmax())]
        reverse = pq.read_table(
            tmp_path / "run" / "samples" / "02-reverse-00000.parquet"
        ).to_pylist()
        assert {(row["segment"], row["positions_a"]) for row in reverse} == {("text_b", None)}

    def test_texts_can_be_rebuilt_from_a_run(self, jsonl: Write, tmp_path: Path) -> None:
        path = str(jsonl(pairs(3)))
        audit("uniform", path, q=2, with_=["derange"], out=tmp_path / "run", fidelity="paper")
        texts = {
            row["id"]: row["text_b"]
            for row in pq.read_table(tmp_path / "run" / "examples.parquet").to_pylist()
        }
        made = perturb(path, with_="derange", q=2, fidelity="paper")
        wanted = {(r["id"], r["variant"]): r["text_b"] for r in made}
        for row in pq.read_table(
            tmp_path / "run" / "samples" / "01-derange-00000.parquet"
        ).to_pylist():
            rebuilt = render(split(texts[row["example"]]), np.array([row["positions_b"]]))[0]
            assert rebuilt == wanted[row["example"], row["variant"]]

    def test_a_crash_of_the_model_goes_through_and_the_run_says_failed(
        self, jsonl: Write, tmp_path: Path
    ) -> None:
        calls = []

        def crashes(texts: Sequence[Any]) -> list[str]:
            calls.append(len(texts))
            if len(calls) > 1:
                raise RuntimeError("out of memory")
            return ["neutral"] * len(texts)

        with pytest.raises(RuntimeError, match=r"^out of memory$"):
            audit(crashes, str(jsonl(pairs(5))), q=2, out=tmp_path / "run")
        run = read_run(tmp_path / "run")
        assert run.status == "failed"
        assert run.error == "RuntimeError: out of memory"
        assert {record.transformation for record in run.scores} == {"original"}

    def test_a_finished_run_is_never_overwritten(self, jsonl: Write, tmp_path: Path) -> None:
        path = str(jsonl(pairs(5)))
        audit("uniform", path, q=2, with_=["sort"], out=tmp_path / "run")
        before = (tmp_path / "run" / "run.json").read_bytes()
        with pytest.raises(DisorderError, match="holds a run already"):
            audit("uniform", path, q=2, with_=["sort"], out=tmp_path / "run")
        assert (tmp_path / "run" / "run.json").read_bytes() == before

    @pytest.mark.parametrize("content", [b"{", b"[]", b'{"schema_version": -1}', b"\xff"])
    def test_a_damaged_run_is_never_overwritten_either(
        self, content: bytes, tmp_path: Path
    ) -> None:
        (tmp_path / "run.json").write_bytes(content)
        with pytest.raises(DisorderError, match="holds a run already; choose another out ") as told:
            audit("uniform", "builtin", out=tmp_path)
        assert "it cannot be resumed: " in str(told.value)
        assert "resume it: " not in str(told.value)
        assert (tmp_path / "run.json").read_bytes() == content

    def test_what_resumes_a_run_that_is_there_names_its_model(
        self, jsonl: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "first_label.py").write_text(
            "def model(texts):\n    return ['neutral'] * len(texts)\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(tmp_path)
        for model, named in (
            ("python:first_label:model", '"python:first_label:model"'),
            (lambda texts: ["neutral"] * len(texts), "…"),
        ):
            folder = tmp_path / f"run-{len(named)}"
            settings: dict[str, Any] = {"q": 2, "with_": ["sort"], "out": folder}
            audit(model, str(jsonl(pairs(5))), **settings)
            told = f'resume it: disorder.resume("{folder}", model={named})'
            with pytest.raises(DisorderError, match=re.escape(told)):
                audit(model, str(jsonl(pairs(5))), **settings)

    @pytest.mark.parametrize(
        "content", ["", "{", "[]", "3", '{"schema_version": 1}', '{"schema_version": 99}']
    )
    def test_a_damaged_run_is_one_clear_line(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(DisorderError, match=r"run\.json"):
            read_run(tmp_path)
        with pytest.raises(DisorderError, match="is no run folder"):
            read_run(tmp_path / "nowhere")


class TestMistakes:
    @pytest.mark.parametrize(
        ("settings", "error"),
        [
            ({"q": 0}, BadSetting),
            ({"limit": 0}, BadSetting),
            ({"fidelity": "exact"}, BadSetting),
            ({"short": "no"}, BadSetting),
            ({"omega": ["half"]}, BadSetting),
            ({"omega": ["2"]}, BadSetting),
            ({"suite": "ordr"}, UnknownName),
            ({"with_": ["derang"]}, UnknownName),
            ({"labels": {"LABEL_9": "neutral"}}, BadModel),
            ({"with_": ["shuffle_ngrams:n=0"]}, BadSetting),
            ({"group_by": ["genre"]}, DisorderError),
        ],
    )
    def test_bad_settings(
        self, jsonl: Write, settings: dict[str, Any], error: type[DisorderError]
    ) -> None:
        with pytest.raises(error):
            audit("uniform", str(jsonl(pairs(6))), **settings)

    def test_more_thresholds(self, jsonl: Write) -> None:
        run = audit("uniform", str(jsonl(pairs(6))), q=4, with_=["derange"], omega=["0.25", "1/3"])
        names = [
            r.metric
            for r in run.scores
            if r.metric.startswith("omega@") and r.transformation == "derange"
        ]
        assert names[:5] == ["omega@0.1", "omega@0.2", "omega@0.25", "omega@0.3", "omega@1/3"]

    def test_nothing_that_can_be_perturbed_is_an_error_with_the_reason(self, jsonl: Write) -> None:
        rows = [{"id": str(i), "text_a": "Yes.", "label": label} for i, label in enumerate("xy")]
        with pytest.raises(
            DisorderError,
            match="no example can be perturbed this way: no other order of its words exists",
        ):
            audit("uniform", str(jsonl(rows)), with_=["derange"])

    def test_short_texts_are_skipped_with_the_reason_or_used_as_they_are(
        self, jsonl: Write
    ) -> None:
        rows = [
            {"id": "1", "text_a": "a b c d", "label": "x"},
            {"id": "2", "text_a": "a b c d e f g h i", "label": "y"},
        ]
        skipped, used = (
            audit("uniform", str(jsonl(rows)), q=20, with_=["derange"], short=s)
            for s in ("skip", "use")
        )
        assert skipped.skips["derange"] == {"9 distinct variants exist, 20 asked for": 1}
        assert skipped["derange", "accuracy"].n == 1
        assert used["derange", "accuracy"].n == 2
        assert used.n_predictions == 2 + 9 + 20 + 2 + 2  # the last are repeats

    def test_a_dataset_made_in_python(self) -> None:
        examples = [
            Example.of(row["id"], row["text_a"], row["text_b"], row["label"]) for row in pairs(9)
        ]
        run = audit("uniform", Dataset("mine", NLI, examples), q=3, with_=["derange"])
        assert (run.data, run.n_examples) == ("mine", 9)


class TestPublicName:
    def test_disorder_audit_can_be_called_again_and_again(self, jsonl: Write) -> None:
        path = str(jsonl(pairs(6)))
        runs = [disorder.audit("always:neutral", path, q=2, with_=["derange"]) for _ in range(2)]
        assert runs[0].scores == runs[1].scores


class TestReview:
    """Each of these was wrong once."""

    def test_an_explicit_fidelity_wins_over_that_of_the_run(
        self, jsonl: Write, tmp_path: Path
    ) -> None:
        path = str(jsonl(pairs(4)))
        audit(
            "uniform",
            path,
            q=3,
            with_=["derange:fidelity=paper"],
            fidelity="released",
            out=tmp_path / "a",
        )
        audit("uniform", path, q=3, with_=["derange"], fidelity="paper", out=tmp_path / "b")
        name = "samples/01-derange-00000.parquet"
        assert pq.read_table(tmp_path / "a" / name).equals(pq.read_table(tmp_path / "b" / name))

    def test_a_transformation_that_breaks_no_order_gives_no_verdict_on_reading(
        self, jsonl: Write
    ) -> None:
        run = audit(bag, str(jsonl(pairs(12))), with_=["drop_text"])
        assert "reads" not in run.verdict.lower()
        assert run.verdict.startswith("Agreement is")

    def test_a_constant_prediction_gives_no_verdict_on_reading(self, jsonl: Write) -> None:
        rows = [
            {"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": label}
            for e, label in zip(
                read_data("builtin").examples[:60], ["entailment", *["neutral"] * 59], strict=True
            )
        ]
        run = audit("always:neutral", str(jsonl(rows)), q=3, task="mnli", with_=["derange"])
        assert run.verdict.startswith("Undecided: accuracy 0.98")

    def test_stopping_early_watches_the_score_that_is_reported(self) -> None:
        for fidelity in ("paper", "released"):
            run = audit(
                "uniform",
                "builtin",
                limit=600,
                q=20,
                with_=["derange"],
                fidelity=fidelity,
                stop_when="width(p_c) < 0.1",
            )
            record = run.score(
                "derange" if fidelity == "paper" else "derange:fidelity=released", "p_c"
            )
            assert record is not None
            assert record.low <= record.value <= record.high

    def test_all_decided_by_the_first_question(self, jsonl: Write) -> None:
        rows = [row | {"label": "neutral"} for row in pairs(5)]
        settings: dict[str, Any] = {
            "task": "mnli",
            "with_": ["derange"],
            "curtail": True,
            "score": ["omega_max"],
        }
        run = audit("always:neutral", str(jsonl(rows)), **settings)
        assert run["derange", "omega_max"].value == 1

    @pytest.mark.parametrize(
        "settings", [{"curtail": True}, {"stop_when": "width(accuracy) < 0.1"}]
    )
    def test_savings_are_for_labels(self, jsonl: Write, settings: dict[str, Any]) -> None:
        rows = [
            {"id": str(i), "text_a": "one two three four", "text_b": "a b c d", "label": i + 0.5}
            for i in range(5)
        ]
        with pytest.raises(DisorderError, match="has numbers as gold labels"):
            audit(lambda texts: [0.0] * len(texts), str(jsonl(rows)), **settings)

    def test_the_filter_looks_at_the_text_that_is_perturbed(self, jsonl: Write) -> None:
        rows = [
            {
                "id": str(i),
                "text_a": f"word {i}",
                "text_b": f"one two three four {i}",
                "label": "xy"[i % 2],
            }
            for i in range(10)
        ]
        specs = ["reverse:side=a", "reverse:side=b"]
        run = audit(lambda texts: [[0.5, 0.5]] * len(texts), str(jsonl(rows)), with_=specs)
        assert run.dev_r["reverse:side=a"]["one sentence"] == {"x": 0, "y": 0}
        assert run.dev_r["reverse:side=b"]["one sentence"] == {"x": 5, "y": 5}
