"""Where items deviated from their papers: each point that was found has a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import NLI, example, pairs
from disorder.papers.study import Workbench, find_item, study_items
from disorder.papers.study.part_settings import StudySettings
from disorder.papers.study.pipelines.designs_table import MitigationTable
from disorder.papers.study.pipelines.training_table import TrainingTable
from disorder.papers.study.published_tables import PublishedRow, PublishedTable, TableMatcher
from disorder.papers.study.resolving import usual_fidelity
from disorder.papers.study.result import Study, StudyCell
from disorder.papers.study.table_lines import study_grid
from disorder.papers.study.training_models import training_of
from disorder.store.store import Store
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Task

SENTIMENT = ("negative", "positive")
Command = Callable[..., tuple[int, str, str]]


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def reviews(n: int) -> list[dict[str, Any]]:
    """Sentences with a label each, of one text only."""
    return [
        {"id": str(i), "text_a": f"it is a {label} film number {i}.", "label": label}
        for i, label in enumerate(SENTIMENT * (n // 2))
    ]


class TestCaptions:
    def test_every_rendering_says_what_was_used(self, run: Command, tmp_path: Path) -> None:
        how = ("--limit", "40", "--q", "5", "--out", str(tmp_path / "study"))
        code, shown, _ = run("study", "unli/table2", "builtin:bow", "builtin", *how)
        assert code == 0
        latex = run("report", str(tmp_path / "study"), "--latex")[1]
        page = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
        for text in (shown, latex, page):
            assert "q = 5 (the paper: 100)" in text
            assert "40 examples of each set at most" in text
        assert "In the paper: Six models" in latex, "what they did is not said of ours"

    def test_omega_at_another_q_stands_in_a_column_of_its_own(self, tmp_path: Path) -> None:
        data = written(tmp_path / "mnli" / "dev_matched.jsonl", pairs(30)).parents[1]
        how: dict[str, Any] = {"data_dir": str(data), "limit": 30}
        found = disorder.study("unli/table2", "builtin:bow", "mnli:matched", q=5, **how)
        grid = study_grid(found)
        names = [column.title for column in grid.columns]
        assert "Ω_max, q = 5" in names
        for row in grid.rows:
            theirs = row[names.index("Ω_max, q = 100")].text
            assert not (row[names.index("Ω_max, q = 5")].text and theirs)
        assert "P_c" in names, "what does not depend on q stays together"

    def test_what_a_given_model_was_trained_on_is_said(self, tmp_path: Path) -> None:
        data = written(tmp_path / "train.jsonl", pairs(30))
        model = tmp_path / "model"
        disorder.train("plain", str(data), model="bow", out=model, seed=3, settings={"epochs": 1})
        found = disorder.study("unli/table2", f"bow:{model}", "builtin", q=2, limit=20)
        assert f"trained on 27 examples of {data} (seed 3)" in found.does
        other = tmp_path / "foreign"
        other.mkdir()
        (other / "training.json").write_text('{"steps": 1710}', encoding="utf-8")
        assert training_of(f"hf:{other}") is None, "of another program"

    def test_a_maximum_has_no_interval(self) -> None:
        assert StudyCell(row={}, column="bleu3", value=0.5, low=0.5, high=0.5).low is None
        cell = StudyCell(row={}, column="p_c", value=0.5, low=0.4, high=0.6)
        assert (cell.low, cell.high) == (0.4, 0.6)


class TestUnli:
    @pytest.mark.parametrize("name", ["table2", "table3", "table5", "table7", "fig5", "fig8"])
    def test_acceptance_is_computed_as_the_printed_numbers_were(self, name: str) -> None:
        item = find_item(f"unli/{name}")
        assert item.fidelity == "released"
        assert "omega_max" in item.by_code, "and is not judged where the user says otherwise"

    def test_accuracy_over_the_pairs_used_stands_beside_that_over_all(self, tmp_path: Path) -> None:
        """The authors' results files have the first, the paper prints the second."""
        short = [{**row, "id": f"s{i}", "text_a": "No."} for i, row in enumerate(pairs(4))]
        data = written(tmp_path / "mixed.jsonl", [*pairs(8), *short])

        def model(texts: Sequence[Any]) -> list[str]:
            return ["entailment" if text[0] == "No." else "neutral" for text in texts]

        found = disorder.study("unli/table2", model, str(data), q=2)
        assert found.cell("accuracy").n == 12
        assert found.cell("accuracy_used").n == 8

    def test_figure_5_sets_every_score_against_accuracy(self, tmp_path: Path) -> None:
        sets = [written(tmp_path / f"{name}.jsonl", pairs(20)) for name in ("one", "two")]
        found = disorder.study("unli/fig5", "builtin:bow", *map(str, sets), q=3)
        names = [picture.name for picture in found.pictures]
        assert "omega_max-against-accuracy" in names
        assert all(name.endswith("-against-accuracy") for name in names), "no forests"
        assert "one point per model and set of data" in found.pictures[0].caption

    def test_columns_that_stand_together_have_one_unit(self) -> None:
        table = find_item("unli/fig8").published_table
        assert {table.unit_of(name) for name in table.columns} == {"share"}
        [row] = [
            row
            for row in table.rows
            if row.about["model"] == "InferSent" and row.about["data"] == "MNLI and SNLI"
        ]
        assert row.cells["omega_all"] == "25 %"
        assert table.number("omega_all", "25 %") == pytest.approx(0.25)
        assert table.half_step("omega_all", "25 %") == pytest.approx(0.005)

    def test_chinese_is_moved_by_character_and_by_word(self, tmp_path: Path) -> None:
        pytest.importorskip("rjieba", reason="needs rjieba")
        row = {"text_a": "他们今天在北京大学学习中文。", "text_b": "他们今天没有去学习中文。"}
        rows = [{"id": str(i), **row, "label": label} for i, label in enumerate(NLI.labels * 2)]
        data = written(tmp_path / "ocnli" / "dev.jsonl", rows).parents[1]
        found = disorder.study(
            "unli/table3",
            lambda texts: ["neutral"] * len(texts),
            "ocnli:dev",
            as_="BiLSTM",
            data_dir=str(data),
            q=2,
        )
        for how in ("simple", "jieba"):
            cell = found.cell("accuracy", transformation=f"derange:words={how}")
            assert cell.same is not None
            assert cell.same.printed == "0.566", "which of the two the paper did is not known"

    def test_batches_are_those_of_the_authors_scripts(self, monkeypatch: Any) -> None:
        pipeline: Any = find_item("unli/table6").pipeline
        assert pipeline.settings_of["hf:distilbert/distilbert-base-uncased"]["batch_size"] == "16"
        seen: list[Any] = []

        def stop(*_: Any, usual: Any, **__: Any) -> str:
            seen.append(usual)
            raise disorder.DisorderError("enough")

        monkeypatch.setattr(f"{TrainingTable.__module__}.train_model", stop)
        model = "hf:FacebookAI/roberta-large"
        bench = Workbench(Store(Path()), [model], ["builtin"], StudySettings(), print, "builtin")
        with pytest.raises(disorder.DisorderError, match="enough"):
            next(pipeline(bench))
        assert int(seen[0]["batch_size"]) * int(seen[0]["accumulate"]) == 128

    def test_convnet_has_the_papers_size_as_a_preset(self) -> None:
        torch = pytest.importorskip("torch", reason="needs torch")
        from disorder.models.networks import Shape
        from disorder.models.networks.convnet import convnet

        def n_weights(**settings: Any) -> int:
            shape = Shape(n_words=9, width=300, n_outputs=3, is_pair=True)
            with torch.device("meta"):  # shapes without weights
                return sum(weight.numel() for weight in convnet(shape, **settings).parameters())

        assert n_weights(size="paper") == n_weights(hidden=4096)
        assert n_weights() == n_weights(hidden=128)

    def test_what_is_not_understood_of_anlis_counts_is_called_open(self) -> None:
        note = find_item("unli/table7").own_table.note
        assert note.startswith("Open: ")
        assert "likely" not in note


