"""Tasks of lm-evaluation-harness and JSON files are read as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from disorder.data import read_data
from disorder.errors import BadData

BASE = """output_type: multiple_choice
dataset_path: json
test_split: test
dataset_kwargs:
  data_files:
    test: {file}
task: {name}
"""
ARC = {"question": "q", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}
BOOLQ = {"passage": "a b c", "question": "is it so", "label": 1}
BLIMP = {"first": "a b", "second": "b a"}
TEMPLATES = {
    "arc": (ARC, "doc_to_text: '{{question}}'\n"),
    "boolq": (
        BOOLQ,
        'doc_to_text: "{{passage}}\\nQuestion: {{question}}?\\nAnswer:"\n'
        'doc_to_target: label\ndoc_to_choice: ["no", "yes"]\n',
    ),
    "blimp": (
        BLIMP,
        "doc_to_text: ''\ndoc_to_target: 0\ndoc_to_choice: '{{[first, second]}}'\n",
    ),
    "open": (
        {"asked": "who ?", "said": ["him", "he"]},
        'output_type: generate_until\ndoc_to_text: "Q: {{asked}}\\nA:"\ndoc_to_target: said\n',
    ),
}
EXPECTED: dict[str, tuple[str, dict[str, Any], str]] = {
    "arc": ("choice", {"question": "q", "options": ("x", "y")}, "B"),
    "boolq": (
        "choice",
        {"question": "a b c\nQuestion: is it so?", "options": ("no", "yes")},
        "B",
    ),
    "blimp": ("pair", {"text_a": "a b", "text_b": "b a"}, "good"),
    "open": ("text", {"question": "who ?", "answers": ("him", "he")}, "right"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as lm_eval's --include_path names it; the settings that tasks share are included."""
    for name, (row, templates) in TEMPLATES.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        base = BASE.format(file=f"{name}.jsonl", name=f"base_{name}")
        (tmp_path / f"_{name}_yaml").write_text(base, encoding="utf-8")
        text = f"include: _{name}_yaml\ntask: my_{name}\n{templates}"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", EXPECTED)
def test_a_task_is_read_as_what_it_asks(folder: Path, name: str) -> None:
    kind, segments, label = EXPECTED[name]
    dataset = read_data(f"lm-eval:{folder}/my_{name}", language="en")
    assert dataset.task.kind == kind
    [example] = dataset.examples
    assert example.segments == segments
    assert example.label == label


def test_code_of_a_task_is_not_run(folder: Path) -> None:
    (folder / "utils.py").write_text("raise SystemExit('it ran')\n", encoding="utf-8")
    text = (folder / "boolq.yaml").read_text(encoding="utf-8").replace("my_boolq", "mine")
    code = text.replace("doc_to_target: label", "doc_to_target: !function utils.target")
    (folder / "mine.yaml").write_text(code, encoding="utf-8")
    with pytest.raises(BadData, match="doc_to_target is Python code, which is not run"):
        read_data(f"lm-eval:{folder}/mine")


def test_what_is_no_task_is_said(folder: Path) -> None:
    (folder / "group.yaml").write_text("group: all\ntask:\n  - my_arc\n", encoding="utf-8")
    with pytest.raises(BadData, match="is a group; name one of its tasks: my_arc"):
        read_data(f"lm-eval:{folder}/all")
    with pytest.raises(BadData, match="no task of this name"):
        read_data(f"lm-eval:{folder}/other")
    with pytest.raises(BadData, match="no such folder"):
        read_data("lm-eval:nowhere/my_arc")
    (folder / "round.yaml").write_text("task: round\ninclude: round.yaml\n", encoding="utf-8")
    with pytest.raises(BadData, match="include each other"):
        read_data(f"lm-eval:{folder}/round")


ROWS = [{"id": str(i), "text_a": f"a b {i}", "label": "xy"[i % 2]} for i in range(3)]
JSON_FILES = {
    "a list": json.dumps(ROWS),
    "a list on several lines": json.dumps(ROWS, indent=1),
    "an object with one list": json.dumps({"version": "1", "data": ROWS}),
    "an object per line": "".join(json.dumps(row) + "\n" for row in ROWS),
}


