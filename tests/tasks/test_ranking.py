"""Rankings: scores as trec_eval has them, folders of BEIR, and models with a known answer."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.data import read_data
from disorder.errors import BadData, BadModel, DisorderError, ModelStopped
from disorder.metrics.ranking_scores import RankingScore
from disorder.models import load
from disorder.requests.settings import Settings
from disorder.results.run import Run
from disorder.results.run_result import run_result
from disorder.testing.contract import a_row_is_an_example_of_the_task
from disorder.types import Floats, Task, Texts, listed_segment
from disorder.verbs.selected_data import NOT_RANKED, with_ranked_documents
from fake_server import FakeServer, Fault

Rows = list[dict[str, Any]]
Given = list[dict[str, Any]]
NAMES = ("ndcg@10", "mrr@10", "recall@10", "ndcg@3", "recall@1")
COLOURS = ("red", "green", "blue", "small", "large", "round", "flat", "old", "new", "warm")


def passages(n: int) -> dict[str, str]:
    """Documents by id, each with a word of its own."""
    return {f"d{i:03}": f"word{i} stands in the document of the shelf" for i in range(n)}


def queries(n: int, n_documents: int) -> dict[str, tuple[str, str]]:
    """Queries by id, each with the id of its document: the order of two colours says which."""
    rng = np.random.default_rng(0)
    found = {}
    for i in range(n):
        first, second = rng.permutation(COLOURS)[:2]
        text = f"where does word{i % n_documents} stand by the {first} and the {second} shelf {i}"
        found[f"q{i:03}"] = (text, f"d{i % n_documents:03}")
    return found


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A folder of 60 queries and 40 documents."""
    folder = tmp_path / "toy"
    (folder / "qrels").mkdir(parents=True)
    asked = queries(60, 40)
    write(folder / "corpus.jsonl", [{"_id": k, "title": "", "text": v} for k, v in texts().items()])
    write(folder / "queries.jsonl", [{"_id": k, "text": v} for k, (v, _) in asked.items()])
    lines = ["query-id\tcorpus-id\tscore", *(f"{k}\t{d}\t1" for k, (_, d) in asked.items())]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    return folder


def texts() -> dict[str, str]:
    return passages(40)


