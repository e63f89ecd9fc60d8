"""The contract that every registered part must keep, built-in or from a plugin."""

from __future__ import annotations

import re
import tempfile
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import CHINESE, NLI, RunContext, example, outcomes, pairs
from disorder.errors import DoesNotApply, MissingData, MissingPackage, NothingToMeasure
from disorder.metrics import measure
from disorder.models import load
from disorder.models.builtin import MODELS
from disorder.registry import (
    KINDS,
    MetricPart,
    NetworkPart,
    Part,
    TransformationPart,
    metric_named,
    parts,
    parts_of,
)
from disorder.specs import spec_name
from disorder.transformations import Transformation, parse
from disorder.transformations.positions.orders_within_groups import shots_sentence
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import split
from disorder.types import Choice, Example, Fidelity, Outcomes, Score, Task, Variants

TEXTS = {
    "empty": "",
    "one word": "a",
    "equal words": "a a a",
    "one word and a mark": "Yes.",
    "four equal words": "a a a a",
    "emoji": "👩‍👩‍👧 hugs 👩‍❤️‍👨 and 🏳️‍🌈 again ❤️",
    "right to left": "הכלב רדף אחרי החתול, بسرعة كبيرة!",
    "Chinese": "我喜欢吃苹果，你呢？",
    "NUL": "a\0b c \0 d",
    "marks only": "... ?! --",
    "spaces only": " \t\r\n ",
    "sentence": '  "The dog, it seems, saw 3.5 well-known cats."  ',
    "lone surrogate": "half \ud83d of an emoji is here today",
    "10,000 words": " ".join(f"w{i}" for i in range(10_000)),
    "1,000 equal words": " ".join(["a"] * 1000),
}
CHINESE_TEXTS = {
    "empty": "",
    "one character": "我",
    "one word": "苹果",
    "equal characters": "哈哈哈哈",
    "one word and a mark": "好。",
    "marks only": "……？！——",
    "sentence": "因为下雨，小明和小红没去北京的公园；他们在家看书。",
    "mixed": "我用iPhone 15给Mary打了3.5次电话，OK？",
    "traditional": "雖然他很累，但是他還是來了。",
    "spaced": "我 喜欢 吃 苹果 。",
    "lone surrogate": "一半\ud83d的表情在这里",
    "1,000 words": "天地玄黄" * 500,
}
TASKS = {"en": NLI, "zh": CHINESE}
STRANGE = {"en": TEXTS, "zh": CHINESE_TEXTS}
PAIRS = {
    "en": (
        "The quick brown fox and the wolf jump over the lazy dog near a farm today.",
        "A slow red hen and her small chicks sit under one happy old cat near the barn.",
    ),
    "zh": (
        "小明和小红昨天在北京的公园里看见了三只白色的猫。",
        "张伟和李娜明天从上海坐火车去北京看他们的老朋友。",
    ),
}
FIDELITIES = get_args(Fidelity)
SURROUNDINGS = RunContext()
ALL_PARTS = [entry for kind in KINDS for entry in parts_of(kind).values()]


def names(kind: str) -> list[str]:
    return list(parts_of(kind))


def specs() -> list[str]:
    """Every transformation; those that learn from other data get some."""
    needs = {name: entry.needs for name, entry in parts(TransformationPart).items()}
    return [f"{name}:train=made up" if "training data" in needs[name] else name for name in needs]


def example_for(spec: str, language: str, *, name: str = "1") -> Example:
    """An example that a transformation can perturb: those for the examples of a prompt get some."""
    texts = PAIRS[language]
    perturbs = parts(TransformationPart)[spec_name(spec)].perturbs
    if perturbs == "words":
        return example(*texts, name=name)
    if perturbs == "options":
        options = tuple(f"{texts[0]} {i}" for i in range(5))
        return replace(example(texts[0], name=name), choice=Choice(texts[0], options))
    shots = tuple((f"{texts[0]} {i}", f"answer {i}") for i in range(5))
    return replace(example(shots_sentence(shots).text, texts[1], name=name), shots=shots)


