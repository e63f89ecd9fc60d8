"""The pipeline: read → perturb → predict → measure → report. The only file that joins the stages."""

from __future__ import annotations

import platform
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from disorder import data as data_stage
from disorder.errors import BadSetting, DisorderError, DoesNotApply
from disorder.measure import CURVE, ORIGINAL, dev_r, is_simple, references, scores, threshold
from disorder.perturb import Transformation, parse, suite
from disorder.predict import Aligned, load
from disorder.report import Record, Run, Samples, verdict, write_run
from disorder.report.figures import figures
from disorder.report.run import Omitted, write_examples
from disorder.report.telling import telling
from disorder.rng import digest
from disorder.types import Bools, Dataset, Example, Fidelity, Floats, Outcomes, Task, Variants

BLOCK = 8192  # texts asked at once; fixed, so that files do not depend on the batch size
PACKAGES = ("disorder", "numpy", "onnxruntime", "tokenizers")
Listener = Callable[[str, int, int, str], None]


@dataclass(frozen=True)
class Settings:
    """What an audit was asked to do, beside its model and data."""

    suite: str = "order"
    transformations: Sequence[str] = ()
    q: int = 100
    seed: int = 0
    limit: int | None = None
    fidelity: Fidelity = "paper"
    short: str = "skip"
    omega: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    group_by: Sequence[str] = ()
    task: str | None = None
    data_dir: str | None = None
    batch_size: int | None = None

    def plan(self) -> list[Transformation]:
        """The transformations to apply, each once."""
        specs = list(self.transformations) or suite(self.suite)
        parsed = [parse(spec, fidelity=self.fidelity) for spec in specs]
        return list({transformation.spec: transformation for transformation in parsed}.values())


def audit(
    model: Any = "builtin",
    data: str | Dataset = "builtin",
    *,
    out: str | Path | None = None,
    listen: Listener | None = None,
    **settings: Any,
) -> Run:
    """Break the words of `data` in controlled ways, ask `model` again, and measure what survives.

    `model` is a spec or anything that can answer: a function, a scikit-learn classifier, a transformers pipeline. With
    `out`, a run folder is written there. Settings are those of `disorder audit`: suite, q, seed, limit, …
    """
    chosen = Settings(**settings)
    _check(chosen)
    plan = chosen.plan()
    dataset = _limited(read_data(data, chosen), chosen)
    predictor = load(model, task=dataset.task, labels=chosen.labels, batch_size=chosen.batch_size)
    run = _new_run(predictor, data, dataset, plan, chosen)
    return _Audit(dataset, predictor, plan, chosen, run, _folder(out), listen or (lambda *_: None)).go()