class TestOutOfOrder:
    def test_heads_are_matched_by_their_layer(self) -> None:
        """One more winning head in a layer would else lose the printed cell."""
        row = {"model": "m", "data": "qnli:dev", "layer": "0", "heads": "(0, 1), (0, 3)"}
        cell = StudyCell(row=row, column="share", value=0.5, low=0.4, high=0.6)
        table = find_item("ooo/figA1").published_table
        [matched] = TableMatcher(table, names={"m": "RoBERTa-base"}).match([cell])
        assert matched.same is not None
        assert matched.same.printed == "54.9"

    def test_what_the_second_copy_prints_is_there(self) -> None:
        table = find_item("ooo/table5").own_table
        gains = {
            (row.about["data"], row.about["of"]): row.cells["gain"]
            for row in table.rows
            if "gain" in row.cells
        }
        assert len(gains) == 12
        assert gains["rte:dev", "best run"] == "+2.53"
        assert gains["sst2:dev", "mean of 5 runs"] == "-0.28", "the only loss"
        for name, printed in (("fig4", "0.97"), ("figA3", "0.98"), ("figA4", "0.80")):
            assert find_item(f"ooo/{name}").own_table.rows[2].cells["confidence"] == printed

    def test_the_best_of_five_stands_against_the_best_and_the_mean_against_the_mean(
        self, tmp_path: Path
    ) -> None:
        pytest.importorskip("torch", reason="needs torch")
        assert find_item("ooo/table5").seeds == 5
        data = written(tmp_path / "data.jsonl", reviews(24))
        found = disorder.study(
            "ooo/table5",
            "convnet",
            str(data),
            train=[str(data)],
            seeds=2,
            set_={"epochs": 1, "hidden": 4},
        )
        assert "with 2 seeds" in found.does
        for of in ("best run", "mean of 2 runs"):
            values = {
                recipe: found.cell("accuracy", recipe=recipe, of=of).value
                for recipe in ("plain", "order_pretask")
            }
            gain = found.cell("gain", recipe="order_pretask", of=of).value
            assert gain == pytest.approx(values["order_pretask"] - values["plain"], abs=1e-5)

    def test_explanations_begin_with_dev_r(self, tmp_path: Path) -> None:
        """62.5 % of RTE's dev-r survive five shuffles, not of all that is predicted right."""
        two = {"text_a": "it is a positive film. so it is.", "label": "positive"}
        rows = [
            *reviews(12),
            *({**two, "id": f"two {i}"} for i in range(3)),
            {"id": "more", "text_a": "it is a positive film for all.", "label": "positive"},
        ]
        data = written(tmp_path / "data" / "sst2" / "dev.jsonl", rows).parents[1]

        def reads_words(texts: Sequence[Any]) -> list[list[float]]:
            return [[0.1, 0.9] if "positive" in str(text) else [0.9, 0.1] for text in texts]

        how: dict[str, Any] = {"data_dir": str(data), "set_": {"lime.samples": 20}}
        found = disorder.study("ooo/section33", reads_words, "sst2:dev", **how)
        assert found.cell("stable").n == 12, "three have two sentences, one is drawn off"
        assert found.cell("importance_drop").n == 12
        pipeline: Any = find_item("ooo/section33").pipeline
        assert pipeline.by == "lime:among=survivors,n=100,dev_r=true", "the paper draws 100"
        for name in ("table3", "tableA1", "tableA3", "figA1", "fig2"):
            pipeline = find_item(f"ooo/{name}").pipeline
            assert "dev_r=true" in pipeline.by

    def test_figure_2_counts_pairs_of_one_sentence_alone(self, tmp_path: Path) -> None:
        rows = [
            {"id": str(i), "text_a": f"a cat has {i} mice.", "text_b": "a cat.", "label": str(i)}
            for i in range(6)
        ]
        rows += [{**rows[0], "id": "two", "text_a": "a cat has mice. it eats."}]
        rows += [{**rows[1], "id": "three", "text_a": "cats eat mice."}]
        data = written(tmp_path / "data" / "stsb" / "dev.jsonl", rows).parents[1]

        def rates(texts: Sequence[Any]) -> list[float]:
            return [sum(map(ord, text[0])) / 100 for text in texts]

        found = disorder.study("ooo/fig2", rates, "stsb:dev", data_dir=str(data), q=2)
        assert found.cell("change").n == 6
        assert any("three models together" in remark for remark in found.remarks)

    def test_a_limit_of_training_says_nothing_about_counts_of_the_test_data(
        self, tmp_path: Path
    ) -> None:
        pytest.importorskip("torch", reason="needs torch")
        labels = ("unacceptable", "acceptable")
        rows = [
            {"id": str(i), "text_a": f"{label} words number {i}.", "label": label}
            for i, label in enumerate(labels * 20)
        ]
        data = written(tmp_path / "cola" / "dev.jsonl", rows).parents[1]
        train = written(tmp_path / "train.jsonl", rows)
        how: dict[str, Any] = {"data_dir": str(data), "train": [str(train)], "set_": {"epochs": 1}}
        found = disorder.study("ooo/tableA4", "bow", "cola:dev", limit=30, **how)
        same = found.cell("dev", label="acceptable").same
        assert same is not None
        assert (same.why_not, same.difference) == ("", 20 - 721)
        tested = disorder.study("ooo/tableA4", "bow", "cola:dev", test_limit=30, **how)
        part = tested.cell("dev", label="acceptable").same
        assert part is not None
        assert part.why_not == "counted over 30 examples"

    def test_answers_are_trained_as_spans_and_scored_on_no_more_than_is_tested(
        self, tiny_bert: Path, tmp_path: Path
    ) -> None:
        rows = [
            {
                "id": str(i),
                "text_a": f"what is number {i}?",
                "text_b": f"the dog saw a man and number {i} is a cat.",
                "label": ("unanswerable", "answerable")[i % 2],
                "answers": ["a cat"] if i % 2 else [],
            }
            for i in range(24)
        ]
        data = written(tmp_path / "data" / "squad2" / "dev.jsonl", rows).parents[1]
        found = disorder.study(
            "ooo/table5",
            f"hf:{tiny_bert}",
            "squad2:dev",
            train=["squad2:dev"],
            limit=16,
            test_limit=6,
            data_dir=str(data),
            set_={"epochs": 1, "batch_size": 8},
        )
        for recipe in ("plain", "order_pretask"):
            assert found.cell("f1", recipe=recipe).n == 6

    def test_what_cannot_find_answers_is_not_trained_for_another_task(self, tmp_path: Path) -> None:
        row = {"text_a": "who?", "text_b": "a cat.", "label": "answerable", "answers": ["a cat"]}
        rows = [{"id": str(i), **row} for i in range(3)]
        data = written(tmp_path / "squad2" / "dev.jsonl", rows).parents[1]
        with pytest.raises(disorder.DisorderError, match="cannot find answers in a passage"):
            disorder.study(
                "ooo/table5", "bow", "squad2:dev", train=["squad2:dev"], data_dir=str(data)
            )


