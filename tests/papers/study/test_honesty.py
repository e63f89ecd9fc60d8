"""A study says what it did: sizes, models and settings as they were, and nothing judged that is not
about the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.data import at_hand, honest_name, read_data
from disorder.errors import DisorderError, MissingData
from disorder.papers.study import StudyCell, Workbench, preflight, study_items
from disorder.papers.study.means import Change, MeanRow, best_and_mean
from disorder.papers.study.part_settings import StudySettings, with_settings
from disorder.papers.study.pipelines.accuracy_scatter import overlap_words
from disorder.store.store import Store

Command = Callable[..., tuple[int, str, str]]


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def as_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], Path]:
    """Made-up pairs under the names of a paper's sets."""
    monkeypatch.setenv("DISORDER_DATA", str(tmp_path / "data"))

    def made(stem: str, n: int) -> Path:
        return written(tmp_path / "data" / f"{stem}.jsonl", pairs(n))

    return made


def test_explanations_look_at_all_the_data_unless_told_otherwise(tmp_path: Path) -> None:
    data = written(tmp_path / "many.jsonl", pairs(520))
    found = disorder.study("unli/fig2", "builtin:bow", str(data), q=1, out=tmp_path / "study")
    [path] = (tmp_path / "study" / "explained").glob("*/explain.json")
    assert json.loads(path.read_text())["n_examples"] == 520
    assert "all examples" in found.does
    part = disorder.study("unli/fig2", "builtin:bow", str(data), q=1, limit=30)
    assert "30 examples of each set at most" in part.does


def test_the_caption_states_the_q_and_the_limit_that_were_used() -> None:
    found = disorder.study("unli/table2", "builtin:bow", "builtin", q=20, limit=40)
    assert "q = 20 (the paper: 100)" in found.does
    assert "40 examples of each set at most" in found.does
    assert "q = 100" not in found.does


def test_the_caption_of_trainings_states_how_many_were_trained_and_tested_on(as_data: Any) -> None:
    pytest.importorskip("torch", reason="needs torch")
    as_data("mnli/dev_matched", 12)
    as_data("mnli/train", 30)
    found = disorder.study(
        "ws/table11", "bow", "mnli:matched", limit=20, test_limit=6, seeds=2, set_={"epochs": 1}
    )
    said = "trained on 20 examples at most with 2 seeds, tested on 6 examples of each set at most"
    assert said in found.does
    assert "audit each model on the original texts of each set of data" in found.does
    assert "sort" not in found.does


def test_trainings_that_hold_examples_out_say_how_many(as_data: Any) -> None:
    pytest.importorskip("torch", reason="needs torch")
    as_data("mnli/dev_matched", 12)
    as_data("mnli/train", 30)
    found = disorder.study("ws/table8", "bow", "mnli:matched", set_={"epochs": 1})
    assert [note for note in found.notes if "held out" in note] == [
        f"bow on mnli:matched, {recipe}: trained on 27 examples; 3 were held out"
        for recipe in ("plain", "label_smoothing", "focal", "temperature")
    ], "a temperature needs some, and the others are to be compared with it"


def test_shuffles_draw_ten_at_most_and_the_caption_says_so(as_data: Any) -> None:
    data = as_data("mnli/dev_matched", 30)
    found = disorder.study("ndsc/table6", "builtin:bow", str(data), q=50)
    assert "q = 10 (the paper: 1)" in found.does


def test_counts_of_a_run_with_a_limit_are_not_judged(as_data: Any, tmp_path: Path) -> None:
    as_data("rte/dev", 60)
    rows = [{**row, "label": "entailment"} for row in pairs(40)]
    rows += [{**row, "id": f"n{i}", "label": "not_entailment"} for i, row in enumerate(pairs(20))]
    written(tmp_path / "data" / "rte" / "dev.jsonl", rows)
    run = tmp_path / "run"
    disorder.audit(
        lambda texts: ["entailment"] * len(texts),
        "rte:dev",
        with_=["shuffle_ngrams:n=1"],
        q=1,
        limit=30,
        short="use",
        fidelity="released",
        out=run,
    )
    found = disorder.study("ooo/tableA4", str(run))
    cell = found.cell("dev", label="entailment")
    assert cell.same is not None
    assert cell.same.is_within is None
    assert cell.same.why_not == "counted over 30 examples"
    assert found.verdict == "the published numbers of these rows are not compared, see why below"


