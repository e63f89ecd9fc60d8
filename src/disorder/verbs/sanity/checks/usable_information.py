"""Usable information: how many bits per row does word order carry, for a model like this one?

Pointwise V-information (Ethayarajh et al., 2022) of a row is how many bits a model that read its
text saves in naming its label, against one that knows the labels' frequencies alone. Every row is
predicted by models that saw neither it nor its family, of original texts and of shuffled ones;
probabilities are tempered on the other half of the families. So it is a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.registry import check
from disorder.results.result import Row, Table
from disorder.results.writing import with_interval
from disorder.types import Floats, Ints
from disorder.verbs.sanity.checks.order import SIZES, shuffle_spec
from disorder.verbs.sanity.scoring import clustered_mean
from disorder.verbs.sanity.trials import CheckInput, TrialPredictions, Trials
from disorder.verbs.sanity.verdicts import ADDS, ADDS_NOTHING, UNDECIDED, CheckResult, Verdict

QUESTION = "usable information"
SHOWN = 20
FLOOR = 0.01  # of the labels' frequencies that every prediction is mixed with
TEMPERATURES = np.geomspace(0.25, 8, 36)
NEGLIGIBLE = 0.02  # bits per row that count as none


@check(
    asks="How many bits per row does word order carry?",
    paper="Ethayarajh et al. (2022)",
    position=12,
)
def usable_information(given: CheckInput) -> CheckResult:
    """Compare what models of original and of shuffled texts know of each label, in bits."""
    trials = given.trials
    if trials.task.is_regression:
        raise NothingToMeasure("gold values are numbers; bits are those of labels")
    shuffled, reasons = trials.try_each([shuffle_spec(n) for n in SIZES])
    if not shuffled or shuffled[0].spec != shuffle_spec(1):
        raise NothingToMeasure(reasons[0])
    tested = trials.rows.tested
    rows = tested[shuffled[0].perturbed.applies[tested]]
    with_order = pvi(trials, trials.original, rows)
    without = {
        trial.spec: pvi(trials, trial.predictions["corrupt-both"], rows) for trial in shuffled
    }
    lost = with_order - without[shuffle_spec(1)]
    clusters = trials.rows.cluster[rows]
    known, destroyed = (clustered_mean(bits, clusters) for bits in (with_order, lost))
    answer = UNDECIDED
    if destroyed.low > 0:
        answer = ADDS
    elif destroyed.high < NEGLIGIBLE:
        answer = ADDS_NOTHING
    because = (
        f"Of {with_interval(known)} bits per row that the model knows of the label, shuffling "
        f"destroys {with_interval(destroyed)}"
    )
    pairs = without.get(shuffle_spec(2))
    tables = [
        _needing_order(trials, rows, lost, None if pairs is None else with_order - pairs),
        _worth_a_look(trials, rows, np.stack([with_order, *without.values()])),
    ]
    records: list[Row] = [
        {"check": "usable_information", "transformation": spec, "design": design, "group": "all"}
        | {"metric": "bits", "value": score.value, "low": score.low, "high": score.high}
        | {"n": score.n, "skipped": len(tested) - len(rows)}
        for spec, design, score in (
            ("original", "plain", known),
            (shuffle_spec(1), "corrupt-both", destroyed),
        )
    ]
    verdict = Verdict(QUESTION, answer, because, destroyed)
    return CheckResult([verdict], records, tables=[table for table in tables if table.rows])


def pvi(trials: Trials, predictions: TrialPredictions, rows: Ints) -> Floats:
    """How many bits a model saves on the gold label of each row; NaN without a prediction."""
    prior = trials.label_shares_of(rows)
    said = np.maximum(predictions.plain[rows], 1e-12)
    half = trials.rows.cluster[rows] % 2
    gold = trials.gold[rows]
    tempered = np.empty_like(said)
    for part in (0, 1):
        temperature = _temperature(said[half != part], gold[half != part])
        tempered[half == part] = _softened(said[half == part], temperature)
    mixed = (1 - FLOOR) * tempered + FLOOR * prior
    own = np.arange(len(rows))
    return np.asarray(np.log2(mixed[own, gold]) - np.log2(prior[own, gold]))


def _softened(probabilities: Floats, temperature: float) -> Floats:
    raised = np.log(probabilities) / temperature
    raised = np.exp(raised - raised.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _temperature(probabilities: Floats, gold: Ints) -> float:
    """The temperature under which these labels are most likely; 1 where there are none."""
    is_said = ~np.isnan(probabilities[:, 0])
    if not is_said.any():
        return 1.0
    said, own = probabilities[is_said], gold[is_said]
    losses = [
        -np.log(np.maximum(_softened(said, each)[np.arange(len(own)), own], 1e-12)).mean()
        for each in TEMPERATURES
    ]
    return float(TEMPERATURES[int(np.argmin(losses))])


def _needing_order(trials: Trials, rows: Ints, lost: Floats, with_pairs: Floats | None) -> Table:
    """The rows that lose most when words are shuffled; what they lose when pairs of words are
    shows how much of that was the choice of the largest.
    """
    first = [place for place in np.argsort(-lost, kind="stable") if lost[place] > 0][:SHOWN]
    caption = (
        "Rows that need order most, for this model: bits lost when words are shuffled (chosen by "
        "it, so that it leans upwards), and when pairs of words are"
    )
    found = []
    for place in first:
        more = {} if with_pairs is None else {"lost_with_pairs": _bits(with_pairs, place)}
        found.append(_row(trials, int(rows[place])) | {"lost": _bits(lost, place)} | more)
    return Table("rows_that_need_order", caption, found)


def _worth_a_look(trials: Trials, rows: Ints, known: Floats) -> Table:
    """Rows whose label every model finds unlikely, with order (the first) and without."""
    is_doubted = (np.nan_to_num(known, nan=-1.0) < 0).all(axis=0) & (known[0] < -1)
    first = [place for place in np.argsort(known[0], kind="stable") if is_doubted[place]]
    caption = (
        "Rows whose label is worth a look: below its frequency for every model, with and without "
        "order; by the bits it costs"
    )
    labels = trials.task.labels
    said = trials.original.plain[rows].argmax(axis=1)
    found = [
        _row(trials, int(rows[place]))
        | {"predicted": labels[int(said[place])], "bits": _bits(known[0], place)}
        for place in first[:SHOWN]
    ]
    return Table("labels_worth_a_look", caption, found)


def _row(trials: Trials, row: int) -> Row:
    example = trials.rows.examples[row]
    return {"id": example.id, "label": example.label, **example.shown(200)}


def _bits(values: Sequence[float] | Floats, place: int) -> float | None:
    value = float(values[place])
    return None if np.isnan(value) else round(value, 3)
