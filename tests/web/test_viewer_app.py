"""The pages of the viewer: all are served, and what users wrote is shown as text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from asgi_request import request

import disorder
from conftest import pairs
from disorder.web.access_control import AccessControl
from disorder.web.run_library import RunLibrary
from disorder.web.viewer_app import viewer_app

HOSTILE = [
    "<img src=x onerror=alert(1)> one two three",
    "</script><script>alert(1)</script> one two three",
    "\x1b[31mred\x1b[0m \x00 one two three",
    "abc \u202edef\u202c ghi \u2066 jkl mno",
    "'; drop table x; -- {{ 7 * 7 }} {% raw %} one",
    '" onmouseover="alert(1) one two three',
]
EVIL = re.compile(
    r"<img src=x|<script>alert|onmouseover=\"alert|[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]"
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("pages")
    for name in ("uniform", "always:neutral"):
        disorder.audit(
            name,
            pairs(40),
            q=6,
            with_=["derange", "reverse"],
            cache="off",
            out=folder / name[:3],
        )
    rows = [
        {
            "id": f"{text}{i}",
            "text_a": text,
            "text_b": text[::-1],
            "label": "<b>yes" if i % 2 else "no",
            "<i>": text[:9],
        }
        for i, text in enumerate(HOSTILE * 3)
    ]
    hostile = disorder.audit(
        "uniform",
        rows,
        q=3,
        with_=["derange"],
        group_by=["<i>"],
        cache="off",
        out=folder / "<u>\u202ehostile",
    )
    assert hostile.n_examples == 18
    ids = {entry.name: entry.id for entry in RunLibrary(folder).all()}
    return AccessControl(viewer_app(folder)), ids


def test_every_page_is_served_and_shows_hostile_text_as_text(app: Any) -> None:
    viewer, ids = app
    hostile = ids["<u>\u202ehostile"]
    targets = [
        "/",
        f"/run/{hostile}",
        f"/run/{hostile}/report",
        f"/compare?run={ids['uni']}&run={ids['alw']}",
        "/conclusions",
    ]
    targets += [f"/run/{hostile}/example/{i}" for i in range(6)]
    for target in targets:
        response = request(viewer, target)
        assert response.status == 200, response.text
        assert not EVIL.search(response.text.replace("\n", "")), target
    assert 'href="/conclusions"' in request(viewer, "/").text
    assert 'href="#conclusions"' in request(viewer, f"/run/{ids['uni']}").text
    assert "reads word order" in request(viewer, "/conclusions").text
    page = request(viewer, f"/run/{hostile}").text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "⟨U+202E⟩" in page
    assert "␛[31mred" in page


@pytest.mark.parametrize(
    "value", ["<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "\x1b[2J", "\u202e"]
)
def test_values_of_a_query_are_shown_as_text(app: Any, value: str) -> None:
    viewer, ids = app
    for name in ("text", "label", "group", "transformation", "least", "page", "order", "original"):
        response = request(viewer, f"/run/{ids['uni']}?{name}={quote(value)}")
        assert response.status in (200, 400)
        page = response.text.replace("\n", "")
        if name == "text":  # the box holds what was typed, as the value of an attribute
            page = page.replace("\u202e", "").replace("\x1b", "")
        assert response.headers["content-type"].startswith("text/plain") or not EVIL.search(page)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/run/000000000000", 404),
        ("/run/..", 403),
        ("/run/%2e%2e%2fetc", 403),
        ("/run/UNI/picture/x", 404),
        ("/run/UNI/example/99999", 404),
        ("/run/UNI/example/-1", 404),
        ("/run/UNI/example/x", 422),
        ("/compare?run=UNI", 400),
        ("/compare?run=UNI&run=x", 404),
        ("/run/UNI?least=abc", 400),
        ("/run/UNI?page=-1", 400),
        ("/run/UNI?page=9999", 200),
        ("/run/UNI?page=99999999999999999999", 400),
        ("/?sort=nothing", 400),
        ("/run/UNI?least=nan", 200),
        ("/static/../viewer_app.py", 403),
        ("/static/viewer_app.py", 404),
        ("/docs", 404),
    ],
)
def test_what_is_missing_or_wrong_is_a_plain_message(app: Any, target: str, status: int) -> None:
    viewer, ids = app
    response = request(viewer, target.replace("UNI", ids["uni"]))
    assert response.status == status
    kind = "text/html" if status == 200 else "text/plain"
    assert response.headers["content-type"].startswith(kind)


def test_the_list_is_sorted_by_the_chosen_column(app: Any) -> None:
    viewer, ids = app
    by_name = {id: name for name, id in ids.items()}

    def order(target: str) -> list[str]:
        return [
            by_name[id]
            for id in re.findall(r'href="/run/([0-9a-f]{12})"', request(viewer, target).text)
        ]

    assert order("/?sort=model&order=asc")[0] == "alw"
    assert order("/?sort=model&order=asc") != order("/?sort=model&order=desc")
    up, down = (order(f"/?sort=accuracy&order={way}") for way in ("asc", "desc"))
    assert sorted(up) == sorted(down) == sorted(ids)
    assert up == down[::-1]
    assert set(order("/?sort=kept&order=desc")) == set(ids)  # without a value, but there


def test_the_list_is_filtered(app: Any) -> None:
    viewer, ids = app
    page = request(viewer, "/?text=always%20data").text
    assert f'href="/run/{ids["alw"]}"' in page
    assert f'href="/run/{ids["uni"]}"' not in page
    assert "1 of 3 shown" in page
    assert "No run passes the filters" in request(viewer, "/?text=nothing-like-it").text
    page = request(viewer, "/?conclusion=one+answer+for+every+text").text
    assert f'href="/run/{ids["alw"]}"' in page
    assert f'href="/run/{ids["uni"]}"' not in page


def test_other_results_are_listed_and_open_with_links_that_work(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    disorder.audit("uniform", pairs(30), q=2, with_="derange", cache="off", out=folder / "run")
    disorder.explain("uniform", pairs(30), by="omega_curve", q=2, out=folder / "run")
    disorder.sanity(pairs(30), check="duplicates", out=folder / "sanity")
    (folder / "other.html").write_text("<title>another page</title>", encoding="utf-8")
    (folder / "link.html").symlink_to(tmp_path.parent)
    viewer = AccessControl(viewer_app(folder))
    listed = request(viewer, "/").text
    found = re.findall(r'href="/page/([0-9a-f]{12})">(.+?)</a>', listed)
    assert len(found) == 2
    assert ">explanation<" in listed
    assert ">sanity<" in listed
    assert "another page" not in listed
    for id, _ in found:
        page = request(viewer, f"/page/{id}")
        assert page.status == 200
        assert "script-src" not in page.headers["content-security-policy"]
        assert "; sandbox " in page.headers["content-security-policy"], "no meta refresh"
        targets = re.findall(r'href="(/[^"]+)"', page.text)
        assert not re.search(r'href="[^/#"h]', page.text), "no relative link"
        for target in targets:
            assert request(viewer, target).status == 200
    (run,) = RunLibrary(folder).all()
    report = request(viewer, f"/run/{run.id}/report").text
    (explained,) = re.findall(r'href="(/page/[0-9a-f]{12})"', report)
    assert "disorder explain" in request(viewer, explained).text
    assert request(viewer, "/page/000000000000").status == 404


def test_tasks_for_people_are_listed_and_show_scores_but_no_item_and_no_link(
    tmp_path: Path,
) -> None:
    from disorder.verbs import human
    from disorder.verbs.human.task_folder import read_annotators, read_items

    task = tmp_path / "runs" / "<task>"
    human.make("builtin", task, n=6, with_=["derange"], annotators=["ann", "bob"])
    viewer = AccessControl(viewer_app(tmp_path / "runs"))

    def opened() -> str:
        listed = request(viewer, "/").text
        assert ">human task<" in listed
        (address,) = re.findall(r'href="(/human/[0-9a-f]{12})">6 items of builtin</a>', listed)
        page = request(viewer, address)
        assert page.status == 200
        return page.text

    assert "no answers yet" in opened()
    items = read_items(task)
    answers = [f"{each.item},{name},neutral" for each in items for name in ("ann", "bob")]
    answered = tmp_path / "answers.csv"
    answered.write_text("\n".join(["item,annotator,answer", *answers]), encoding="utf-8")
    human.import_answers(task, answered)
    page = opened()
    assert ">all 2<" in page
    assert "&lt;task&gt;" in page
    hidden = [each.text_a for each in items] + [each.token for each in read_annotators(task)]
    assert not any(text in page for text in hidden)
    assert request(viewer, "/human/000000000000").status == 404
    (task / "key.jsonl").rename(tmp_path / "key.jsonl")
    (task / "key.jsonl").symlink_to(tmp_path / "key.jsonl")
    assert ">human task<" not in request(AccessControl(viewer_app(tmp_path / "runs")), "/").text


def test_charts_and_styles_are_served_by_the_viewer(app: Any) -> None:
    viewer, ids = app
    raw = request(viewer, f"/run/{ids['uni']}/run.json")
    assert raw.headers["content-type"] == "application/json"
    assert json.loads(raw.text)["model"] == "uniform"
    for name in ("result.css", "style.css", "view.js"):
        assert request(viewer, f"/static/{name}").status == 200
    page = request(viewer, f"/run/{ids['uni']}").text
    assert not re.findall(r'(?:src|href)="(?!/|#|data:|\?)[^"]*"', page)
    assert "style=" not in page, "the policy forbids inline style"
    report = request(viewer, f"/run/{ids['uni']}/report").text
    content = report[report.index("<h1") : report.index("</main>")].strip()
    assert content in page, "the report itself, with its pictures"
    assert "<svg" in content


def test_the_paired_differences_are_those_of_compare(app: Any) -> None:
    viewer, ids = app
    page = request(
        viewer, f"/compare/paired?run={ids['uni']}&run={ids['alw']}&transformation=derange"
    ).text
    folder = viewer.app.state.root
    found = disorder.compare(folder / "uni", folder / "alw", with_=["derange"])
    assert len(found.differences) > 5
    for difference in found.differences:
        assert (
            f"{difference.difference:+.3f}".replace("-", "−") in page
            or round(difference.difference, 3) == 0
        )
    part = request(
        viewer,
        f"/compare/paired?run={ids['uni']}&run={ids['alw']}&transformation=derange&is_part=true",
    ).text
    assert "<html" not in part
    hostile = ids["<u>\u202ehostile"]
    incomparable = request(
        viewer,
        f"/compare/paired?run={ids['uni']}&run={hostile}&transformation=derange",
    )
    assert "cannot be compared" in incomparable.text


def test_a_run_of_numbers_has_its_pages(tmp_path: Path) -> None:
    texts = [(f"one two three four {i}", "five six seven eight nine ten") for i in range(20)]
    rows = [
        {"id": str(i), "text_a": a, "text_b": b, "label": f"{i / 4}"}
        for i, (a, b) in enumerate(texts)
    ]

    def similar(texts: Sequence[Any]) -> Any:
        return np.array([[float(len(a) % 7)] for a, _ in texts])

    disorder.audit(similar, rows, q=3, with_=["derange"], cache="off", out=tmp_path / "run")
    viewer = AccessControl(viewer_app(tmp_path))
    id = RunLibrary(tmp_path).all()[0].id
    for target in ("/", f"/run/{id}", f"/run/{id}/example/3"):
        assert request(viewer, target).status == 200, target
    assert "mean shift" in request(viewer, f"/run/{id}").text


def _example(folder: Path, number: int) -> str:
    """The page of an example of the only run of a folder, as its text."""
    [entry] = RunLibrary(folder).all()
    page = request(AccessControl(viewer_app(folder)), f"/run/{entry.id}/example/{number}")
    assert page.status == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def test_options_in_another_order_are_shown_as_a_list(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(i),
            "question": "Who <b> barks ?",
            "options": ["cat", "dog", "fish"],
            "answer": "B",
        }
        for i in range(6)
    ]
    disorder.audit("uniform", rows, on="options", q=5, cache="off", out=tmp_path / "run")
    text = _example(tmp_path, 2)
    assert "question: Who &lt;b&gt; barks ? options: cat dog fish" in text
    assert re.search(r"(dog was B cat was A fish|cat fish was C dog was B)", text)
    assert "Where the options go" in text
    assert "Words that moved are underlined" not in text


def test_the_two_texts_of_a_pair_have_their_names(tmp_path: Path) -> None:
    rows = [
        {"good": f"the dog {i} sees it now", "bad": f"the dog {i} see it now"} for i in range(6)
    ]
    disorder.audit("uniform", rows, with_="reverse", q=1, cache="off", out=tmp_path / "run")
    assert "good: the dog 0 sees it now bad: the dog 0 see it now" in _example(tmp_path, 0)


def test_a_run_that_has_just_started_has_its_page(tmp_path: Path) -> None:
    given = {"q": 3, "with_": ["derange"], "fidelity": "paper", "cache": "off"}
    disorder.audit("uniform", pairs(5), out=tmp_path / "run", **given)
    path = tmp_path / "run" / "result.json"
    path.write_text(path.read_text().replace('"status": "done"', '"status": "started"'))
    for name in ("01-derange-00000.parquet", "00-original-00000.parquet", "journal.jsonl"):
        (tmp_path / "run" / "samples" / name).unlink()
        page = request(
            AccessControl(viewer_app(tmp_path)), f"/run/{RunLibrary(tmp_path).all()[0].id}"
        )
        assert page.status == 200
        assert "Running" in page.text
    assert "there are no samples yet" in page.text


def test_confidence_is_hidden_only_of_a_model_that_gives_labels(tmp_path: Path) -> None:
    rows = [{**row, "part": "ab"[i % 2]} for i, row in enumerate(pairs(6))]

    def certain_of_a_part(texts: list[Any]) -> list[list[float]]:
        return [[0.7, 0.2, 0.1] if re.search(r"b[135]\b", b) else [1, 0, 0] for _, b in texts]

    def labels(texts: list[Any]) -> list[str]:
        return ["neutral"] * len(texts)

    for model in (certain_of_a_part, labels):
        out = tmp_path / model.__name__
        disorder.audit(model, rows, q=1, with_="sort", group_by="part", cache="off", out=out)
    viewer = AccessControl(viewer_app(tmp_path))
    for entry in RunLibrary(tmp_path).all():
        shown = re.findall(
            r">(?:right|wrong), (\d\.\d\d)<", request(viewer, f"/run/{entry.id}").text
        )
        assert sorted(set(shown)) == ([] if entry.name == "labels" else ["0.70", "1.00"])
