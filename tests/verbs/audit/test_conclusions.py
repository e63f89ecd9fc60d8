"""Conclusions that cannot be fooled: by the mix of labels, by groups, by constant answers, by data
that words alone can answer, by labels in another order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from conftest import NLI, Command, outcomes, pairs
from disorder.data import select
from disorder.errors import DisorderError
from disorder.requests.settings import Settings
from disorder.results.conclusion import Caveat, Conclusion, WordBaseline, brief, sentence, verdict
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.results.terminal import show_result
from disorder.store.sample_parts import read_examples
from disorder.types import Dataset, Task
from disorder.verbs.audit import audit, sampling
from disorder.verbs.audit.caveats import better_order, caveats_of, words_alone
from disorder.verbs.audit.concluding import conclude, kind_of
from disorder.verbs.audit.describing import answers
from disorder.verbs.audit.measuring import Measuring
from disorder.verbs.audit.order_kinds import KindLimits
from disorder.verbs.audit.word_baseline import word_baseline
from disorder.verbs.outcomes import OutcomeFacts, gold_of

Row = dict[str, str]
Model = Callable[[Sequence[tuple[str, str]]], list[str]]
LIMITS = KindLimits()
SKEWED = ("contradiction",) * 44 + ("neutral",) * 5 + ("entailment",)


def rows_of(n: int, labels: tuple[str, ...] = NLI.labels, **more: str) -> list[Row]:
    return [row | more for row in pairs(n, labels)]


def reader(rows: Sequence[Row], fallback: str) -> Model:
    """It knows every original text by the order of its words, and gives one label as soon as one
    moves.
    """

    def words(a: str, b: str) -> str:
        return f"{a} | {b}".casefold().replace(".", "")

    known = {words(row["text_a"], row["text_b"]): row["label"] for row in rows}

    def predict(texts: Sequence[tuple[str, str]]) -> list[str]:
        return [known.get(words(a, b), fallback) for a, b in texts]

    return predict


def bag(rows: Sequence[Row]) -> Model:
    """It knows the label of every set of words."""

    def words(a: str, b: str) -> tuple[str, ...]:
        return tuple(sorted(f"{a} {b}".casefold().replace(".", "").split()))

    known = {words(row["text_a"], row["text_b"]): row["label"] for row in rows}

    def predict(texts: Sequence[tuple[str, str]]) -> list[str]:
        return [known[words(a, b)] for a, b in texts]

    return predict


def audited(model: Any, rows: Sequence[Row], **more: Any) -> Run:
    return audit(model, list(rows), with_="derange", q=4, cache="off", **more)


def printed(run: Run, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    show_result(run.result, console, is_all=True)
    return console.export_text()


def kinds(found: Conclusion) -> set[str]:
    return {caveat.kind for caveat in found.caveats}


class TestLabelSkew:
    @pytest.mark.parametrize("fallback", NLI.labels)
    def test_a_reader_is_one_whatever_it_falls_back_to(self, fallback: str) -> None:
        rows = rows_of(600, SKEWED)
        run = audited(reader(rows, fallback), rows)
        assert run.conclusion is not None
        assert run.conclusion.kind == "reads_order"
        assert run.conclusion.value == pytest.approx(0, abs=1e-6)
        assert run.verdict.startswith("Reads word order")
        assert "label_skew" in kinds(run.conclusion)

    def test_two_thirds_of_one_label(self) -> None:
        labels = ("equivalent", "equivalent", "other")
        rows = rows_of(300, labels)
        found = audited(reader(rows, "equivalent"), rows).conclusion
        assert found is not None
        assert found.kind == "reads_order"

    def test_a_bag_of_words_is_one_whatever_the_mix(self) -> None:
        rows = rows_of(600, SKEWED)
        found = audited(bag(rows), rows).conclusion
        assert found is not None
        assert (found.kind, found.value) == ("bag_of_words", 1)


class TestGroups:
    def test_a_constant_model_is_no_bag_of_words_in_any_group(self) -> None:
        rows = [
            *rows_of(60, ("contradiction",) * 9 + ("neutral",), category="mostly"),
            *rows_of(40, ("contradiction",), category="only"),
        ]
        rows = [row | {"id": str(i)} for i, row in enumerate(rows)]
        run = audited("always:contradiction", rows, group_by="category", task="nli")
        assert run.conclusion is not None
        assert run.conclusion.kind == "one_label"
        assert {name: found.kind for name, found in run.conclusions.items()} == {
            "category=mostly": "one_label",
            "category=only": "one_gold_label",
        }
        assert "bag of words" not in run.verdict

    def test_each_group_has_its_own_conclusion(self) -> None:
        run = audit("builtin", "builtin", with_="derange", q=5, limit=600, cache="off")
        assert run.conclusions["needs=order"].kind == "reads_order"
        assert run.conclusions["needs=words"].kind == "bag_of_words"
        assert run.conclusion is not None
        assert run.conclusion.kind in ("mixed", "undecided")
        lines = run.verdict.splitlines()
        assert " ".join(lines[:2]) == sentence(run.conclusion)
        assert lines[2] == f"needs=order: {brief(run.conclusions['needs=order'])}"


class TestOneAnswer:
    @pytest.fixture
    def run(self) -> Run:
        return audited("always:entailment", rows_of(200, ("entailment", "neutral")), task="nli")

    def test_it_is_said_first(self, run: Run) -> None:
        assert run.conclusion is not None
        assert run.conclusion.kind == "one_label"
        assert "the model answers entailment to all 200 original texts" in run.verdict
        assert (run.conclusion.value, run.conclusion.more_examples) == (None, None)

    def test_the_answers_are_shown(self, run: Run) -> None:
        told = printed(run)
        assert "answers before: entailment 1.00" in told
        assert "answers after:  entailment 1.00" in told
        drawn = render(run.result, "page")
        assert "Which answers does it give, before and after?" in drawn
        found = run.answers["derange"]
        assert found["confusion"]["before"][:2] == [[100, 0, 0], [100, 0, 0]]

    def test_few_other_labels_do_not_make_a_model_constant(self) -> None:
        gold = [0] * 27 + [1] * 3
        found = conclude(outcomes(gold, [0] * 30, [[0]] * 30), LIMITS)
        assert found.kind == "undecided"


class TestDataThatWordsCanAnswer:
    @pytest.fixture
    def sentiment(self) -> list[Row]:
        """One word decides."""
        rng = np.random.default_rng(0)
        filler = [f"w{i}" for i in range(60)]
        found = []
        for i in range(240):
            words = [*rng.choice(filler, size=8, replace=False), ("good", "bad")[i % 2]]
            text = " ".join(rng.permutation(words))
            found.append({"id": str(i), "text_a": text, "label": ("yes", "no")[i % 2]})
        return found

    def test_it_is_no_fault_of_the_model(self, sentiment: list[Row]) -> None:
        def model(texts: Sequence[str]) -> list[str]:
            return ["yes" if "good" in text.split() else "no" for text in texts]

        run = audited(model, sentiment)
        assert run.conclusion is not None
        assert run.conclusion.kind == "bag_of_words"
        [need] = [str(each) for each in run.conclusion.caveats if each.kind == "order_need_unknown"]
        assert "explains" in need
        assert "no fault" not in need
        [row] = run.word_baselines
        assert row.value > 0.9
        assert row.model == 1
        assert "a bag of words trained on this data" in " ".join(printed(run).split())
        assert "How far do words alone go" in render(run.result, "page")

    def test_it_is_said_by_group_and_only_where_skill_is_kept(self) -> None:
        run = audit("builtin", "builtin:sentiment", with_="derange", q=3, limit=900, cache="off")
        assert "order_need_unknown" in kinds(run.conclusions["needs=words"])
        # a comma that moves with its word tells which clause the word was in: 0.16 of the skill
        assert run.conclusions["needs=order"].kind == "reads_or_mixed"
        assert not kinds(run.conclusions["needs=order"]) & {
            "may_not_need_order",
            "order_need_unknown",
        }

    def test_with_the_marks_left_in_place_it_reads_order(self) -> None:
        """As the papers write texts; the comma after "bland," stays where it was."""
        settings = {"with_": "derange", "q": 3, "limit": 900, "cache": "off"}
        run = audit("builtin", "builtin:sentiment", fidelity="paper", **settings)
        assert run.conclusions["needs=order"].kind == "reads_order"

    def test_it_does_not_depend_on_the_order_of_the_examples(self) -> None:
        """An audit that may stop early takes them in random order."""
        dataset = select("builtin", limit=300)
        number = {each.id: i // 4 for i, each in enumerate(dataset.examples)}
        found = []
        for turned in (dataset.examples, dataset.examples[::-1]):
            gold = gold_of(dataset.task, turned)
            family = np.array([number[each.id] for each in turned])
            baseline = word_baseline(replace(dataset, examples=turned), gold, seed=0, family=family)
            assert baseline is not None
            found.append(dict(zip([each.id for each in turned], baseline.is_right, strict=True)))
        assert found[0] == found[1]

    def test_a_weak_bag_of_words_is_no_proof(self) -> None:
        weak = WordBaseline(value=0.5, low=0.46, high=0.54, n=400, model=1, chance=0.5)
        caveat = words_alone(weak, "disorder sanity x.csv")
        assert caveat.kind == "order_need_unknown"
        assert str(caveat).endswith("to find out: disorder sanity x.csv")

    def test_the_command_to_type_where_it_is_not_measured(self) -> None:
        rows = rows_of(60)  # too few to train on
        run = audited(bag(rows), rows)
        assert run.conclusion is not None
        [caveat] = [c for c in run.conclusion.caveats if c.kind == "order_need_unknown"]
        assert "to find out: disorder.sanity" in str(caveat)


class TestSwappedLabels:
    def in_order(self, labels: Sequence[str], rows: Sequence[Row]) -> Any:
        """Probabilities whose columns mean these labels, though nothing says so."""
        known = {(row["text_a"], row["text_b"]): row["label"] for row in rows}

        def predict(texts: Sequence[tuple[str, str]]) -> Any:
            numbers = [labels.index(known.get(pair, "neutral")) for pair in texts]
            return np.eye(3)[numbers] * 0.9 + 0.1 / 3

        return predict

    @pytest.mark.parametrize(
        "order",
        [
            ("contradiction", "entailment", "neutral"),
            ("neutral", "entailment", "contradiction"),
        ],
    )
    def test_the_line_that_fixes_it(self, order: tuple[str, ...]) -> None:
        rows = rows_of(150)
        model = self.in_order(order, rows)
        run = audited(model, rows, task="nli")
        assert run.conclusion is not None
        assert run.conclusion.kind in ("no_skill", "undecided")
        [caveat] = [c for c in run.conclusion.caveats if c.kind == "labels_swapped"]
        line = str(caveat).split('--labels "')[1].split('"')[0]
        fixed = audited(model, rows, task="nli", labels=line)
        assert fixed["original", "accuracy"].value == 1
        assert fixed.conclusion is not None
        assert "labels_swapped" not in kinds(fixed.conclusion)
        assert line in " ".join(printed(run, width=200).split())

    def test_the_line_is_about_the_models_own_labels(self) -> None:
        gold = [0, 1, 2] * 20
        made = outcomes(gold, [(g + 1) % 3 for g in gold], [[0]] * 60)
        renamed = {"LABEL_0": "entailment", "LABEL_1": "neutral", "LABEL_2": "contradiction"}
        [found] = [
            caveat
            for caveat in caveats_of(made, skips={}, renamed=renamed, model_labels=list(renamed))
            if caveat.kind == "labels_swapped"
        ]
        expected = "LABEL_0=contradiction,LABEL_1=entailment,LABEL_2=neutral"
        assert f'--labels "{expected}"' in str(found)

    def test_many_labels(self) -> None:
        gold = list(range(9)) * 10
        made = outcomes(
            gold,
            [(g + 3) % 9 for g in gold],
            [[0]] * 90,
            labels=tuple("abcdefghi"),
        )
        assert better_order(made, least_skill=0.1) == [(i - 3) % 9 for i in range(9)]

    def test_a_guess_is_not_swapped(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(200):
            gold = rng.integers(3, size=60)
            made = outcomes(gold, rng.integers(3, size=60), [[0]] * 60)
            assert better_order(made, least_skill=0.1) is None

    def test_skill_is_never_doubted(self) -> None:
        gold = [0, 1] * 50
        made = outcomes(gold, gold, [[0]] * 100, labels=("a", "b"))
        assert better_order(made, least_skill=0.1) is None


class TestKinds:
    @pytest.mark.parametrize(
        ("low", "high", "kind"),
        [
            (-0.1, 0.2, "reads_order"),
            (-0.1, 0.21, "undecided"),
            (0.21, 0.79, "mixed"),
            (0.2, 0.79, "undecided"),
            (0.3, 0.8, "undecided"),
            (0.8, 1.2, "bag_of_words"),
            (0.79, 1.2, "undecided"),
        ],
    )
    def test_they_are_decided_on_the_interval(self, low: float, high: float, kind: str) -> None:
        assert kind_of(low, high, LIMITS) == kind

    def test_limits_are_settings(self) -> None:
        rows = rows_of(150)
        given = {"reads_below": 0.97, "bag_above": 1.0}
        run = audited(bag(rows), rows, fidelity="paper", **given)
        assert run.conclusion is not None
        assert run.conclusion.kind == "undecided"
        assert "the interval includes 0.97 and 1;" in run.conclusion.because
        assert run.settings["reads_below"] == 0.97
        natural = audited(bag(rows), rows, **given).conclusion
        assert natural is not None
        assert natural.kind == "undecided"

    @pytest.mark.parametrize(
        "wrong",
        [{"reads_below": 0.9}, {"bag_above": 1.2}, {"least_skill": 0.0}, {"reads_below": 0}],
    )
    def test_limits_that_cannot_be_are_an_error(self, wrong: dict[str, float]) -> None:
        with pytest.raises(DisorderError, match=next(iter(wrong))):
            audited("uniform", rows_of(30), **wrong)

    def test_more_examples_decide_what_is_undecided(self) -> None:
        """The number that is named is about right: with it, most audits are decided."""
        rng = np.random.default_rng(0)

        def run(n: int) -> Conclusion:
            gold = rng.integers(3, size=n)
            right = rng.random(n) < 0.9
            before = np.where(right, gold, (gold + 1) % 3)
            keeps = rng.random(n) < 0.5
            after = np.where(keeps, before, rng.integers(3, size=n))
            return conclude(outcomes(gold, before, after[:, None]), LIMITS)

        first = [run(40) for _ in range(60)]
        undecided = [found for found in first if found.kind == "undecided"]
        assert len(undecided) > 30
        named = [found.more_examples for found in undecided if found.more_examples]
        more = int(np.median(named))
        assert 10 <= more <= 400
        again = [run(40 + 2 * more).kind for _ in range(40)]
        assert again.count("mixed") >= 24  # of 40; values differ from audit to audit

    def test_a_value_at_a_limit_is_not_promised_to_be_decided(self) -> None:
        gold = np.arange(300) % 2
        right = np.arange(300) % 20 < 18  # 0.9 of each label after, 1 before: 0.8 of the skill
        found = conclude(outcomes(gold, gold, np.where(right, gold, 1 - gold)[:, None]), LIMITS)
        assert (found.kind, found.more_examples) == ("undecided", None)
        assert found.value == pytest.approx(0.8, abs=0.02)
        assert "more examples will hardly decide it" in sentence(found)

    def test_no_skill_is_shown_by_the_interval(self) -> None:
        rng = np.random.default_rng(1)
        gold = rng.integers(3, size=3000)
        made = outcomes(gold, rng.integers(3, size=3000), [[0]] * 3000)
        found = conclude(made, LIMITS)
        assert found.kind == "no_skill"
        assert "nothing can be said on word order" in sentence(found)
        few = conclude(made.take(np.arange(20)), LIMITS)
        assert few.kind == "undecided"
        assert "cannot be told from" in few.because


class TestWhichTransformation:
    def test_the_one_that_sets_most_neighbours_apart(self) -> None:
        rows = rows_of(60)
        specs = ["shuffle_ngrams:n=3", "reverse", "shuffle_ngrams:n=2"]
        run = audit(bag(rows), rows, with_=specs, q=3, cache="off")
        assert run.conclusion is not None
        assert run.conclusion.transformation == "reverse"
        assert "under reverse" in run.verdict

    def test_derange_where_it_is_there(self) -> None:
        rows = rows_of(60)
        run = audit(bag(rows), rows, with_=["reverse", "derange"], q=3, cache="off")
        assert run.conclusion is not None
        assert run.conclusion.transformation == "derange"

    def test_none_where_no_order_was_broken(self) -> None:
        run = audit("builtin", "builtin", with_="drop_text:side=a", limit=60, cache="off")
        assert run.conclusion is None
        assert run.verdict == verdict(run)
        assert "word order" not in run.verdict

    def test_none_where_prediction_stopped_early_for_each_example(self) -> None:
        run = audit("builtin", "builtin", with_="derange", q=5, limit=60, curtail=True, cache="off")
        assert run.conclusion is None
        assert "Ω_max is" in run.verdict

    def test_scores_that_were_not_asked_for_do_not_hide_it(self) -> None:
        rows = rows_of(90)
        assert audited(bag(rows), rows, score="p_c").conclusion is not None


class TestCaveats:
    def made(self, gold: list[int], **more: Any) -> list[Caveat]:
        made = outcomes(gold, gold, [[g] for g in gold], **more)
        return list(caveats_of(made, skips={"6 variants exist, 100 asked for": 30}))

    def test_few_examples_of_a_label(self) -> None:
        [skew, few, absent] = self.made([0] * 90 + [1] * 9)
        assert (skew.kind, few.kind, absent.kind) == (
            "label_skew",
            "few_examples",
            "absent_labels",
        )
        assert "neutral (9)" in str(few)
        assert "0.91 of the examples are entailment" in str(skew)
        assert "contradiction" in str(absent)

    def test_examples_left_out(self) -> None:
        [left_out] = self.made([0, 1, 2] * 30, n_skipped=30)
        assert left_out.kind == "left_out"
        assert "30 of 120 examples are left out under derange" in str(left_out)
        assert "6 variants exist" in str(left_out)
        assert self.made([0, 1, 2] * 30, n_skipped=2) == []

    def test_many_labels_are_skewed_sooner(self) -> None:
        labels = tuple("abcdefgh")
        found = self.made([0] * 40 + list(range(1, 8)) * 10, labels=labels)
        assert [caveat.kind for caveat in found] == ["label_skew"]

    def test_tools_that_do_not_fit_the_language(self) -> None:
        measuring = Measuring(
            dataset=Dataset("empty", NLI, []),
            settings=Settings(),
            facts=OutcomeFacts(NLI),
            plan=[],
            requested=[],
            perturbed=lambda spec, example: pytest.fail("nothing is perturbed"),
            model_labels=NLI.labels,
            language_caveats=["the splitter is for English"],
        )
        found = measuring.caveats_of_the_run([])
        assert [(c.kind, str(c)) for c in found] == [("language", "the splitter is for English")]


class TestAsData:
    def test_run_json_holds_it(self, run: Command, tmp_path: Path) -> None:
        code, out, told = run("audit", "builtin:bow", "--limit", "200", "--q", "4", "--json")
        assert code == 0, told
        found = json.loads(out)
        assert {"kind", "value", "low", "high", "because", "caveats"} <= set(found["conclusion"])
        assert found["conclusion"]["kind"] == "bag_of_words"
        assert set(found["conclusions"]) == {"needs=order", "needs=words"}
        again = read_run(next((tmp_path / "runs").iterdir()))
        assert again.conclusion is not None
        assert again.conclusion.model_dump() == found["conclusion"]
        assert again.verdict.startswith("Behaves like a bag of words")

    def test_numbers_too(self) -> None:
        rng = np.random.default_rng(0)
        rows = [
            {"text_a": f"one two three four five six seven x{i}", "label": f"{x:.3f}"}
            for i, x in enumerate(rng.random(120))
        ]
        known = {row["text_a"]: float(row["label"]) for row in rows}

        def model(texts: Sequence[str]) -> list[float]:
            return [known.get(text, 0.5) for text in texts]

        found = audited(model, rows).conclusion
        assert found is not None
        assert found.kind == "reads_order"
        assert "rank correlation" in found.because


def test_answers_count_abstentions_apart() -> None:
    made = outcomes([0, 1], [0, 1], [[0, 1], [1, 1]], labels=("a", "b"))
    found = answers(made)
    assert found["answers"] == ["a", "b"]
    assert found["confusion"]["after"] == [[0.5, 0.5], [0.0, 1.0]]
    vars(made).update(original_label=np.array([0, -1]))
    assert answers(made)["before"] == [1, 0, 1]


def test_a_conclusion_is_about_the_labels_that_are_there() -> None:
    task = Task("toy", ("a", "b", "c"))
    gold = [0, 1] * 60
    found = conclude(outcomes(gold, gold, [[g] for g in gold], task=task), LIMITS)
    assert "chance is 0.50" in found.because


def test_examples_that_had_no_turn_are_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK", 40)
    rows = [row | {"kind": "xy"[i % 2]} for i, row in enumerate(pairs(240))]
    for row in rows[1::4]:  # half of the kind y
        row["text_a"] = "too short."
    options = {"with_": "derange", "q": 4, "group_by": "kind"}
    run = audit("uniform", rows, stop_when="width(agreement) < 0.3", **options)
    n_done = run.stopped_after("derange")
    assert run.folder is not None
    assert n_done is not None
    reached = read_examples(run.folder)[:n_done]
    kind_y = [example for example in reached if example.groups["kind"] == "y"]
    n_short = sum(example.text_a == "too short." for example in kind_y)
    assert n_done < 240
    told = {
        group: [caveat.text for caveat in found.caveats if caveat.kind == "left_out"]
        for group, found in [("all", run.conclusion), *run.conclusions.items()]
        if found is not None
    }
    assert told["kind=x"] == []
    assert told["kind=y"][0].startswith(f"{n_short} of {len(kind_y)} examples")
    assert told["all"][0].startswith(f"{n_short} of {n_done} examples")
