"""Can the data be gamed? What label frequencies, lengths, shared words and a bag of words reach
without reading.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from disorder.report.exhibits import Figure, Row, Table
from disorder.types import Ints, Score
from disorder.verbs.sanity import features as see
from disorder.verbs.sanity.linear import shallow
from disorder.verbs.sanity.pictures import forest
from disorder.verbs.sanity.result import Checked, Verdict, bounds, points, said
from disorder.verbs.sanity.trials import Answers, Bench, record

ASKS = "Can the data be gamed without reading it?"
PAPER = "NDSC"
PRIOR = "label prior"


def baselines(bench: Bench) -> Checked:
    """What each baseline scores beside the model, and whether it is more than chance by the margin."""
    blocks = {"length only": see.length, "overlap only": see.overlap, "bag of words": see.words}
    if not bench.is_pairs:
        del blocks["overlap only"]
    everything = np.ones(len(bench.texts), dtype=bool)
    answers: dict[str, Answers] = {PRIOR: _prior(bench)}
    for name, block in blocks.items():
        learner = shallow(name, block, bench.task, bench.seed)
        read = learner.read(bench.texts)
        answers[name] = bench.ask(learner, bench.fit(learner, read, name), read, everything)
    answers["the model"] = bench.whole
    table, scores, verdicts = [], [], []
    notes: dict[str, None] = (
        {} if bench.is_pairs else {"overlap only: not done, there is no second text": None}
    )
    for name, found in answers.items():
        score = bench.score(found, bench.rows.asked)
        table.append(_row(bench, name, found, score))
        rows, unjudged = bench.judged(partial(_recorded, bench, name, found))
        scores += rows
        notes |= dict.fromkeys(unjudged)
        if name in blocks:
            verdicts.append(_verdict(bench, name, found, score))
    names = [row["name"] for row in table]
    caption = (
        f"{'Spearman' if bench.task.is_regression else 'Balanced accuracy'} of each baseline, with 95 % intervals; the "
        "dotted line is chance."
    )
    drawn = [{key: row[key] for key in ("name", "value", "low", "high")} for row in table]
    picture = Figure(
        "baselines",
        caption,
        drawn,
        forest(names, bench.metric.replace("_", " "), lines=(_chance(bench),)),
    )
    return Checked(
        verdicts,
        scores,
        [picture],
        [Table("baseline_scores", "Baselines beside the model", table)],
        list(notes),
    )


def _recorded(bench: Bench, name: str, answers: Answers, group: str, rows: Ints) -> Row:
    row = {
        "check": "baselines",
        "transformation": name,
        "design": "plain",
        "group": group,
        "metric": bench.metric,
    }
    return row | record(bench.score(answers, rows))


def _prior(bench: Bench) -> Answers:
    """The most frequent label always (for numbers: the same number)."""
    width = max(1, len(bench.task.labels))
    plain = np.zeros((len(bench.texts), width))
    if not bench.task.is_regression:
        plain[:] = np.bincount(bench.gold, minlength=width) / len(bench.gold)
    fair = np.zeros_like(plain)
    fair[:, int(plain[0].argmax())] = 1.0
    return Answers(fair, plain)


def _verdict(bench: Bench, name: str, answers: Answers, score: Score) -> Verdict:
    """A bag of words is set beside the model; the others beside chance."""
    chance = _chance(bench)
    if name == "bag of words":
        rows = bench.rows.asked
        cost, whole = bench.cost(answers, rows), bench.score(bench.whole, rows)
        answer, trouble = bench.rule.decide(cost, whole, bench.chance(rows))
        spoken = {"needed": "falls short", "not needed": "does as well"}.get(answer, answer)
        because = f"It scores {said(score)}; the model scores {points(cost)} more" + (
            f". {trouble}" if trouble else ""
        )
        return Verdict(name, spoken, because, cost, whole=whole)
    gain = Score(
        score.value - chance, score.low - chance, score.high - chance, score.n, score.skipped
    )
    return Verdict(
        name, bench.rule.gives_away(gain), f"It scores {said(score)}, chance is {chance:.3f}", gain
    )


def _row(bench: Bench, name: str, answers: Answers, score: Score) -> Row:
    plain = bench.plain_accuracy(answers)
    return {"name": name} | bounds(score) | ({} if plain is None else {"accuracy": round(plain, 4)})


def _chance(bench: Bench) -> float:
    return bench.chance(bench.rows.asked)