def test_the_number_of_usable_examples_is_compared_at_the_printed_q_only(as_data: Any) -> None:
    pytest.importorskip("spacy", reason="needs spaCy's tokenizer")
    as_data("mnli/dev_matched", 20)
    found = disorder.study("unli/table7", "mnli:matched", q=3)
    same = found.cell("used").same
    assert same is not None
    assert same.is_within is None
    assert same.why_not == "3 permutations here, 100 in the paper"


class Always:
    """Predicts one label with a probability of its own."""

    def __init__(self, name: str, label: int, top: float) -> None:
        self.__name__ = name
        self.labels = ("entailment", "neutral", "contradiction")
        self.row = [(1 - top) / 2] * 3
        self.row[label] = top

    def __call__(self, texts: Sequence[Any]) -> list[list[float]]:
        return [self.row for _ in texts]


def knows_the_number(texts: Sequence[Any]) -> list[str]:
    """The right label in any word order: the number in the first text gives it away."""
    labels = ("entailment", "neutral", "contradiction")
    return [labels[int(re.findall(r"a(\d+)", text[0])[0]) % 3] for text in texts]


def test_no_single_model_stands_for_a_mean_of_models() -> None:
    with pytest.raises(DisorderError, match="no single model stands for it; name 3 models"):
        disorder.study("ooo/table2", "builtin", "builtin", as_="mean of 3 BERTs")


def test_means_of_models_are_computed_and_compared_where_all_are_named(as_data: Any) -> None:
    as_data("mnli/dev_matched", 30)
    models = [Always("one", 0, 0.9), Always("two", 1, 0.8), Always("three", 2, 0.6)]
    row = MeanRow("model", "mean of three", ("A", "B", "C"))
    cells = [
        StudyCell(
            row={"model": model.__name__, "data": "d"},
            column="accuracy",
            value=value,
            low=value - 0.1,
            high=value + 0.1,
            n=30,
        )
        for model, value in zip(models, (0.5, 0.6, 0.7), strict=True)
    ]
    names = {"one": "A", "two": "B", "three": "C"}
    [mean], notes = row.cells(cells, names)
    assert (mean.row["model"], mean.value, notes) == ("mean of three", 0.6, [])
    assert (mean.low, mean.high) == (0.5, 0.7)
    [other], _ = row.cells(cells, {"one": "A"})
    assert other.row["model"] == "mean of 3 models", "a mean of other models is not the paper's"
    nothing, [note] = row.cells(cells[:1], names)
    assert nothing == []
    assert "it is of 3 models (A, B, C), and 1 was given" in note


def test_a_mean_over_sets_needs_all_of_them(as_data: Any, tmp_path: Path) -> None:
    stems = ("mnli/dev_matched", "mnli/dev_mismatched", "snli/dev", "snli/test")
    for stem in (*stems, "anli/r1_dev", "anli/r2_dev"):
        as_data(stem, 9)
    asked: dict[str, Any] = {"q": 3, "out": tmp_path / "study"}
    some = disorder.study("unli/table2", "builtin:bow", **asked)
    assert not [cell for cell in some.cells if cell.row["data"] == "mean"]
    assert any("'mean', over 7 sets, is not computed (no anli:r3)" in note for note in some.notes)
    as_data("anli/r3_dev", 9)
    every = disorder.study("unli/table2", "builtin:bow", **asked)
    values = [cell.value for cell in every.cells if cell.column == "accuracy"]
    assert len(values) == 8
    mean = every.cell("accuracy", data="mean")
    assert mean.value == pytest.approx(sum(values[:7]) / 7, abs=1e-6)
    assert [each.printed for each in mean.theirs][:1] == ["0.652"]