def write(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def shared_words(query: str, text: str) -> float:
    return float(len({*query.lower().split()} & {*text.split()}))


def by_words(given: Given) -> list[list[float]]:
    """Counts the words that query and document share."""
    return [[shared_words(each["query"], text) for text in each["documents"]] for each in given]


def by_order(given: Given) -> list[list[float]]:
    """As `by_words`, for queries that begin as a question does; nothing otherwise."""
    scores = by_words(given)
    return [
        found if each["query"].lower().startswith("where does") else [0.0] * len(found)
        for each, found in zip(given, scores, strict=True)
    ]


def audited(model: Any, data: Any, **more: Any) -> Run:
    settings = {"q": 3, "short": "use", "with_": ["derange"], "cache": "off", "until": "never"}
    return disorder.audit(model, data, **(settings | more))


def kind_of(run: Run) -> str:
    assert run.conclusion is not None
    return run.conclusion.kind


def test_scores_are_those_of_pytrec_eval() -> None:
    """Random graded judgements and scores with ties, of which the larger id goes first."""
    trec = pytest.importorskip("pytrec_eval", reason="needs pytrec-eval-terrier")
    rng = np.random.default_rng(0)
    documents = {f"p{i}": f"text {i}" for i in range(50)}
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for i in range(40):
        chosen = rng.choice(list(documents), size=int(rng.integers(1, 15)), replace=False)
        qrels[f"q{i}"] = {str(name): int(rng.integers(1, 4)) for name in chosen}
        run[f"q{i}"] = {name: float(rng.integers(0, 12)) / 7 for name in documents}
    rows = [
        {"id": name, "query": name, "relevant": own, "documents": documents}
        for name, own in qrels.items()
    ]
    task = read_data(rows, task="ranking")
    order = sorted(documents)
    found = trec.RelevanceEvaluator(qrels, {"ndcg_cut.10,3", "recip_rank", "recall.10,1"}).evaluate(
        run
    )
    theirs = {
        "ndcg@10": "ndcg_cut_10",
        "ndcg@3": "ndcg_cut_3",
        "recall@10": "recall_10",
        "recall@1": "recall_1",
        "mrr@50": "recip_rank",  # theirs looks at all documents
    }
    for name, measure in theirs.items():
        model = load(
            lambda given: [[run[each["query"]][d] for d in order] for each in given],
            task=task.task,
            match=RankingScore.named(name),
        )
        ours = model.predict_segments([each.segments for each in task.examples]).values[:, 0]
        wanted = [found[each.id][measure] for each in task.examples]
        np.testing.assert_allclose(ours, wanted, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_chance_is_the_mean_over_all_orders(name: str) -> None:
    score = RankingScore.named(name)
    grades = np.array([2.0, 1.0, 1.0])
    ranked = grades[:2]  # the third one is not among the six that are ranked
    places = [np.array([*two, 0]) for two in permutations(range(1, 7), 2)]
    mean = float(np.mean([score(each, grades) for each in places]))
    assert score.by_chance(ranked, grades, 6) == pytest.approx(mean)


def test_a_folder_is_recognised_and_read_whole(beir: Path) -> None:
    found = read_data(str(beir))
    assert found.task.kind == "ranking"
    assert found.task.corpus is not None
    assert len(found.examples) == 60
    assert len(found.task.corpus) == 40
    first = found.examples[0]
    assert first.on == ("query",)
    assert first.segments["document"] == texts()[listed_segment(first.segments, "relevant")[0]]
    assert read_data(f"beir:{beir}:test").fingerprint == found.fingerprint
    # queries that one document answers are one family
    assert found.examples[0].family == found.examples[40].family != found.examples[1].family


def test_another_corpus_is_other_data(beir: Path) -> None:
    before = read_data(str(beir)).fingerprint
    rows = [{"_id": k, "text": v} for k, v in texts().items()]
    write(beir / "corpus.jsonl", [*rows, {"_id": "d999", "text": "one more"}])
    assert read_data(str(beir)).fingerprint != before


def test_rows_with_documents_of_their_own() -> None:
    rows = [{"query": "what is red", "positive": ["a red thing"], "negative": ["a", "b"]}]
    found = read_data(rows)
    [example] = found.examples
    assert example.segments["document"] == "a red thing"
    assert len(listed_segment(example.segments, "candidates")) == 3
    assert "candidates" in example.segments
    none = [{**rows[0], "positive": []}, *rows]
    assert dict(read_data(none).skipped) == {"no gold label": 1}


def test_rows_that_give_their_own_documents_ids_of_their_own() -> None:
    """The last row's documents stood for those of all rows, which became one family."""
    rows = [
        {
            "query": f"what is thing{i}",
            "relevant": {"0": 1, "2": 3, "gone": 2},
            "documents": {"0": f"all on thing{i}", "1": f"other matter {i}", "2": f"on thing{i}"},
        }
        for i in range(5)
    ]
    found = read_data(rows, language="en")
    corpus = found.task.corpus
    assert corpus is not None
    text_of = dict(zip(corpus.ids, corpus.texts, strict=True))
    for example in found.examples:
        i = str(example.segments["query"])[-1]
        names = listed_segment(example.segments, "candidates")
        assert {text_of[name] for name in names} == {
            f"all on thing{i}",
            f"other matter {i}",
            f"on thing{i}",
        }
        best, last, gone = listed_segment(example.segments, "relevant")
        assert text_of[best] == example.segments["document"] == f"on thing{i}"
        assert (text_of[last], gone) == (f"all on thing{i}", "gone")
        assert example.segments["grades"] == ("3", "1", "2")
    assert len({example.family for example in found.examples}) == 5
    shared = [{**row, "documents": {"0": "a", "1": "b", "2": "c"}} for row in rows]
    assert not any("candidates" in e.segments for e in read_data(shared, language="en").examples)


def test_what_is_no_folder_of_that_form_is_one_line(beir: Path) -> None:
    with pytest.raises(DisorderError, match="split of"):
        read_data(f"beir:{beir}:dev")
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq000\td000\tgood\n")
    with pytest.raises(BadData, match="'good' is no grade"):
        read_data(str(beir))
    (beir / "qrels" / "test.tsv").unlink()
    with pytest.raises(BadData, match="no qrels"):
        read_data(str(beir))


def test_a_reader_and_a_counter_are_told_apart(beir: Path) -> None:
    counter = audited(by_words, str(beir))
    assert kind_of(counter) == "order_not_used"
    assert counter["original", "accuracy"].value == 1
    assert counter["derange", "skill_kept"].value == pytest.approx(1, abs=0.01)
    reader = audited(by_order, str(beir))
    assert kind_of(reader) == "reads_order"
    assert "nDCG@10 is 1.00 for 60 queries" in " ".join(run_result(reader).lead)


@pytest.mark.parametrize("match", ["ndcg@10", "mrr@10", "recall@10"])
def test_a_random_order_has_no_skill(beir: Path, match: str) -> None:
    rng = np.random.default_rng(0)

    def guess(given: Given) -> list[Floats]:
        return [rng.random(len(each["documents"])) for each in given]

    run = audited(guess, str(beir), match=match)
    score = run["original", "accuracy"]
    assert run.chance is not None
    assert score.low <= run.chance <= score.high
    assert kind_of(run) in ("no_skill", "undecided")


def test_a_document_can_be_perturbed_instead(beir: Path) -> None:
    """A model that wants a document to begin with its own word loses the perturbed ones alone."""

    def wants_start(given: Given) -> list[list[float]]:
        return [
            [float(text.split()[0] in each["query"].split()) for text in each["documents"]]
            for each in given
        ]

    asked: list[int] = []

    def counted(given: Given) -> list[list[float]]:
        asked.extend(len({*each["documents"]} - {*texts().values()}) for each in given)
        return wants_start(given)

    kept = audited(by_words, str(beir), on="document")
    assert kind_of(kept) == "order_not_used"
    lost = audited(counted, str(beir), on="document")
    assert lost["derange:on=document", "accuracy"].value < 0.6
    assert lost["original", "accuracy"].value == 1
    assert max(asked) == 1  # the others are as they were


ALWAYS = 1.0


def constant(given: Given) -> list[list[float]]:
    """Ranks by words as long as a global says so."""
    return [[ALWAYS * each for each in found] for found in by_words(given)]


def test_what_a_function_reads_beside_its_source_counts(
    beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"with_": ["derange"], "q": 1, "cache": tmp_path, "until": "never"}
    assert disorder.audit(constant, str(beir), **settings)["original", "accuracy"].value == 1
    monkeypatch.setitem(globals(), "ALWAYS", -1.0)
    again = disorder.audit(constant, str(beir), **settings)
    assert again["original", "accuracy"].value < 0.1


def graded_rows() -> Rows:
    """Queries with two relevant documents, of which the better one shares fewer words with them."""
    documents = {f"a{i}": f"a word{i} far away" for i in range(20)}
    documents |= {f"b{i}": f"b word{i} far mark{i}" for i in range(20)}
    return [
        {
            "id": f"{i}",
            "query": f"find word{i} mark{i}",
            "relevant": {f"a{i}": 2, f"b{i}": 1},
            "documents": documents,
        }
        for i in range(20)
    ]


def test_the_perturbed_document_alone_is_scored() -> None:
    """A model that finds nothing in a document that changed loses all that it had."""
    rows = graded_rows()
    known = {*rows[0]["documents"].values()}

    def whole(given: Given) -> list[list[float]]:
        scores = by_words(given)
        return [
            [
                score if text in known else -1.0
                for score, text in zip(own, each["documents"], strict=True)
            ]
            for own, each in zip(scores, given, strict=True)
        ]

    run = audited(whole, rows, on="document", match="mrr@50")
    assert run["original", "accuracy"].value == 1
    assert run["derange:on=document", "accuracy"].value == pytest.approx(1 / 39)
    pytest.importorskip("bm25s", reason="needs bm25s")
    rows[0]["query"] = "a word0 far away"
    found = with_ranked_documents(
        read_data(rows, language="en"), Settings(candidates="bm25:1", break_="document")
    )
    assert found.skipped == {NOT_RANKED: 20 - len(found.examples)}
    assert [each.id for each in found.examples] == ["0"]


def test_documents_that_are_not_there_are_not_found_by_chance(beir: Path) -> None:
    lines = (beir / "qrels" / "test.tsv").read_text()
    (beir / "qrels" / "test.tsv").write_text(f"{lines}q000\tmissing\t1\n")
    found = with_ranked_documents(read_data(str(beir)), Settings(match="recall@10"))
    assert found.examples[0].guess == pytest.approx(10 / 40 / 2)
    (beir / "qrels" / "test.tsv").write_text(f"{lines}q000\td001\tinf\n")
    with pytest.raises(BadData, match="'inf' is no grade"):
        read_data(str(beir))
    for name in ("dev", "train"):
        (beir / "qrels" / f"{name}.tsv").write_text(lines)
    (beir / "qrels" / "test.tsv").unlink()
    with pytest.raises(BadData, match=f"write beir:{beir}:dev or"):
        read_data(str(beir))
    assert len(read_data(f"beir:{beir}:dev").examples) == 60


@pytest.mark.parametrize(
    ("relevant", "document", "message"),
    [
        ({"d": "1"}, "a", ""),
        ({"d": None}, "a", "None is no grade"),
        ({"d": 1}, {}, "must be a text"),
        ({"d": 1}, 3, "must be a text, got int"),
    ],
)
def test_grades_and_documents_of_other_types(relevant: Any, document: Any, message: str) -> None:
    row = {"query": "q", "relevant": relevant, "documents": {"d": document, "e": "b"}}
    if not message:
        assert len(read_data([row], language="en").examples) == 1
        return
    with pytest.raises(BadData, match=message):
        read_data([row], language="en")


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("corpus.jsonl", '{"_id": "d000", "text": "another"}', "d000 stands twice, with another"),
        ("corpus.jsonl", '{"_id": "d999", "text": ["a"]}', "line 41: _id, title and text must be"),
        ("queries.jsonl", '{"_id": ["q"], "text": "a"}', "line 61: _id, title and text must be"),
        ("qrels/test.tsv", "q000\td000\t2", "line 62: d000 stands twice under q000"),
    ],
)
def test_a_folder_means_one_thing(beir: Path, name: str, line: str, message: str) -> None:
    """The last one counted, and a list was read as its Python text."""
    with (beir / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(BadData, match=message):
        read_data(str(beir))


def test_candidates_come_from_the_original_query(beir: Path) -> None:
    pytest.importorskip("bm25s", reason="needs bm25s")
    run = audited(by_words, str(beir), candidates="bm25:5")
    assert run.chance == pytest.approx(float((1 / np.log2(np.arange(2, 7))).mean()))
    assert any("for 60 of 60 queries" in note for note in run.notes)
    with pytest.raises(DisorderError, match="bm25:20 or embed"):
        audited(by_words, str(beir), candidates="splade")
    own = [{"query": "a b", "positive": ["a"], "negative": ["b"]}]
    with pytest.raises(DisorderError, match="name their own documents"):
        audited(by_words, own, candidates="bm25")
    with pytest.raises(DisorderError, match="is for queries with documents"):
        audited("builtin", "builtin", candidates="bm25")


class Bag:
    """An embedder that counts words, and notes what it was given."""

    fingerprint = "bag"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, given: Sequence[str], /) -> Floats:
        self.asked += given
        found = np.zeros((len(given), 4096))
        for row, text in zip(found, given, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 4096] += 1
        return found