@pytest.mark.parametrize("form", JSON_FILES)
def test_json_files_have_rows(form: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(JSON_FILES[form], encoding="utf-8")
    assert [each.id for each in read_data(path, language="en").examples] == ["0", "1", "2"]


def test_one_object_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS[0]), encoding="utf-8")
    assert len(read_data(path, language="en").examples) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "expected a list of objects"),
        ("[{", "damaged"),
        (json.dumps({"train": ROWS, "test": ROWS}), "2 lists of rows"),
        ("[" * 100_000, "nested"),
    ],
)
def test_other_json_is_an_error(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=message):
        read_data(path)


CHOICE = "output_type: multiple_choice\ndoc_to_text: '{{q}}'\n"
OPEN = "output_type: generate_until\ndoc_to_target: '{{t}}'\n"
XY = "doc_to_choice: ['x', 'y']\n"


def made(folder: Path, templates: str, *rows: dict[str, Any]) -> Any:
    (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = BASE.format(file="made.jsonl", name="made").partition("\n")[2] + templates
    (folder / "made.yaml").write_text(text, encoding="utf-8")
    return read_data(f"lm-eval:{folder}/made", language="en")


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        (
            OPEN + f"dataset_path: json\ndataset_kwargs: {{data_files: {'x' * 300}.json}}\n",
            "too long",
        ),
        (OPEN + "doc_to_text: '{{q|nothing}}'\n", "cannot be filled"),
        (OPEN + "doc_to_text: '{{nothing}}'\n", "cannot be filled"),
        (OPEN + "doc_to_text: '{{q'\n", "cannot be filled"),
        (OPEN + "doc_to_text: \"{{ 'a' * 30000000 }}\"\n", "cannot be filled"),
        (
            OPEN + "doc_to_text: '{% for a in range(99999) %}{% for b in range(99999) %}"
            "{% endfor %}{% endfor %}'\n",
            "more than 100,000 rounds",
        ),
        (CHOICE + XY + "doc_to_target: '{{t}}'\n", "'five', is none of the options"),
        (CHOICE + "doc_to_target: 0\n", "gives no list of options"),
        (OPEN + "metadata: [1]\n", "metadata has no names"),
    ],
)
def test_a_task_that_cannot_be_read_is_one_line(
    tmp_path: Path, templates: str, message: str
) -> None:
    with pytest.raises(BadData, match=message) as error:
        made(tmp_path, templates, {"q": "is it so", "t": "five"})
    assert len(str(error.value).splitlines()) == 1