@dataclass
class _Audit:
    """One audit under way."""

    dataset: Dataset
    predictor: Aligned
    plan: list[Transformation]
    settings: Settings
    run: Run
    folder: Path | None
    listen: Listener

    def go(self) -> Run:
        began = time.perf_counter()
        self._save()
        try:
            self._measure_all()
        except BaseException as error:
            self.run.status, self.run.error = "failed", f"{type(error).__name__}: {error}"
            self._save()
            raise
        self.run.status, self.run.seconds = "done", round(time.perf_counter() - began, 3)
        self.run.verdict = verdict(self.run)
        self._save()
        return self.run

    def _save(self) -> None:
        if self.folder:
            write_run(self.folder, self.run)

    def _measure_all(self) -> None:
        examples = self.dataset.examples
        if self.folder:
            write_examples(self.folder, examples)
        original = self._ask_original(examples)
        whole = self._outcomes(ORIGINAL, examples, original, [answer[None, :] for answer in original], Counter(), False)
        self._record(whole, examples, examples, keeps_words=False)
        for number, transformation in enumerate(self.plan, start=1):
            self._measure(number, transformation, original)
        if not self.run.task or all(record.transformation == ORIGINAL for record in self.run.scores):
            reasons = Counter(reason for skips in self.run.skips.values() for reason in skips)
            raise DisorderError(f"no example can be broken as asked: {', '.join(sorted(reasons)) or 'no data'}")

    def _measure(self, number: int, transformation: Transformation, original: Floats) -> None:
        used, answers, skips = self._ask(number, transformation)
        self.run.skips[transformation.spec] = dict(sorted(skips.items()))
        if not used:
            return
        examples = [self.dataset.examples[i] for i in used]
        outcomes = self._outcomes(transformation.spec, examples, original[used], answers, skips, transformation.is_copy)
        self._record(outcomes, examples, self.dataset.examples, keeps_words=transformation.keeps_words)
        if not outcomes.task.is_regression:
            self._describe(outcomes, transformation, examples)
        self._save()

    def _describe(self, outcomes: Outcomes, transformation: Transformation, examples: Sequence[Example]) -> None:
        """What the report shows beside the scores: reference models, filters, curves, telling examples."""
        spec = transformation.spec
        if transformation.keeps_words:
            self.run.dev_r[spec] = _step_counts(outcomes)
        for name, reference in references(outcomes).items():
            measured = scores(reference, keeps_words=transformation.keeps_words, thresholds=())
            records = [Record.of(spec, metric, "all", s) for metric, s in measured if not isinstance(s, str)]
            self.run.references.setdefault(name, []).extend(records)
        self.run.figures[spec] = figures(outcomes)

        def rebuild(i: int) -> Variants:
            return self._break(transformation, examples[i])

        self.run.telling.extend(telling(outcomes, examples, rebuild))

    def _record(
        self, outcomes: Outcomes, used: Sequence[Example], everything: Sequence[Example], *, keeps_words: bool
    ) -> None:
        thresholds = sorted({*CURVE, *self.settings.omega}, key=threshold)
        for group, mask, n_all in _groups(used, everything):
            part = outcomes if group == "all" else replace(outcomes.take(mask), n_skipped=n_all - int(mask.sum()))
            for name, score in scores(part, keeps_words=keeps_words, thresholds=thresholds):
                if isinstance(score, str):
                    omitted = Omitted(transformation=outcomes.transformation, metric=name, group=group, reason=score)
                    self.run.omitted.append(omitted)
                else:
                    self.run.scores.append(Record.of(outcomes.transformation, name, group, score))

    def _outcomes(
        self,
        name: str,
        examples: Sequence[Example],
        original: Floats,
        answers: Sequence[Floats],
        skips: Counter[str],
        is_copy: bool,
    ) -> Outcomes:
        task, settings = self.dataset.task, self.settings
        gold = [float(e.label) if task.is_regression else task.labels.index(e.label) for e in examples]
        broken = [e.text_b if task.breaks == "b" and e.text_b is not None else e.text_a for e in examples]
        simple = [is_simple(text, task=task, fidelity=settings.fidelity) for text in broken]
        return Outcomes(
            name, task, np.array([e.id for e in examples]), np.array(gold), original, _padded(answers),
            np.array(simple, dtype=bool), sum(skips.values()), settings.seed, settings.fidelity, is_copy,
        )  # fmt: skip

    def _ask_original(self, examples: Sequence[Example]) -> Floats:
        answers = []
        for start in range(0, len(examples), BLOCK):
            answers.append(self.predictor([e.texts for e in examples[start : start + BLOCK]]))
            self.listen(ORIGINAL, min(start + BLOCK, len(examples)), len(examples), "")
        self.run.n_predictions += len(examples)
        stacked = np.concatenate(answers)
        if self.folder:
            samples = Samples(self.folder, 0, ORIGINAL, self.dataset.task.labels)
            samples.write(examples, [None] * len(examples), [row[None, :] for row in stacked])
            samples.close()
        return stacked

    def _ask(self, number: int, transformation: Transformation) -> tuple[list[int], list[Floats], Counter[str]]:
        """Which examples were used, the answers to their variants, and why others were not."""
        used: list[int] = []
        answers: list[Floats] = []
        skips: Counter[str] = Counter()
        samples = self.folder and Samples(self.folder, number, transformation.spec, self.dataset.task.labels)
        accepted = asked = 0
        for block, variants in self._blocks(transformation, skips):
            texts = [text for group in variants for text in group.texts()]
            bounds = np.cumsum([len(group) for group in variants])[:-1]
            parts = np.split(self.predictor(texts), bounds)
            if samples:
                samples.write([self.dataset.examples[i] for i in block], variants, parts)
            used.extend(block)
            answers.extend(parts)
            asked += len(texts)
            accepted += self._n_gold(block, parts)
            note = "" if self.dataset.task.is_regression else f"accuracy so far {accepted / asked:.3f}"
            self.listen(transformation.spec, block[-1] + 1, len(self.dataset.examples), note)
        self.listen(transformation.spec, len(self.dataset.examples), len(self.dataset.examples), "")
        if samples:
            samples.close()
        self.run.n_predictions += asked
        return used, answers, skips

    def _n_gold(self, block: Sequence[int], parts: Sequence[Floats]) -> int:
        task = self.dataset.task
        if task.is_regression:
            return 0
        gold = [task.labels.index(self.dataset.examples[i].label) for i in block]
        return sum(int((part.argmax(axis=1) == label).sum()) for part, label in zip(parts, gold, strict=True))

    def _blocks(
        self, transformation: Transformation, skips: Counter[str]
    ) -> Iterator[tuple[list[int], list[Variants]]]:
        """Examples with their variants, enough at a time to keep the model busy."""
        block: list[int] = []
        variants: list[Variants] = []
        n_texts = 0
        for i, example in enumerate(self.dataset.examples):
            try:
                broken_example = self._break(transformation, example)
            except DoesNotApply as reason:
                skips[str(reason)] += 1
                continue
            block.append(i)
            variants.append(broken_example)
            n_texts += len(broken_example)
            if n_texts >= BLOCK:
                yield block, variants
                block, variants, n_texts = [], [], 0
        if block:
            yield block, variants

    def _break(self, transformation: Transformation, example: Example) -> Variants:
        chosen = self.settings
        return transformation.apply(example, task=self.dataset.task, q=chosen.q, seed=chosen.seed, short=chosen.short)