def test_best_and_mean_of_trainings_are_rows_and_one_training_is_neither() -> None:
    seeds = [
        StudyCell(row={"recipe": "b"}, column="accuracy", value=v, low=v - 0.02, high=v + 0.02, n=9)
        for v in (0.70, 0.74, 0.72)
    ]
    best, mean = best_and_mean(seeds)
    assert (best.row["of"], best.value) == ("best run", 0.74)
    assert (mean.row["of"], mean.value) == ("mean of 3 runs", 0.72)
    assert best_and_mean(seeds[:1]) == seeds[:1]
    plain = StudyCell(row={"recipe": "a"}, column="accuracy", value=0.71, low=0.69, high=0.73)
    gains = Change("accuracy", "gain").cells([best, mean], [plain], without=("recipe", "of"))
    assert [gain.value for gain in gains] == [0.03, 0.01]
    [ratio] = Change("wos", "wos_change", "ratio").cells(
        [StudyCell(row={"recipe": "b"}, column="wos", value=0.72, low=0.7, high=0.74)],
        [StudyCell(row={"recipe": "a"}, column="wos", value=0.38, low=0.36, high=0.4)],
        without=("recipe", "of"),
    )
    assert ratio.value == pytest.approx(1.894737), "the paper's +189 % is this ratio"


def test_sets_are_put_together_and_rounds_of_anli_are_one_set(as_data: Any) -> None:
    for number, n in ((1, 6), (2, 9), (3, 12)):
        as_data(f"anli/r{number}_dev", n)
    assert not at_hand("anli:test")
    assert at_hand("anli:dev")
    found = read_data("anli:dev")
    assert len(found.examples) == 27
    assert found.examples[0].id == "anli:r1/e0000"
    as_data("mnli/train_part", 5)
    both = read_data("mnli:train+anli:r1")
    assert len(both.examples) == 11
    assert honest_name("mnli:train+anli:r1") == "mnli:train_part+anli:r1"
    as_data("cola/dev", 3)
    with pytest.raises(DisorderError, match="only data of one kind can be put together"):
        read_data("mnli:train+cola:dev")


