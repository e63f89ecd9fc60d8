"""Run folders of version 0.1.0 open in the viewer and in `report`, with the very texts that were
predicted.

tests/old_runs holds them as that version wrote them (without report.html): English, with marks,
line breaks and addresses in the texts; another model on the same data; Chinese; a perturbed
instruction; perturbed shots. predicted.json has the perturbed texts, or the two parts of a prompt,
as they came to the model. What `compare`, `gate` and `report --latex` give is in tests/recorded.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from asgi_request import request

from conftest import OLD_RUNS, Command
from disorder.web.access_control import AccessControl
from disorder.web.run_library import RunLibrary
from disorder.web.viewer_app import viewer_app

PREDICTED: dict[str, list[list[str]]] = json.loads(
    (OLD_RUNS / "predicted.json").read_text(encoding="utf-8")
)


def squeezed(text: str) -> str:
    """A text without white space, and without the marks around an answer in a prompt."""
    return re.sub(r"[\s␟␞]", "", text)


def shown(page: str) -> str:
    """What a page shows, squeezed; without the small numbers that say where words came from."""
    return squeezed(html.unescape(re.sub(r"<sub>.*?</sub>|<[^>]*>", "", page)))


@pytest.mark.parametrize("name", PREDICTED)
def test_the_viewer_shows_the_texts_that_were_predicted(name: str, old_runs: Path) -> None:
    viewer = AccessControl(viewer_app(old_runs))
    [id] = [entry.id for entry in RunLibrary(old_runs).all() if entry.name == name]
    run = json.loads((old_runs / name / "run.json").read_text(encoding="utf-8"))
    assert request(viewer, f"/run/{id}").status == 200
    pages = []
    for number in range(run["n_examples"]):
        for spec in run["transformations"]:
            response = request(viewer, f"/run/{id}/example/{number}?transformation={spec}")
            assert response.status == 200
            pages.append(shown(response.text.partition("Perturbed versions")[2]))
    for parts in PREDICTED[name]:
        assert any(all(squeezed(part) in page for part in parts) for page in pages), parts


@pytest.mark.parametrize("name", PREDICTED)
def test_the_report_shows_texts_that_were_predicted(
    name: str, old_runs: Path, command: Command
) -> None:
    code, printed, told = command("report", old_runs / name)
    assert code == 0, told
    run = json.loads((old_runs / name / "run.json").read_text(encoding="utf-8"))
    found = run["conclusion"]
    told = run["verdict"][:40] if found is None else found["because"].split("[")[0][1:]
    assert (f"{found['value']:.2f} [" if found and found["value"] is not None else told) in printed
    page = shown((old_runs / name / "report.html").read_text(encoding="utf-8"))
    predicted = [[squeezed(part) for part in parts] for parts in PREDICTED[name]]
    on_page = [parts for parts in predicted if all(part in page for part in parts)]
    chosen = [variant for entry in run["telling"] for variant in entry["variants"]]
    assert chosen
    for variant in chosen:
        assert [squeezed("".join(word for word, _ in text)) for text in variant["texts"]] in on_page


def test_the_viewer_sets_old_runs_side_by_side(old_runs: Path) -> None:
    ids = {entry.name: entry.id for entry in RunLibrary(old_runs).all()}
    viewer = AccessControl(viewer_app(old_runs))
    page = request(viewer, f"/compare?run={ids['english']}&run={ids['english-other']}")
    assert page.status == 200
    assert "reads_some_order" in page.text