def test_the_corpus_is_embedded_once(beir: Path) -> None:
    bag = Bag()
    run = audited(bag, str(beir))
    assert run["original", "accuracy"].value > 0.9
    assert run["derange", "skill_kept"].value == pytest.approx(1, abs=0.05)
    assert len(bag.asked) == len({*bag.asked})
    assert {*texts().values()} <= {*bag.asked}


def test_runs_are_compared_and_read_again(beir: Path, tmp_path: Path) -> None:
    one = audited(by_words, str(beir), out=tmp_path / "one")
    two = audited(by_order, str(beir), out=tmp_path / "two")
    assert one.chance == pytest.approx(two.chance)
    found = disorder.compare(tmp_path / "two", tmp_path / "one")
    kept = next(
        each
        for each in found.differences
        if (each.transformation, each.metric) == ("derange", "skill_kept")
    )
    assert abs(kept.difference) == pytest.approx(1, abs=0.05)


class Labels:
    """A predictor of labels, and nothing else."""

    labels = ("yes", "no")
    fingerprint = ""

    def __call__(self, given: Sequence[Texts], /) -> Floats:
        return np.full((len(given), 2), 0.5)


def test_models_that_rank_nothing_say_so(beir: Path) -> None:
    with pytest.raises(BadModel, match="ranks no documents"):
        audited(Labels(), str(beir))
    with pytest.raises(BadModel, match="one list of numbers for each query"):
        audited(lambda given: [], str(beir))
    with pytest.raises(BadModel, match="finite number for each of 40 documents"):
        audited(lambda given: [[1.0] for _ in given], str(beir))
    with pytest.raises(DisorderError, match=r"ndcg@10.*mrr@10|match for rankings"):
        audited(by_words, str(beir), match="f1")
    with pytest.raises(BadModel, match="runs in one precision only"):
        audited(by_words, str(beir), precision="bf16")