class TestWordSalad:
    @pytest.mark.parametrize(("item", "spec"), [("ws/table1", "sort"), ("ws/fig1", "sort")])
    def test_texts_are_made_as_the_printed_ones_were(self, item: str, spec: str) -> None:
        """The printed texts are in small letters, their final mark apart."""
        declared = find_item(item)
        [text] = [text for text in declared.own_table.texts if text.about["transformation"] == spec]
        [original] = [
            each
            for each in declared.own_table.texts
            if each.about["transformation"] == "original" and each.data == text.data
        ]
        is_pair = original.text_b is not None
        task = Task("toy", ("a", "b"), "b" if is_pair else "a")
        variants = parse(spec, fidelity=declared.fidelity).apply(
            example(original.text_a, original.text_b), task=task, q=1, seed=0, short="use"
        )
        [made] = variant_texts(variants)
        ours, printed = (made[1], text.text_b) if is_pair else (made[0], text.text_a)
        assert str(ours).replace(" ", "") == str(printed).replace(" ", "")

    def test_models_that_show_no_tokens_get_texts_as_the_paper_describes_them(self) -> None:
        """The released gradient transformations cut texts by the model's own tokens."""
        item = find_item("ws/table6")
        assert usual_fidelity(item, ["hf:FOLDER"]) == "released"
        assert usual_fidelity(item, ["hf:FOLDER", "bow:FOLDER"]) == "paper"
        assert usual_fidelity(find_item("ws/fig1"), ["bow:FOLDER"]) == "released"

    def test_no_number_made_of_other_texts_is_judged(self) -> None:
        for name in ("table6", "table7", "table9", "table10"):
            item = find_item(f"ws/{name}")
            assert item.fidelity == "released"
            assert set(item.own_table.columns) <= set(item.by_code)

    def test_scaling_by_a_temperature_changes_no_prediction(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason="needs torch")
        train = written(tmp_path / "train.jsonl", pairs(60))
        found = disorder.study(
            "ws/table8", "bow", str(train), train=[str(train)], set_={"epochs": 2}
        )
        plain = found.cell("accuracy", recipe="plain")
        scaled = found.cell("accuracy", recipe="temperature")
        assert (plain.value, plain.low) == (scaled.value, scaled.low)
        assert (
            found.cell("ece", recipe="plain").value != found.cell("ece", recipe="temperature").value
        )

    def test_mrpc_has_no_pbsmt_and_its_means_are_of_the_other_eight(self) -> None:
        for name in ("table6", "table7"):
            pipeline: Any = find_item(f"ws/{name}").pipeline
            assert "pbsmt" not in pipeline.measures.on("mrpc:dev").transformations
            assert len(pipeline.measures.on("mrpc:dev").transformations) == 8
            assert "pbsmt" in pipeline.measures.on("mnli:matched").transformations

    def test_a_printed_number_stays_where_our_model_predicts_another_label(
        self, tmp_path: Path
    ) -> None:
        data = written(tmp_path / "data" / "sst2" / "dev.jsonl", reviews(20)).parents[1]

        def cheerful(texts: Sequence[Any]) -> list[list[float]]:
            return [[0.2, 0.8] for _ in texts]

        found = disorder.study(
            "ws/table1", cheerful, "sst2:dev", as_="RoBERTa-base", data_dir=str(data), q=1
        )
        assert not found.cell("confidence", transformation="sort").theirs, "a mean is no text"
        table = find_item("ws/table1").published_table
        row = {"model": "m", "data": "sst2:dev", "transformation": "sort", "label": "positive"}
        cell = StudyCell(row=row, column="confidence", value=0.8)
        [matched] = TableMatcher(table, names={"m": "RoBERTa-base"}).match([cell])
        assert matched.same is not None
        assert (matched.same.printed, matched.same.label) == ("99.92", "negative")
        assert matched.same.is_within is None
        assert matched.same.why_not == "printed is the confidence in another label, negative"
        found.cells = [matched]
        found.columns = ["confidence"]
        found.units = {"confidence": "percent"}
        texts = [cell.text for line in study_grid(found).rows for cell in line]
        assert "99.92 (negative)" in texts

    @pytest.mark.parametrize("name", ["table4", "human"])
    def test_people_see_any_text_of_all_nine_transformations(self, name: str) -> None:
        commands = find_item(f"ws/{name}").commands
        assert commands[0].count("--with") == 9
        assert "--all" in commands[1]
        assert "--n 1800" in commands[1]

    def test_a_transfer_leaves_out_what_does_not_apply_before_it_trains(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = written(tmp_path / "sst2.jsonl", reviews(12))
        seen: list[list[str]] = []

        def record(train: Any, test: Any, **settings: Any) -> list[Any]:
            seen.append(list(settings["with_"]))
            raise disorder.DisorderError("enough")

        monkeypatch.setattr("disorder.papers.study.training_models.mitigations", record)
        pipeline = find_item("ws/transfer").pipeline
        assert isinstance(pipeline, MitigationTable)
        with pytest.raises(disorder.DisorderError, match="enough"):
            disorder.study("ws/transfer", "bow", str(data), train=[str(data)])
        names = {spec.partition(":")[0] for spec in seen[0]}
        assert not names & {"copy_sort", "copy_one"}
        assert "sort" in names


class TestNliDataSanityCheck:
    def test_the_erratum_claims_no_more_than_the_counts_show(self) -> None:
        erratum = find_item("ndsc/appendix3").own_table.erratum
        assert "consistent with counting each class in what earlier classes left" in erratum
        assert "overwrites" not in erratum

    def test_counts_are_judged_with_a_tolerance_beside_equality(self) -> None:
        rows = [
            PublishedRow({"data": name}, {"total": printed})
            for name, printed in (("a", "1000"), ("b", "1,000"), ("c", "1000"))
        ]
        table = PublishedTable(unit="count", columns=["total"], rows=rows)
        cells = [
            StudyCell(row={"data": name}, column="total", value=value)
            for name, value in (("a", 1000), ("b", 1004), ("c", 1006))
        ]
        item = study_items()["ndsc/appendix2"]
        found = Study(
            item=item.name,
            title="",
            kind="counts",
            does="",
            request={},
            columns=["total"],
            units={"total": "count"},
            cells=TableMatcher(table).match(cells),
        )
        assert found.verdict == ("1 of 3 published numbers equal ours; within 0.5 %: 2 of 3")
        texts = [cell.text for line in study_grid(found).rows for cell in line]
        assert "equal" in texts
        assert "+4 differs (within 0.5 %)" in texts
        assert "+6 differs" in texts