def test_templates_are_read_as_they_are_meant(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("#" + "x" * 1_100_000)
    mapping = "doc_to_choice:\n  first: x\n  second: y\ndoc_to_target: '{{t}}'\n"
    [example] = made(tmp_path, CHOICE + mapping, {"q": "so", "t": 1}).examples
    assert (example.options, example.label) == (("x", "y"), "B")
    hidden = made(
        tmp_path, CHOICE + XY + "doc_to_target: t\n", {"q": "a", "t": -1}, {"q": "b", "t": 1}
    )
    assert hidden.skipped == {"no gold label": 1}
    asked = {"question": "is it", "answer": 1}
    told = CHOICE.replace("{{q}}", "{{question}}") + XY + "doc_to_target: answer\n"
    assert made(tmp_path, told, asked).task.kind == "choice"
    text = OPEN + "doc_to_text: '{{q}}'\n"
    [example] = made(tmp_path, text, {"q": "[1, 2]", "t": "1e3", "self": "x"}).examples
    assert example.segments["question"] == "[1, 2]"
    assert example.segments["answers"] == ("1e3",)


CHOSEN = CHOICE + "doc_to_choice: '{{opts}}'\n"


@pytest.mark.parametrize(
    ("target", "row", "label"),
    [
        ("'{{gold}}'", {"gold": 1}, "B"),  # a place, though "1" is an option
        ("'{{gold}}'", {"gold": "two"}, "D"),
        ("gold", {"gold": 1}, "B"),
        ("gold", {"gold": 1.0}, "B"),
        ("gold", {"gold": "1"}, "C"),  # the text of an option
        ("1", {}, "B"),
    ],
)
def test_digits_of_a_template_are_a_place(
    tmp_path: Path, target: str, row: dict[str, Any], label: str
) -> None:
    given = {"q": "so", "opts": ["3", "2", "1", "two"]} | row
    [example] = made(tmp_path, CHOSEN + f"doc_to_target: {target}\n", given).examples
    assert example.label == label


def test_digits_of_a_csv_file_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('q,opts,gold\nso,"[""3"", ""2"", ""1""]",1\n')
    files = "dataset_path: csv\ndataset_kwargs: {data_files: rows.csv}\n"
    [example] = made(tmp_path, CHOSEN + files + "doc_to_target: gold\n", {}).examples
    assert example.label == "B"


@pytest.mark.parametrize("gold", [1.7, float("inf"), float("nan"), 4])
def test_what_is_no_place_is_one_line(tmp_path: Path, gold: float) -> None:
    with pytest.raises(BadData, match="is none of the options"):
        made(
            tmp_path, CHOSEN + "doc_to_target: gold\n", {"q": "a", "opts": ["x", "y"], "gold": gold}
        )


NESTED = "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in ["ab", "bc", "cd", "de"])
BOMB = f"a: &a [{', '.join(['lol'] * 10)}]\n{NESTED}"


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ("when: 2020-13-45\n", "month must be in 1..12"),
        *(
            (f"when: !!{kind} {value}\n", "not YAML")
            for kind, value in [("int", "z"), ("int", "''")]
        ),
        *((f"when: !!{kind} z\n", "not YAML") for kind in ("bool", "timestamp", "float")),
        (BOMB + "doc_to_choice: [*d, *d]\ndoc_to_target: 0\n", "options that are no texts"),
        (BOMB + f"f: [{', '.join(['*e'] * 10)}]\n", "with its aliases"),
        ("a: &a [*a, *a]\n", "with its aliases"),
    ],
)
def test_a_file_with_odd_values_is_one_line(tmp_path: Path, templates: str, message: str) -> None:
    with pytest.raises(BadData, match=message) as error:
        made(tmp_path, CHOICE + templates, {"q": "a"})
    assert len(str(error.value)) < 1000


def test_what_is_no_file_is_passed_over(folder: Path) -> None:
    (folder / "a.yaml").symlink_to(folder / "nowhere")
    (folder / "b.yaml").mkdir()
    assert len(read_data(f"lm-eval:{folder}/my_arc", language="en").examples) == 1


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ("dataset_kwargs: {data_files: ../secret.json}\n", "secret.json is outside"),
        ("dataset_kwargs: {data_files: {test: [OUTSIDE/secret.json]}}\n", "secret.json is outside"),
        ("dataset_kwargs: {data_files: linked.json}\n", "linked.json is outside"),
        ("dataset_kwargs: {data_files: secret.json}\n", "secret.json is outside"),
        ("custom_dataset: !function a.b\nmetadata: {file: ../secret}\n", "secret.jsonl is outside"),
        ("include: ../secret.yaml\n", "secret.yaml is outside"),
        ("dataset_path: OUTSIDE\n", "reads files of this machine"),
        ("dataset_path: ''\ndataset_name: OUTSIDE\n", "reads files of this machine"),
        ("dataset_kwargs: {}\n", "reads files of this machine"),
    ],
)
def test_a_task_reads_files_of_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, templates: str, message: str
) -> None:
    """Also where a file of that name lies in the working directory."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    for name in ("secret.json", "secret.jsonl", "secret.yaml"):
        (tmp_path / name).write_text('{"q": "a", "t": "b"}', encoding="utf-8")
    (folder / "linked.json").symlink_to(tmp_path / "secret.json")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadData, match=message):
        made(folder, OPEN + "doc_to_text: q\n" + templates.replace("OUTSIDE", str(tmp_path)))


def test_files_may_be_named_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As lm-eval reads them, where they are those of the task's folder; its own come first."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    (tmp_path / "made.jsonl").write_text('{"q": "other", "t": "b"}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    row = {"q": "who is it", "t": "him"}
    for name in ("made.jsonl", "tasks/made.jsonl"):
        files = f"dataset_kwargs: {{data_files: {name}}}\ndoc_to_text: '{{{{q}}}}'\n"
        [example] = made(folder, OPEN + files, row).examples
        assert example.segments["question"] == "who is it"
