"""The pipeline: read → perturb → predict → measure → report. This file joins the stages; ask.py is
its inner loop.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import groups, language_of, rare_labels, select
from disorder.engines import Engine, engine
from disorder.errors import DisorderError
from disorder.metrics import (
    CURVE,
    ORIGINAL,
    Anytime,
    StopRule,
    is_simple,
    references,
    scores,
    step_counts,
    threshold,
    thresholds_of,
    values_of,
)
from disorder.models import LoadedModel
from disorder.report.page import write_report
from disorder.runs import Record, Run, SampleParts, place, read_run, write_run
from disorder.runs.run import Omitted, make_folder, new_run, write_examples
from disorder.runs.samples import answers_of, storable
from disorder.runs.settings import Settings
from disorder.transformations import Transformation, parse
from disorder.transformations.tags import resolved, tagger_notes
from disorder.types import (
    Bools,
    Costs,
    Dataset,
    Example,
    Floats,
    Ints,
    Outcomes,
    Progress,
    Variants,
)
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult, load_model, loaded_model
from disorder.verbs.audit.figures import figures
from disorder.verbs.audit.planning import LEFT_OUT, planned, requested_scores
from disorder.verbs.audit.prediction_array import room, together
from disorder.verbs.audit.telling_examples import telling
from disorder.verbs.audit.verdict import verdict

# texts in a block: what a crash can cost; fixed, so that files do not depend on the batch size
BLOCK = 4096
CURTAILED_BLOCK = 512  # examples in a block whose variants are asked in rounds


def audit(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Run:
    """Break the words of `data` in controlled ways, ask `model` again, and measure what survives.

    `model` is a spec or anything that can answer: a function, a scikit-learn classifier, a
    transformers pipeline. A function gets a list of texts (of tuples for pairs) and gives label
    names, or one row of probabilities a text; their columns stand in the order of its attribute
    `labels`, else of `run.labels`. `data` is a spec, a list of dictionaries or a data frame. With
    `out`, a run folder is written there, on disk or at an address like s3://bucket/run. Settings
    are those of `disorder audit`, see `disorder.runs.settings.Settings`.
    """
    chosen = Settings(**settings)
    chosen.check()
    if out is None:
        with tempfile.TemporaryDirectory() as temporary:
            return _audit(model, data, chosen, Path(temporary), progress)
    folder = _free(place(out))
    run = _audit(model, data, chosen, folder, progress)
    write_report(folder, run)
    return run


def resume(
    out: str | Path, *, model: Any = None, data: Any = None, progress: Progress | None = None
) -> Run:
    """Resume a run that was stopped; finished parts are kept, and the scores are those of a run
    in one go.

    `model` and `data` are what the run was begun with, where that was no spec.
    """
    folder = place(out)
    before = read_run(folder)
    if before.status == "done":
        write_report(folder, before)  # it may have been killed after the last score
        return before
    chosen = Settings(**before.settings, seed=before.seed, transformations=before.transformations)
    model, data = before.model if model is None else model, before.data if data is None else data
    run = _audit(model, data, chosen, folder, progress, before)
    write_report(folder, run)
    return run


def _audit(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None = None,
) -> Run:
    plan, left_out = (
        planned(chosen, language_of(data, chosen.task))
        if before is None
        else _planned_before(before)
    )
    requested = requested_scores(chosen)
    rule = StopRule.parse(chosen.stop_when) if chosen.stop_when else None
    dataset = select(data, chosen)
    if dataset.task.is_regression and (chosen.curtail or rule):
        raise DisorderError(
            f"--{'curtail' if chosen.curtail else 'stop-when'} is for labels; {dataset.name} asks for numbers"
        )
    decided_at = (
        thresholds_of(requested or (), dataset.task, chosen.fidelity) if chosen.curtail else []
    )
    loaded, notes = loaded_model(model, dataset, plan, chosen)
    chosen = replace(chosen, precision=loaded.precision)
    name = data if isinstance(data, str) else dataset.name
    run = new_run(
        loaded.name, name, dataset, [t.spec for t in plan], _recorded(chosen), chosen.seed
    )
    taggers = {t.tagger_for(dataset.task) for t in plan if "tags" in t.needs}
    run.taggers = sorted({resolved(tagger) for tagger in taggers})
    run.notes = [*rare_labels(dataset), *left_out, *tagger_notes(taggers), *notes]
    run.variants = {transformation.spec: transformation.count(chosen.q) for transformation in plan}
    run.breaks_order = [
        transformation.spec for transformation in plan if transformation.keeps_words
    ]
    run.hashes = {"data": dataset.fingerprint, "model": loaded.fingerprint}
    if before is not None and before.hashes != run.hashes:
        changed = [name for name in run.hashes if run.hashes[name] != before.hashes.get(name)]
        raise DisorderError(
            f"--resume: the {' and the '.join(changed)} changed since the run began; start a new one"
        )
    if before is not None and before.taggers != run.taggers:
        raise DisorderError(
            f"--resume: the run began with {', '.join(before.taggers)} for word classes, which is "
            "not what is installed here; install it, or start a new one"
        )
    if before is not None:
        run.started, run.seconds, run.n_predictions = (
            before.started,
            before.seconds,
            before.n_predictions,
        )
    asker = BlockPredictor.of(partial(_again, loaded), dataset, plan, chosen, decided_at)
    worker = asker
    if chosen.engine != "local":
        worker = replace(
            asker, load=partial(load_model, model, dataset.task, chosen, loaded.precision)
        )
    started = engine(
        chosen.engine, address=chosen.address, workers=chosen.workers, make=partial(_itself, worker)
    )
    return _Audit(
        dataset,
        asker,
        plan,
        chosen,
        run,
        folder,
        progress or (lambda *_: None),
        started,
        requested,
        rule,
    ).go()


def _again(loaded: LoadedModel) -> LoadedModel:
    return loaded


def _itself(asker: BlockPredictor) -> BlockPredictor:
    return asker


@dataclass
class _Audit:
    """One audit under way."""

    dataset: Dataset
    asker: BlockPredictor
    plan: list[Transformation]
    settings: Settings
    run: Run
    folder: Path
    progress: Progress
    engine: Engine
    requested: list[str] | None
    rule: StopRule | None
    costs: Costs = field(default_factory=Costs)

    def go(self) -> Run:
        began = time.perf_counter()
        make_folder(self.folder)
        write_run(self.folder, self.run)
        self.parts = SampleParts.open(self.folder)
        self.numbers = {storable(example.id): i for i, example in enumerate(self.dataset.examples)}
        try:
            self._measure_all()
        except BaseException as error:
            self.run.status, self.run.error = "failed", f"{type(error).__name__}: {error}"
            self._finish(began)
            raise
        finally:
            self.engine.close()
        self.run.status, self.run.verdict = "done", verdict(self.run)
        self._finish(began)
        return self.run

    def _finish(self, began: float) -> None:
        self.run.seconds = round(self.run.seconds + time.perf_counter() - began, 3)
        self.run.notes = list(dict.fromkeys([*self.run.notes, *self.parts.notes]))
        self.run.n_predictions += int(self.costs["asked"])
        self.run.profile = {
            name: round(float(cost), 3) for name, cost in sorted(self.costs.items())
        }
        write_run(self.folder, self.run)

    def _measure_all(self) -> None:
        examples = self.dataset.examples
        write_examples(self.folder, examples)
        _, original, _ = self._ask(0, ORIGINAL, 1)
        original = original[:, 0]
        whole = self._outcomes(ORIGINAL, examples, original, original[:, None], 0, ())
        self._record(whole, examples, keeps_words=False)
        for number, transformation in enumerate(self.plan, start=1):
            self._measure(number, transformation, original)
        if all(record.transformation == ORIGINAL for record in self.run.scores):
            reasons = {reason for skips in self.run.skips.values() for reason in skips}
            raise DisorderError(
                f"no example can be perturbed as asked: {', '.join(sorted(reasons)) or 'no data'}"
            )

    def _measure(self, number: int, transformation: Transformation, original: Floats) -> None:
        spec = transformation.spec
        used, answers, skips = self._ask(
            number, spec, transformation.count(self.settings.q), transformation, original
        )
        self.run.skips[spec] = dict(sorted(skips.items()))
        if not used.any():
            return
        examples = [
            example for example, kept in zip(self.dataset.examples, used, strict=True) if kept
        ]
        sides = transformation.perturbed_sides(
            self.dataset.task, is_pair=examples[0].text_b is not None
        )
        outcomes = self._outcomes(
            spec, examples, original[used], together(answers, used), sum(skips.values()), sides
        )
        outcomes = replace(
            outcomes,
            is_copy=transformation.is_copy,
            n_planned=self._planned(transformation, examples),
        )
        self._record(outcomes, examples, keeps_words=transformation.keeps_words)
        if stopped := self.run.stopped.get(spec):
            record = self.run.score(spec, stopped["metric"])
            if record is not None:
                record.low, record.high = stopped["low"], stopped["high"]
        if not outcomes.task.is_regression and not self.asker.decided_at:
            self._describe(outcomes, transformation, examples)
        write_run(self.folder, self.run)

    def _planned(self, transformation: Transformation, examples: Sequence[Example]) -> Ints | None:
        """How many variants each example has, where not all were asked."""
        if not self.asker.decided_at:
            return None
        if self.settings.short == "skip":
            return np.full(len(examples), transformation.count(self.settings.q))
        return np.array(
            [len(self.asker.perturbed(transformation.spec, example)) for example in examples]
        )

    def _describe(
        self, outcomes: Outcomes, transformation: Transformation, examples: Sequence[Example]
    ) -> None:
        """What the report shows beside the scores: reference models, filters, curves, telling
        examples.
        """
        spec = transformation.spec
        if transformation.keeps_words:
            self.run.dev_r[spec] = step_counts(outcomes)
        for name, reference in references(outcomes):
            measured = scores(reference, keeps_words=transformation.keeps_words, thresholds=())
            records = [
                Record.of(spec, metric, "all", s)
                for metric, s in measured
                if not isinstance(s, str)
            ]
            self.run.references.setdefault(name, []).extend(records)
        self.run.figures[spec] = figures(outcomes)

        def rebuild(i: int) -> Variants:
            return self.asker.perturbed(spec, examples[i])

        self.run.telling.extend(telling(outcomes, examples, rebuild))

    def _record(self, outcomes: Outcomes, used: Sequence[Example], *, keeps_words: bool) -> None:
        thresholds = sorted({*CURVE, *self.settings.omega}, key=threshold)
        only = self.requested if outcomes.transformation != ORIGINAL else None
        for group, mask, n_all in groups(used, self.dataset.examples):
            part = (
                outcomes
                if group == "all"
                else replace(outcomes.take(mask), n_skipped=n_all - int(mask.sum()))
            )
            for name, score in scores(
                part, keeps_words=keeps_words, thresholds=thresholds, only=only
            ):
                if isinstance(score, str):
                    omitted = Omitted(
                        transformation=outcomes.transformation,
                        metric=name,
                        group=group,
                        reason=score,
                    )
                    self.run.omitted.append(omitted)
                else:
                    self.run.scores.append(Record.of(outcomes.transformation, name, group, score))

    def _outcomes(
        self,
        name: str,
        examples: Sequence[Example],
        original: Floats,
        answers: Floats,
        n_skipped: int,
        sides: Sequence[str],
    ) -> Outcomes:
        task, settings = self.dataset.task, self.settings
        gold = [
            float(e.label) if task.is_regression else task.labels.index(e.label) for e in examples
        ]
        texts = [[str(e.text_a if side == "a" else e.text_b) for side in sides] for e in examples]
        simple = [
            all(is_simple(text, task=task, fidelity=settings.fidelity) for text in perturbed)
            for perturbed in texts
        ]
        q = max(1, int((~np.isnan(answers[:, :, 0])).sum(axis=1).max(initial=1)))
        return Outcomes(
            name,
            task,
            np.array([e.id for e in examples]),
            np.array(gold),
            original,
            answers[:, :q],
            np.array(simple, dtype=bool),
            n_skipped,
            settings.seed,
            settings.fidelity,
        )

    def _ask(
        self,
        number: int,
        spec: str,
        count: int,
        transformation: Transformation | None = None,
        original: Floats | None = None,
    ) -> tuple[Bools, Floats, Counter[str]]:
        """Which examples were used, their answers (examples × variants × labels), and why others
        were not.
        """
        n, width = len(self.dataset.examples), max(1, len(self.dataset.task.labels))
        answers, skips, used, done = (
            room((n, count, width)),
            Counter[str](),
            np.zeros(n, dtype=bool),
            0,
        )
        n_right = n_asked = 0
        sequence = Anytime()
        for block, answered in self._in_order(list(self._blocks(number, spec, count))):
            rows, variants, probabilities = answers_of(answered.table)
            places = np.array([self.numbers[row] for row in rows], dtype=np.int64)
            answers[places, variants] = probabilities
            used[places] = True
            skips.update(answered.skips)
            done += len(block.examples)
            n_asked, n_right = n_asked + len(places), n_right + self._n_gold(places, probabilities)
            note = (
                f"accuracy so far {n_right / n_asked:.3f}"
                if n_asked and self.dataset.task.labels
                else ""
            )
            self.progress(spec, done, n, note if spec != ORIGINAL else "")
            if self.rule and transformation and original is not None and len(places):
                self._watch(
                    sequence, self.rule, transformation, np.unique(places), original, answers
                )
                if sequence.width < self.rule.width:
                    self._stop(spec, sequence, self.rule, done, skips)
                    break
        if done < n:
            self.progress(spec, n, n, "")
        return used, answers, skips

    def _watch(
        self,
        sequence: Anytime,
        rule: StopRule,
        transformation: Transformation,
        places: Ints,
        original: Floats,
        answers: Floats,
    ) -> None:
        """Take the examples just answered into the confidence sequence."""
        examples = [self.dataset.examples[i] for i in places.tolist()]
        outcomes = self._outcomes(
            transformation.spec, examples, original[places], answers[places], 0, ()
        )
        sequence.update(values_of(rule.metric, replace(outcomes, is_copy=transformation.is_copy)))

    def _stop(
        self, spec: str, sequence: Anytime, rule: StopRule, done: int, skips: Counter[str]
    ) -> None:
        """Note where asking stopped, with the interval that holds however often one looked."""
        low, high = sequence.interval
        self.run.stopped[spec] = {
            "metric": rule.metric,
            "low": low,
            "high": high,
            "n_examples": done,
        }
        if left := len(self.dataset.examples) - done:
            skips["not asked (--stop-when)"] = left
        note = f"--stop-when: only the interval of {rule.metric} holds at any time; the others are those of a fixed sample"
        self.run.notes = list(dict.fromkeys([*self.run.notes, note]))

    def _in_order(self, blocks: list[Block]) -> Iterator[tuple[Block, BlockResult]]:
        """Blocks with their answers: finished parts from disk, the others asked; written as they
        come, handed on in order.
        """
        missing = [block for block in blocks if self.parts.read(block.part) is None]
        results = self.engine(missing)
        early: dict[str, BlockResult] = {}
        asked = {block.part for block in missing}
        for block in blocks:
            if block.part in asked:
                while block.part not in early:
                    answered = next(results)
                    self._keep(answered)
                    early[answered.part] = answered
                yield block, early.pop(block.part)
            else:
                finished = self.parts.read(block.part)
                assert finished is not None
                self.costs["resumed"] += finished[0].num_rows
                yield block, BlockResult(block.part, *finished, {})

    def _keep(self, answered: BlockResult) -> None:
        began = time.perf_counter()
        self.parts.write(answered.part, answered.table, answered.skips)
        self.costs.add(answered.counts)
        self.costs["write"] += time.perf_counter() - began

    def _blocks(self, number: int, spec: str, count: int) -> Iterator[Block]:
        """The examples in parts of a fixed size."""
        size = CURTAILED_BLOCK if self.asker.decided_at and count > 1 else max(1, BLOCK // count)
        name = "".join(char if char.isalnum() else "-" for char in spec)
        examples = self.dataset.examples
        for index, start in enumerate(range(0, len(examples), size)):
            yield Block(
                f"{number:02d}-{name}-{index:05d}.parquet", spec, examples[start : start + size]
            )

    def _n_gold(self, places: Ints, probabilities: Floats) -> int:
        task = self.dataset.task
        if task.is_regression:
            return 0
        gold = np.array(
            [task.labels.index(self.dataset.examples[i].label) for i in places], dtype=np.int64
        )
        return int((predicted_label(probabilities) == gold).sum())


def _planned_before(before: Run) -> tuple[list[Transformation], list[str]]:
    """The plan of a run that goes on, with what it noted as left out."""
    return [parse(spec) for spec in before.transformations], [
        n for n in before.notes if n.startswith(LEFT_OUT)
    ]


def _free(folder: Path) -> Path:
    if (folder / "run.json").exists():
        raise DisorderError(
            f"{folder} holds a run already; choose another --out, or resume --resume {folder}"
        )
    return folder


def _recorded(settings: Settings) -> dict[str, Any]:
    return {
        name: value
        for name, value in asdict(settings).items()
        if name not in ("seed", "transformations")
    }
