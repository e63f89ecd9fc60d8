"""`disorder view`: look at runs, their examples and every perturbed version of them, side by side, in
a browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response

from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL
from disorder.report import page as report_page
from disorder.report.metric_names import title_of
from disorder.report.terminal import about
from disorder.report.wording import command, left_out, main_transformation
from disorder.runs import Run
from disorder.types import Example
from disorder.web import run_views as show
from disorder.web.bump_chart import MOST_VERSIONS, bump_chart
from disorder.web.library import Found, Library
from disorder.web.pages import html, serve_static
from disorder.web.perturbed_texts import Version, rebuilt
from disorder.web.run_progress import progress
from disorder.web.sample_queries import ORDERS, PER_PAGE, Filters, Samples
from disorder.web.serving import new_app

VERSIONS = 20  # perturbed versions on a page
MOST_COMPARED = 8
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
WHICH = {
    "all": "all versions",
    "accepted": "those that get the gold label",
    "abstained": "those that do not",
}


Runs = Annotated[Sequence[str], Query()]


def viewer(root: Path) -> FastAPI:
    """The application over the run folders below `root`."""
    library = Library(root)
    samples = Samples(library)
    app = new_app()
    app.state.root = library.root
    serve_static(app)

    @app.get("/")
    def runs(sort: str = "started", order: str = "desc") -> Response:
        rows = show.listed(library.all(), sort, is_descending=order == "desc")
        return html(
            "runs.html",
            rows=rows,
            columns=show.COLUMNS_OF_LIST,
            headlines=show.HEADLINES,
            sort=sort,
            order=order,
            root=str(library.root),
            is_cut=library.is_cut,
        )

    _add_run(app, library, samples)
    _add_comparison(app, library, samples)
    return app


def _add_run(app: FastAPI, library: Library, samples: Samples) -> None:
    """The pages of one run."""

    @app.get("/run/{id}")
    def run(id: str, request: Request) -> Response:
        found = _found(library, id)
        if found.run is None:
            return html("damaged.html", found=found)
        return html("run.html", **_run_page(library, samples, found, dict(request.query_params)))

    @app.get("/run/{id}/report")
    def report(id: str) -> Response:
        run = _sound(library, id).run
        assert run is not None
        page = report_page.page(run).encode("utf-8", "replace")
        return Response(
            page,
            media_type="text/html; charset=utf-8",
            headers={"content-security-policy": REPORT_POLICY},
        )

    @app.get("/run/{id}/picture/{name}")
    def picture(id: str, name: str) -> Response:
        return Response(show.picture(_sound(library, id), name), media_type="image/svg+xml")

    @app.get("/run/{id}/progress")
    def how_far(id: str) -> Response:
        return JSONResponse(progress(library, _sound(library, id)))

    @app.get("/run/{id}/example/{number}")
    def example(
        id: str, number: int, transformation: str = "", which: str = "all", page: int = 1
    ) -> Response:
        found = _sound(library, id)
        row = samples.example(found, number)
        if row is None:
            raise HTTPException(404, "no such example")
        return html(
            "example.html", **_example_page(samples, found, row, transformation, which, page)
        )


def _add_comparison(app: FastAPI, library: Library, samples: Samples) -> None:
    """The pages of several runs."""

    def several(run: Sequence[str]) -> list[Found]:
        chosen = [_sound(library, id) for id in dict.fromkeys(run)]
        if not 2 <= len(chosen) <= MOST_COMPARED:
            raise DisorderError(f"choose 2 to {MOST_COMPARED} runs in the list, then Compare")
        return chosen

    @app.get("/compare")
    def compare(run: Runs = (), transformation: str = "", page: int = 1) -> Response:
        return html("compare.html", **_compare_page(samples, several(run), transformation, page))

    @app.get("/compare/paired")
    def paired(run: Runs = (), transformation: str = "", is_part: bool = False) -> Response:
        chosen = several(run)
        return html(
            "paired.html",
            chosen=chosen,
            is_part=is_part,
            **_paired(library, chosen, transformation),
        )


def _found(library: Library, id: str) -> Found:
    found = library.find(id)
    if found is None:
        raise HTTPException(404, "no such run")
    return found


def _sound(library: Library, id: str) -> Found:
    """A run that can be read."""
    found = _found(library, id)
    if found.run is None:
        raise HTTPException(404, f"this run cannot be read: {report_page.visible(found.problem)}")
    return found


def _run_page(
    library: Library, samples: Samples, found: Found, asked: dict[str, str]
) -> dict[str, Any]:
    run = found.run
    assert run is not None
    total, problem = 0, ""
    rows: list[dict[str, Any]] = []
    choices: list[str] = []
    try:
        choices = samples.transformations(found)
        filters = _filters(asked, run, choices)
        total, rows = samples.page(found, filters)
    except BadData as error:
        filters, problem = Filters(ORIGINAL), str(error)
    first, *rest = run.verdict.split("\n")
    return {
        "found": found,
        "run": run,
        "about": about(run),
        "verdict": first,
        "verdicts": rest,
        "tables": show.tables(run),
        "title_of": title_of,
        "meanings": show.meanings(run),
        "pictures": show.pictures(run),
        "left_out": left_out(run),
        "command": command(run),
        "progress": progress(library, found) if run.status == "started" else None,
        "choices": choices,
        "filters": filters,
        "asked": asked,
        "orders": ORDERS,
        "total": total,
        "rows": rows,
        "problem": problem,
        "damaged": samples.damaged(found),
        "pages": _pages(total, PER_PAGE),
        "per_page": PER_PAGE,
    }


def _filters(asked: dict[str, str], run: Run, choices: list[str]) -> Filters:
    """What the form asks for; a name that is not there becomes the usual one, or any."""
    others = [
        name
        for name in [main_transformation(run), *choices]
        if name in choices and name != ORIGINAL
    ]
    return Filters(
        transformation=_named(asked, "transformation", choices) or next(iter(others), ORIGINAL),
        label=_named(asked, "label", run.labels),
        whole=asked.get("whole", "") if asked.get("whole") in ("right", "wrong") else "",
        group=_named(asked, "group", run.groups),
        least=_number(asked, "least"),
        most=_number(asked, "most"),
        shortest=_whole_number(asked, "shortest"),
        longest=_whole_number(asked, "longest"),
        text=asked.get("text", "").strip(),
        order=asked.get("order", "data") if asked.get("order") in ORDERS else "data",
        page=max(1, _whole_number(asked, "page") or 1),
    )


def _named(asked: dict[str, str], name: str, known: Sequence[str]) -> str:
    """The one of some names that was asked for; pages carry them with control characters made
    visible.
    """
    wanted = asked.get(name, "")
    return next((value for value in known if wanted in (value, report_page.visible(value))), "")


def _number(asked: dict[str, str], name: str) -> float | None:
    text = asked.get(name, "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise DisorderError(f"{name}: {report_page.visible(text)!r} is no number") from None


def _whole_number(asked: dict[str, str], name: str) -> int | None:
    text = asked.get(name, "").strip()
    if text and (not text.isdecimal() or len(text) > 9):
        raise DisorderError(f"{name}: {report_page.visible(text)!r} is no whole number")
    return int(text) if text else None


def _pages(total: int, size: int) -> int:
    return max(1, -(-total // size))


def _example_page(
    samples: Samples, found: Found, row: dict[str, Any], wanted: str, which: str, page: int
) -> dict[str, Any]:
    run = found.run
    assert run is not None
    example = Example(row["id"], row["text_a"], row["text_b"], row["label"])
    choices = [name for name in samples.transformations(found) if name != ORIGINAL]
    spec = (
        wanted
        if wanted in choices
        else next((t for t in [main_transformation(run), *choices] if t in choices), "")
    )
    rows = samples.variants(found, example.id, spec) if spec else []
    whole = next(iter(samples.variants(found, example.id, ORIGINAL)), None)
    which = which if which in WHICH else "all"
    chosen = [
        r for r in rows if which == "all" or (r["label"] == example.label) == (which == "accepted")
    ]
    n_pages = _pages(len(chosen), VERSIONS)
    page = min(max(1, page), n_pages)
    shown = chosen[(page - 1) * VERSIONS : page * VERSIONS]
    versions, is_exact = rebuilt(run, spec, example, shown) if shown else ([], True)
    return {
        "found": found,
        "run": run,
        "example": example,
        "groups": row["groups"] or {},
        "number": row["file_row_number"],
        "whole": whole,
        "transformation": spec,
        "choices": choices,
        "which": which,
        "kinds": WHICH,
        "n_all": len(rows),
        "n_accepted": sum(r["label"] == example.label for r in rows),
        "versions": list(zip(shown, versions, strict=True)),
        "is_exact": is_exact,
        "charts": _charts(versions, example),
        "page": page,
        "pages": n_pages,
        "n_examples": run.n_examples,
        "n_charted": MOST_VERSIONS,
    }


def _charts(versions: list[Version], example: Example) -> list[tuple[str, dict[str, Any]]]:
    """A bump chart for each text that was perturbed."""
    charts = []
    n_sides = max((len(version.words) for version in versions), default=0)
    for side in range(n_sides):
        ways = [
            (v.variant, v.words[side]) for v in versions if v.is_changed[side] and v.words[side]
        ]
        chart = bump_chart(versions[0].original[side], ways)
        if chart:
            name = "the text" if example.text_b is None else f"text {'ab'[side]}"
            charts.append((name, chart))
    return charts


def _compare_page(samples: Samples, chosen: list[Found], wanted: str, page: int) -> dict[str, Any]:
    runs = [found.run for found in chosen if found.run is not None]
    choices = show.shared_transformations(runs)
    if not choices:
        raise DisorderError("these runs have no transformation in common")
    usual = main_transformation(runs[0])
    spec = next(name for name in (wanted, usual, choices[0]) if name in choices)
    total, rows = samples.differing(chosen, spec, max(1, page))
    return {
        "chosen": chosen,
        "runs": runs,
        "choices": choices,
        "transformation": spec,
        "total": total,
        "rows": rows,
        "page": max(1, page),
        "pages": _pages(total, PER_PAGE),
        "scores": show.side_by_side(runs, spec),
        "differences": show.differences(runs, spec),
    }


def _paired(library: Library, chosen: Sequence[Found], transformation: str) -> dict[str, Any]:
    """How the scores of runs differ, tested on the same permutations; or why that cannot be said."""
    from disorder.report.comparison import footnotes, headline, shown_p, signed

    words = {
        "signed": signed,
        "shown_p": shown_p,
        "title_of": title_of,
        "transformation": transformation,
    }
    try:
        if any(library.has_links(found) for found in chosen):
            raise DisorderError(
                "a run folder has symbolic links, which are not followed here; use disorder compare"
            )
        found = show.comparison(tuple(chosen), transformation)
    except DisorderError as error:
        return words | {
            "problem": str(error).replace(f"{library.root}/", ""),
            "pairs": [],
            "headline": "",
            "footnotes": [],
        }
    pairs = list(found.pairs)
    return words | {
        "problem": "",
        "pairs": pairs,
        "headline": headline(found),
        "footnotes": footnotes(found),
    }
