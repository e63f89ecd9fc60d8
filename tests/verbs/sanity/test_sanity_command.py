"""The command `disorder sanity`: a folder with page, JSON and card; one line for a mistake."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from disorder.results.result import Section
from disorder.types import Score
from disorder.verbs.sanity import CheckResult, Sanity, Verdict, checking
from disorder.verbs.sanity.result import card

pytest.importorskip("sklearn", reason="needs scikit-learn")

Command = Callable[..., tuple[int, str, str]]
NOUNS = "tree lake road bird roof lamp coat shoe boat wall gate hill"
WORDS = NOUNS.split()


@pytest.fixture
def data(jsonl: Callable[..., Path]) -> Path:
    rows = []
    for i in range(240):
        a, b = WORDS[i % 12], WORDS[(i * 7 + i // 12) % 12]
        mark = "<script>alert(1)</script>" if i == 0 else ""
        second = f"it {'is' if i % 2 else 'was'} by the {b} now"
        rows.append(
            {
                "id": f"e{i}",
                "text_a": f"the {a} and the {b} {mark}",
                "text_b": second,
                "label": f"la|bel `{i % 2}`",
            }
        )
    return jsonl(rows)


def test_it_writes_a_folder(run: Command, data: Path, tmp_path: Path) -> None:
    checks = [
        word for name in ("order", "texts", "words", "duplicates") for word in ("--check", name)
    ]
    code, out, _ = run("sanity", data, *checks, "--out", "o")
    assert code == 0
    assert "Report: o/report.html" in out
    assert "both texts" in out
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"https?:", page)
    found = json.loads((tmp_path / "o" / "result.json").read_text(encoding="utf-8"))
    assert found["settings"]["margin"] == 0.05
    assert {score["design"] for score in found["scores"]} == {
        "corrupt-both",
        "corrupt-test",
        "corrupt-train",
    }
    for score in found["scores"]:
        assert score["low"] <= score["value"] <= score["high"]
        assert score["n"] > 0
    with (tmp_path / "o" / "order_cost.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 9
    assert (tmp_path / "o" / "order_cost.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_card_can_be_pasted(run: Command, data: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    run("sanity", data, "--check", "texts", "--check", "words", "--out", "o")
    card = (tmp_path / "o" / "card.md").read_text(encoding="utf-8")
    _, front, body = card.split("---\n", 2)
    entry = yaml.safe_load(front)["disorder_sanity"]
    assert entry["verdicts"][0]["question"] == "both texts"
    assert (
        entry["verdicts"][0]["low"] <= entry["verdicts"][0]["value"] <= entry["verdicts"][0]["high"]
    )
    table = [line for line in body.splitlines() if line.startswith("| ")]
    assert all(
        len(re.findall(r"(?<!\\)\|", line)) == 4 for line in table
    )  # no label leaves its cell
    assert "disorder sanity" in body


def test_json_is_all_that_is_printed(run: Command, data: Path) -> None:
    code, out, _ = run("sanity", data, "--check", "duplicates", "--json")
    assert code == 0
    assert json.loads(out)["verdicts"][0]["question"] == "duplicates"


def test_the_command_on_the_page_repeats_the_run(run: Command, data: Path, tmp_path: Path) -> None:
    run("sanity", data, "--check", "words", "--margin", "0.1", "--seed", "4", "--out", "o")
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert f"disorder sanity {data} --margin 0.1 --seed 4 --check words" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["builtin", "--margin", "2"], "--margin 2.0 does not work"),
        (["builtin", "--check", "odrer"], "did you mean 'order'?"),
        (["builtin", "--limit", "0"], "--limit 0 does not work"),
        (["builtin", "--train-limit", "0"], "--train-limit 0 does not work"),
        (["builtin", "--folds", "1"], "--folds 1 does not work"),
        (["builtin", "--model", "bilstn"], "did you mean 'bilstm'?"),
        (
            ["builtin", "--set", "epochs=7"],
            "--settings epochs=7 does not work; need a --model that is trained with it",
        ),
        (["builtin", "--device", "cpu"], "--device cpu does not work"),
    ],
)
def test_mistakes_are_one_line(run: Command, arguments: list[str], message: str) -> None:
    code, out, err = run("sanity", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_folder_that_cannot_be_made_is_an_error_before_data_is_read(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*arguments: object, **settings: object) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr(checking, "read_rows", work)
    (tmp_path / "taken").write_text("a file")
    code, _, err = run("sanity", data, "--out", "taken")
    assert code == 2
    assert "--out taken cannot be made" in err


def test_a_mistake_leaves_no_folder(run: Command, tmp_path: Path) -> None:
    assert run("sanity", "builtin", "--check", "odrer", "--out", "a/b")[0] == 2
    assert not (tmp_path / "a").exists()


def test_nothing_of_an_earlier_request_stays_beside_a_new_page(
    run: Command, data: Path, tmp_path: Path
) -> None:
    run("sanity", data, "--check", "texts", "--out", "o")
    assert (tmp_path / "o" / "texts_cost.svg").exists()
    (tmp_path / "o" / "mine.csv").write_text("kept")
    run("sanity", data, "--check", "duplicates", "--out", "o")
    assert {path.name for path in (tmp_path / "o").iterdir()} >= {
        "mine.csv",
        "duplicates.csv",
        "report.html",
    }
    assert not list((tmp_path / "o").glob("texts_cost.*"))


@pytest.mark.parametrize(
    "group", ["kind=\x7fa", "kind=a\x85b", "kind=\U0001f600", "kind=\ufffe", "kind=a\u2028b"]
)
def test_no_name_breaks_the_card(group: str) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    original = Score(0.8, 0.7, 0.9, 10)
    verdict = Verdict("order", "needed", "why", None, group, original)
    section = Section("order", "", "", CheckResult([verdict]))
    result = Sanity(
        group,
        "",
        "",
        group,
        {},
        [],
        0.5,
        "m",
        {"margin": 0.05, "seed": 0, "role": "benchmark"},
        {"data": "x"},
        "1",
        [section],
    )
    entry = yaml.safe_load(card(result).split("---\n")[1])["disorder_sanity"]
    assert (entry["data"], entry["model"], entry["verdicts"][0]["group"]) == (group, group, group)
    assert entry["verdicts"][0]["original"] == {"value": 0.8, "low": 0.7, "high": 0.9, "n": 10}


def test_bad_inputs_run_what_can_be_done(run: Command, jsonl: Callable[..., Path]) -> None:
    path = jsonl([{"text_a": f"row {i}", "label": "x"} for i in range(10)])
    code, out, _ = run("sanity", path, "--out", "o")
    assert code == 0
    assert re.search(r"texts +not done +there is no second text", out)
    assert "every row has the label 'x'" in out
    assert "duplicates" in out


def test_another_model_can_be_trained(run: Command, data: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    code, out, _ = run(
        "sanity",
        data,
        "--check",
        "texts",
        "--model",
        "bow",
        "--set",
        "epochs=2",
        "--folds",
        "2",
        "--json",
    )
    assert code == 0
    assert json.loads(out)["model"] == "bow"


def test_nothing_to_check_is_one_line(
    run: Command, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{"text_a": f"a cat saw number {i} today", "label": "same"} for i in range(60)]
    checks = ["--check", "order", "--check", "texts", "--check", "classes"]
    code, out, err = run("sanity", jsonl(rows), *checks, "--out", "found")
    assert (code, out) == (2, "")
    line = err.strip().splitlines()[-1]  # progress stands above it
    assert "nothing could be checked (order, classes: every row has the label 'same'" in line
    assert "texts: there is no second text" in line
    assert not (tmp_path / "found").exists()