def test_several_training_sets_are_trained_on_together(as_data: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    as_data("mnli/dev_matched", 12)
    first = written(tmp_path / "first.jsonl", pairs(30))
    second = written(tmp_path / "second.jsonl", [{**r, "id": f"s{r['id']}"} for r in pairs(24)])
    out = tmp_path / "study"
    found = disorder.study(
        "unli/table6", "bow", "mnli:matched", train=[first, second], set_={"epochs": 1}, out=out
    )
    records = [json.loads(path.read_text()) for path in out.glob("models/*/result.json")]
    assert {record["n_train"] for record in records} == {54}, "no row is kept apart"
    assert {record["request"]["settings"]["epoch"] for record in records} == {"last"}
    assert any("first.jsonl" in note and "second.jsonl" in note for note in found.notes)


def test_rows_that_lack_a_tagger_are_left_out_before_anything_is_trained(
    as_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = as_data("mnli/dev_matched", 40)

    def missing(spec: str, language: str) -> str:
        return "no tagger here" if spec.startswith(("swap_nouns", "drop_pos")) else ""

    monkeypatch.setattr(preflight, "_why_not", missing)
    found = disorder.study("ooo/table2", knows_the_number, str(data), q=2)
    assert {cell.row["transformation"] for cell in found.cells} == {
        "original",
        "shuffle_ngrams:n=1",
        "shuffle_ngrams:n=2",
        "shuffle_ngrams:n=3",
    }
    assert "left out: swap_nouns (no tagger here)" in found.notes
    with pytest.raises(DisorderError, match="ndsc/appendix3 needs drop_pos:tags=NOUN: no tagger"):
        disorder.study("ndsc/appendix3", str(data))


def test_packages_model_and_data_that_are_missing_are_told_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISORDER_DATA", raising=False)
    monkeypatch.setitem(preflight.PACKAGES, "nlp", ("no_such_tagger",))
    monkeypatch.setitem(preflight.PACKAGES, "train", ("no_such_trainer",))
    with pytest.raises(DisorderError) as told:
        disorder.study("ndsc/table2")
    line = str(told.value)
    for lack in (
        "'no_such_tagger, no_such_trainer'",
        "[nlp,train]",
        "needs a model to train",
        "needs data: mnli:matched",
        "learns from mnli:train",
    ):
        assert lack in line
    assert "\n" not in line


def test_a_study_that_failed_does_not_block_the_corrected_one(tmp_path: Path) -> None:
    out = tmp_path / "study"
    with pytest.raises(DisorderError):
        disorder.study(
            "unli/table2", "builtin:bow", "builtin:nli", columns={"x": "text_a"}, out=out
        )
    assert not out.exists()
    found = disorder.study("unli/table2", "builtin:bow", "builtin", q=3, limit=20, out=out)
    assert found.status == "done"


def test_settings_of_parts_are_passed_and_said(as_data: Any) -> None:
    data = as_data("mnli/dev_matched", 40)
    found = disorder.study(
        "unli/fig3", "builtin:bow", str(data), q=3, set_={"overlap.width": "0.5"}
    )
    assert {cell.row["bleu2"] for cell in found.cells} == {"0-0.5"}
    assert "overlap with width=0.5" in found.notes
    with pytest.raises(DisorderError, match="of this item 'lime'"):
        disorder.study("unli/fig3", "builtin:bow", str(data), set_={"lime.n": "5"})
    given = {"drop_pos": {"tagger": "nltk"}}
    assert with_settings("drop_pos:tags=NOUN", given) == "drop_pos:tagger=nltk,tags=NOUN"
    assert with_settings("original", given) == "original"


def test_scale_is_the_audits_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What makes an audit fast or large reaches it as the user said it."""
    given: dict[str, Any] = {}

    def stops(*models: Any, **settings: Any) -> None:
        given.update(settings)
        raise DisorderError("seen enough")

    monkeypatch.setattr("disorder.papers.study.verbs_used.audit", stops)
    said: dict[str, Any] = {
        "precision": "bf16",
        "batch_size": 7,
        "engine": "ray",
        "workers": 3,
        "short": "use",
        "cache": "off",
    }
    with pytest.raises(DisorderError, match="seen enough"):
        disorder.study("unli/table2", "builtin:bow", "builtin", **said)
    assert {name: given[name] for name in said} == said
    assert "curtail" not in given
    with pytest.raises(DisorderError, match="seen enough"):
        disorder.study("unli/fig5", "builtin:bow", "builtin", out=tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_papers_splitter_that_is_missing_is_said(
    as_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "has_sentences", lambda: False)
    item = study_items()["ndsc/table4"]
    [drop, keep] = preflight.notes_on_settings(item, {})
    assert drop.startswith("drop_pos without words=nltk_sentences, tagger=nltk:sentences")
    assert keep.startswith("keep_pos without")
    named = {name: {"words": "icu", "tagger": "spacy"} for name in ("drop_pos", "keep_pos")}
    assert preflight.notes_on_settings(item, named) == []
    monkeypatch.setattr(preflight, "has_sentences", lambda: True)
    assert preflight.notes_on_settings(item, {}) == []


def test_an_audit_stands_in_for_an_explanation(tmp_path: Path) -> None:
    run = tmp_path / "run"
    given = {"with_": ["derange"], "q": 5, "limit": 60, "fidelity": "paper"}
    disorder.audit("builtin", "builtin", out=run, **given)
    found = disorder.study("unli/fig8", str(run), q=5)
    with_model = disorder.study("unli/fig8", "builtin", "builtin", q=5, limit=60, fidelity="paper")
    assert found.cell("omega_all").value == with_model.cell("omega_all").value
    assert found.cell("omega_max").value == with_model.cell("omega_max").value
    with pytest.raises(DisorderError, match="needs the model itself"):
        disorder.study("unli/fig9", str(run), q=5)


def test_curtailing_is_for_items_it_leaves_exact(as_data: Any) -> None:
    data = as_data("mnli/dev_matched", 40)
    with pytest.raises(DisorderError, match="curtail: this item needs every prediction"):
        disorder.study("unli/table2", "builtin", str(data), q=5, curtail=True)


def test_mini_trees_come_from_training_data_never_from_what_is_explained(as_data: Any) -> None:
    with pytest.raises(DisorderError, match="learns from mnli:train"):
        disorder.study("unli/fig4", "builtin:bow", str(as_data("mnli/dev_matched", 30)), q=2)


@pytest.mark.parametrize("by", ["minitree", "minitree:k=4,r=2"])
def test_what_learns_is_told_from_what_however_it_is_set(by: str, tmp_path: Path) -> None:
    bench = Workbench(Store(tmp_path), [], [], StudySettings(), lambda *_: None)
    assert "train=mnli:train" in bench.spec_of(by, train="mnli:train")
    bench.part_settings = {"minitree": {"train": "mine.jsonl"}}
    assert "train=mine.jsonl" in bench.spec_of(by, train="mnli:train")


def test_printed_texts_are_predicted_word_for_word(tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "text_a": f"a fine film number {i} it was.", "label": label}
        for i, label in enumerate(("negative", "positive") * 10)
    ]
    data = written(tmp_path / "data" / "sst2" / "dev.jsonl", rows)

    def model(texts: Sequence[Any]) -> list[list[float]]:
        return [[0.25, 0.75] if "thrilling" in text else [0.6, 0.4] for text in texts]

    found = disorder.study(
        "ooo/fig3", model, "sst2:dev", as_="RoBERTa-base", data_dir=data.parents[1], q=1
    )
    for variant in ("S", "S_1", "S_2", "S_3"):
        cell = found.cell("confidence", variant=variant)
        assert (cell.value, cell.row["label"]) == (0.75, "positive")
        assert cell.same is not None
        assert (cell.same.printed, cell.same.is_within) == ("1.00", False)
    assert found.cell("accuracy").value == 0.5


def test_printed_texts_keep_their_set_where_another_file_stands_in(tmp_path: Path) -> None:
    labels = ("duplicate", "not_duplicate")
    rows = [
        {"id": str(i), "text_a": f"why is {i} even?", "text_b": f"is {i} odd now?", "label": label}
        for i, label in enumerate(labels * 10)
    ]
    folder = written(tmp_path / "data" / "qqp" / "dev_wang2017.jsonl", rows).parents[1]

    def model(texts: Sequence[Any]) -> list[list[float]]:
        return [[0.3, 0.7] for _ in texts]

    found = disorder.study("ooo/fig1", model, "qqp:dev", data_dir=folder, q=1)
    printed = found.cell("confidence", transformation="swap_nouns")
    assert printed.row["data"] == "qqp:dev"
    assert [each.printed for each in printed.theirs] == ["0.77"]
    assert found.cell("accuracy").row["data"] == "qqp:dev_wang2017"
    assert not found.cell("accuracy").theirs, "other examples"


def test_one_text_per_task_is_not_perturbed_in_ways_that_have_no_row() -> None:
    item = study_items()["ws/table1"]
    assert list(item.pipeline.perturbs) == ["sort", "reverse", "shuffle", "copy_sort"]


def test_examples_are_shown_with_their_perturbed_texts(as_data: Any) -> None:
    data = as_data("mnli/dev_matched", 30)
    found = disorder.study("unli/table1", Always("first", 0, 0.7), str(data), q=2)
    kept = [cell for cell in found.cells if cell.row["shown"] == "prediction stays"]
    assert len(kept) == 3 * 3, "three examples, each original and under two permutations"
    assert {cell.row["label"] for cell in kept} == {"entailment"}
    original, first, second = (cell.row["text b"] for cell in kept[:3])
    words = [sorted(text.rstrip(".").split()) for text in (original, first, second)]
    assert words[0] == words[1] == words[2]
    assert len({original, first, second}) == 3
    assert "of 10 examples predicted right 10 stay so under every variant" in found.notes[-1]


def test_words_are_compared_without_the_punctuation_that_clings_to_them() -> None:
    assert overlap_words("It rains, again.") == ["it", "rains", "again"]


def test_labels_of_the_papers_own_models_are_known(tmp_path: Path, tiny_bert: Path) -> None:
    item = study_items()["ndsc/fig2"]
    [(spec, labels)] = item.labels.items()
    assert spec in item.models
    config = json.loads((tiny_bert / "config.json").read_text())
    assert sorted(labels) == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert set(labels.values()) == {"entailment", "neutral", "contradiction"}
    config |= {
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
    }
    folder = tmp_path / "as-theirs"
    folder.mkdir()
    for path in tiny_bert.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "config.json").write_text(json.dumps(config))
    from disorder.models import load
    from disorder.types import Task

    task = Task("nli", ("entailment", "neutral", "contradiction"), "b")
    with pytest.raises(DisorderError, match="LABEL_0"):
        load(f"hf:{folder}", task=task)
    mapped = load(f"hf:{folder}", task=task, labels=labels)
    plain = load(f"hf:{folder}", task=task, labels=dict(zip(labels, task.labels, strict=True)))
    one, other = mapped([("a b", "c")])[0], plain([("a b", "c")])[0]
    assert one.tolist() == pytest.approx([other[1], other[2], other[0]])


def test_pickled_weights_are_never_loaded_and_the_line_says_how_to_convert(
    tmp_path: Path, tiny_bert: Path
) -> None:
    folder = tmp_path / "pickled"
    folder.mkdir()
    for path in tiny_bert.iterdir():
        name = "pytorch_model.bin" if path.suffix == ".safetensors" else path.name
        (folder / name).write_bytes(path.read_bytes())
    with pytest.raises(
        DisorderError, match=r"never loaded\. Where you trust them, convert"
    ) as error:
        disorder.audit(f"hf:{folder}", "builtin", limit=5, q=1)
    assert "\n" not in str(error.value)


def test_infersent_has_the_papers_size_as_a_preset() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    from disorder.models.networks import Shape
    from disorder.models.networks.infersent import infersent

    def n_weights(**settings: Any) -> int:
        with torch.device("meta"):  # shapes without weights
            network = infersent(Shape(n_words=10, width=300, n_outputs=3, is_pair=True), **settings)
        return sum(weight.numel() for weight in network.parameters())

    assert n_weights(size="paper") == n_weights(hidden=2048)
    assert n_weights(size="paper") > 20 * n_weights()


def test_missing_data_of_a_splitter_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nltk", reason="needs nltk")
    from disorder.transformations.words import nltk_sentences as module
    from disorder.transformations.words.punkt import sentence_splitter

    def absent(*_: Any) -> None:
        raise LookupError

    monkeypatch.setattr("nltk.tokenize.punkt.PunktTokenizer", absent)
    sentence_splitter.cache_clear()
    with pytest.raises(MissingData, match=r"python -m nltk\.downloader punkt_tab"):
        module.nltk_sentences("One. Two.")
    assert not module.has_sentences()
    sentence_splitter.cache_clear()


def test_every_sentences_full_stop_is_a_token(nltk_data: Path) -> None:
    pytest.importorskip("nltk", reason="needs nltk")
    from disorder.transformations.words import split

    text = "He came home. She did not."
    assert split(text, words="nltk").words[2] == "home."
    words = split(text, words="nltk_sentences").words
    assert list(words) == ["He", "came", "home", ".", "She", "did", "not", "."]


def test_pbsmt_has_its_row_and_counts_in_the_mean_of_all_nine(as_data: Any) -> None:
    pytest.importorskip("thot", reason="needs sil-thot")
    as_data("mnli/dev_matched", 12)
    as_data("mnli/train", 75)
    found = disorder.study("ws/table6", "builtin:bow", "mnli:matched", q=1)
    rows = {cell.row["transformation"]: cell.value for cell in found.cells}
    single = [value for name, value in rows.items() if not name.startswith(("mean", "chance"))]
    assert "pbsmt" in rows
    assert rows["mean of all"] == pytest.approx(sum(single) / len(single), abs=1e-5)
    printed = found.cell("agreement", transformation="pbsmt").theirs
    assert [each.printed for each in printed] == ["57.0"]


def test_pbsmt_is_left_out_with_the_reason_where_no_training_part_is_known(as_data: Any) -> None:
    data = as_data("mnli/dev_matched", 12)
    found = disorder.study("ws/table6", "builtin:bow", str(data), q=1)
    assert not [cell for cell in found.cells if cell.row["transformation"] == "pbsmt"]
    assert any("left out pbsmt (training data for" in note for note in found.notes)


def test_a_model_that_is_tested_as_it_is_needs_no_training_data(as_data: Any) -> None:
    as_data("anli/r1_dev", 60)
    found = disorder.study("ooo/tableA2", knows_the_number, "anli:r1", q=2)
    assert found.cell("dev_accuracy", data="anli:r1").value == 1
    assert found.cell("chance").value == pytest.approx(1 / 3, abs=1e-6)
    assert not any("trained on" in note for note in found.notes)
    assert "knows_the_number on anli:r1, q = 2 (the paper: 10)" in found.does


def test_a_mistake_is_told_alone_before_what_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network to train is no model to test; that no data is at hand here is beside the point."""
    monkeypatch.delenv("DISORDER_DATA", raising=False)
    with pytest.raises(DisorderError) as told:
        disorder.study("unli/table2", "bilstm")
    assert "trains none" in str(told.value)
    assert "needs data" not in str(told.value)