def test_a_server_reranks(beir: Path) -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    pytest.importorskip("bm25s", reason="needs bm25s")
    with FakeServer(reranks=shared_words) as server:
        run = audited("rerank:fake", str(beir), candidates="bm25:5", base_url=server.url, q=2)
        assert run["original", "accuracy"].value == 1
        assert kind_of(run) == "order_not_used"
        assert all(len(body["documents"]) == 5 for _, body in server.questions)
        big = {f"d{i}": f"text {i}" for i in range(300)}
        rows = [{"query": "a b c", "relevant": {"d1": 1}, "documents": big}]
        with pytest.raises(BadModel, match="bm25:20"):
            audited("rerank:fake", rows, base_url=server.url)


@pytest.mark.parametrize(
    "content",
    [
        b'{"results": []}',
        b'{"results": [{"index": 0, "relevance_score": "x"}, {"index": 1, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 5, "relevance_score": 1}]}',
        b'{"results": [{"index": 0}, {"index": 1}]}',
    ],
)
def test_a_reply_without_numbers_stops_with_one_line(content: bytes) -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    with FakeServer(faults=lambda number, path: Fault(content=content)) as server:
        model = load("rerank:fake", task=Task("pairs"), options={"base_url": server.url})
        with pytest.raises(ModelStopped, match="number"):
            model([("a", "b"), ("a", "c")])


