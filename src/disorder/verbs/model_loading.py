"""The model of a run: loaded with the run's settings, in the number format that was chosen;
the cosine from which on an embedder takes a pair for similar, chosen on data that is not audited;
and the context of a run, what a transformation may use beside the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder import data as data_stage
from disorder.data import known_tasks, stream, train_spec
from disorder.errors import BadData, BadModel, DisorderError, DoesNotApply, UnknownName, option
from disorder.models import LoadedModel, Similarity, choose_precision, load
from disorder.models.answering import Match
from disorder.models.prompting import Prompt
from disorder.randomness import digest
from disorder.registry import ModelPart, parts
from disorder.registry.own import own_specs
from disorder.requests.audit import AuditOptions
from disorder.requests.option import must_be_named, must_be_said
from disorder.requests.settings import AN_OBJECT, Settings, resume_line, takes_options
from disorder.safe_io import one_line
from disorder.specs import parse_pairs
from disorder.store.storage import default_cache_folder
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import NATURAL
from disorder.types import Bools, Dataset, Example, Floats, Pair, Task, Texts, TokenUnit
from disorder.verbs.prompting import prompt_files
from disorder.verbs.selected_data import match_of, ranking_score


@dataclass(eq=False)  # what is learned from its data is kept as long as itself
class RunContext:
    """The `Context` of a run: the audited model if any, words of its data, where data lies."""

    predictor: LoadedModel | None = None
    words: Sequence[str] = ()
    data_dir: str | None = None

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the model's own tokens lie in a text."""
        return self._model.pieces(text)

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        """The model's own tokens of each text, as units that can be moved."""
        return self._model.token_units(texts)

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """How much the model's loss depends on each word of each text."""
        return self._model.importance(pairs)

    def vocabulary(self) -> Sequence[str]:
        """The whole words among the model's tokens, or the words of the data for a model that does
        not show its own.
        """
        return self._model.vocabulary() or self.words

    def training(self, spec: str) -> Iterator[Example]:
        """The examples of a data spec."""
        yield from data_stage.stream(spec, data_dir=self.data_dir)[2]

    @property
    def _model(self) -> LoadedModel:
        if self.predictor is None:
            raise DisorderError(
                "this transformation needs a model, for its tokens or to say which words matter: "
                f"name one with {option('model')}"
            )
        return self.predictor


N_SAMPLED = 200  # examples that a precision is tried on


@takes_options()
def load_model(
    model: Any = "builtin",
    *,
    task: str | Task | Dataset = "nli",
    labels: Mapping[str, str] | str | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
) -> LoadedModel:
    """Load a model, seen through the labels of a task.

    `model` is anything that `disorder.audit` takes, `task` the name of a known task, a `Task`, or a
    dataset that has one. Call the result with a list of (text, second text or None): it returns one
    row of probabilities per entry, columns in the order of the task's labels.
    """
    if isinstance(task, str):
        known = known_tasks()
        if task not in known:
            raise UnknownName("task", task, known)
        task = known[task]
    found = task.task if isinstance(task, Dataset) else task
    renamed = label_names(labels)
    return load(model, task=found, labels=renamed, batch_size=batch_size, precision=precision)


def named_again(folder: object, spec: str, given: Any, command: Callable[[], str]) -> Any:
    """The model to load for a folder that names one: the given one, else the one that is named
    there, unless loading it would run code or reach another machine.
    """
    if given is not None:
        return given
    if must_be_named(spec):
        raise BadModel(
            f"{folder} names the model {one_line(spec)}, which runs a program or reaches a server; "
            "nothing is run because a folder says so. If you trust it, name it: "
            f"{command()}"
        )
    return spec


def resume_command(
    folder: object, model: str, settings: Mapping[str, Any], transformations: Sequence[str] = ()
) -> str:
    """What to type to resume an audit, with all that its folder may not say by itself."""
    said = {name: settings[name] for name in must_be_said(AuditOptions, settings)}
    again = {
        "prompt": prompt_files(settings.get("prompt") or ()),
        "with_": own_specs(transformations),
        "score": own_specs(settings.get("score") or ()),
    }
    named = model if must_be_named(model) else ""
    if named and named.partition(":")[0] not in parts(ModelPart):
        named = AN_OBJECT
    return resume_line(folder, named, **said | {name: each for name, each in again.items() if each})


def label_names(labels: Mapping[str, str] | str | None) -> dict[str, str]:
    """What the model's labels mean: a mapping, or written as on the command line."""
    if isinstance(labels, str):
        return parse_pairs(
            labels, form=f"{option('labels', labels)}: write it as name=name,name=name"
        )
    return dict(labels or {})


def load_with(
    model: Any, task: Task, settings: Settings, prompt: Prompt | None, precision: str
) -> LoadedModel:
    """The model of a run in one precision, with its cache; a language model with its prompt."""
    return load(
        model,
        task=task,
        labels=settings.labels,
        batch_size=settings.batch_size,
        precision=precision,
        cache=_cache_folder(settings),
        options=settings.model_options | ({} if prompt is None else {"prompt": prompt}),
        no_answer="declined" if settings.fidelity == NATURAL else settings.no_answer,
        match=_match(task, settings),
    )