def variants_of(
    transformation: Transformation,
    what: Example,
    *,
    language: str = "en",
    q: int = 5,
    seed: int = 0,
) -> Variants | None:
    """The variants, or None when the transformation says that it does not apply; skipped where its
    tools are missing.
    """
    try:
        return transformation.apply(
            what, task=TASKS[language], q=q, seed=seed, short="use", context=SURROUNDINGS
        )
    except DoesNotApply:
        return None
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("entry", ALL_PARTS, ids=lambda e: f"{e.kind}-{e.name}")
def test_every_part_says_in_a_sentence_what_it_does(entry: Part) -> None:
    assert entry.summary
    assert entry.summary[0].isupper()
    assert entry.summary.endswith(".")
    assert not re.search(r"\.\s+[A-Z]", entry.summary), "one sentence, not two"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_parts(kind: str) -> None:
    assert names(kind)


def is_fixed(transformation: Transformation) -> bool:
    """Whether chance plays no part."""
    return transformation.is_deterministic or transformation.spec == "derange:fidelity=released"


def check_variants(variants: Variants, title: str) -> None:
    assert 1 <= len(variants) <= 5, title
    assert len(variant_texts(variants)) == len(list(variants.positions())) == len(variants), title
    for rows in variants.sides:
        assert rows.positions.dtype == np.int64, title
        inside = (rows.positions >= 0) & (rows.positions < len(rows.sentence))
        assert inside.all(), title


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("name", specs())
class TestTransformation:
    @pytest.mark.parametrize("language", TASKS)
    def test_it_ends_with_valid_positions_or_does_not_apply(
        self, name: str, fidelity: Any, language: str
    ) -> None:
        transformation = parse(name, fidelity=fidelity)
        for title, text in STRANGE[language].items():
            is_long = len(text) > 1000  # one pair says enough, and costs the time
            for what in [example(text, text)] if is_long else [example(text), example(text, text)]:
                variants = variants_of(transformation, what, language=language)
                if variants is not None:
                    check_variants(variants, title)

    @pytest.mark.parametrize("language", TASKS)
    def test_the_same_seed_gives_the_same_texts(
        self, name: str, fidelity: Any, language: str
    ) -> None:
        pair = example_for(name, language)
        before = asdict(pair)
        results = [
            variants_of(parse(name, fidelity=fidelity), pair, language=language) for _ in range(2)
        ]
        assert results[0] is not None
        assert results[1] is not None
        assert variant_texts(results[0]) == variant_texts(results[1])
        assert list(results[0].positions()) == list(results[1].positions())
        assert asdict(pair) == before

    @pytest.mark.parametrize("language", TASKS)
    def test_seeds_matter_just_where_chance_is_at_work(
        self, name: str, fidelity: Any, language: str
    ) -> None:
        transformation = parse(name, fidelity=fidelity)
        pair = example_for(name, language)
        perturbed = [
            variants_of(transformation, pair, language=language, seed=seed) for seed in range(5)
        ]
        texts = {str([] if variants is None else variant_texts(variants)) for variants in perturbed}
        assert (len(texts) == 1) == is_fixed(transformation)

    @pytest.mark.parametrize("language", TASKS)
    def test_ids_matter_as_seeds_do(self, name: str, fidelity: Any, language: str) -> None:
        transformation = parse(name, fidelity=fidelity)
        pairs = [example_for(name, language, name=str(i)) for i in range(5)]
        perturbed = [variants_of(transformation, pair, language=language) for pair in pairs]
        texts = {str([] if variants is None else variant_texts(variants)) for variants in perturbed}
        assert (len(texts) == 1) == is_fixed(transformation)

    @pytest.mark.parametrize("language", TASKS)
    def test_what_keeps_the_words_keeps_every_letter(
        self, name: str, fidelity: Any, language: str
    ) -> None:
        transformation = parse(name, fidelity=fidelity)
        pair = example_for(name, language)
        variants = variants_of(transformation, pair, language=language)
        if not transformation.keeps_words or variants is None:
            return
        for made in variant_texts(variants):
            for old, new in zip(pair.texts, made, strict=True):
                assert letters(str(new)) == letters(str(old))


def letters(text: str) -> list[str]:
    """The letters and marks of a text, whatever their order and case."""
    return sorted("".join(text.lower().split()))


def check_missing(missing: MissingData) -> None:
    """On a machine without NLTK's data the line says what to type."""
    assert "python -m nltk.downloader" in str(missing)


