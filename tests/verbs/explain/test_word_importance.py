"""Word importance by LIME, leave-one-out and gradients: planted words, the reference packages,
values by hand, and sums.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.data import read_data
from disorder.errors import BadData, BadSetting, DisorderError
from disorder.models import load
from disorder.models.importance.gradients import by_side
from disorder.requests.settings import Settings
from disorder.types import Dataset, Example, Floats, Task, Texts
from disorder.verbs.explain import Subject, explain
from disorder.verbs.explain.explanations.gradients import by_gradients
from disorder.verbs.explain.explanations.leave_one_out import by_leaving_out
from disorder.verbs.explain.explanations.lime import by_lime, coefficients, masks, nearness
from disorder.verbs.explain.word_drawings import WeighedLine, importance_drawing
from disorder.verbs.explain.word_importance import (
    WeighedWords,
    cut,
    masked,
    n_words,
    said_heaviest,
    weighed,
)
from grammar import sentiment as grammar

Write = Callable[..., Path]
SENTIMENT = Task("toy", ("negative", "positive"), "a")


class CountingModel:
    """A model whose probability of `positive` grows with its words, and that remembers the size of
    each call.
    """

    labels = ("negative", "positive")
    fingerprint = ""

    def __init__(self, **weights: float) -> None:
        self.weights, self.calls = weights, list[int]()

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        self.calls.append(len(texts))
        words = [f"{a} {b or ''}".lower().replace(".", " ").split() for a, b in texts]
        p = np.array([0.5 + sum(self.weights.get(word, 0.0) for word in each) for each in words])
        return np.stack([1 - p, p], axis=1)


def subject(model: Any, examples: Sequence[Texts], **settings: Any) -> Subject:
    data = Dataset(
        "toy",
        SENTIMENT,
        [Example.of(f"e{i}", a, b, "positive") for i, (a, b) in enumerate(examples)],
    )
    return Subject(load(model, task=SENTIMENT), data, Settings(**settings))


def test_a_linear_model_is_found_exactly_but_for_the_penalty() -> None:
    pair = cut(("one good day, one bad night.", None))
    kept = masks(pair, 2000, 0)
    slopes = np.array([0.0, 0.2, 0.0, 0.0, -0.1, 0.05])
    assert coefficients(kept, 0.5 + kept @ slopes) == pytest.approx(slopes, abs=5e-3)


def test_words_of_both_texts_of_a_pair_are_weighed() -> None:
    about = subject(CountingModel(good=0.3, bad=-0.2), [("a good day", "a bad night.")])
    pair = cut(("a good day", "a bad night."))
    [[first, second]] = by_lime(about, [pair], np.array([1]), samples=800)
    assert first == pytest.approx([0, 0.3, 0], abs=0.02)
    assert second == pytest.approx([0, -0.2, 0, 0], abs=0.02)
    found = weighed(pair, [first, second])
    assert (found.words[found.top], found.side[found.top]) == ("good", "a")


def test_all_samples_of_all_examples_are_one_call_and_none_is_predicted_twice() -> None:
    model = CountingModel(good=0.3)
    about = subject(model, [])
    pairs = [cut((text, None)) for text in ("a good day", "two good days were long", "x")]
    by_lime(about, pairs, np.array([1, 1, 1]), samples=500)
    assert model.calls == [2**3 + 2**5 + 2]


def test_the_same_seed_gives_the_same_masks_and_another_does_not() -> None:
    pair = cut(("one good day in the long dark winter", None))
    assert (masks(pair, 50, 0) == masks(pair, 50, 0)).all()
    assert (masks(pair, 50, 0) != masks(pair, 50, 1)).any()


@given(st.text("ab ,.'()", min_size=1, max_size=30), st.integers(2, 40))
def test_a_sample_is_the_text_without_its_words_and_nothing_else(text: str, samples: int) -> None:
    pair = cut((text, None))
    if not n_words(pair):
        return
    kept = masks(pair, samples, 0)
    texts = [a for a, _ in masked(pair, kept)]
    assert texts[0] == text
    marks = [pair.a.words[i] for i in np.flatnonzero(pair.a.is_punctuation)]
    for row, shown in zip(kept, texts, strict=True):
        words = [pair.a.words[i] for i in pair.a.movable[row]]
        assert sorted("".join(shown.split())) == sorted("".join([*words, *marks]).replace(" ", ""))


@pytest.mark.parametrize("model", ["builtin", "bow"])
def test_the_planted_word_is_on_top(model: str) -> None:
    """Of built-in texts whose label hangs on one word, LIME finds that word."""
    data = read_data("builtin:sentiment")
    examples = [e for e in data.examples if e.groups["needs"] == "words"][:60]
    about = Subject(load(model, task=data.task), Dataset("x", data.task, examples), Settings())
    right = about.original.argmax(axis=1) == about.gold
    pairs, columns = [cut(e.texts) for e in examples], about.gold.astype(int)
    found = [
        weighed(p, s)
        for p, s in zip(pairs, by_lime(about, pairs, columns, samples=500), strict=True)
    ]
    is_found = np.array(
        [f.words[f.top].lower() in planted(e.label) for f, e in zip(found, examples, strict=True)]
    )
    assert right.mean() > 0.9
    assert is_found[right].all()


def planted(label: str) -> set[str]:
    """The words that carry this label in the built-in grammar."""
    return {
        word
        for words in (grammar.ADJECTIVES, grammar.NOUNS, grammar.VERBS, grammar.ADVERBS)
        for word in words[label]
    }


def reference(random_state: int = 0) -> Any:
    """The `lime` package set as ours is: places are features, a word left out leaves nothing
    behind.
    """
    lime_text = pytest.importorskip("lime.lime_text", reason="needs lime, the reference")
    return lime_text.LimeTextExplainer(
        class_names=["negative", "positive"],
        bow=False,
        mask_string="",
        split_expression=r"\W+",
        feature_selection="none",
        random_state=random_state,
    )


TEXTS = [
    "The view from our room captivated the whole audience",
    "a good day and a bad night in a good town",
    "good",
    "one two",
    "we found the second act dull but the rest of the long evening was a joy to everyone who came",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_masks_give_the_coefficients_of_the_reference(text: str) -> None:
    explainer = reference()
    model = load("bow", task=read_data("builtin:sentiment").task)
    asked: list[str] = []

    def answer(texts: list[str]) -> Floats:
        asked.extend(texts)
        return model([(each, None) for each in texts])

    n = len(text.split())
    told = explainer.explain_instance(text, answer, num_features=n, num_samples=600, labels=(1,))
    pair = cut((text, None))
    kept = replayed(n, 600)
    ours = masked(pair, kept)
    assert [each.split() for each, _ in ours] == [each.split() for each in asked]
    theirs = np.zeros(n)
    for place, weight in told.as_map()[1]:
        theirs[place] = weight
    assert coefficients(kept, model(ours)[:, 1]) == pytest.approx(theirs, abs=1e-6)


def replayed(n: int, samples: int) -> Any:
    """The masks that the reference draws, from the same legacy generator."""
    state = np.random.RandomState(0)
    kept = np.ones((samples, n), dtype=bool)
    for row, size in enumerate(state.randint(1, n + 1, samples - 1), start=1):
        kept[row, state.choice(range(n), size, replace=False)] = False
    return kept


def test_with_masks_of_its_own_it_finds_the_reference_s_top_word() -> None:
    data = read_data("builtin:sentiment")
    examples = data.examples[:40]
    about = Subject(load("bow", task=data.task), Dataset("x", data.task, examples), Settings())
    columns = about.original.argmax(axis=1)
    pairs = [cut(e.texts) for e in examples]
    same = 0
    for pair, scores, column in zip(
        pairs, by_lime(about, pairs, columns, samples=1000), columns.tolist(), strict=True
    ):
        told = reference(1).explain_instance(
            pair.a.text,
            lambda texts: about.model([(each, None) for each in texts]),
            num_features=1000,
            num_samples=1000,
            labels=(column,),
        )
        word = max(told.as_list(column), key=lambda each: each[1])[0]
        found = weighed(pair, scores)
        same += found.words[found.top] == word
    assert same >= 38


def test_the_regression_is_scikit_learn_s() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs scikit-learn")
    pair = cut((TEXTS[1], None))
    kept = masks(pair, 300, 0)
    answers = np.sin(kept @ np.arange(kept.shape[1]))
    fitted = linear_model.Ridge(alpha=1).fit(
        kept.astype(float), answers, sample_weight=nearness(kept)
    )
    assert coefficients(kept, answers) == pytest.approx(fitted.coef_, abs=1e-9)


def test_more_words_than_samples_give_the_same_regression() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs scikit-learn")
    kept = masks(cut((" ".join(f"w{i}" for i in range(90)), None)), 40, 0)
    answers = np.sin(kept @ np.arange(90))
    fitted = linear_model.Ridge(alpha=1).fit(
        kept.astype(float), answers, sample_weight=nearness(kept)
    )
    assert coefficients(kept, answers) == pytest.approx(fitted.coef_, abs=1e-9)


class Abstains(CountingModel):
    """Finds the text no text the more of its words there are."""

    labels = ("negative", "positive", "invalid")

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        p = super().__call__(texts)[:, 1:]
        return np.concatenate([(1 - p) / 2, (1 - p) / 2, p], axis=1)


@pytest.mark.parametrize("by", ["lime:samples=400,among=all", "leave_one_out:among=all"])
def test_the_words_of_an_abstention_are_those_that_cause_it(by: str) -> None:
    data = Dataset(
        "toy",
        SENTIMENT,
        [Example.of(f"e{i}", f"a{i} bad day was here", None, "positive") for i in range(4)],
    )
    name = by.partition(":")[0]
    found = explain(Abstains(bad=0.4), data, by=by)[name]
    rows = [row for row in found.tables[1].rows if row["texts"] == "original"]
    assert {row["prediction"] for row in rows} == {"invalid"}
    assert {row["word"] for row in rows if row["score"] > 0.2} == {"bad"}


def test_leaving_one_out_is_exact_for_a_bag_of_words() -> None:
    model = load("bow", task=read_data("builtin:sentiment").task)
    about = subject(model.predictor, [])
    text = "The view was splendid, and the soup bland."
    pair = cut((text, None))
    [[found]] = by_leaving_out(about, [pair], np.array([1]))
    for i, word in enumerate(pair.a.words):
        expected = (
            0.0
            if word in ",."
            else model([(text, None)])[0, 1] - model([(text.replace(word, "", 1), None)])[0, 1]
        )
        assert found[i] == pytest.approx(expected, abs=1e-12)
    assert found[pair.a.words.index("splendid")] > 0.1 > -0.1 > found[pair.a.words.index("bland")]


def test_a_bag_of_words_weighs_words_alike_in_any_order() -> None:
    found = explain("bow", "builtin:sentiment", by="leave_one_out:n=30", limit=80)["leave_one_out"]
    assert found.scores["change"].value == pytest.approx(0, abs=1e-9)
    assert found.scores["same_top"].value == 1
    assert found.scores["survivors"].value == 1


def test_the_lexicon_tells_the_label(jsonl: Write) -> None:
    signs = {"positive": "0.5", "negative": "-0.9"}
    rows = [
        {"text_a": word, "label": sign} for label, sign in signs.items() for word in planted(label)
    ]
    data = read_data("builtin:sentiment")
    data = replace(data, examples=[e for e in data.examples if e.groups["needs"] == "words"])
    spec = f"lime:n=30,samples=200,lexicon={jsonl(rows, 'lexicon.jsonl')}"
    found = explain("bow", data, by=spec, limit=80)["lime"]
    assert found.scores["found"].value == 1
    assert found.scores["positive | positive"].value > 0.9
    assert {figure.name for figure in found.figures} == {
        "lime_words",
        "lime_change",
        "lime_polarity",
    }
    assert all(figure.svg.startswith("<svg") for figure in found.figures)
    assert "P(positive | positive) = " in found.finding


def light(colour: Floats) -> float:
    """Relative luminance, as WCAG defines it."""
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_a_word_is_named_where_it_is_heavy_throughout() -> None:
    """Not where one of its many places happened to decide, as in a model of overlap or of pairs."""
    words = ["the", "of", "a", "key", "in"]
    seldom = [weights(words, key=1.0, the=float(i == 0)) for i in range(20)]
    assert said_heaviest(seldom) == "heaviest words: key (1.00 in 20)"
    by_chance = [weights(words, **{words[i % 5]: float(i % 2)}) for i in range(20)]
    assert said_heaviest(by_chance).startswith("no word stands out")


def weights(words: list[str], **scores: float) -> WeighedWords:
    found = [scores.get(word, 0.0) for word in words]
    return WeighedWords(tuple(words), ("a",) * len(words), np.array(found))


@pytest.mark.parametrize("sign", [1, -1])
def test_words_can_be_read_on_the_darkest_box(sign: int) -> None:
    drawn = importance_drawing([WeighedLine("x", ["boring"], ["a"], np.array([sign * 0.9]))])
    [(fill, opacity)] = re.findall(r'fill="(#[0-9a-f]{6})" fill-opacity="([0-9.]+)"', drawn)
    [ink] = re.findall(r'fill="(#[0-9a-f]{6})"[^>]*>boring', drawn)
    box, letters = (
        np.array([int(each[i : i + 2], 16) for i in (1, 3, 5)]) / 255 for each in (fill, ink)
    )
    on = light(1 - float(opacity) * (1 - box))
    assert (max(on, light(letters)) + 0.05) / (min(on, light(letters)) + 0.05) > 4.5


def test_mistakes_are_one_line(jsonl: Write) -> None:
    odd = jsonl([{"text_a": "a", "label": "maybe"}, {"text_a": "b", "label": "no"}], "odd.jsonl")
    lost = jsonl([{"text_a": "a", "label": "1"}, {"text_a": "b", "label": "-1"}], "lost.jsonl")
    bad = (
        (f"lime:lexicon={odd}", BadData),
        (f"lime:lexicon={lost}", BadData),
        ("lime:among=some", DisorderError),
    )
    for spec, error in (("lime:samples=1", BadSetting), ("lime:n=1", BadSetting), *bad):
        with pytest.raises(error):
            explain("bow", "builtin:sentiment", by=spec, limit=20)


def test_integrated_gradients_add_up_to_the_prediction_and_are_those_of_the_reference(
    tiny_bert: Path,
) -> None:
    torch = pytest.importorskip("torch")
    data = read_data("builtin")
    about = Subject(
        load(f"hf:{tiny_bert}", task=data.task),
        Dataset("x", data.task, data.examples[:2]),
        Settings(cache="off"),
    )
    pairs = [cut(e.texts) for e in about.examples]
    columns = about.original.argmax(axis=1)
    found = by_gradients(about, pairs, columns, steps=400)
    model: Any = about.model.predictor
    for pair, scores, column in zip(pairs, found, columns.tolist(), strict=True):
        encoded = model.encoding(pair)
        own = int(about.model.columns[:, column].argmax())
        ids = torch.tensor([encoded.ids])
        special = torch.tensor([[owner is None for owner in encoded.sequence_ids]])
        start = torch.where(special, ids, model.tokenizer.mask_token_id)
        more = {
            "token_type_ids": torch.tensor([encoded.type_ids]),
            "attention_mask": torch.ones_like(ids),
        }
        with torch.no_grad():
            change = [
                model.network(each, **more).logits.double().softmax(1)[0, own].item()
                for each in (ids, start)
            ]
        assert sum(map(np.sum, scores)) == pytest.approx(change[0] - change[1], abs=1e-4)
        attr = pytest.importorskip("captum.attr", reason="needs captum, the reference")

        def answer(given: Any, more: dict[str, Any] = more) -> Any:
            return model.network(
                given, **{k: v.expand(len(given), -1) for k, v in more.items()}
            ).logits.softmax(1)

        walk = attr.LayerIntegratedGradients(answer, model.network.get_input_embeddings())
        told = walk.attribute(ids, start, target=own, n_steps=400)
        theirs = by_side(told.sum(-1)[0].double().detach().numpy(), encoded, pair)
        assert np.concatenate(scores) == pytest.approx(np.concatenate(theirs), abs=1e-5)


def test_gradients_of_a_model_without_any_are_one_line() -> None:
    found = explain("bow", "builtin:sentiment", by=["gradients", "leave_one_out:n=5"], limit=20)
    assert (
        found.sections[0].reason
        == "bow shows no gradients; leave_one_out and lime work with every model"
    )
    assert found.sections[1].found is not None


def test_gradients_through_the_page(tiny_bert: Path) -> None:
    found = explain(f"hf:{tiny_bert}", "builtin", by="gradients:n=4,steps=8,among=all", limit=20)[
        "gradients"
    ]
    assert found.scores["original"].n == 4


@pytest.mark.parametrize("by", ["overview", "leave_one_out"])
def test_words_are_those_that_are_written(by: str) -> None:
    """A score such as 10/10 is one word, and a mark glued to a word makes no other word of it."""

    def stars(texts: list[str]) -> list[str]:
        return ["good" if "10/10" in text.rstrip("!.").split() else "poor" for text in texts]

    rows = [
        {
            "text_a": f"we saw film {i} again {'10/10' if i % 2 else '2/10'}{'!.'[i % 4 // 2]}",
            "label": "good" if i % 2 else "poor",
        }
        for i in range(40)
    ]
    finding = explain(stars, rows, by=[by])[by].finding
    assert re.search(r"heaviest words: 10/10 \(1\.00 in 20\)", finding), finding