def test_a_folder_reranks_as_the_library_does(tiny_reranker: Path, tiny_bert: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    rows = [
        {"query": "the man walks", "positive": ["the dog sleeps"], "negative": ["the woman walks"]},
        {"query": "a dog", "positive": ["no dog"], "negative": ["the man and the woman", "walks"]},
    ]
    task = read_data(rows).task
    score = RankingScore.named("ndcg@10")
    pairs = [(row["query"], text) for row in rows for text in [*row["positive"], *row["negative"]]]
    ours = load(f"rerank:{tiny_reranker}", task=Task("number"))
    theirs = load(library.CrossEncoder(str(tiny_reranker)), task=Task("number"))
    np.testing.assert_allclose(ours(pairs), theirs(pairs), atol=1e-5)
    inputs = [each.segments for each in read_data(rows).examples]
    models = (f"rerank:{tiny_reranker}", library.CrossEncoder(str(tiny_reranker)))
    found = [load(model, task=task, match=score).predict_segments(inputs) for model in models]
    np.testing.assert_allclose(found[0].values, found[1].values)
    with pytest.raises(BadModel, match="one output"):
        load(f"rerank:{tiny_bert}", task=task, match=score)


def test_the_task_keeps_its_contract() -> None:
    row = {"query": "what is red", "positives": ["a red thing"], "negatives": ["a", "b"]}
    a_row_is_an_example_of_the_task("ranking", row)