def read_data(data: str | Dataset, settings: Settings) -> Dataset:
    """The dataset that a spec names, or the one given."""
    if isinstance(data, Dataset):
        return replace(data, examples=sorted(data.examples, key=lambda example: example.id))
    return data_stage.read(
        data, columns=settings.columns, data_dir=settings.data_dir, task=settings.task, group_by=settings.group_by
    )


def broken(
    data: str,
    transformation: str,
    *,
    q: int = 1,
    seed: int = 0,
    fidelity: Fidelity = "paper",
    short: str = "skip",
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    data_dir: str | None = None,
    skips: Counter[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Broken texts as `disorder perturb` writes them, one by one; examples left out are counted in `skips` by reason."""
    _check(Settings(q=q, fidelity=fidelity, short=short))
    chosen = parse(transformation, fidelity=fidelity)
    known, reader, examples = data_stage.stream(data, columns=columns, data_dir=data_dir, task=task)
    skips = Counter() if skips is None else skips
    for example in examples:
        asked = known or Task("", breaks="a" if example.text_b is None else "b")
        try:
            variants = chosen.apply(example, task=asked, q=q, seed=seed, short=short)
        except DoesNotApply as reason:
            skips[str(reason)] += 1
            continue
        yield from _lines(example, chosen.spec, variants)
    skips.update(reader.skipped)


def _lines(example: Example, spec: str, variants: Variants) -> Iterator[dict[str, Any]]:
    texts = zip(variants.texts(), variants.positions(), strict=True)
    for k, ((text_a, text_b), (positions_a, positions_b)) in enumerate(texts):
        yield {
            "id": example.id, "transformation": spec, "variant": k, "text_a": text_a, "text_b": text_b,
            "label": example.label, "positions_a": positions_a, "positions_b": positions_b,
        }  # fmt: skip


def _check(settings: Settings) -> None:
    if settings.q < 1:
        raise BadSetting("audit", q=settings.q, need="1 or more")
    if settings.limit is not None and settings.limit < 1:
        raise BadSetting("audit", limit=settings.limit, need="1 or more")
    if settings.fidelity not in ("paper", "released"):
        raise BadSetting("audit", fidelity=settings.fidelity, need="paper or released")
    if settings.short not in ("skip", "use"):
        raise BadSetting("audit", short=settings.short, need="skip or use")
    for x in settings.omega:
        threshold(x)


def _limited(dataset: Dataset, settings: Settings) -> Dataset:
    """A random part of the data, the same whatever the order of its rows."""
    if settings.limit is None or settings.limit >= len(dataset.examples):
        return dataset
    drawn = sorted(dataset.examples, key=lambda example: digest(settings.seed, "limit", example.id))[: settings.limit]
    skipped = {**dataset.skipped, "not drawn (--limit)": len(dataset.examples) - len(drawn)}
    return replace(dataset, examples=sorted(drawn, key=lambda example: example.id), skipped=skipped)


def _folder(out: str | Path | None) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    if (folder / "run.json").exists():
        raise DisorderError(f"{folder} holds a run already; choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DisorderError(f"--out {folder} cannot be made ({error.strerror or error})") from None
    return folder


def _new_run(
    predictor: Aligned, data: str | Dataset, dataset: Dataset, plan: list[Transformation], settings: Settings
) -> Run:
    names = [entry.name for entry in fields(settings) if entry.name not in ("seed", "transformations")]
    return Run(
        model=predictor.name,
        data=data if isinstance(data, str) else data.name,
        task=dataset.task.name,
        labels=list(dataset.task.labels),
        chance=None if dataset.task.is_regression else dataset.task.chance,
        transformations=[transformation.spec for transformation in plan],
        settings={name: getattr(settings, name) for name in names},
        seed=settings.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        n_examples=len(dataset.examples),
        n_available=len(dataset.examples) + sum(dataset.skipped.values()),
        versions={name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
        git=_git(),
        hashes={"data": dataset.fingerprint, "model": predictor.fingerprint},
        skips={"data": dict(dataset.skipped)},
    )


def _git() -> str | None:
    """The commit of the folder the user works in, if it is a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _padded(answers: Sequence[Floats]) -> Floats:
    """Answers as examples × variants × labels, NaN where an example has fewer variants."""
    q = max(len(part) for part in answers)
    out = np.full((len(answers), q, answers[0].shape[1]), np.nan)
    for i, part in enumerate(answers):
        out[i, : len(part)] = part
    return out


def _groups(used: Sequence[Example], everything: Sequence[Example]) -> Iterator[tuple[str, Bools, int]]:
    """Each group with which used examples are in it, and how many examples it has in all."""
    yield "all", np.ones(len(used), dtype=bool), len(everything)
    for column in everything[0].groups:
        for value in sorted({example.groups[column] for example in everything}):
            mask = np.array([example.groups[column] == value for example in used], dtype=bool)
            if mask.any():
                yield f"{column}={value}", mask, sum(example.groups[column] == value for example in everything)


def _step_counts(outcomes: Outcomes) -> dict[str, dict[str, int]]:
    """How many examples of each label the steps of dev-r leave."""
    steps = [("used", np.ones(len(outcomes), dtype=bool)), *dev_r(outcomes)]
    return {
        step: {label: int((kept & (outcomes.gold == i)).sum()) for i, label in enumerate(outcomes.task.labels)}
        for step, kept in steps
    }