def check_split(splitter: str, text: str) -> None:
    try:
        sentence = split(text, words=splitter)
    except MissingData as missing:
        check_missing(missing)
        return
    except MissingPackage as missing:
        pytest.skip(str(missing))
    starts, ends = sentence.starts.tolist(), sentence.ends.tolist()
    assert all(start < end for start, end in zip(starts, ends, strict=True))
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    covered = {i for start, end in zip(starts, ends, strict=True) for i in range(start, end)}
    assert all(char.isspace() or i in covered for i, char in enumerate(text))
    assert render(sentence, np.arange(len(sentence))[None, :]) == [text]
    assert (
        len(sentence.is_punctuation)
        == len(sentence.is_spaced)
        == len(sentence)
        == len(sentence.words)
    )


ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from("ab .,'\"`-?!(“”’…\n\t\r1我の️👩‍\u0301שa\0"), max_size=60),
    st.lists(
        st.sampled_from(
            ["it's", "3.5", "e.g.", "``", "''", '"', "cannot", "--", "我们", "❤️", "\u00a0", "a/b"]
        )
    ).map(" ".join),
)


@pytest.mark.parametrize("splitter", names("words"))
class TestWords:
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
    def test_words_cover_the_text(self, splitter: str, text: str) -> None:
        check_split(splitter, text)

    @settings(max_examples=200)
    @given(text=ANY_TEXT)
    def test_any_text_can_be_rebuilt(self, splitter: str, text: str) -> None:
        check_split(splitter, text)


def random_outcomes(seed: int, *, n: int, q: int, numbers: bool = False) -> Outcomes:
    rng = np.random.default_rng(seed)
    if numbers:
        return Outcomes(
            "derange",
            Task("sts", ()),
            np.array([f"e{i}" for i in range(n)]),
            rng.random(n),
            rng.random((n, 1)),
            rng.random((n, q, 1)),
            np.ones(n, dtype=bool),
        )
    gold = rng.integers(3, size=n)
    # more than a guess: some scores are of the skill that is left, and there must be some
    original = np.where(rng.random(n) < 0.5, gold, rng.integers(3, size=n))
    return outcomes(gold, original, rng.integers(3, size=(n, q)), sure=0.7)


def numbers_of(metric: str) -> bool:
    return parts(MetricPart)[metric].on not in ("labels", "any")


def score_of(metric: str, given: Outcomes) -> Score:
    """The score of a metric; one with a parameter is measured at its first usual point."""
    points = parts(MetricPart)[metric].points
    return measure(f"{metric}@{points[0]}" if points else metric, given)


def outcomes_for(metric: str, seed: int, *, n: int, q: int) -> Outcomes:
    """Random outcomes that a metric can be measured on; options move where it is about those."""
    given = random_outcomes(seed, n=n, q=q, numbers=numbers_of(metric))
    entry = metric_named(metric)
    if entry is None or entry.of != "options":
        return given
    order = np.random.default_rng(seed).integers(6, size=(n, q))
    place = np.where(given.label < 0, -1, (given.label + order) % 3)
    return replace(given, chance=np.full(n, 1 / 3), place=place, order=order)


@pytest.mark.parametrize("metric", names("metric"))
class TestMetric:
    @pytest.mark.parametrize("q", [1, 2, 7])
    @pytest.mark.parametrize("n", [1, 2, 3, 8, 50])
    def test_a_score_lies_in_its_interval_and_rests_on_examples(
        self, metric: str, n: int, q: int
    ) -> None:
        for seed in range(5):
            try:
                score: Score = score_of(metric, outcomes_for(metric, seed, n=n, q=q))
            except NothingToMeasure:
                continue
            assert np.isfinite([score.low, score.value, score.high]).all()
            assert score.low <= score.value <= score.high
            assert 0 < score.n <= n

    @pytest.mark.parametrize("q", [1, 7])
    def test_no_example_is_an_error_and_not_a_zero(self, metric: str, q: int) -> None:
        nothing = outcomes_for(metric, 0, n=3, q=q).take(np.zeros(3, dtype=bool))
        with pytest.raises(NothingToMeasure):
            score_of(metric, nothing)

    def test_the_order_of_examples_does_not_matter(self, metric: str) -> None:
        """Values are equal; an interval by resampling may differ by its chance, one by formula may
        not.
        """
        given = outcomes_for(metric, 1, n=60, q=7)
        turned = given.take(np.random.default_rng(2).permutation(60))
        scores = [score_of(metric, each) for each in (given, turned)]
        assert scores[0].value == pytest.approx(scores[1].value, abs=1e-12)
        assert (scores[0].n, scores[0].skipped) == (scores[1].n, scores[1].skipped)
        width = scores[0].high - scores[0].low
        assert scores[0].low == pytest.approx(scores[1].low, abs=0.15 * width)
        assert scores[0].high == pytest.approx(scores[1].high, abs=0.15 * width)

    def test_skipped_examples_are_carried_along(self, metric: str) -> None:
        given = outcomes_for(metric, 1, n=60, q=7)
        more = Outcomes(
            **{name: getattr(given, name) for name in given.__dataclass_fields__}
            | {"n_skipped": 11}
        )
        score, with_skips = (score_of(metric, each) for each in (given, more))
        assert with_skips.skipped == score.skipped + 11


