"""The three designs of NLI Data Sanity Check: perturb the training data, the test data, or both,
and compare with neither; what they found stays on disk, so that a study can show it again.

Δ is the accuracy of a design minus that of the plain model of the same seed on the original test
data, over the same test examples, so its interval is paired: examples are resampled, all
predictions on an example together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from disorder.data import vocabulary
from disorder.errors import BadData, DisorderError, option
from disorder.metrics.statistics.intervals import mean, share
from disorder.models import LoadedModel, load
from disorder.papers.fields import DesignsFields
from disorder.papers.requests import DesignsOptions
from disorder.papers.training.mitigation_scores import accuracy_difference
from disorder.papers.training.tables import designs_result
from disorder.requests.settings import takes_options
from disorder.results.progress import Steps, shown_progress
from disorder.results.render import render
from disorder.results.result import Result
from disorder.results.run_folder import RECORD, check_folder, verb_of, write_result
from disorder.safe_io import read_json, validated
from disorder.specs import listed
from disorder.store.store import Store
from disorder.transformations import parse
from disorder.types import ORIGINAL, Dataset, Floats, Ints, Progress, Score, Texts
from disorder.types.predictions import predicted_label
from disorder.verbs.model_loading import RunContext
from disorder.verbs.train import (
    SETTING_NAMES,
    TrainingCounts,
    TrainingRequest,
    TrainingSource,
    check_request,
    comparison_request,
    folder_name,
    perturbed_copies,
    read_test_data,
    train_once,
    training_name,
    with_prefix,
)

LEGACY = ("designs.json", "request.json")  # what older versions wrote for result.json


@dataclass(frozen=True)
class Design:
    """One design: what models were trained and tested on, the mean accuracy over seeds, and Δ; and
    both by seed.

    All models of a seed are trained on the same examples for as many updates; `n_unperturbed` of
    the examples stayed as they were, since the transformation does not apply to them.
    """

    name: str
    trained_on: str
    tested_on: str
    accuracy: Score
    delta: Score | None  # None for plain on plain
    accuracy_by_seed: tuple[float, ...]
    delta_by_seed: tuple[float, ...] | None
    n_examples: tuple[int, ...] = ()  # to train on, by seed
    n_unperturbed: tuple[int, ...] = ()
    n_updates: tuple[int, ...] = ()


@dataclass(frozen=True)
class DesignsRequest:
    """What designs were made of: the model, data to train and to test on, how much, and seeds."""

    model: str
    train: str
    test: str
    limit: int | None
    test_limit: int | None
    seeds: tuple[int, ...]
    settings: dict[str, str]


@dataclass(frozen=True)
class FinishedDesigns:
    """The designs in a folder."""

    folder: Path
    about: DesignsRequest
    found: tuple[Design, ...]

    @staticmethod
    def are_in(folder: Path) -> bool:
        """Whether a folder holds finished designs."""
        return verb_of(folder) == "designs" or all((folder / name).is_file() for name in LEGACY)

    @classmethod
    def open(cls, folder: Path) -> FinishedDesigns:
        """Those of a folder."""
        if (folder / RECORD).exists():
            record = read_json(folder / RECORD)
            raw, about = record["designs"], record["request"]
            files = [folder / RECORD] * 2
        else:
            files = [folder / name for name in LEGACY]
            raw, about = (read_json(path) for path in files)
        return cls(
            folder,
            validated(DesignsRequest, about, str(files[1])),
            validated(tuple[Design, ...], raw, str(files[0])),
        )

    @property
    def result(self) -> Result:
        """The envelope, from which terminal, page and record are made."""
        return designs_result(asdict(self.about), self.found)


DesignKey = tuple[str, str, str]  # design, trained on, tested on
Counts = tuple[int, int, int]  # training examples, those left as they were, updates
PLAIN: DesignKey = ("plain", ORIGINAL, ORIGINAL)


@takes_options(DesignsOptions, inside={"settings": SETTING_NAMES})
def designs(
    data: Any,
    test: Any,
    with_: str | Sequence[str],
    *,
    out: str | Path,
    progress: Progress | None = None,
    **options: Unpack[DesignsOptions],
) -> list[Design]:
    """Train on original texts and on each transformation; test each model on original and on
    perturbed texts.

    Where a transformation needs a model that says which words matter, it is the plain model of the
    seed.

    data: training data: a spec (`mnli:train`), a file, or rows.
    test: test data, never trained on.
    with_: transformations to perturb texts by.
    out: folder of the models and of what they show (result.json, report.html, designs.md); models
        that are there already are reused.
    progress: called with (stage, done, total, note) after every step.
    """
    asked = DesignsFields.of(options)
    specs = list(dict.fromkeys(parse(spec).tried().spec for spec in listed(with_)))
    if not specs:
        raise DisorderError(
            f"designs needs a transformation to perturb texts by: {option('with_', 'reverse')}"
        )
    drawn = range(asked.seed, asked.seed + asked.seeds)
    request = comparison_request(data, options)
    check_request(request)
    with Store.open(Path(out)):
        check_folder(Path(out), "designs")
        return _compared(request, test, asked.test_limit, specs, drawn, Path(out), progress)


def _compared(
    request: TrainingRequest,
    test: Any,
    test_limit: int | None,
    specs: Sequence[str],
    drawn: Iterable[int],
    out: Path,
    progress: Progress | None,
) -> list[Design]:
    """Read the data, train and test all models, and compare them."""
    test_data = read_test_data("designs", test, test_limit, request)
    source = TrainingSource.of(request)
    names = [training_name(s, spec) for s in drawn for spec in (ORIGINAL, *specs)]
    steps = Steps(shown_progress(progress), names)
    per_seed = [
        _one_seed(replace(request, seed=s), source, test_data, specs, out / f"seed-{s}", steps)
        for s in drawn
    ]
    steps.finish()
    right = [is_right for is_right, _ in per_seed]
    plain = np.array([each[PLAIN] for each in right])
    found = []
    for key in right[0]:
        design = design_of(key, np.array([each[key] for each in right]), plain)
        n, kept, updates = zip(*(counts[key[1]] for _, counts in per_seed), strict=True)
        found.append(replace(design, n_examples=n, n_unperturbed=kept, n_updates=updates))
    about = DesignsRequest(
        model=request.model,
        train=_spec(request.data, source.read),
        test=_spec(test, test_data),
        limit=request.limit,
        test_limit=test_limit,
        seeds=tuple(drawn),
        settings={name: str(value) for name, value in request.settings.items()},
    )
    result = FinishedDesigns(out, about, tuple(found)).result
    write_result(out, result, beside={"designs.md": render(result, "markdown")})
    return found


def _spec(given: Any, read: Dataset) -> str:
    """How data was named; rows have the name they were given when read."""
    return str(given) if isinstance(given, str | Path) else read.name


def _one_seed(
    request: TrainingRequest,
    source: TrainingSource,
    test: Dataset,
    specs: Sequence[str],
    folder: Path,
    steps: Steps,
) -> tuple[dict[DesignKey, Floats], dict[str, Counts]]:
    """All models of one seed on the same texts: which test examples each design gets right (NaN
    where a transformation does not apply), and what each learned from.
    """
    counts: dict[str, Counts] = {}

    def trained(name: str, own: TrainingRequest) -> str:
        called = training_name(request.seed, name)
        steps.begin(called)
        told = with_prefix(steps, called)
        place = folder / folder_name(name)
        spec = train_once(own, source, out=place, progress=told)
        learned = TrainingCounts.of(place)
        counts[name] = (learned.n_examples, learned.n_unperturbed, learned.n_updates)
        return spec

    plain_spec = trained(ORIGINAL, request)
    plain = load(plain_spec, task=test.task)
    everything = np.arange(len(test.examples))
    originals = [example.texts for example in test.examples]
    found = {PLAIN: _is_right(plain, test, everything, originals)}
    for spec in specs:
        places, texts = perturbed_test(spec, test, request.seed, plain, request.data_dir)
        asks = plain_spec if parse(spec).needs_context else None
        own = replace(request, on=[spec], asks=asks)
        perturbed = load(trained(spec, own), task=test.task)
        found["corrupt-train", spec, ORIGINAL] = _is_right(perturbed, test, everything, originals)
        found["corrupt-test", ORIGINAL, spec] = _is_right(plain, test, places, texts)
        found["corrupt-both", spec, spec] = _is_right(perturbed, test, places, texts)
    return found, counts


def perturbed_test(
    spec: str,
    test: Dataset,
    seed: int,
    model: LoadedModel | None = None,
    data_dir: str | None = None,
) -> tuple[Ints, list[Texts]]:
    """Which test examples the transformation applies to, and one perturbed copy of each."""
    context = RunContext(model, vocabulary(test), data_dir) if parse(spec).needs_context else None
    perturbed = perturbed_copies(test.examples, test.task, [spec], seed=seed, context=context)
    if not perturbed.texts:
        reasons = ", ".join(perturbed.skips[spec])
        raise BadData(f"{option('with_', spec)}: no test example can be perturbed ({reasons})")
    return np.array(perturbed.examples, dtype=np.int64), perturbed.texts


def _is_right(model: LoadedModel, test: Dataset, places: Ints, texts: Sequence[Texts]) -> Floats:
    gold = np.array([test.task.labels.index(test.examples[i].label) for i in places.tolist()])
    found = np.full(len(test.examples), np.nan)
    found[places] = predicted_label(model(texts)) == gold
    return found


def design_of(key: DesignKey, is_right: Floats, plain: Floats) -> Design:
    """The numbers of one design, from which test examples were right (seeds × examples)."""
    applies = ~np.isnan(is_right).any(axis=0)
    if not applies.any():
        raise BadData(f"{option('with_', key[2])}: it applies to no test example with every seed")
    skipped = int((~applies).sum())
    is_right = is_right[:, applies]
    plain = plain[:, applies]
    by_example = is_right.mean(axis=0)
    if len(is_right) == 1:
        accuracy = share(by_example > 0, skipped=skipped)
    else:
        accuracy = mean(by_example, skipped=skipped)
    by_seed = _rounded(is_right.mean(axis=1))
    if key == PLAIN:
        return Design(*key, accuracy, None, by_seed, None)
    delta = accuracy_difference(by_example, plain.mean(axis=0), skipped)
    delta_by_seed = _rounded((is_right - plain).mean(axis=1))
    return Design(*key, accuracy, delta, by_seed, delta_by_seed)


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in values)
