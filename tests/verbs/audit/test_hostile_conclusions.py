"""Conclusions on data made to mislead them: few examples, copies, weak perturbations, models that
keep their skill and are no bag of words, numbers.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from conftest import outcomes
from disorder.results.conclusion import Conclusion, WordBaseline, prompt_verdict, sentence
from disorder.results.next_steps import sanity_command
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.terminal import show_result
from disorder.types import Ints, Outcomes, Task
from disorder.verbs.audit import audit
from disorder.verbs.audit.caveats import caveats_of, of_behaviour, words_alone
from disorder.verbs.audit.concluding import conclude
from disorder.verbs.audit.conclusions import Neighbours, neighbours_kept
from disorder.verbs.audit.order_kinds import KindLimits

Row = dict[str, str]
LIMITS = KindLimits()
WORDS = [f"{first}{second}" for first in "bdfgklmnprstvz" for second in ("an", "el", "ir", "ost")]


def sentences(n: int, n_words: int = 8, *, seed: int = 0) -> list[Row]:
    """Single texts of random words; the label is no matter of theirs."""
    rng = np.random.default_rng(seed)
    return [
        {
            "id": str(i),
            "text_a": " ".join(rng.choice(WORDS, n_words, replace=False)),
            "label": ("yes", "no")[i % 2],
        }
        for i in range(n)
    ]


def bigram_model(rows: Sequence[Row]) -> Callable[[Sequence[str]], list[str]]:
    """It knows texts by the words that stand side by side: two fifths of them are enough."""

    def pairs(text: str) -> set[tuple[str, str]]:
        words = text.split()
        return set(pairwise(words))

    known = [(pairs(row["text_a"]), row["label"]) for row in rows]

    def answer(text: str) -> str:
        found = pairs(text)
        shared, label = max((len(found & other), label) for other, label in known)
        return label if shared >= 0.4 * len(found) else "no"

    return lambda texts: [answer(text) for text in texts]


def audited(model: Any, rows: Sequence[Row], **more: Any) -> Run:
    return audit(model, list(rows), q=3, cache="off", **more)


def kinds(found: Conclusion | None) -> set[str]:
    assert found is not None
    return {caveat.kind for caveat in found.caveats}


class TestWeakPerturbations:
    @pytest.mark.parametrize("spec", ["rotate", "swap_adjacent", "shuffle_ngrams:n=4", "move_word"])
    def test_a_reader_of_bigrams_is_never_called_a_bag_of_words(self, spec: str) -> None:
        rows = sentences(60, 12)
        found = audited(bigram_model(rows), rows, with_=spec).conclusion
        assert found is not None
        assert found.value == 1
        assert found.kind == "undecided"
        assert f"{spec} leaves 0." in found.because
        assert "--with derange moves every word" in found.because
        assert found.more_examples is None

    def test_words_that_change_places_with_the_next_stay_side_by_side(self) -> None:
        """In order none, beside each other 4 of 7; a random order of 8 words leaves 2 in 8."""
        positions = np.array([[1, 0, 3, 2, 5, 4, 7, 6]])
        still = SimpleNamespace(written=None, positions=np.arange(5)[None])
        moved = SimpleNamespace(written=None, positions=positions)
        counts = neighbours_kept(SimpleNamespace(sides=(still, moved)))  # type: ignore[arg-type]
        assert counts.tolist() == [0, 4, 1.75, 7]
        assert Neighbours(0, 4 / 7, 1.75 / 7).above_chance == pytest.approx(3 / 7)

    def test_it_is_a_reader_once_every_word_moves(self) -> None:
        rows = sentences(60, 12)
        found = audited(bigram_model(rows), rows, with_=["rotate", "derange"]).conclusion
        assert found is not None
        assert (found.kind, found.transformation) == ("reads_order", "derange")

    def test_skill_that_is_lost_all_the_same_is_lost(self) -> None:
        rows = sentences(60)
        known = {row["text_a"]: row["label"] for row in rows}
        found = audited(lambda texts: [known.get(t, "no") for t in texts], rows, with_="rotate")
        assert found.conclusion is not None
        assert found.conclusion.kind == "reads_order"


class TestFewExamples:
    @pytest.mark.parametrize("n", [5, 6, 8, 12, 20])
    @pytest.mark.parametrize("keeps", [True, False])
    def test_the_number_that_is_named_decides(self, n: int, keeps: bool) -> None:
        """The same examples again and again, until there is a conclusion."""
        gold = np.arange(n) % 2
        made = outcomes(gold, gold, (gold if keeps else 0 * gold)[:, None], labels=("a", "b"))
        found = conclude(made, LIMITS)
        assert found.kind == "undecided"
        assert found.more_examples is not None

        def is_decided(total: int) -> bool:
            return conclude(made.take(np.resize(np.arange(n), total)), LIMITS).kind != "undecided"

        least = next(total for total in range(n, 200) if is_decided(total)) - n
        assert 0.7 * least <= found.more_examples <= 1.5 * least

    def test_one_example_of_a_label_needs_many_more(self) -> None:
        gold = np.array([2, *([0, 1] * 60)])
        found = conclude(outcomes(gold, gold, gold[:, None]), LIMITS)
        assert found.kind == "undecided"
        assert found.more_examples is not None
        assert 250 <= found.more_examples <= 700  # three or four of the rare label are needed


class TestCopies:
    def test_they_are_counted(self) -> None:
        base = sentences(10)
        rows = [row | {"id": str(i)} for i, row in enumerate(base * 6)]
        label_of = {" ".join(sorted(row["text_a"].split())): row["label"] for row in base}

        def model(texts: Sequence[str]) -> list[str]:
            return [label_of[" ".join(sorted(text.split()))] for text in texts]

        copied = audited(model, rows, with_="derange").conclusion
        assert "templated" in kinds(copied)
        assert copied is not None
        assert any("as much as 10 families" in str(each) for each in copied.caveats)
        as_printed = audited(model, rows, with_="derange", fidelity="paper").conclusion
        assert "repeats" in kinds(as_printed)
        assert as_printed is not None
        assert any("only 10 of 60 examples differ" in str(each) for each in as_printed.caveats)
        once = audited(model, base, with_="derange", fidelity="paper").conclusion
        assert "repeats" not in kinds(once)


class TestKeepsSkillAndIsNoBagOfWords:
    def made(self, before: Ints, after: Ints) -> Outcomes:
        return outcomes(np.arange(len(before)) % 2, before, after[:, None], labels=("a", "b"))

    def test_predictions_that_change_are_a_caveat(self) -> None:
        rng = np.random.default_rng(0)
        gold = np.arange(4_000) % 2
        before, after = (np.where(rng.random(4_000) < 0.8, gold, 1 - gold) for _ in "12")
        made = self.made(before, after)
        found = conclude(made, LIMITS)
        assert found.kind == "bag_of_words"
        [caveat] = of_behaviour(found, made, LIMITS.misled_above)
        assert caveat.kind == "predictions_change"
        assert "only 0.68 of its predictions" in str(caveat)
        steady = self.made(before, before)
        assert list(of_behaviour(conclude(steady, LIMITS), steady, LIMITS.misled_above)) == []

    def test_a_model_that_order_misleads_uses_it(self) -> None:
        gold = np.arange(1_000) % 2
        before = np.where(np.arange(1_000) % 10 < 7, gold, 1 - gold)
        made = self.made(before, gold)
        found = conclude(made, LIMITS)
        assert found.kind == "mixed"
        assert found.low is not None
        assert found.low > 1.2
        [caveat] = of_behaviour(found, made, LIMITS.misled_above)
        assert caveat.kind == "better_without_order"


class TestNumbers:
    def made(self, gold: Sequence[float], given: Sequence[float]) -> Outcomes:
        predictions = np.array(given, dtype=float)[:, None]
        return Outcomes(
            "derange",
            Task("numbers", ()),
            np.arange(len(gold)).astype(str),
            np.array(gold, dtype=float),
            predictions,
            predictions[:, None],
            np.ones(len(gold), dtype=bool),
        )

    def test_three_examples_are_too_few_to_say_no_skill(self) -> None:
        found = conclude(self.made([1, 2, 3], [1, 2, 3]), LIMITS)
        assert found.kind == "undecided"
        assert sentence(found) == "Undecided: 3 examples are too few to rank (4 are the least)."

    def test_one_number_for_every_text(self) -> None:
        found = conclude(self.made(range(20), [2.5] * 20), LIMITS)
        assert found.kind == "one_label"
        assert "the model answers 2.5 to all 20 original texts" in sentence(found)

    def test_an_audit_of_a_constant_model_says_so(self) -> None:
        rows = [row | {"label": str(i / 7)} for i, row in enumerate(sentences(12))]
        run = audited(lambda texts: [2.5] * len(texts), rows, with_="derange")
        assert run.verdict.startswith("One answer for every text: the model answers 2.5 to all 12")
        console = Console(width=80, file=io.StringIO(), record=True)
        show_result(run.result, console, is_all=True)
        assert "Your model gives one answer to every text" in console.export_text()
        html = render(run.result, "page")
        assert "Your model gives one answer to every text." in html
        assert "The model answers 2.5 to all 12 original texts." in html

    def test_one_gold_number(self) -> None:
        found = conclude(self.made([3] * 20, range(20)), LIMITS)
        assert found.kind == "one_gold_label"
        assert "the gold number of all 20 examples is 3" in sentence(found)

    def test_a_scale_the_other_way_round(self) -> None:
        made = self.made(range(40), [-x for x in range(40)])
        found = conclude(made, LIMITS)
        assert found.kind == "no_skill"
        assert "−1.00" in found.because
        assert "-1.00" not in found.because
        [caveat] = caveats_of(made, skips={})
        assert caveat.kind == "labels_swapped"
        assert "rank correlation is −1.00" in str(caveat)
        assert list(caveats_of(self.made(range(40), range(40)), skips={})) == []


class TestWhatToType:
    def run(self, **more: Any) -> Any:
        given = {"data": "my data.csv", "n_available": 900, "settings": {}, "kind": "labels"}
        return SimpleNamespace(**(given | more))

    def test_the_command_reads_the_data_as_the_audit_did(self) -> None:
        settings = {"columns": {"premise": "text_a"}, "language": "auto", "data_dir": "/data"}
        assert sanity_command(self.run(settings=settings)) == (
            "disorder sanity 'my data.csv' --columns premise=text_a --data-dir /data"
        )

    def test_rows_in_memory_have_no_name(self) -> None:
        assert sanity_command(self.run(data="data")) == "disorder.sanity with the same data"

    def test_no_command_that_would_fail(self) -> None:
        assert sanity_command(self.run(n_available=30)) == ""
        assert str(words_alone(None, "")).endswith("it has too few examples to learn from")

    def test_caveat_and_table_give_the_same_numbers(self) -> None:
        row = WordBaseline(value=0.555, low=0.49, high=0.62, n=200, model=1, chance=0.5)
        assert f"{row.value:.2f} [0.49, 0.62]" in str(words_alone(row, "…"))


class TestLeftOut:
    def caveat(self, reason: str) -> str:
        gold = [0, 1, 2] * 30
        made = outcomes(gold, gold, [[g] for g in gold], n_skipped=30)
        [found] = caveats_of(made, skips={reason: 30})
        return str(found)

    def test_only_short_examples_are_said_to_be_short(self) -> None:
        assert "which are longer; --short use" in self.caveat("6 distinct variants exist, 9 asked")
        assert "longer" not in self.caveat("fewer than two nouns")


def test_no_conclusion_with_curtail_says_why() -> None:
    rows = sentences(12)
    run = audited("always:yes", rows, with_="derange", curtail=True)
    assert run.verdict.startswith("No conclusion, since --curtail does not predict every variant.")


class TestPerturbedPrompts:
    def verdict(self, before: list[float]) -> str:
        record = SimpleNamespace(value=0.99, low=0.97, high=1.0, transformation="derange")
        run = SimpleNamespace(
            settings={"break_": "instruction"},  # as --on is recorded
            transformations=["derange"],
            score=lambda spec, metric: record,
            answers={"derange": {"answers": ["yes", "no"], "before": before}},
        )
        return prompt_verdict(run)  # type: ignore[arg-type]

    def test_one_answer_to_every_text_shows_no_need_of_anything(self) -> None:
        assert self.verdict([40, 20]).startswith("The model hardly needs the word order")
        told = self.verdict([60, 0])
        assert told.startswith("No verdict: the model answers yes to every text")