OFFLINE_MODELS = {
    "always": "always:neutral",
    "uniform": "uniform",
    "longer_than": "longer_than:8",  # of the example plugin
    "python": "python:conftest_model:answer",
}


def model_spec(name: str, request: pytest.FixtureRequest) -> str:
    """A spec that loads this model without a network."""
    if name == "hf":
        return f"hf:{request.getfixturevalue('tiny_bert')}"
    if name in ("builtin", "bow", "onnx"):
        return f"onnx:{MODELS / 'nli'}" if name == "onnx" else name
    if name in parts(NetworkPart):
        return f"{name}:{trained(name)}"
    if name == "sklearn":
        return f"sklearn:{pickled()}"
    return OFFLINE_MODELS[name]


@lru_cache
def trained(name: str) -> str:
    """A folder with this network, hardly trained."""
    pytest.importorskip("torch", reason="needs torch")
    from disorder.verbs.train import train

    folder = f"{tempfile.mkdtemp()}/{name}"
    settings = {"epochs": "1", "width": "8"}
    train("plain", pairs(60), dev=pairs(12), model=name, out=folder, settings=settings)
    return folder


@lru_cache
def pickled() -> str:
    """A file with a scikit-learn model of pairs."""
    joblib = pytest.importorskip("joblib", reason="needs scikit-learn")
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="needs scikit-learn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(text.TfidfVectorizer(preprocessor=" ".join), LogisticRegression())
    rows = pairs(60)
    model.fit([(row["text_a"], row["text_b"]) for row in rows], [row["label"] for row in rows])
    path = f"{tempfile.mkdtemp()}/model.joblib"
    joblib.dump(model, path)
    return path


@pytest.fixture
def model_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with a model in it, in the folder that the user works in."""
    (tmp_path / "conftest_model.py").write_text(
        "def answer(texts):\n    return [[0.5, 0.3, 0.2] for _ in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


# language models are asked by prompts: tests/models/test_causal.py and tests/models/servers
BY_PROMPT = ("causal", "masked", "openai")
# embedders give a cosine or two labels, not the three of this task: tests/models/test_embed.py
BY_COSINE = ("embed",)
NEEDS = {"sklearn": {"allow_pickle": True}}  # options without which a model is not loaded


@pytest.mark.usefixtures("model_module")
@pytest.mark.parametrize(
    "name", [name for name in names("model") if name not in BY_PROMPT + BY_COSINE]
)
class TestModel:
    def test_it_predicts_probabilities_for_each_text_whatever_stands_beside_it(
        self, name: str, request: pytest.FixtureRequest
    ) -> None:
        model = load(model_spec(name, request), task=NLI, options=NEEDS.get(name))
        texts = [
            ("A dog barks.", "An animal is loud."),
            ("我", "你"),
            ("", ""),
            ("a\0b", "👩‍👩‍👧"),
            ("w " * 300, "w " * 300),
        ]
        together = model(texts)
        assert together.shape == (5, 3)
        assert (together >= 0).all()
        np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-6)
        apart = np.concatenate([model([text]) for text in reversed(texts)])[::-1]
        np.testing.assert_allclose(together, apart, atol=1e-5)

    def test_it_has_a_fingerprint_that_stays(
        self, name: str, request: pytest.FixtureRequest
    ) -> None:
        spec = model_spec(name, request)
        options = NEEDS.get(name)
        first, second = (load(spec, task=NLI, options=options).fingerprint for _ in range(2))
        assert first
        assert first == second