def _match(task: Task, settings: Settings) -> Match | None:
    """How answers are graded, where they are."""
    if task.kind == "ranking":
        return ranking_score(settings)
    return match_of(settings) if task.is_graded else None


def loaded_model(
    model: Any,
    dataset: Dataset,
    plan: Sequence[Transformation],
    settings: Settings,
    prompt: Prompt | None = None,
) -> tuple[LoadedModel, list[str]]:
    """The model in the chosen precision, and what the user should know about it; `prompt` is that
    of a language model (`bound_prompt`).
    """
    precision = settings.precision
    notes: list[str] = []
    if settings.fidelity == NATURAL and settings.no_answer != "skip":
        notes.append(
            f"{option('no_answer', settings.no_answer)} changes nothing: a natural audit books "
            "what the model declines as an abstention, and skips failures only"
        )
    load_in = partial(load_with, model, dataset.task, settings, prompt)
    if precision == "auto":
        texts = _sampled(dataset, plan, settings)
        precision, note = choose_precision(load_in, texts, settings.agree)
        notes.append(note)
    loaded = load_in(precision)
    if isinstance(loaded.predictor, Similarity):
        notes += choose_threshold(loaded, loaded.predictor, dataset, settings)
    if any("importance" in transformation.needs for transformation in plan):
        notes.append(loaded.how_importance)
    return loaded, [*notes, *loaded.notes]


def _cache_folder(settings: Settings) -> Path | None:
    if settings.cache == "off":
        return None
    return Path(settings.cache) if settings.cache else default_cache_folder()


def _sampled(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> list[Texts]:
    """Original and perturbed texts of a few examples, such as the run will predict; only those that
    can be perturbed without a model.
    """
    texts: list[Texts] = []
    transformation = next((each for each in plan if not each.needs_context), parse("derange"))
    for example in sorted(
        dataset.examples, key=lambda example: digest(settings.seed, "precision", example.id)
    )[:N_SAMPLED]:
        texts.append(example.texts)
        try:
            variants = transformation.apply(
                example, task=dataset.task, q=2, seed=settings.seed, short="use"
            )
            texts += variant_texts(variants)
        except DoesNotApply:
            continue
    return texts


N_PAIRS = 1000  # that a threshold is chosen on


def choose_threshold(
    loaded: LoadedModel, predictor: Similarity, dataset: Dataset, settings: Settings
) -> list[str]:
    """Give an embedder its threshold, where its task has labels and the user named none; notes say
    where it comes from. Without other data it stays without: predicting labels says so.
    """
    if not predictor.knows_labels:
        return []
    source = settings.threshold_from or _training_split(dataset, settings)
    if predictor.threshold is not None or source is None or loaded.columns is None:
        return []
    similar = loaded.labels[int(loaded.columns[1].argmax())]
    others = _others(source, dataset, settings)
    drawn = sorted(others, key=lambda each: digest(settings.seed, "threshold", each.id))
    chosen = drawn[:N_PAIRS]
    is_similar = np.array([example.label == similar for example in chosen], dtype=bool)
    if is_similar.all() or not is_similar.any():
        raise BadData(
            f"{option('threshold_from', source)}: needs pairs of both labels that are not audited"
        )
    cosines = predictor.cosines([example.texts for example in chosen])
    predictor.threshold, accuracy = best_threshold(cosines, is_similar)
    return [
        f"the threshold of the cosine is chosen on {len(chosen):,} other pairs ({source}), of "
        f"which it gets {accuracy:.2f} right, both labels counting alike"
    ]


def best_threshold(cosines: Floats, is_similar: Bools) -> tuple[float, float]:
    """The cosine that tells similar pairs from others best, and its balanced accuracy; the middle
    of those that do it equally well.

    >>> best_threshold(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, False, True, True]))
    (0.5, 1.0)
    """
    order = np.argsort(cosines, kind="stable")
    found = cosines[order]
    similar = is_similar[order]
    others_below = np.concatenate([[0], np.cumsum(~similar)]) / (~similar).sum()
    similar_above = 1 - np.concatenate([[0], np.cumsum(similar)]) / similar.sum()
    accuracy = (others_below + similar_above) / 2
    edges = np.concatenate([[found[0] - 0.01], found, [found[-1] + 0.01]])
    accuracy[1:-1][found[1:] == found[:-1]] = -1  # no cut lies between equal cosines
    best = np.flatnonzero(accuracy > accuracy.max() - 1e-12)
    cut = int(best[len(best) // 2])
    return float((edges[cut] + edges[cut + 1]) / 2), float(accuracy[cut])


def _training_split(dataset: Dataset, settings: Settings) -> str | None:
    is_named = ":" in dataset.name or dataset.name == "builtin"
    return train_spec(dataset.name, settings.data_dir) if is_named else None


def _others(source: str, dataset: Dataset, settings: Settings) -> Iterator[Example]:
    """The pairs of a source that share no text with an audited row."""
    audited = {text for example in dataset.examples for text in example.texts}
    for example in stream(source, data_dir=settings.data_dir, columns=settings.columns)[2]:
        if not example.is_pair or example.label not in dataset.task.labels:
            raise BadData(
                f"{option('threshold_from', source)}: needs pairs with the labels "
                f"{', '.join(dataset.task.labels)} (id {example.id})"
            )
        if audited.isdisjoint(example.texts):
            yield example
