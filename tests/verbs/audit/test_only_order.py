"""Models whose answer is known by construction, through the whole audit with real text files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
import zoo
from disorder.errors import DisorderError
from disorder.results.conclusion import sentence
from disorder.results.render import render
from disorder.results.run_result import run_result
from disorder.results.run_tables import score_grid
from disorder.verbs.audit.watching import StopWhen
from disorder.verbs.compare.finished_run import FinishedRun
from tiny_onnx import bag_of_words
from zoo import Row


def audited(rows: Sequence[Row], model: Any, folder: Path, **settings: Any) -> Any:
    """An audit of a model on a file of these rows."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = {
        "fidelity": "natural",
        "with_": "derange",
        "q": 10,
        "short": "use",
        "columns": "text=text_a",
    }
    if "text" not in rows[0]:
        del given["columns"]
    return disorder.audit(model, path, **(given | settings))


def caveats(run: Any) -> list[str]:
    return [caveat.kind for caveat in run.conclusion.caveats]


class TestBags:
    def test_row_1_a_trained_bag_of_tokens(self, tmp_path: Path) -> None:
        """TF-IDF over what stands between spaces, and logistic regression, on tweet-like rows."""
        text = pytest.importorskip("sklearn.feature_extraction.text")
        linear = pytest.importorskip("sklearn.linear_model")
        pipeline = pytest.importorskip("sklearn.pipeline")
        kinds = ("hashtag", "name", "url", "exclamation", "fraction", "emoticon")
        train, test = (
            [row for k in kinds for row in zoo.evidence_rows(k, 60, seed=seed)] for seed in (1, 2)
        )
        for i, row in enumerate(test):
            row["id"] = str(i)
        model = pipeline.make_pipeline(
            text.TfidfVectorizer(token_pattern=r"\S+", lowercase=False),
            linear.LogisticRegression(C=100.0),
        )
        model.fit([row["text"] for row in train], [row["label"] for row in train])
        run = audited(test, lambda texts: model.predict(texts).tolist(), tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    @pytest.mark.parametrize("kind", zoo.EVIDENCE)
    def test_row_2_every_kind_of_evidence(self, kind: str, tmp_path: Path) -> None:
        run = audited(zoo.evidence_rows(kind, 100), zoo.bag_of_tokens(kind), tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    def test_row_3_a_bag_that_wants_a_capital(self, tmp_path: Path) -> None:
        model = zoo.wants_capital(zoo.bag_of_tokens("plain"))
        run = audited(zoo.evidence_rows("plain", 300), model, tmp_path)
        assert run.conclusion.kind == "surface"

    def test_row_3_a_bag_that_wants_lines(self, tmp_path: Path) -> None:
        model = zoo.wants_lines(zoo.bag_of_tokens("plain"))
        run = audited(zoo.in_lines(zoo.evidence_rows("plain", 200)), model, tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    def test_row_3_a_bag_that_wants_a_double_space(self, tmp_path: Path) -> None:
        model = zoo.wants_double_space(zoo.bag_of_tokens("plain"))
        run = audited(zoo.with_double_space(zoo.evidence_rows("plain", 200)), model, tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    def test_row_3_a_model_that_looks_for_a_double_space(self, tmp_path: Path) -> None:
        plain = [row | {"label": zoo.NO} for row in zoo.evidence_rows("plain", 100)]
        rows = zoo.with_double_space(
            [row | {"id": f"d{row['id']}", "label": zoo.YES} for row in plain]
        )
        run = audited([*plain, *rows], zoo.has_double_space, tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    def test_evidence_glued_to_any_word_also_the_first_and_the_last(self, tmp_path: Path) -> None:
        def model(texts: Sequence[str]) -> list[str]:
            return [zoo.YES if re.search(r"\w🎉", text) else zoo.NO for text in texts]

        run = audited(zoo.glued_rows("🎉", "💔", 150), model, tmp_path)
        assert run.conclusion.kind == "bag_of_words"

    @pytest.mark.parametrize("n_evident", [60, 240])
    def test_row_4_a_function_of_the_first_words(self, n_evident: int, tmp_path: Path) -> None:
        """It is probed: no kind is drawn, wherever the evidence stands."""
        model = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
        run = audited(zoo.long_rows(100, n_evident=n_evident), model, tmp_path)
        assert run.conclusion.kind == "undecided"
        assert "truncated" in caveats(run)

    @pytest.mark.parametrize("n_evident", [60, 240])
    def test_row_4_a_model_that_we_tokenise_for(self, n_evident: int, tmp_path: Path) -> None:
        """Its texts are cut at a word, so that all variants hold the words that it reads."""
        rows = zoo.long_rows(100, n_evident=n_evident)
        weights = {zoo.EVIDENCE["plain"][i]: [float(i == 0), float(i == 1)] for i in range(2)}
        folder = bag_of_words(tmp_path / "model", weights, zoo.FILLERS, max_length=64)
        names = {"0": zoo.YES, "1": zoo.NO}
        out = tmp_path / "run"
        run = audited(rows, f"onnx:{folder}", tmp_path, labels=names, out=out)
        assert run.conclusion.kind == "bag_of_words"
        assert run.conclusion.value == 1
        [caveat] = [each for each in run.conclusion.caveats if each.kind == "cut_texts"]
        assert "100 of 100 examples" in caveat.text
        longer = bag_of_words(tmp_path / "longer", weights, zoo.FILLERS, max_length=100)
        other = audited(rows, f"onnx:{longer}", tmp_path, labels=names, out=tmp_path / "other")
        compared = disorder.compare(run, other)
        assert any("100 examples are longer" in note for note in compared.notes)

    def test_row_6_data_that_needs_order_excuses_no_bag(self, tmp_path: Path) -> None:
        run = audited(zoo.half_order_rows(400), zoo.bag_of_tokens("plain"), tmp_path)
        assert run.conclusion.kind == "bag_of_words"
        said = " ".join([sentence(run.conclusion), *map(str, run.conclusion.caveats)])
        assert "no fault" not in said


def test_a_reader_of_order_reads_order(tmp_path: Path) -> None:
    run = audited(zoo.order_rows(300), zoo.reads_order, tmp_path)
    assert run.conclusion.kind == "reads_order"


@pytest.fixture(scope="module")
def declining(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The run of a bag of words that declines 70 % of the shuffled texts and none of the others."""
    rows = zoo.evidence_rows("plain", 200)
    originals = [row["text"] for row in rows]
    model = zoo.refusing(zoo.bag_of_tokens("plain"), originals, 0.7, "invalid")
    labels = "pos=pos,neg=neg,invalid=invalid"
    return audited(rows, model, tmp_path_factory.mktemp("refusals"), labels=labels)


class TestRefusals:
    def test_row_5_skill_that_is_not_shown_is_not_kept(self, declining: Any) -> None:
        assert declining.conclusion.value == pytest.approx(0.3, abs=0.05)
        assert declining.conclusion.kind == "mixed"

    def test_row_5_the_headline_has_both_shares(self, declining: Any) -> None:
        for said in (sentence(declining.conclusion), declining.result.headline):
            assert re.search(r"declines 7\d % of the shuffled texts", said)
            assert "0 % of the originals" in said
        assert render(declining.result, "terminal").count("of the originals") == 1

    def test_agreement_is_about_originals_that_were_answered(self, tmp_path: Path) -> None:
        """Two abstentions agree on nothing, and say nothing of order."""
        bag = zoo.bag_of_tokens("plain")

        def silent(texts: Sequence[str]) -> list[str]:
            """A bag that never answers some texts, in whatever order."""
            keys = [" ".join(sorted(zoo.plain_words(text))) for text in texts]
            return [
                "invalid" if zoo._number(key) < 0.3 else label
                for key, label in zip(keys, bag(texts), strict=True)
            ]

        labels = "invalid=invalid,pos=pos,neg=neg"
        run = audited(zoo.evidence_rows("plain", 200), silent, tmp_path, labels=labels)
        found = run.score("derange", "agreement")
        assert (found.value, found.n) == (1, round(200 * run.score("original", "accuracy").value))

    def test_row_5_the_gate_passes(self, declining: Any) -> None:
        assert disorder.gate(declining, "skill_kept > 0.8").passed

    def test_no_answer_is_accepted_with_a_note_and_does_nothing(
        self, declining: Any, tmp_path: Path
    ) -> None:
        rows = zoo.evidence_rows("plain", 200)
        model = zoo.refusing(
            zoo.bag_of_tokens("plain"), [row["text"] for row in rows], 0.7, "invalid"
        )
        labels = "pos=pos,neg=neg,invalid=invalid"
        run = audited(rows, model, tmp_path, labels=labels, no_answer="abstain")
        assert run.scores == declining.scores
        assert run.conclusion == declining.conclusion
        assert any("no_answer='abstain' changes nothing" in note for note in run.notes)

    def test_a_model_that_answers_nothing_gets_no_variants_to_find_q(self, tmp_path: Path) -> None:
        asked: list[str] = []

        def silent(texts: Sequence[str]) -> list[None]:
            asked.extend(texts)
            return [None] * len(texts)

        with pytest.raises(DisorderError):
            audited(zoo.evidence_rows("plain", 100), silent, tmp_path, q="auto", short=None)
        assert len(asked) <= 64 + 100


class TestScope:
    def test_row_7_a_text_without_another_order_lets_the_other_move(self, tmp_path: Path) -> None:
        def model(texts: Sequence[tuple[str, str]]) -> list[str]:
            return zoo.reads_order([a for a, _ in texts])

        run = audited(zoo.pair_rows(300), model, tmp_path)
        assert run.conclusion.kind == "reads_order"
        assert run.conclusion.n == 300

    def test_rows_with_an_empty_text_are_said_to_be_left_out(self, tmp_path: Path) -> None:
        rows = [
            row | {"text_b": row["text_b"] if i % 4 < 2 else ""}
            for i, row in enumerate(zoo.longer_pairs(200))
        ]
        run = audited(rows, lambda texts: zoo.reads_order([a for a, _ in texts]), tmp_path)
        [said] = [str(each) for each in run.conclusion.caveats if each.kind == "left_out"]
        assert said.startswith("100 of 200 rows are left out as they are read (empty text: 100)")

    def test_row_8_a_text_that_did_not_move_is_not_judged(self, tmp_path: Path) -> None:
        def model(texts: Sequence[tuple[str, str]]) -> list[str]:
            return zoo.reads_order([a for a, _ in texts])

        run = audited(zoo.longer_pairs(300), model, tmp_path, with_="derange:side=b")
        assert run.conclusion.kind == "order_not_used"
        assert "text_b" in sentence(run.conclusion)


class TestComparing:
    def test_row_9_order_misleads_one_and_the_other_keeps_its_skill(self, tmp_path: Path) -> None:
        rows = zoo.misled_rows(300)
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        bag = audited(rows, zoo.bag_of_tokens("plain"), tmp_path / "a", out=tmp_path / "bag")
        misled = audited(rows, zoo.misled_by_phrase, tmp_path / "b", out=tmp_path / "misled")
        assert bag.conclusion.kind == "bag_of_words"
        assert misled.conclusion.kind == "misled_by_order"
        compared = disorder.compare(tmp_path / "bag", tmp_path / "misled")
        said = str(compared)
        assert "Order misleads misled_by_phrase" in said
        assert "keeps its skill" in said
        assert "uses word order more" not in said
        assert "uses word order less" not in said


class TestGate:
    def test_row_10_a_guesser_has_no_skill_and_so_no_wos(self, tmp_path: Path) -> None:
        run = audited(zoo.evidence_rows("plain", 300), zoo.guesser, tmp_path)
        found = disorder.gate(run, "wos < 0.2")
        assert found.state == "undecided"
        assert "no skill, so no wos" in str(found.model_dump())

    def test_row_15_an_interval_across_the_limit_is_undecided(self, tmp_path: Path) -> None:
        rows = zoo.half_order_rows(60)
        run = audited(rows, zoo.bag_of_tokens("plain"), tmp_path)
        found = disorder.gate(run, f"skill_kept > {run['derange', 'skill_kept'].value}")
        assert found.state == "undecided"
        assert found.passed  # exit 0, neither green nor red
        said = render(found.result, "terminal")
        assert "UNDECIDED" in said
        assert all(" ".join(each.text.split()[:3]) in said for each in run.conclusion.caveats)


class TestRareLabels:
    def test_row_11_the_bag(self, tmp_path: Path) -> None:
        run = audited(zoo.rare_rows(), zoo.rare_bag, tmp_path)
        assert run.conclusion.kind == "bag_of_words"
        assert "rare_labels" in caveats(run)

    def test_row_11_the_reader(self, tmp_path: Path) -> None:
        rows = zoo.rare_rows()
        run = audited(rows, zoo.rare_reader(rows), tmp_path)
        assert run.conclusion.kind == "reads_order"
        assert "rare_labels" in caveats(run)


class TestFamilies:
    def test_row_12_near_copies_do_not_narrow_the_interval(self, tmp_path: Path) -> None:
        rows = zoo.half_order_rows(120)
        copied = zoo.families(rows, 5)
        (tmp_path / "once").mkdir()
        (tmp_path / "copied").mkdir()
        once = audited(rows, zoo.reads_or_counts, tmp_path / "once")
        many = audited(copied, zoo.reads_or_counts, tmp_path / "copied")
        widths = [run.conclusion.high - run.conclusion.low for run in (once, many)]
        assert widths[1] == pytest.approx(widths[0], rel=0.5)

    def test_copies_of_three_texts_decide_nothing(self, tmp_path: Path) -> None:
        """And the sentence says why, not that more of the same would help."""
        rows = [row | {"label": f"l{i}"} for i, row in enumerate(zoo.evidence_rows("plain", 3))]
        copied = zoo.families(rows, 10)
        known = {tuple(sorted(zoo.plain_words(row["text"]))): row["label"] for row in copied}

        def bag(texts: Sequence[str]) -> list[str]:
            return [known.get(tuple(sorted(zoo.plain_words(text))), "l0") for text in texts]

        run = audited(copied, bag, tmp_path)
        assert run.conclusion.kind == "undecided"
        assert "weigh as much as 3 families" in run.conclusion.because
        assert run.conclusion.more_examples is None

    def test_families_may_be_named_by_a_column(self, tmp_path: Path) -> None:
        """Rows that look independent, of 30 authors: every interval is that of 30 observations."""
        rows = [row | {"author": f"author {i % 30}"} for i, row in enumerate(zoo.order_rows(300))]
        authors = {row["text"]: int(row["author"].split()[1]) for row in rows}
        by_author = zoo.knows_the_order_of(rows, lambda row: authors[row["text"]] % 3 > 0)
        out = tmp_path / "named"
        (tmp_path / "found").mkdir()
        found = audited(rows, by_author, tmp_path / "found")
        named = audited(rows, by_author, tmp_path, family="author", out=out)
        for spec, metric in (("original", "accuracy"), ("derange", "skill_kept")):
            one, other = (run.score(spec, metric) for run in (found, named))
            assert one.value == other.value
            assert other.high - other.low > 1.5 * (one.high - one.low)
        assert len(set(named.samples().column("family").to_pylist())) == 30
        assert named.settings["family"] == "author"
        read = FinishedRun.open(out).outcomes("derange")
        assert read is not None
        assert read.family is not None
        assert len(set(read.family.tolist())) == 30

    def test_a_family_column_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(DisorderError, match="no column 'writer' that names its family"):
            audited(zoo.order_rows(30), zoo.reads_order, tmp_path, family="writer")


class TestNoise:
    def test_row_13_a_model_that_changes_its_mind_by_itself(self, tmp_path: Path) -> None:
        model = zoo.Stochastic(zoo.bag_of_tokens("plain"), 0.5)
        run = audited(zoo.evidence_rows("plain", 300), model, tmp_path)
        assert "changes_by_itself" in caveats(run)
        assert "predictions_change" not in caveats(run)  # no more than by themselves
        floor = {record.metric: record for record in run.noise_floor}
        assert floor["agreement"].low < run.score("derange", "agreement").value
        assert floor["agreement"].value == pytest.approx(0.62, abs=0.15)
        assert floor["wos"].n < floor["agreement"].n == 30
        assert "same texts again" in render(run_result(run), "page")
        shown = score_grid(run, metrics=["agreement", "wos"])
        assert [row[0].text for row in shown.rows][-1] == "same texts again"

    def test_row_13_a_model_that_answers_by_its_place_in_the_batch(self, tmp_path: Path) -> None:
        model = zoo.by_place(zoo.bag_of_tokens("plain"))
        run = audited(zoo.evidence_rows("plain", 300), model, tmp_path)
        assert "changes_by_itself" in caveats(run)

    def test_a_steady_model_is_not_said_to_change(self, tmp_path: Path) -> None:
        run = audited(zoo.evidence_rows("plain", 100), zoo.bag_of_tokens("plain"), tmp_path)
        assert "changes_by_itself" not in caveats(run)


def counted_looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After how many examples the stop rule was looked at, as the run goes on."""
    looks: list[int] = []
    take = StopWhen.take

    def counted(self: StopWhen, outcomes: Any, n_done: int, **more: Any) -> None:
        looks.extend(n_done for spec in outcomes if spec == "derange")
        take(self, outcomes, n_done, **more)

    monkeypatch.setattr(StopWhen, "take", counted)
    return looks


class TestStopping:
    def test_row_14_all_predicted_is_not_early(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looks = counted_looks(monkeypatch)
        rows = zoo.evidence_rows("plain", 1_500)
        model = zoo.bag_of_tokens("plain")
        run = audited(rows, model, tmp_path, q=2, stop_when="width(p_c) < 0.0001")
        assert "stopped_early" not in caveats(run)
        assert run["derange", "p_c"].n == 1_500
        assert len(looks) >= 20
        assert looks[-1] == 1_500

    def test_row_14_another_width_takes_another_number(self, tmp_path: Path) -> None:
        rows = zoo.half_order_rows(1_500)
        used = []
        for width in (0.12, 0.2):
            where = tmp_path / str(width)
            where.mkdir()
            run = audited(rows, zoo.reads_or_counts, where, q=2, stop_when=f"width(p_c) < {width}")
            assert "stopped_early" in caveats(run)
            used.append(run["derange", "p_c"].n)
        assert 1_500 > used[0] > used[1] >= 200


class TestFailures:
    @pytest.mark.parametrize(("share", "kind"), [(0.005, "bag_of_words"), (0.4, "undecided")])
    def test_numbers_that_are_not_finite(self, share: float, kind: str, tmp_path: Path) -> None:
        """They are left out; where they are many the kind must hold whatever they were."""
        bag = zoo.bag_of_tokens("plain")
        rows = zoo.evidence_rows("plain", 200)
        originals = {row["text"] for row in rows}

        def model(texts: Sequence[str]) -> np.ndarray:
            found = np.array([[label == zoo.NO, label == zoo.YES] for label in bag(texts)], float)
            is_odd = [t not in originals and zoo._number(f"odd {t}") < share for t in texts]
            found[np.array(is_odd)] = np.nan
            return found

        model.labels = (zoo.NO, zoo.YES)  # type: ignore[attr-defined]
        run = audited(rows, model, tmp_path)
        assert run.conclusion.kind == kind
        assert ("failures" in caveats(run)) == (share > 0.01)
        assert "its numbers are not finite" in run.no_answers["derange"]
        said = [str(each) for each in run.conclusion.caveats if each.kind == "failures"]
        assert all("no kind is named unless it holds" in each for each in said)


class TestWhatIsSaid:
    def test_near_copies_teach_a_bag_of_words_nothing(self, tmp_path: Path) -> None:
        """A family stays in one fold: labels by lot cannot be learnt from a row's own copies."""
        rng = np.random.default_rng(0)
        rows = zoo.evidence_rows("plain", 60)
        labels = {row["text"]: (zoo.YES, zoo.NO)[int(rng.integers(2))] for row in rows}
        copied = zoo.families([row | {"label": labels[row["text"]]} for row in rows], 5)
        known = {" ".join(sorted(zoo.plain_words(row["text"]))): row["label"] for row in copied}

        def bag(texts: Sequence[str]) -> list[str]:
            return [known.get(" ".join(sorted(zoo.plain_words(text))), "pos") for text in texts]

        run = audited(copied, bag, tmp_path)
        assert run.conclusion.kind == "bag_of_words"
        [words] = run.word_baselines
        assert words.low < 0.5
        assert words.high - words.low > 0.2  # of 60 observations, not 300
        assert run.n_families < 150  # copies of the shortest texts share too few words
        counted = f"300 texts ({run.n_families} families of similar texts)"
        assert counted in " ".join(run.result.lead)
        assert f"interval over the {run.n_families} families" in render(run.result, "page")

    def test_the_need_for_order_is_said_once(self, tmp_path: Path) -> None:
        run = audited(zoo.half_order_rows(400), zoo.bag_of_tokens("plain"), tmp_path)
        [words] = run.word_baselines
        share = (words.value - words.chance) / (words.model - words.chance)
        shown = " ".join(render(run.result, "terminal").split())
        assert shown.count("whether order has more to give") == 1
        assert ("explains all of" in shown) == (share >= 0.995)

    def test_the_text_that_moved_is_shown(self, tmp_path: Path) -> None:
        rows = [row | {"text_a": row["text"], "text_b": "Topic"} for row in zoo.order_rows(60)]
        for row in rows:
            del row["text"]
        run = audited(rows, lambda texts: zoo.reads_order([a for a, _ in texts]), tmp_path)
        shown = render(run.result, "terminal")
        assert '"Topic" →' not in shown
        assert shown.count("” →") + shown.count('" →') == 2

    def test_how_many_examples_decide_it_where_there_is_no_ratio(self, tmp_path: Path) -> None:
        run = audited(zoo.half_order_rows(40), zoo.reads_or_counts, tmp_path)
        none = {"kind": "undecided", "value": None, "low": None, "high": None, "more_examples": 13}
        run.conclusion = run.conclusion.model_copy(update=none)
        assert run.result.lead[0].endswith("About 13 more would decide it.")


def test_a_control_that_is_the_original_counts_as_the_original() -> None:
    """Texts without marks and capitals have nothing to lose: the row says so of all of them."""
    fill = ["we", "saw", "the", "new", "band", "play", "again"]
    rows = [
        {
            "text": " ".join([*fill[i % 7 :], "good" if i % 2 else "bad", *fill[: i % 7]]),
            "label": i % 2,
        }
        for i in range(60)
    ]
    run = disorder.audit(
        lambda texts: [str(int("good" in text.split())) for text in texts],
        rows,
        with_="derange",
        q=3,
        short="use",
        fidelity="natural",
        cache="off",
    )
    control = run.score("surface:of=derange", "accuracy")
    assert control is not None
    original = run.score("original", "accuracy")
    assert original is not None
    assert (control.value, control.n) == (1, original.n)
    assert run.conclusion is not None
    assert "no_surface_control" not in [caveat.kind for caveat in run.conclusion.caveats]
