"""The pages of `disorder view`: runs, their examples, every perturbed version, runs side by side,
and the pages of other results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response

from disorder.errors import DisorderError
from disorder.results.conclusion import conclusion_rules
from disorder.results.render import render
from disorder.safe_io import visible
from disorder.web.compare_page import compare_page, paired_differences
from disorder.web.example_page import WORDS, example_page
from disorder.web.page_rendering import render_page, serve_static
from disorder.web.result_pages import HumanTasks, ResultPages, task_page
from disorder.web.run_library import DamagedRun, FoundRun, RunEntry, RunLibrary
from disorder.web.run_list import COLUMNS, ListFilters, conclusions_of, listed_runs
from disorder.web.run_page import run_page, run_progress
from disorder.web.sample_queries import SampleQueries
from disorder.web.server import new_app

MAX_COMPARED = 8
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; "
    "form-action 'none'; base-uri 'none'"
)
# a page from somebody else cannot lead elsewhere by itself (meta refresh)
THEIR_POLICY = f"{REPORT_POLICY}; sandbox allow-same-origin"

RunIds = Annotated[Sequence[str], Query()]


def viewer_app(root: Path) -> FastAPI:
    """The application over the run folders below `root`."""
    library = RunLibrary(root)
    queries = SampleQueries(library)
    pages = ResultPages(library)
    tasks = HumanTasks(library)
    app = new_app()
    app.state.root = library.root
    serve_static(app)

    @app.get("/")
    def list_runs(
        sort: str = "started", order: str = "desc", text: str = "", conclusion: str = ""
    ) -> Response:
        filters = ListFilters(text, conclusion)
        entries = library.all()
        return render_page(
            "runs.html",
            rows=listed_runs(entries, sort, is_descending=order == "desc", filters=filters),
            n_all=len(entries),
            results=sorted(
                [*pages.results(), *tasks.all()], key=lambda each: each.changed, reverse=True
            ),
            columns=COLUMNS,
            conclusions=conclusions_of(entries),
            filters=filters,
            sort=sort,
            order=order,
            root=str(library.root),
            is_cut=library.is_cut,
        )

    @app.get("/human/{id}")
    def human(id: str) -> Response:
        found = tasks.find(id)
        if found is None:
            raise HTTPException(404, "no such task")
        return render_page("human.html", **task_page(found))

    _add_run_pages(app, library, queries, pages)
    _add_compare_pages(app, library, queries)
    return app


def _add_run_pages(
    app: FastAPI, library: RunLibrary, queries: SampleQueries, pages: ResultPages
) -> None:
    """The pages of one run, and those on disk."""

    def explanations_of(found: FoundRun) -> str:
        """Where the explanations beside a run are, if there are any."""
        page = pages.beside(found.folder, "explain.html")
        return "" if page is None else page.link

    @app.get("/page/{id}")
    def page(id: str) -> Response:
        found = pages.known(id)
        if found is None:
            raise HTTPException(404, "no such page")
        return _report(pages.content(found), THEIR_POLICY)

    @app.get("/run/{id}")
    def run(id: str, request: Request) -> Response:
        entry = _entry(library, id)
        if isinstance(entry, DamagedRun):
            return render_page("damaged.html", entry=entry)
        form = dict(request.query_params)
        where = explanations_of(entry)
        return render_page("run.html", **run_page(library, queries, entry, form, where))

    @app.get("/conclusions")
    def conclusions() -> Response:
        return render_page("conclusions.html", rules=replace(conclusion_rules({}), is_folded=False))

    @app.get("/run/{id}/report")
    def report(id: str) -> Response:
        found = _readable(library, id)
        result = found.run.result
        links = dict.fromkeys(result.links, explanations_of(found))
        return _report(render(replace(result, links=links), "page", in_folder=True))

    @app.get("/run/{id}/run.json")
    def raw(id: str) -> Response:
        text = _readable(library, id).run.model_dump_json(indent=1)
        return Response(text.encode("utf-8", "replace"), media_type="application/json")

    @app.get("/run/{id}/progress")
    def progress(id: str) -> Response:
        return JSONResponse(run_progress(library, _readable(library, id)))

    @app.get("/run/{id}/example/{number}")
    def example(
        id: str,
        number: int,
        transformation: str = "",
        which: str = "all",
        page: int = 1,
        words: int = WORDS,
    ) -> Response:
        found = _readable(library, id)
        row = queries.example(found, number)
        if row is None:
            raise HTTPException(404, "no such example")
        values = example_page(
            queries,
            found,
            row,
            transformation=transformation,
            which=which,
            page=page,
            words=words,
        )
        return render_page("example.html", **values)


def _add_compare_pages(app: FastAPI, library: RunLibrary, queries: SampleQueries) -> None:
    """The pages of several runs."""

    def several(ids: Sequence[str]) -> list[FoundRun]:
        chosen = [_readable(library, id) for id in dict.fromkeys(ids)]
        if not 2 <= len(chosen) <= MAX_COMPARED:
            raise DisorderError(f"choose 2 to {MAX_COMPARED} runs in the list, then Compare")
        return chosen

    @app.get("/compare")
    def compare(run: RunIds = (), transformation: str = "", page: int = 1) -> Response:
        values = compare_page(queries, several(run), transformation=transformation, page=page)
        return render_page("compare.html", **values)

    @app.get("/compare/paired")
    def paired(run: RunIds = (), transformation: str = "", is_part: bool = False) -> Response:
        chosen = several(run)
        values = paired_differences(library, chosen, transformation)
        return render_page("paired.html", chosen=chosen, is_part=is_part, **values)


def _report(text: str, policy: str = REPORT_POLICY) -> Response:
    """A self-contained page, which needs no script."""
    return Response(
        text.encode("utf-8", "replace"),
        media_type="text/html; charset=utf-8",
        headers={"content-security-policy": policy},
    )


def _entry(library: RunLibrary, id: str) -> RunEntry:
    entry = library.find(id)
    if entry is None:
        raise HTTPException(404, "no such run")
    return entry


def _readable(library: RunLibrary, id: str) -> FoundRun:
    """A run that is not damaged."""
    entry = _entry(library, id)
    if isinstance(entry, DamagedRun):
        problem = visible(entry.problem)
        raise HTTPException(404, f"this run cannot be read: {problem}")
    return entry
