"""How many variants of each example an audit takes: as the user says, or as the data needs."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.errors import DisorderError
from disorder.verbs.audit import preview

FILL = ["we", "saw", "the", "new", "band", "play", "once", "again", "at", "home", "today"]
Row = dict[str, str]


def rows(n: int) -> list[Row]:
    """Texts of twelve words, one of which is the evidence."""
    found = []
    for i in range(n):
        words = FILL[i % 7 :] + FILL[: i % 7] + [f"x{i}"]
        words.insert(i % 5, "good" if i % 2 else "bad")
        found.append({"id": f"r{i}", "text_a": " ".join(words), "label": str(i % 2)})
    return found


def bag(texts: Sequence[str]) -> list[str]:
    return [str(int("good" in text.split())) for text in texts]


def half_random(texts: Sequence[str]) -> list[str]:
    """A bag of words whose answer to another order is a coin that the order decides."""
    known = {row["text_a"] for row in rows(200)}
    return [
        bag([text])[0]
        if text in known
        else str(blake2b(text.encode(), digest_size=1).digest()[0] % 2)
        for text in texts
    ]


def audited(model: Any, data: Any = None, **settings: Any) -> Any:
    given = {"with_": "derange", "cache": "off"} | settings
    return disorder.audit(model, rows(120) if data is None else data, **given)


class TestByItself:
    def test_a_bag_of_words_needs_the_fewest(self) -> None:
        run = audited(bag)
        assert (run.settings["q"], run.settings["short"]) == (5, "use")
        assert run.variants["derange"] == 5
        assert any(note.startswith("5 permutations of each: under derange") for note in run.notes)

    def test_predictions_that_differ_within_examples_take_more(self) -> None:
        assert audited(half_random).settings["q"] == 10

    def test_examples_that_are_plentiful_take_fewer(self) -> None:
        run = audited(half_random, stop_when="width(p_c) < 0.01")
        assert 2 <= run.settings["q"] <= 5

    def test_it_is_decided_once(self, tmp_path: Path) -> None:
        run = audited(half_random, out=tmp_path / "run")
        path = tmp_path / "run" / "run.json"
        path.write_text(path.read_text().replace('"status": "done"', '"status": "started"'))
        again = disorder.resume(tmp_path / "run", model=half_random, data=rows(120))
        assert again.settings == run.settings
        assert again.scores == run.scores

    def test_runs_that_chose_for_themselves_can_be_compared(self, tmp_path: Path) -> None:
        """The variants of a smaller q are the first of a larger one."""
        for name, model in (("bag", bag), ("other", half_random)):
            audited(model, out=tmp_path / name)
        assert disorder.compare(tmp_path / "bag", tmp_path / "other").differences

    def test_a_constant_model_gets_the_fewest(self) -> None:
        assert audited(lambda texts: ["1"] * len(texts)).settings["q"] == 5

    def test_copies_do_not_say_how_much_lies_between_examples(self) -> None:
        """As many families as examples without copies: q is no higher with them."""
        copied = [row | {"id": f"{row['id']}.{k}"} for row in rows(30) for k in range(3)]
        assert audited(half_random, copied).settings["q"] <= audited(half_random).settings["q"]


@pytest.mark.parametrize("settings", [{"q": 4}, {"q": 4, "repeats": 2, "with_": "sort"}, {}])
def test_a_preview_counts_every_text_that_is_predicted(settings: dict[str, Any]) -> None:
    """Surface controls, texts predicted again, and those that say how many variants to take."""
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> list[str]:
        asked.extend(texts)
        return half_random([text.lower().strip(".") for text in texts])

    written = [row | {"text_a": f"{row['text_a'].capitalize()}."} for row in rows(120)]
    audited(counted, written, **settings)
    most = preview(counted, written, **{"with_": "derange"} | settings).n_questions
    least = 0.95 if settings else 0.5  # by itself it takes 5 to 10 variants
    assert least * most <= len(asked) <= most


@pytest.mark.parametrize(
    ("n", "settings"),
    [
        (120, {}),
        (220, {"q": 2}),  # enough rows to time whether it goes on until it is decided
        (220, {"q": 2, "with_": ["sort", "derange"]}),
        (220, {"q": 2, "repeats": 0, "until": "decided"}),
        (220, {"q": 1, "fidelity": "paper"}),
    ],
)
def test_no_audit_makes_more_model_calls_than_its_preview_says(
    n: int, settings: dict[str, Any]
) -> None:
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> list[str]:
        asked.extend(texts)
        return half_random([text.lower().strip(".") for text in texts])

    written = [row | {"text_a": f"{row['text_a'].capitalize()}."} for row in rows(n)]
    given = {"with_": "derange"} | settings
    audited(counted, written, **given)
    assert len(asked) <= preview(counted, written, **given).n_questions


class TestAsAskedFor:
    def test_a_number_leaves_short_texts_out(self) -> None:
        run = audited(bag, q=20)
        assert (run.settings["q"], run.settings["short"]) == (20, "skip")

    @pytest.mark.parametrize(
        "more", [{"score": ["omega_max"]}, {"omega": "0.5"}, {"fidelity": "paper"}]
    )
    def test_scores_of_the_papers_have_their_number(self, more: dict[str, Any]) -> None:
        run = audited(bag, rows(12), **more)
        assert (run.settings["q"], run.settings["short"]) == (100, "skip")
        assert any(note.startswith("q is 100") for note in run.notes)

    @pytest.mark.parametrize("q", ["some", 0, "1000001"])
    def test_other_words_are_one_line(self, q: Any) -> None:
        with pytest.raises(DisorderError, match="auto"):
            audited(bag, q=q)


class TestShortTexts:
    """No example is left out for wanting q, and every reason has its count."""

    def test_row_17_they_are_used_with_the_orders_they_have(self) -> None:
        short = [
            {"id": f"s{i}", "text_a": f"{word} band", "label": str(i % 2)}
            for i, word in enumerate(["bad", "good"] * 20)
        ]
        run = audited(bag, [*rows(60), *short])
        assert run["derange", "accuracy"].n == 100
        assert run.skips["derange"] == {}

    def test_row_17_texts_left_out_are_in_no_accuracy_that_is_compared(self) -> None:
        alone = [{"id": f"a{i}", "text_a": "bad", "label": "1"} for i in range(20)]
        run = audited(bag, [*rows(60), *alone], fidelity="natural")
        assert run["original", "accuracy"].n == 80
        said, _ = run.result.lead[:2]
        assert "of 60 texts" in said
        right = f"{run['derange', 'accuracy'].value:.0%}".replace("%", " %")
        assert said.startswith(f"Right on {right}")
        assert f"still on {right}" in said
        [row, *_] = run.result.grids[0].rows
        assert row[0].text == "original texts used"

    def test_row_17_every_reason_is_listed_with_its_count(self) -> None:
        alone = [{"id": f"a{i}", "text_a": "bad", "label": "0"} for i in range(20)]
        run = audited(bag, [*rows(60), *alone])
        assert sum(run.skips["derange"].values()) == 20
        [told] = [str(each) for each in run.conclusion.caveats if each.kind == "left_out"]
        assert told.startswith("20 of 80 examples are left out")
        assert all(why in told for why in run.skips["derange"])
