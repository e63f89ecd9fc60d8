"""A run in lines: what was audited, left out, answered, spent, and how to run it again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from disorder.languages import language_name
from disorder.requests.audit import AuditOptions
from disorder.requests.option import changed, command_line
from disorder.results.conclusion import MAIN
from disorder.results.run import Omitted, Run
from disorder.results.writing import place_of
from disorder.types import CONTROL_OF

SECONDS = ("draw", "assemble", "forward", "cache", "write")
COUNTS = ("predicted", "saved", "cached", "resumed")
SHOWN_LABELS = 4
TELLING_KINDS = {
    "unmoved": "correct on the original, and the same label on every perturbed version",
    "rescued": "wrong on the original, correct on perturbed versions of it",
    "noticed": "correct on the original, another label on most perturbed versions",
}


def main_transformation(run: Run) -> str:
    """The transformation whose permutation scores are shown: `derange`, else the first that only
    changes the order of words, else the first that has such scores; empty where none has.
    """
    scored = {r.transformation for r in run.scores if place_of(r.metric) == "permutations"}
    ranked = [MAIN, *run.breaks_order, *run.transformations]
    return next((name for name in ranked if name in scored), "")


def left_out(run: Run) -> Sequence[str]:
    """One line for each reason why examples were left out."""
    return [
        f"left out of {'the data' if name == 'data' else name}: {count:,} ({reason})"
        for name, reasons in run.skips.items()
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ] + _without_answers(run)


def _without_answers(run: Run) -> list[str]:
    """How many texts got no answer; scores are of the others."""
    return [
        f"no answer under {name}: {sum(reasons.values()):,} texts "
        f"({', '.join(f'{reason}: {count:,}' for reason, count in reasons.items())})"
        for name, reasons in run.no_answers.items()
    ]


def prompt_lines(run: Run) -> list[str]:
    """What one should know about how a language model answered, one line each."""
    prompt = run.prompt
    lines = _server_lines(run)
    if "label_mass" in prompt:
        words = ", ".join(prompt["label_words"].values())
        lines.append(
            f"the label words ({words}) get {prompt['label_mass']:.3f} of the model's probability "
            "on average; predictions are their shares of it"
        )
    if "order_changes" in prompt:
        lines.append(
            f"{prompt['option_orders']} orders of the options: {prompt['order_changes']:.3f} of "
            "the predictions depend on the order; the option listed first gets "
            f"{prompt['first_listed']:.3f} on average, the one listed last "
            f"{prompt['last_listed']:.3f}"
        )
    return lines + [_spread_line(run, row) for row in main_spread(run)]


def _server_lines(run: Run) -> list[str]:
    """How the answers of a server were read, and what they cost."""
    prompt = run.prompt
    lines = []
    if "answers" in prompt:
        refused = "; ".join(f"{way}: {why}" for way, why in prompt["refused"].items())
        better = f" (not possible here: {refused})" if refused else ""
        lines.append(f"answers of {prompt['server']} are read by {prompt['answers']}{better}")
        if not prompt["gives_probabilities"]:
            lines.append(
                "this way gives labels without probabilities: confidence, entropy and calibration "
                "error say nothing here"
            )
    if run.spent:
        cost = f", cost {run.spent['cost']:.4g}" if run.spent["cost"] else ""
        tokens = ""
        if run.spent["tokens"]:
            sent, received = run.spent["tokens_in"], run.spent["tokens_out"]
            tokens = f", {sent:,.0f} tokens sent, {received:,.0f} received"
        lines.append(f"{run.spent['questions']:,.0f} questions{tokens}{cost}")
    return lines


def main_spread(run: Run) -> list[dict[str, Any]]:
    """The spread over prompts of the scores that tables show, for all examples."""
    return [
        row
        for row in run.prompt_spread
        if row["group"] == "all" and place_of(row["metric"]) in ("table", "permutations")
    ]


def _spread_line(run: Run, row: dict[str, Any]) -> str:
    return (
        f"over {len(row['values'])} prompts: {row['transformation']} {row['metric']} "
        f"{row['low']:.3f} to {row['high']:.3f}"
    )


def not_measured(run: Run) -> list[str]:
    """The scores that there was nothing to measure for: one line per reason, by the names that
    gates take.
    """
    return [
        f"not measured: {_named_scores(entries)} ({why})"
        for why, entries in by_reason(run.omitted).items()
    ]


def by_reason(omitted: Iterable[Omitted]) -> dict[str, list[Omitted]]:
    """Scores that there was nothing to measure for, by the reason."""
    found: dict[str, list[Omitted]] = {}
    for entry in omitted:
        found.setdefault(entry.reason, []).append(entry)
    return found


def _named_scores(entries: Sequence[Omitted]) -> str:
    metrics, specs, groups = (
        ", ".join(dict.fromkeys(getattr(entry, name) for entry in entries))
        for name in ("metric", "transformation", "group")
    )
    return f"{metrics} under {specs}" + (f" (groups: {groups})" if groups != "all" else "")


def command(run: Run) -> str:
    """The command that repeats a run: every setting that differs from its default."""
    named = [spec for spec in run.transformations if not spec.startswith(CONTROL_OF)]
    settings = {**run.settings, "transformations": named, "seed": run.seed}
    return command_line("audit", run.model, run.data, *changed(AuditOptions, settings))


def gain_lines(run: Run) -> list[str]:
    """How much each perturbation keeps of what its control loses, one line each."""
    return [
        f"relative gain: {each['transformation']} keeps {each['value']:.2f} "
        f"[{each['low']:.2f}, {each['high']:.2f}] of the accuracy that {each['control']} costs "
        f"({each['n']:,} examples)"
        for each in run.gains
    ]


def about(run: Run) -> str:
    """What was audited, in one line."""
    of = f" of {run.n_available:,}" if run.n_available > run.n_examples else ""
    draws = sorted({count for count in run.variants.values() if count > 1}, reverse=True)
    variants = f", {' or '.join(map(str, draws))} variants of each" if draws else ""
    texts = f"{run.n_examples:,}{of} examples in {language_name(run.language)}"
    return f"{run.model} on {run.data}: {texts}{variants}, seed {run.seed}"


def answer_lines(run: Run) -> list[str]:
    """How often each label is given, before and after, in two lines."""
    main = main_transformation(run)
    found = run.answers.get(run.conclusion.transformation if run.conclusion else main)
    if not found:
        return []
    order = sorted(
        range(len(found["answers"])), key=lambda i: -found["before"][i] - found["after"][i]
    )[:SHOWN_LABELS]
    hidden = len(found["answers"]) - len(order)
    ending = f", {hidden} more" if hidden else ""
    lines = []
    for name in ("before", "after"):
        total = sum(found["gold"])
        shares = [f"{found['answers'][i]} {found[name][i] / total:.2f}" for i in order]
        lines.append(f"answers {name + ':':<7} {', '.join(shares)}{ending}")
    gold = [f"{found['gold'][i] / total:.2f}" if i < len(found["gold"]) else "–" for i in order]
    lines[0] += f" (gold {', '.join(gold)})"
    return lines


def baseline_lines(run: Run) -> list[str]:
    """How far words alone go on this data, beside the model."""
    return [
        f"{'balanced accuracy' if row.group == 'all' else row.group}: this model {row.model:.2f}, "
        f"a bag of words trained on this data {row.value:.2f} [{row.low:.2f}, {row.high:.2f}], "
        f"chance {row.chance:.2f}"
        for row in run.word_baselines
    ]


def stopped_early(run: Run) -> list[str]:
    """What --stop-when and --curtail saved."""
    lines = [
        f"{each.transformation}: stopped after {each.n_examples:,} examples, {each.metric} in "
        f"[{each.low:.3f}, {each.high:.3f}]"
        for each in run.stopped
        if each.low is not None and each.high is not None
    ]
    saved = run.profile.get("saved")
    if saved:
        made = run.profile.get("predicted", 0) + run.profile.get("cached", 0)
        share = saved / (saved + made)
        lines.append(f"curtailed: {share:.2f} of the predictions were not needed")
    return lines


def spent(run: Run) -> list[str]:
    """Where the time went, and how many predictions were made."""
    total = max(run.seconds, 1e-9)
    times = []
    for name in SECONDS:
        seconds = run.profile.get(name, 0)
        times.append(f"{name} {seconds:.2f} s ({seconds / total:.0%})")
    counts = [f"{name} {int(run.profile.get(name, 0)):,}" for name in COUNTS]
    return [f"time: {run.seconds:.2f} s: {', '.join(times)}", f"predictions: {', '.join(counts)}"]
