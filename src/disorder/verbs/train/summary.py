"""What a training says when it is done: the score, what was left out, how the model predicts, and
the next command; and the audits before and after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from disorder.requests.option import command_line
from disorder.results.result import Cell, Column, Grid, NextStep, PlainBody, Result
from disorder.types import ORIGINAL
from disorder.verbs.train.folder import learned_nothing

if TYPE_CHECKING:
    from disorder.verbs.train.before_after import BeforeAndAfter
    from disorder.verbs.train.training import TrainedModel

TEST = "TEST.jsonl"
SHOWN = ("accuracy", "spearman", "skill_kept")  # of the audits before and after


def begun_result(record: Mapping[str, Any]) -> Result:
    """The envelope of a training that is under way."""
    request = record["request"]
    return Result(
        verb="train",
        about=f"{request['recipe']} on {request['data']}: {record['n_train']:,} training examples",
        headline="under way",
        request=request,
        body=PlainBody(record),
    )


def training_result(trained: TrainedModel) -> Result:
    """The envelope of a training."""
    record = trained.record
    after = record["after"]
    request = record["request"]
    score = trained.score
    source = f"of {request['dev']}" if request["dev"] else "held out"
    left_out = [
        f"{spec}: {n:,} training examples left out ({reason})"
        for spec, reasons in record["skips"].items()
        for reason, n in reasons.items()
    ]
    return Result(
        verb="train",
        about=f"{request['recipe']} on {request['data']}: {_speed(record)}",
        headline=f"dev {trained.metric} {score.value:.3f} (95 % interval {score.low:.3f} to "
        f"{score.high:.3f}; {score.n:,} examples {source})",
        request=request,
        body=trained,
        caveats=list(filter(None, [learned_nothing(record)])),
        notes=[*left_out, *_span_scores(after), *_predictions(after), *_calibration(after)],
        next_steps=[_next_step(trained)],
    )


def _speed(record: Mapping[str, Any]) -> str:
    n = record["n_train"]
    speed = record["examples_per_second"]
    return f"{n:,} training examples, {speed:,.0f} per second, {record['seconds']:.0f} s"


def _predictions(after: Mapping[str, Any]) -> list[str]:
    """Predictions on original and on perturbed dev texts, so that a collapse can be seen."""
    lines = []
    for kind, seen in after.get("predictions", {}).items():
        by = f" ({', '.join(after['perturbed_by'])})" if kind == "perturbed" else ""
        labels = ", ".join(f"{label} {share:.3f}" for label, share in seen["labels"].items())
        spread = f"({seen['low']:.3f} to {seen['high']:.3f}, {seen['most']:.3f} at most)"
        entropy = f"entropy {seen['entropy']:.3f} nats {spread}"
        lines.append(f"{kind} texts{by}: {entropy}; predicted: {labels}")
    return lines


def _span_scores(after: Mapping[str, Any]) -> list[str]:
    """How well answers are found, of answerable and of unanswerable questions."""
    if "spans" not in after:
        return []
    lines = []
    for name, s in after["spans"]["scores"].items():
        if name != "f1, all":  # it is the dev score
            interval = f"{s['low']:.3f} to {s['high']:.3f}"
            lines.append(f"{name}: {s['value']:.3f} ({interval}, n {s['n']:,})")
    threshold = after["spans"]["null_threshold"]
    lines.append(
        f"no answer where the null score is {threshold:+.3f} above the best span's, or more"
    )
    return lines


def _calibration(after: Mapping[str, Any]) -> list[str]:
    if "calibration" not in after:
        return []
    found = after["calibration"]
    error = after["ece"]
    ece = f"dev ECE {error['before']:.3f} before, {error['after']:.3f} after"
    line = f"calibration.json: temperature {found['temperature']:.3f} ({ece})"
    if found["threshold"] is None:
        return [line]
    shares = {
        kind: f"{s['value']:.3f} ({s['low']:.3f} to {s['high']:.3f})"
        for kind, s in after["abstained"].items()
    }
    return [
        f"{line}; abstains below {found['threshold']:.3f}: on {shares['original']} of original, "
        f"{shares['perturbed']} of perturbed dev texts"
    ]


def _next_step(trained: TrainedModel) -> NextStep:
    """An audit of the model, on data that it did not learn from."""
    request = trained.record["request"]
    known = str(request["data"])
    data = str(request["dev"] or re.sub(r":train\w*$", "", known))
    why = "does it read now?"
    if data == known:
        data = TEST
        why += f" ({TEST}: texts it did not learn from)"
    return NextStep(command_line("audit", trained.spec, data), why)


def audits_result(audits: BeforeAndAfter) -> Result:
    """What changed, and the scores behind it in the audits before and after training."""
    named = {"before": audits.before, "after": audits.after}
    runs = {when: run for when, run in named.items() if run is not None}
    found = audits.after.conclusion
    about = (ORIGINAL, found.transformation if found else "")
    rows = [
        [
            Cell(record.transformation),
            Cell(record.metric),
            *(Cell.of(run.score(record.transformation, record.metric)) for run in runs.values()),
        ]
        for record in audits.after.scores
        if record.group == "all" and record.transformation in about and record.metric in SHOWN
    ]
    columns = [Column("texts", "name"), Column("score", "name")]
    columns += [Column(f"{when} training") for when in runs]
    verb = "compare" if len(runs) > 1 else "report"
    command = command_line(verb, *(str(run.folder) for run in runs.values()))
    return Result(
        verb="train",
        about=f"audited on {audits.after.data}",
        headline=audits.sentence,
        request={},
        body=audits,
        grids=[Grid(columns, rows)],
        notes=list(filter(None, [audits.reason])),
        next_steps=[NextStep(command, "every score")],
    )
