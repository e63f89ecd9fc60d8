"""The contract of parts: what each kind must do on ordinary and on strange input.

After scikit-learn's `parametrize_with_checks`. A check is called and raises AssertionError where a
part breaks it, and unittest.SkipTest, which pytest takes for a skip, where a tool is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import Any, TypeVar, get_args
from unittest import SkipTest

import numpy as np

from disorder.data import read_data
from disorder.errors import (
    DisorderError,
    DoesNotApply,
    MissingData,
    MissingPackage,
    NothingToMeasure,
)
from disorder.metrics import measure
from disorder.models import load
from disorder.registry import (
    KINDS,
    MetricPart,
    Part,
    TaskPart,
    TransformationPart,
    part,
    parts,
    parts_of,
)
from disorder.specs import spec_name
from disorder.testing.made_up import (
    NLI,
    PAIRS,
    STRANGE,
    STRANGE_PAIRS,
    TASKS,
    TEXTS,
    Surroundings,
    example,
    outcomes,
)
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import split
from disorder.types import Example, Fidelity, Outcomes, Score, Segment, Task, Variants

T = TypeVar("T", bound=Callable[..., Any])
SURROUNDINGS = Surroundings()


@dataclass(frozen=True)
class Check:
    """One claim about one part; calling it tests it."""

    name: str
    test: Callable[[], None]

    def __call__(self) -> None:
        """Raise AssertionError where the part breaks the claim."""
        self.test()


def checks(
    package: str,
    *,
    models: Sequence[str] = (),
    data: Sequence[str] = (),
    rows: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Check]:
    """Every check of the parts that a package registers.

    `models` and `data` are specs of its models and data that can be loaded here; `rows` has a row
    for each of its tasks.
    """
    for kind in KINDS:
        for entry in parts_of(kind).values():
            if f"{entry.function.__module__}.".startswith(f"{package}."):
                yield from part_checks(entry)
                if kind in ON_BUILT_IN_DATA:
                    yield from _named(f"{kind} {entry.name}", ON_BUILT_IN_DATA[kind], entry.name)
    for spec in models:
        yield from model_checks(spec)
    for spec in data:
        yield from _named(f"data {spec}", data_is_the_same_twice, spec)
    for name, row in (rows or {}).items():
        yield from _named(f"task {name}", a_row_is_an_example_of_the_task, name, row)


def parametrize_with_checks(package: str, **given: Any) -> Callable[[T], T]:
    """Decorate a test that takes `check` and calls it: one test per check of the package's parts.

    Takes what `checks` takes.
    """
    import pytest

    found = list(checks(package, **given))
    return pytest.mark.parametrize("check", found, ids=[check.name for check in found])


def part_checks(entry: Part) -> Iterator[Check]:
    """The checks of a part that need nothing beside it."""
    title = f"{entry.kind} {entry.name}"
    yield from _named(title, a_sentence_says_what_it_does, entry)
    match entry.kind:
        case "transformation":
            yield from transformation_checks(entry.name)
        case "words":
            for name, text in TEXTS.items():
                yield from _named(f"{title} {name}", words_cover_the_text, entry.name, text)
        case "metric":
            for claim in METRIC:
                yield from _named(title, claim, entry.name)


def transformation_checks(name: str) -> Iterator[Check]:
    """A transformation in every fidelity, in a language with and one without spaces."""
    needs = parts(TransformationPart)[name].needs
    spec = f"{name}:train=made up" if "training data" in needs else name
    for fidelity, language, claim in product(get_args(Fidelity), TASKS, TRANSFORMATION):
        title = f"transformation {name} {fidelity} {language}"
        yield from _named(title, claim, spec, fidelity, language)


def model_checks(spec: str, *, task: Task = NLI, **options: Any) -> Iterator[Check]:
    """The checks of a model, by a spec that can be loaded here: of three labels unless another task
    of pairs is given.
    """
    for claim in (a_prediction_is_that_of_the_text_alone, the_fingerprint_stays):
        yield from _named(f"model {spec}", claim, spec, options, task)


def _named(title: str, claim: Callable[..., None], *given: Any) -> Iterator[Check]:
    yield Check(f"{title}: {claim.__name__.replace('_', ' ')}", partial(claim, *given))


def a_sentence_says_what_it_does(entry: Part) -> None:
    """The first paragraph of the docstring is one sentence."""
    assert entry.summary
    assert entry.summary[0].isupper()
    assert entry.summary.endswith(".")
    assert not re.search(r"\.\s+[A-Z]", entry.summary), "one sentence, not two"


def it_ends_with_valid_positions_or_does_not_apply(
    spec: str, fidelity: Fidelity, language: str
) -> None:
    """Strange texts, alone and as a pair."""
    transformation = parse(spec, fidelity=fidelity)
    for title, text in STRANGE[language].items():
        is_long = len(text) > 1000  # one pair says enough, and costs the time
        for what in [example(text, text)] if is_long else [example(text), example(text, text)]:
            variants = variants_of(transformation, what, language)
            if variants is not None:
                _check_variants(variants, title)


def the_same_seed_gives_the_same_texts(spec: str, fidelity: Fidelity, language: str) -> None:
    """And the example stays as it was."""
    pair = example_for(spec, language)
    before = asdict(pair)
    first, second = (variants_of(parse(spec, fidelity=fidelity), pair, language) for _ in range(2))
    assert first is not None
    assert second is not None
    assert variant_texts(first) == variant_texts(second)
    assert list(first.positions()) == list(second.positions())
    assert asdict(pair) == before


def seeds_matter_just_where_chance_is_at_work(spec: str, fidelity: Fidelity, language: str) -> None:
    """Five seeds give one result only where no chance is declared."""
    transformation = parse(spec, fidelity=fidelity)
    pair = example_for(spec, language)
    made = [variants_of(transformation, pair, language, seed=seed) for seed in range(5)]
    assert (len(_texts(made)) == 1) == _is_fixed(transformation)


def ids_matter_as_seeds_do(spec: str, fidelity: Fidelity, language: str) -> None:
    """Five examples with the same texts."""
    transformation = parse(spec, fidelity=fidelity)
    examples = [example_for(spec, language, name=str(i)) for i in range(5)]
    made = [variants_of(transformation, each, language) for each in examples]
    assert (len(_texts(made)) == 1) == _is_fixed(transformation)


def what_keeps_the_words_keeps_every_letter(spec: str, fidelity: Fidelity, language: str) -> None:
    """Where `keeps_words` is declared."""
    transformation = parse(spec, fidelity=fidelity)
    pair = example_for(spec, language)
    variants = variants_of(transformation, pair, language)
    if not transformation.keeps_words or variants is None:
        return
    for made in variant_texts(variants):
        for old, new in zip(pair.texts, made, strict=True):
            assert _letters(str(new)) == _letters(str(old))


TRANSFORMATION = (
    it_ends_with_valid_positions_or_does_not_apply,
    the_same_seed_gives_the_same_texts,
    seeds_matter_just_where_chance_is_at_work,
    ids_matter_as_seeds_do,
    what_keeps_the_words_keeps_every_letter,
)


def example_for(spec: str, language: str, *, name: str = "1") -> Example:
    """An example that a transformation can perturb: those for the examples of a prompt get some."""
    texts = PAIRS[language]
    perturbs = parts(TransformationPart)[spec_name(spec)].perturbs
    if perturbs == "words":
        return example(*texts, name=name)
    if perturbs == "options":
        options = tuple(f"{texts[0]} {i}" for i in range(5))
        asked: dict[str, Segment] = {"question": texts[0], "options": options}
        return Example(name, asked, "A", on=("question",))
    shots = tuple(text for i in range(5) for text in (f"{texts[0]} {i}", f"answer {i}"))
    return Example(name, {"shots": shots, "item": texts[1]}, "neutral", on=("shots", "item"))


def variants_of(
    transformation: Transformation, what: Example, language: str, *, seed: int = 0
) -> Variants | None:
    """The variants, or None when the transformation says that it does not apply; skipped where its
    tools are missing.
    """
    task = TASKS[language]
    try:
        return transformation.apply(
            what, task=task, q=5, seed=seed, short="use", context=SURROUNDINGS
        )
    except DoesNotApply:
        return None
    except (MissingPackage, MissingData) as missing:
        raise SkipTest(str(missing)) from None


def _texts(made: Iterable[Variants | None]) -> set[str]:
    return {str([] if variants is None else variant_texts(variants)) for variants in made}


def _is_fixed(transformation: Transformation) -> bool:
    """Whether chance plays no part."""
    return transformation.is_deterministic or transformation.spec == "derange:fidelity=released"


def _check_variants(variants: Variants, title: str) -> None:
    assert 1 <= len(variants) <= 5, title
    assert len(variant_texts(variants)) == len(list(variants.positions())) == len(variants), title
    for rows in variants.sides:
        assert rows.positions.dtype == np.int64, title
        inside = (rows.positions >= 0) & (rows.positions < len(rows.sentence))
        assert inside.all(), title


def _has(words: str, error: DisorderError) -> None:
    if words not in str(error):
        raise AssertionError(f"{words!r} is not in {str(error)!r}")


def _is_one_line(error: DisorderError) -> None:
    if "\n" in str(error):
        raise AssertionError(f"{str(error)!r} is more than one line")


def _letters(text: str) -> list[str]:
    """The letters and marks of a text, whatever their order and case."""
    return sorted("".join(text.lower().split()))


def words_cover_the_text(splitter: str, text: str) -> None:
    """Words follow one another, leave out nothing but white space, and give the text back."""
    try:
        sentence = split(text, words=splitter)
    except MissingData as missing:  # on a machine without it the line says what to type
        _has("python -m ", missing)
        return
    except MissingPackage as missing:
        raise SkipTest(str(missing)) from None
    starts, ends = sentence.starts.tolist(), sentence.ends.tolist()
    assert all(start < end for start, end in zip(starts, ends, strict=True))
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    covered = {i for start, end in zip(starts, ends, strict=True) for i in range(start, end)}
    assert all(char.isspace() or i in covered for i, char in enumerate(text))
    assert render(sentence, np.arange(len(sentence))[None, :]) == [text]
    n = len(sentence)
    assert len(sentence.is_punctuation) == len(sentence.is_spaced) == len(sentence.words) == n


def a_score_lies_in_its_interval_and_rests_on_examples(metric: str) -> None:
    """From one example on, with one variant and with several."""
    for n, q, seed in product((1, 2, 3, 8, 50), (1, 2, 7), range(5)):
        try:
            score = score_of(metric, outcomes_for(metric, seed, n=n, q=q))
        except NothingToMeasure:
            continue
        assert np.isfinite([score.low, score.value, score.high]).all()
        assert score.low <= score.value <= score.high
        assert 0 < score.n <= n


def no_example_is_an_error_and_not_a_zero(metric: str) -> None:
    """It raises NothingToMeasure."""
    for q in (1, 7):
        nothing = outcomes_for(metric, 0, n=3, q=q).take(np.zeros(3, dtype=bool))
        try:
            score = score_of(metric, nothing)
        except NothingToMeasure:
            continue
        raise AssertionError(f"{score} of no example")


def the_order_of_examples_does_not_matter(metric: str) -> None:
    """Values are equal; an interval by resampling may differ by its chance."""
    given = outcomes_for(metric, 1, n=60, q=7)
    turned = given.take(np.random.default_rng(2).permutation(60))
    first, second = (score_of(metric, each) for each in (given, turned))
    assert abs(first.value - second.value) <= 1e-12
    assert (first.n, first.skipped) == (second.n, second.skipped)
    room = 0.15 * (first.high - first.low)
    assert abs(first.low - second.low) <= room
    assert abs(first.high - second.high) <= room


def skipped_examples_are_carried_along(metric: str) -> None:
    """Eleven more that were left out are eleven more in the score."""
    given = outcomes_for(metric, 1, n=60, q=7)
    score, with_skips = (score_of(metric, each) for each in (given, replace(given, n_skipped=11)))
    assert with_skips.skipped == score.skipped + 11


METRIC = (
    a_score_lies_in_its_interval_and_rests_on_examples,
    no_example_is_an_error_and_not_a_zero,
    the_order_of_examples_does_not_matter,
    skipped_examples_are_carried_along,
)


def score_of(metric: str, given: Outcomes) -> Score:
    """The score of a metric; one with a parameter is measured at its first usual point."""
    points = parts(MetricPart)[metric].points
    return measure(f"{metric}@{points[0]}" if points else metric, given)


def outcomes_for(metric: str, seed: int, *, n: int, q: int) -> Outcomes:
    """Random outcomes that a metric can be measured on; options move where it is about those."""
    entry = parts(MetricPart)[metric]
    given = random_outcomes(seed, n=n, q=q, numbers=entry.on not in ("labels", "any"))
    if entry.of != "options":
        return given
    order = np.random.default_rng(seed).integers(6, size=(n, q))
    place = np.where(given.label < 0, -1, (given.label + order) % 3)
    n_movable = np.full(n, 3)
    return replace(given, chance=np.full(n, 1 / 3), place=place, order=order, n_movable=n_movable)


def random_outcomes(seed: int, *, n: int, q: int, numbers: bool = False) -> Outcomes:
    """Outcomes of a model that is right more often than by chance."""
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


def a_prediction_is_that_of_the_text_alone(
    spec: str, options: Mapping[str, Any], task: Task = NLI
) -> None:
    """Probabilities (or a number) for each text, whatever stands beside it."""
    model = load(spec, task=task, options=options or None)
    together = model(STRANGE_PAIRS)
    assert together.shape == (len(STRANGE_PAIRS), len(task.labels) or 1)
    if task.labels:
        assert (together >= 0).all()
        np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-6)
    apart = np.concatenate([model([texts]) for texts in reversed(STRANGE_PAIRS)])[::-1]
    np.testing.assert_allclose(together, apart, atol=1e-5)


def the_fingerprint_stays(spec: str, options: Mapping[str, Any], task: Task = NLI) -> None:
    """Loaded twice, it has one fingerprint, by which predictions are cached."""
    first, second = (load(spec, task=task, options=options or None) for _ in range(2))
    assert first.fingerprint
    assert first.fingerprint == second.fingerprint


def data_is_the_same_twice(spec: str) -> None:
    """It has examples with distinct ids and labels of its task, the same each time."""
    first, second = (read_data(spec) for _ in range(2))
    assert first.examples
    assert first.examples == second.examples
    ids = [each.id for each in first.examples]
    assert len(ids) == len(set(ids))
    assert not first.task.labels or {each.label for each in first.examples} <= {*first.task.labels}


def a_row_is_an_example_of_the_task(name: str, row: Mapping[str, Any]) -> None:
    """A row with its columns is taken; one with an empty value is an error of one line."""
    entry = part(TaskPart, name)
    assert entry.function(row) == entry.function(dict(row))
    for column in row:
        try:
            entry.function({**row, column: type(row[column])()})
        except DisorderError as error:
            _is_one_line(error)


def it_explains_the_built_in_model(name: str) -> None:
    """It comes to a finding in one line, or one line says why it cannot."""
    from disorder.verbs.explain import explain

    try:
        found = explain("builtin", "builtin", by=name, limit=20, q=3, cache="off")
    except DisorderError as error:
        _is_one_line(error)
        return
    assert found[name].finding
    for score in found[name].scores.values():
        assert score.low <= score.value <= score.high
    for figure in found[name].figures:
        assert figure.svg.startswith("<svg")


def it_checks_the_built_in_data(name: str) -> None:
    """It comes to verdicts, or one line says why it cannot."""
    from disorder.verbs.sanity import sanity

    try:
        found = sanity("builtin", check=name, limit=60)
    except DisorderError as error:
        _is_one_line(error)
        return
    assert found.verdicts or found.records


ON_BUILT_IN_DATA = {
    "explanation": it_explains_the_built_in_model,
    "check": it_checks_the_built_in_data,
}
