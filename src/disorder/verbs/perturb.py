"""The perturbed texts of some data, as data again: what `disorder perturb` writes and training on
perturbed texts reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import Any

from disorder import data as data_stage
from disorder.errors import DoesNotApply
from disorder.runs.settings import Settings
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Fidelity, Task, Variants
from disorder.verbs.audit.block import load_model
from disorder.verbs.context import RunContext

CHUNK = 512  # examples perturbed together, so that taggers and models get batches


@dataclass
class Tally:
    """What happened on the way: variants written and words removed by transformation, examples left
    out by reason.
    """

    written: Counter[str] = field(default_factory=Counter)
    removed: dict[str, Counter[str]] = field(default_factory=dict)
    skips: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, spec: str, variants: Variants) -> None:
        """Count the variants of one example; words removed are those of its first variant."""
        self.written[spec] += len(variants)
        removed = self.removed.setdefault(spec, Counter())
        for name, rows in zip("ab", variants.sides, strict=False):
            if rows.written is None:
                removed[name] += len(rows.sentence) - rows.positions.shape[1]

    def skip(self, spec: str, reason: str) -> None:
        """Count one example that was left out."""
        self.skips.setdefault(spec, Counter())[reason] += 1


def perturbed(
    data: str,
    transformations: str | Sequence[str],
    *,
    q: int = 1,
    seed: int = 0,
    limit: int | None = None,
    fidelity: Fidelity = "paper",
    short: str = "skip",
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    data_dir: str | None = None,
    model: Any = None,
    labels: Mapping[str, str] | None = None,
    tally: Tally | None = None,
) -> Iterator[dict[str, Any]]:
    """Perturbed texts one by one, with the id of the example each was made from; `tally` counts what
    was left out and why.

    `limit` takes that many examples, drawn as an audit draws them, in the order of their rows.
    `model` is asked by the transformations that look for the words it relies on.
    """
    Settings(q=q, limit=limit, fidelity=fidelity, short=short).check()
    specs = [transformations] if isinstance(transformations, str) else transformations
    chosen = [
        parse(spec, fidelity=fidelity).tried(data_stage.language_of(data, task)) for spec in specs
    ]
    tally = Tally() if tally is None else tally
    known, reader, examples = data_stage.stream(data, columns=columns, data_dir=data_dir, task=task)
    context, stream = RunContext(data_dir=data_dir), iter(_drawn(examples, limit, seed))
    if model is not None:  # whose labels must meet those of the data: all rows are looked at first
        dataset = data_stage.read_data(data, columns=columns, data_dir=data_dir, task=task)
        known = dataset.task
        loaded = load_model(model, known, Settings(labels=labels or {}), "fp32")
        context = RunContext(loaded, data_stage.vocabulary(dataset), data_dir)
    while chunk := list(islice(stream, CHUNK)):
        asked = known or Task("", breaks="a" if chunk[0].text_b is None else "b")
        for transformation in chosen:
            made = transformation.apply_all(
                chunk, task=asked, q=q, seed=seed, short=short, context=context
            )
            for example, variants in zip(chunk, made, strict=True):
                yield from _lines(example, transformation.spec, variants, tally)
    for reason, count in reader.skipped.items():
        tally.skips.setdefault("data", Counter())[reason] += count


def _drawn(examples: Iterable[Example], limit: int | None, seed: int) -> Iterable[Example]:
    """As many examples as asked for, without holding the others."""
    if limit is None:
        return examples
    numbered = nsmallest(
        limit, enumerate(examples), key=lambda item: data_stage.drawing_key(seed, item[1].id)
    )
    return [example for _, example in sorted(numbered, key=lambda item: item[0])]


def _lines(
    example: Example, spec: str, variants: Variants | DoesNotApply, tally: Tally
) -> Iterator[dict[str, Any]]:
    if isinstance(variants, DoesNotApply):
        tally.skip(spec, str(variants))
        return
    tally.add(spec, variants)
    texts = zip(variant_texts(variants), variants.positions(), strict=True)
    for k, ((text_a, text_b), (positions_a, positions_b)) in enumerate(texts):
        yield {
            "id": example.id,
            "transformation": spec,
            "variant": k,
            "text_a": text_a,
            "text_b": text_b,
            "label": example.label,
            "positions_a": positions_a,
            "positions_b": positions_b,
        }
