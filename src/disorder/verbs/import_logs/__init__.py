"""`import_logs`: evaluations that others ran, as runs: the answers in logs of lm-evaluation-harness
and inspect_ai, original and perturbed ones paired by id. Nothing is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from disorder.errors import BadData, BadSetting, DisorderError, option
from disorder.requests.option import held
from disorder.requests.runs import ImportOptions
from disorder.requests.settings import takes_options
from disorder.results.run import Run
from disorder.results.run_folder import write_report
from disorder.safe_io import check_regular_file
from disorder.store.storage import TemporaryFolder, place
from disorder.store.store import Store
from disorder.transformations import parse
from disorder.types import ORIGINAL, Progress
from disorder.verbs.audit import conducted
from disorder.verbs.import_logs import inspect_log, lm_eval
from disorder.verbs.import_logs.logged import LoggedAnswer, without_frame
from disorder.verbs.import_logs.replaying import audit_of_logs
from disorder.verbs.run_inputs import run_of_log

SUFFIXES = (".json", ".eval")  # of inspect's logs


@takes_options(ImportOptions)
def import_logs(
    *logs: str | Path,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[ImportOptions],
) -> Run:
    """The run that logs of lm-eval or inspect_ai amount to.

    logs: files, or folders of them: `samples_*.jsonl` of lm-eval's `--log_samples`, `.json` and
        `.eval` of inspect_ai. Rows that disorder exported say which transformation they are of; of
        others name it with `perturbed={"derange": LOG}`.
    out: write the run folder there; without it the run lies in a temporary folder.
    progress: called as progress(stage, done, total, note).
    """
    rows, notes = _rows(logs, options)
    groups = _groups(rows)
    ready = audit_of_logs(groups, [*notes, *_left_over(groups)], progress)
    if out is None:
        temporary = TemporaryFolder()
        run = conducted(ready, temporary.path)
        return run.placed_in(temporary.path, kept_alive=temporary)
    folder = place(out)
    with Store.open(folder):
        before = run_of_log(folder)
        is_begun = before is not None and before.status != "done"  # an import that was killed
        if not is_begun and any(not path.name.startswith(".") for path in folder.iterdir()):
            raise DisorderError(f"{folder} is not empty; choose another {option('out')}")
        run = conducted(ready, folder).placed_in(folder)
        write_report(folder, run)
        return run


def _rows(
    logs: Sequence[str | Path], options: ImportOptions
) -> tuple[list[LoggedAnswer], list[str]]:
    """All rows, each with its transformation, and where they are from."""
    found = [row for log in logs for row in _read(log, options)]
    for spec, log in held(ImportOptions, options).get("perturbed", {}).items():
        name = parse(spec).spec
        found += [replace(row, transformation=name) for row in _read(log, options)]
    if not found:
        raise BadSetting("import", logs="none", need="logs with rows")
    models = sorted({row.model for row in found})
    if len(models) > 1:
        raise BadData(f"these logs are of several models ({', '.join(models)}): import each apart")
    sources = sorted({row.source for row in found})
    return without_frame(found), [f"imported, not predicted here, from {', '.join(sources)}"]


def _read(given: str | Path, options: ImportOptions) -> Iterator[LoggedAnswer]:
    """The rows of a log, or of all logs in a folder."""
    path = Path(given)
    paths = [path]
    if path.is_dir():
        samples = sorted(path.rglob(lm_eval.FILES))
        paths = samples or sorted(each for each in path.iterdir() if each.suffix in SUFFIXES)
    elif not path.is_file():
        raise BadData(f"{path}: no such file")
    if not paths:
        raise BadData(
            f"{path} has no {lm_eval.FILES} (lm_eval --log_samples), and no logs of inspect_ai"
        )
    common: dict[str, Any] = {
        "id_column": options.get("id") or "",
        "scorer": options.get("scorer") or "",
    }
    for each in paths:
        check_regular_file(each)
        if each.suffix in SUFFIXES:
            yield from inspect_log.read(each, inspect=options.get("inspect") or "", **common)
        else:
            yield from lm_eval.read(each, **common)


def _groups(rows: Sequence[LoggedAnswer]) -> dict[str, dict[str, list[LoggedAnswer]]]:
    """The rows by transformation and example, the originals first; each example of a transformation
    has all of its variants, in order.
    """
    found: dict[str, dict[str, list[LoggedAnswer]]] = {ORIGINAL: {}}
    for row in rows:
        spec = ORIGINAL if row.transformation in ("", ORIGINAL) else parse(row.transformation).spec
        found.setdefault(spec, {}).setdefault(row.id, []).append(row)
    originals = found[ORIGINAL]
    reasons = {row.failure for rows in originals.values() for row in rows}
    if not originals or "" not in reasons:
        why = ", ".join(reasons) or "they are of perturbed texts alone"
        raise BadData(f"these logs hold no answer to an original text: {why}")
    twice = next((name for name, each in originals.items() if len(each) > 1), None)
    if twice is not None:
        sources = sorted({row.source for row in originals[twice]})
        raise BadData(
            f"{twice} stands {len(originals[twice])} times among the original texts "
            f"({', '.join(sources)}): name the logs of perturbed texts "
            f"({option('perturbed', 'derange=LOG')})"
        )
    tasks = sorted({row.task for rows in originals.values() for row in rows})
    if len(tasks) > 1:
        raise BadData(f"these logs are of several tasks ({', '.join(tasks)}): import each apart")
    if len(found) == 1:
        raise BadData(
            "these logs hold original texts alone: name those of perturbed ones "
            f"({option('perturbed', 'derange=LOG')})"
        )
    for spec, group in found.items():
        shared = originals.keys() & group.keys()
        if not shared:
            some = f"{next(iter(group))} and {next(iter(originals), 'none')}"
            raise BadData(
                f"no id under {spec} is that of an original text (the first are {some}); name the "
                f"column that pairs them ({option('id', 'COLUMN')})"
            )
        found[spec] = {name: _in_turn(group[name]) for name in group if name in shared}
    return found


def _in_turn(rows: list[LoggedAnswer]) -> list[LoggedAnswer]:
    """The variants of an example, in the order of their numbers where they have any."""
    return sorted(rows, key=lambda row: row.variant or 0)


def _left_over(groups: dict[str, dict[str, list[LoggedAnswer]]]) -> Iterator[str]:
    n = len(groups[ORIGINAL])
    for spec, group in groups.items():
        if len(group) < n:
            yield f"{spec}: {len(group):,} of {n:,} original texts have an answer under it"
