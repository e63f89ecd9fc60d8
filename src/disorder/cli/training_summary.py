"""What `disorder train` prints when a training is done: the score, what was left out, how the model
predicts, and the next command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from disorder.cli.tables import print_line, with_interval

if TYPE_CHECKING:
    from rich.console import Console

    from disorder.results.run import Run
    from disorder.verbs.train import TrainedModel
    from disorder.verbs.train.before_after import BeforeAndAfter


def show_training(trained: TrainedModel, console: Console) -> None:
    """Print the summary of a training."""
    from disorder.verbs.train import learned_nothing

    record = trained.record
    after = record["after"]
    lines = [_dev_score(trained), learned_nothing(record), _speed(record)]
    for spec, reasons in record["skips"].items():
        for reason, n in reasons.items():
            lines.append(f"{spec}: {n:,} training examples left out ({reason})")
    lines += [*_span_scores(after), *_predictions(after), *_calibration(after)]
    lines.append(f"\nNext: disorder audit {trained.spec} {_audit_data(record)}")
    for line in filter(None, lines):
        print_line(console, line)


def _dev_score(trained: TrainedModel) -> str:
    score = trained.score
    dev = trained.record["request"]["dev"]
    source = f"of {dev}" if dev else "held out"
    interval = f"95 % interval {score.low:.3f} to {score.high:.3f}"
    return f"dev {trained.metric} {score.value:.3f} ({interval}; {score.n:,} examples {source})"


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
        kind: with_interval(s["value"], s["low"], s["high"])
        for kind, s in after["abstained"].items()
    }
    return [
        f"{line}; abstains below {found['threshold']:.3f}: on {shares['original']} of original, "
        f"{shares['perturbed']} of perturbed dev texts"
    ]


def _audit_data(record: Mapping[str, Any]) -> str:
    """The data that an audit of this model would take."""
    request = record["request"]
    if request["dev"]:
        return str(request["dev"])
    data = str(request["data"])
    return data.removesuffix(":train") if ":" in data else data


def show_audits(audits: BeforeAndAfter, console: Console) -> None:
    """The scores of the audits before and after training, one row per score; then in a sentence
    what changed.
    """
    from disorder.results.grid import Grid
    from disorder.results.terminal import print_table

    named = {"before": audits.before, "after": audits.after}
    runs = {when: run for when, run in named.items() if run is not None}
    rows = [["transformation", "score", *(f"{when} training" for when in runs)]]
    for record in audits.after.scores:
        if record.group == "all" and not record.metric.startswith("omega@"):
            cells = [_audit_score(run, record) for run in runs.values()]
            rows.append([record.transformation, record.metric, *cells])
    print_table(console, Grid.of_texts(rows, n_names=2))
    for line in filter(None, (audits.reason, audits.sentence)):
        print_line(console, line)


def _audit_score(run: Run, record: Any) -> str:
    found = run.score(record.transformation, record.metric)
    return "" if found is None else with_interval(found.value, found.low, found.high)
