"""`disorder explain`: the command that shows what a model relies on instead of order."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from disorder.cli import options as o
from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import print_json, show
from disorder.requests.explain import ExplainOptions, ExplainOutput

if TYPE_CHECKING:
    from disorder.verbs.explain import Explanations


def explain(
    model: o.Model = "builtin",
    data: o.Data = None,
    *,
    options: ExplainOptions,
    output: ExplainOutput,
) -> None:
    """Which words does MODEL use when it predicts DATA, and how local is the order it uses?

    Without --by: an overview in one picture. Other explanations (words, heads, minimal pairs, the
    papers' figures) are made when named, each with the data behind its figures. Names and settings:
    disorder list explanations.
    """
    from disorder.cli.progress import Bar
    from disorder.store.store import UNFINISHED
    from disorder.verbs import explain as verb
    from disorder.verbs.run_inputs import run_named

    figure, csv, out = (
        None if path is None else Path(path)
        for path in (output["figure"], output["csv"], output["out"])
    )
    if figure:
        verb.check_format(figure)
    is_folder_wanted = out is not None or not (figure or csv or output["as_json"])
    folder = None
    if is_folder_wanted:
        is_run = data is None and run_named(model) is not None
        folder = out or (Path(model) if is_run else new_folder(model, data or "builtin"))
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(resumable(folder, UNFINISHED))
        bar = stack.enter_context(Bar())
        found = verb.explain(
            model,
            data or "builtin",
            beside=output["beside"],
            out=folder,
            progress=bar,
            **options,
        )
    written = _write(found, figure, csv, folder)
    if output["as_json"]:
        print_json(found.result.as_data())
    else:
        show(found.result, [f"Written: {path}" for path in written])


def _write(
    found: Explanations, figure: Path | None, csv: Path | None, folder: Path | None
) -> list[Path]:
    """Write single files where they are wanted; gives the paths to show."""
    from disorder.verbs import explain as verb

    written = []
    if figure:
        written += verb.write_figures(figure, found)
    if csv:
        written += verb.write_csvs(csv, found)
    if folder is not None:
        written.append(folder / "explain.html")
    return written
