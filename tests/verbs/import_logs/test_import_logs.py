"""Logs of other tools become runs: real ones, made by lm-eval 0.4.13 and inspect_ai 0.3.285 from
tasks that `disorder perturb sst2 --with derange --q 2 --limit 24` wrote.

lm-eval asked SmolLM2-135M-Instruct, inspect_ai a server whose model knows every bag of words.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command
from disorder.errors import DisorderError

HERE = Path(__file__).parent
LM_EVAL = HERE / "lm-eval"
INSPECT = HERE / "inspect"
N = 24
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(name: str) -> list[dict[str, Any]]:
    [path] = LM_EVAL.glob(f"samples_*_{name}_*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_accuracies_are_those_of_lm_eval() -> None:
    run = disorder.import_logs(LM_EVAL)
    [path] = LM_EVAL.glob("results_*.json")
    theirs = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert run.n_examples == N
    assert run.has_probabilities
    for name in ("original", "derange"):
        expected = theirs[f"disorder_sst2_dev_{name}"]["acc,none"]
        assert run[name, "accuracy"].value == pytest.approx(expected, abs=1e-6)


def test_accuracies_are_those_of_inspect_and_the_bag_of_words_is_found() -> None:
    run = disorder.import_logs(INSPECT)
    for path in INSPECT.glob("*.json"):
        log = json.loads(path.read_text(encoding="utf-8"))
        [score] = log["results"]["scores"]
        name = log["eval"]["task"].rpartition("_")[2]
        assert run[name, "accuracy"].value == score["metrics"]["accuracy"]["value"]
    assert not run.has_probabilities
    assert run["derange", "skill_kept"].value == pytest.approx(1)


def test_logs_of_two_tools_are_compared_pair_by_pair(tmp_path: Path, run: Command) -> None:
    one, other = tmp_path / "smollm2", tmp_path / "bag"
    assert run("import", LM_EVAL, "--out", one)[0] == 0
    assert run("import", INSPECT, "--out", other)[0] == 0
    found = disorder.compare(one, other, metrics=["accuracy"])
    [difference] = [each for each in found.differences if each.transformation == "original"]
    assert difference.n == N
    assert difference.difference == pytest.approx(1 - 0.625)
    assert difference.low > 0
    code, out, _ = run("gate", other, "--fail-if", "derange:accuracy < 0.5")
    assert code == 0
    assert "derange:accuracy" in out
    code, out, _ = run("plan", other, "--width", "0.2")
    assert code == 0
    assert "pilot of 24 examples with 2 permutations" in out


def test_nothing_is_claimed_of_a_model_that_is_not_here(tmp_path: Path, run: Command) -> None:
    code, out, _ = run("import", INSPECT, "--out", tmp_path / "run")
    assert code == 0
    assert "disorder explain" not in out
    assert "disorder sanity" not in out
    found = disorder.read_run(tmp_path / "run")
    assert found.n_predictions == 0
    assert found.noise_floor == []


def test_foreign_logs_are_paired_by_id(tmp_path: Path) -> None:
    """Rows that say nothing of a perturbation, as of an evaluation that people already have."""
    logs = {}
    for name in ("original", "derange"):
        rows = rows_of(name)
        if name == "derange":
            rows = [row for row in rows if row["doc"]["variant"] == 0]
        for row in rows:
            row["doc"] = {"key": row["doc"]["id"]}
        logs[name] = written(tmp_path / f"{name}.jsonl", rows)
    run = disorder.import_logs(
        logs["original"], perturbed={"derange": str(logs["derange"])}, id="key"
    )
    right = [float(row["acc"]) for row in rows_of("derange") if row["doc"]["variant"] == 0]
    assert run["derange", "accuracy"].value == pytest.approx(sum(right) / N)
    # by their places in the file they are other examples, and that is found out
    for name, path in logs.items():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if name == "derange":
            for row in rows:
                row["doc_id"] = (row["doc_id"] // 2 + 1) % N
        written(path, rows)
    with pytest.raises(DisorderError, match="do not hold the words of their originals"):
        disorder.import_logs(logs["original"], perturbed={"derange": str(logs["derange"])})


def question(number: int, text: str, score: float, **more: Any) -> dict[str, Any]:
    """An open answer as lm-eval logs it."""
    return {
        "doc_id": number,
        "doc": {},
        "target": f"answer {number}",
        "arguments": {"gen_args_0": {"arg_0": f"Question: {text}\nAnswer:", "arg_1": {}}},
        "filtered_resps": ["something"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": score,
    } | more


def test_open_answers_keep_the_grades_of_the_log(tmp_path: Path) -> None:
    texts = [f"who built the house number {i} in town" for i in range(20)]
    originals = [question(i, text, float(i % 4 > 0)) for i, text in enumerate(texts)]
    moved = [
        question(i, " ".join(reversed(text.split())), float(i % 4 > 2))
        for i, text in enumerate(texts)
    ]
    run = disorder.import_logs(
        written(tmp_path / "plain.jsonl", originals),
        perturbed={"reverse": str(written(tmp_path / "moved.jsonl", moved))},
    )
    assert run.kind == "text"
    assert run["original", "accuracy"].value == pytest.approx(0.75)
    assert run["reverse", "accuracy"].value == pytest.approx(0.25)
    assert run["reverse", "skill_kept"].value == pytest.approx(1 / 3)


def test_options_of_each_question_become_multiple_choice(tmp_path: Path) -> None:
    def asked(number: int, text: str, likelihoods: list[float]) -> dict[str, Any]:
        arguments = {
            f"gen_args_{i}": {
                "arg_0": f"Question: {text}\nAnswer:",
                "arg_1": f" thing {number} {i}",
            }
            for i in range(3)
        }
        return question(number, text, 0.0) | {
            "target": "1",
            "arguments": arguments,
            "filtered_resps": [[str(value), "False"] for value in likelihoods],
        }

    texts = [f"what is the use of part {i} of it" for i in range(12)]
    originals = [asked(i, text, [-2.0, -1.0, -3.0]) for i, text in enumerate(texts)]
    moved = [
        asked(i, " ".join(reversed(text.split())), [-2.0 if i % 2 else -0.5, -1.0, -3.0])
        for i, text in enumerate(texts)
    ]
    run = disorder.import_logs(
        written(tmp_path / "plain.jsonl", originals),
        perturbed={"reverse": str(written(tmp_path / "moved.jsonl", moved))},
    )
    assert run.kind == "choice"
    assert run.chance == pytest.approx(1 / 3)
    assert run["original", "accuracy"].value == 1
    assert run["reverse", "accuracy"].value == 0.5


def test_a_log_is_named_by_a_spec_with_settings(tmp_path: Path, run: Command) -> None:
    """The command line, where a spec holds an equals sign of its own."""
    plain = written(tmp_path / "plain.jsonl", rows_of("original"))
    rows = [{**row, "doc": {**row["doc"], "transformation": ""}} for row in rows_of("derange")]
    moved = written(tmp_path / "moved.jsonl", rows)
    given = ("--perturbed", f"shuffle_ngrams:n=2={moved}", "--out", tmp_path / "run")
    code, _, err = run("import", plain, *given)
    assert code == 0, err
    again = disorder.read_run(tmp_path / "run")
    assert again["shuffle_ngrams:n=2", "accuracy"].n


def mixed_models(folder: Path) -> None:
    shutil.copytree(LM_EVAL, folder / "one")
    shutil.copytree(LM_EVAL, folder / "two")
    [results] = (folder / "two").glob("results_*.json")
    results.write_text('{"config": {"model_args": "pretrained=other"}}', encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: (folder / "a.txt").write_text(""), "has no samples_"),
        (lambda folder: (folder / "samples_x.jsonl").write_text("[\n"), "line 1: broken JSON"),
        (lambda folder: (folder / "samples_x.jsonl").write_text("{}\n"), "no row of lm-eval"),
        (lambda folder: (folder / "log.json").write_text("[1]"), "no log of inspect_ai"),
        (lambda folder: written(folder / "samples_x.jsonl", rows_of("original")), "alone"),
        (
            lambda folder: written(folder / "samples_x.jsonl", rows_of("derange")),
            "of perturbed texts alone",
        ),
        (mixed_models, "several models"),
        pytest.param(
            lambda folder: os.mkfifo(folder / "samples_x.jsonl"),
            "is not a regular file",
            marks=PIPES,
        ),
        pytest.param(
            lambda folder: os.mkfifo(folder / "log.json"), "is not a regular file", marks=PIPES
        ),
        (lambda folder: (folder / "samples_x.jsonl").write_bytes(b'{"a": "\xe9"}'), "not UTF-8"),
        (
            lambda folder: written(
                folder / "samples_x.jsonl",
                [row | {"filtered_resps": {"a": 1}} for row in rows_of("original")],
            ),
            "filtered_resps is no list",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line(
    make: Any, message: str, tmp_path: Path, run: Command
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    make(folder)
    code, out, err = run("import", folder, "--out", tmp_path / "run")
    assert code == 2, out
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_an_import_that_was_stopped_is_begun_again(tmp_path: Path) -> None:
    """And nothing else that lies there is written over."""
    out = tmp_path / "run"
    whole = disorder.import_logs(LM_EVAL, out=out)
    with pytest.raises(DisorderError, match="is not empty"):
        disorder.import_logs(LM_EVAL, out=out)
    for name in ("run.json", "result.json"):
        raw = json.loads((out / name).read_text(encoding="utf-8"))
        (out / name).write_text(json.dumps(raw | {"status": "started"}), encoding="utf-8")
    assert disorder.import_logs(LM_EVAL, out=out).scores == whole.scores
    assert disorder.read_run(out).status == "done"


HOSTILE: dict[str, dict[str, Any]] = {
    "inspect": {
        "input": [{"content": 1}],
        "choices": 1,
    },
    "lm-eval": {
        "filtered_resps": [[10**400], {"a": 1}],
        "metrics": [["acc"]],
        "arguments": [[["a"], "b"], [["a"], "c"]],
        "target": float("inf"),
    },
}


@pytest.mark.parametrize(
    ("tool", "name"), [(tool, name) for tool, changes in HOSTILE.items() for name in changes]
)
def test_a_value_of_another_kind_is_read_over_or_one_line(
    tool: str, name: str, tmp_path: Path
) -> None:
    """Each ended an import with a traceback."""
    value = HOSTILE[tool][name]
    if tool == "inspect":
        path = tmp_path / "log.json"
        log = json.loads(next(INSPECT.glob("*.json")).read_text(encoding="utf-8"))
        log["samples"][0][name] = value
        path.write_text(json.dumps(log), encoding="utf-8")
    else:
        first, *others = rows_of("original")
        is_open = {"arguments": [["a", "b"]]} if name == "metrics" else {}
        hostile = first | is_open | {name: value}
        path = written(tmp_path / "samples_x.jsonl", [hostile, *others])
    with pytest.raises(DisorderError) as told:
        disorder.import_logs(path)
    assert len(str(told.value).splitlines()) == 1


def test_more_options_than_letters_are_one_line(tmp_path: Path) -> None:
    log = json.loads(next(INSPECT.glob("*.json")).read_text(encoding="utf-8"))
    for i, sample in enumerate(log["samples"]):
        sample |= {"choices": [f"{i} {k}" for k in range(30)], "target": f"{i} 29"}
        sample["metadata"] = {}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(DisorderError, match="30 options; 26 are the most"):
        disorder.import_logs(path, perturbed={"derange": str(path)})


def test_questions_with_and_without_options_are_one_line(tmp_path: Path) -> None:
    first, *others = rows_of("original")
    single = first | {"arguments": {"gen_args_0": first["arguments"]["gen_args_0"]}}
    path = written(tmp_path / "samples_x.jsonl", [single, *others, *rows_of("derange")])
    with pytest.raises(DisorderError, match="some of its questions have options, others have none"):
        disorder.import_logs(path)


def test_an_eval_file_names_the_way_to_read_it(tmp_path: Path, run: Command) -> None:
    code, _, err = run("import", HERE / "paired.eval", "--out", tmp_path / "run")
    assert code == 2
    assert "--inspect" in err


def test_an_eval_file_of_our_solver_is_read_by_inspect(tmp_path: Path) -> None:
    inspect = os.environ.get("INSPECT") or shutil.which("inspect")
    if inspect is None:
        pytest.skip("needs inspect_ai in an environment of its own (make test-inspect)")
    run = disorder.import_logs(HERE / "paired.eval", inspect=inspect)
    assert run.n_examples == N
    assert run["derange", "skill_kept"].value == pytest.approx(1)


def chosen(
    number: int, options: list[str], target: object, scores: list[float], **more: Any
) -> dict[str, Any]:
    """An answer to a question with options as lm-eval logs it."""
    arguments = {
        f"gen_args_{i}": {
            "arg_0": f"Question: what is part {number} for\nAnswer:",
            "arg_1": f" {o}",
        }
        for i, o in enumerate(options)
    }
    return question(number, "", 0.0) | {
        "target": str(target),
        "arguments": arguments,
        "filtered_resps": [[str(value), "False"] for value in scores],
        **more,
    }


BEST = [[-1.0, -2.0, -3.0], [-2.0, -1.0, -3.0], [-3.0, -2.0, -1.0]]  # by the likeliest option
TARGETS: dict[str, Any] = {
    "texts that are numbers": (["1", "2", "3"], lambda place: "123"[place]),
    "texts that are letters": (["A", "B", "C"], lambda place: "ABC"[place]),
    "places of numbers": (["1", "2", "0"], lambda place: place),
    "options with letters before them": (["A. cat", "B. dog", "C. bee"], lambda place: place),
}


def imported(folder: Path, rows: list[Any]) -> Any:
    """The run of rows that are answered alike when their texts are perturbed."""
    plain, moved = (written(folder / name, rows) for name in ("plain.jsonl", "moved.jsonl"))
    return disorder.import_logs(plain, perturbed={"derange": str(moved)})


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("has_own", [False, True])
def test_a_target_is_read_as_lm_eval_graded_it(name: str, has_own: bool, tmp_path: Path) -> None:
    """As it writes the place of an option and the option itself alike."""
    options, target = TARGETS[name]
    rows = []
    for i in range(12):
        is_right = i % 4 > 0
        scores = BEST[(i if is_right else i + 1) % 3]
        more = ["none", -9.0] if has_own and i % 2 else []
        given, likelihoods = [*options, *more[:1]], [*scores, *more[1:]]
        rows.append(chosen(i, given, target(i % 3), likelihoods, acc=float(is_right)))
    assert imported(tmp_path, rows)["original", "accuracy"].value == pytest.approx(0.75)


def test_the_right_one_of_two_options_alike_is_the_one_that_was_logged(tmp_path: Path) -> None:
    rows = [chosen(i, ["x", "y", "y"], 2, BEST[2], acc=1.0) for i in range(12)]
    assert imported(tmp_path, rows)["original", "accuracy"].value == 1


@pytest.mark.parametrize(
    ("options", "target", "grade", "message"),
    [
        (["1", "2", "0"], "1", {}, "as places of options and as their texts"),
        (["x", "y", "z"], "1", {"acc": 0.0}, "do not give the acc that is logged"),
        (["x", "y", "z"], "w", {"acc": 0.0}, "'w' is none of its options"),
        (["x", "y", "z"], "9" * 5000, {"acc": 0.0}, "is none of its options"),
    ],
)
def test_a_target_that_cannot_be_told_is_one_line(
    options: list[str], target: str, grade: Any, message: str, tmp_path: Path
) -> None:
    rows = [chosen(i, options, target, BEST[1], **grade) for i in range(12)]
    path = written(tmp_path / "plain.jsonl", rows)
    with pytest.raises(DisorderError, match=message):
        disorder.import_logs(path, perturbed={"derange": str(path)})


@pytest.mark.parametrize("labels", [("-1", "0", "1"), ("yes\n", "no\n", "nan")])
def test_every_answer_that_is_logged_is_a_label(labels: tuple[str, ...], tmp_path: Path) -> None:
    rows = [
        question(i, f"what is part {i} of it for", 1.0, target=labels[i % 3]) for i in range(60)
    ]
    run = imported(tmp_path, rows)
    assert run.n_examples == 60
    assert list(run.labels) == sorted(label.strip() for label in labels)


def test_logs_of_two_tasks_are_imported_apart(tmp_path: Path) -> None:
    for k, name in enumerate(("arc", "boolq")):
        rows = [question(i + 100 * k, f"who built house {i}", 1.0) for i in range(12)]
        written(tmp_path / f"samples_{name}_2026-01-01T00-00-00.0.jsonl", rows)
    path = next(tmp_path.iterdir())
    with pytest.raises(DisorderError, match=r"of several tasks \(arc, boolq\): import each apart"):
        disorder.import_logs(tmp_path, perturbed={"reverse": str(path)})


def test_a_log_is_no_option_of_the_program_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "inspect"
    program.write_text('#!/bin/sh\necho "got $3" >&2\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "-x.eval").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DisorderError, match=f"got {tmp_path}/-x.eval"):
        disorder.import_logs("-x.eval", inspect=str(program))
