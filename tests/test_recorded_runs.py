"""The same results as before: what commands gave is recorded in tests/recorded and comes out again
to the last digit.

A file holds `command`, the commands that come `before` it, the packages that it `needs`, its
`exit_code` and its `result`. `{x}` in a command is the fixture x. A new file needs its commands
only. To record again, and to see what is different:

    DISORDER_RECORD=1 pytest tests/test_recorded_runs.py -k NAME
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import unified_diff
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import pytest

from conftest import Command, RunContext
from disorder.data import read_data
from disorder.errors import DoesNotApply
from disorder.registry import TransformationPart, metric_named, parts
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset
from fake_server import FakeServer
from oracles import BagOfWords, guess, item_of

FOLDER = Path(__file__).parent / "recorded"
TEXTS_FILE = "texts"
LINE = 98  # characters of a line in a file
OF_NLTK = ("classes", "full", "sanity-classes")  # their word classes are those of NLTK's data
N_EXAMPLES = 10
Q = 3
IS_RECORDING = "DISORDER_RECORD" in os.environ
VOLATILE = {  # left out at any depth: times, places, versions, what was asked, and prose
    "asks",
    "caption",
    "command",
    "does",
    "examples_per_second",
    "folder",
    "git",
    "hashes",
    "links",
    "model_hash",
    "profile",
    "published",
    "reason",
    "remarks",
    "request",
    "run",
    "schema_version",
    "seconds",
    "server",
    "settings",
    "spec",
    "started",
    "telling",
    "title",
    "verdict",
    "version",
    "versions",
}
REWORDED = ("skips", "skipped")  # by reason: only the counts stay


def recorded(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def marked(name: str, *, needs_nltk: bool) -> Any:
    return pytest.param(name, marks=pytest.mark.shared if needs_nltk else ())


def stable(value: Any) -> Any:
    """A result without what is volatile, and without scores of plugins."""
    match value:
        case list():
            return as_table([stable(each) for each in value if not is_of_a_plugin(each)])
        case dict():
            kept = {key: each for key, each in value.items() if key not in VOLATILE}
            return {
                key: counts(each) if key in REWORDED else stable(each) for key, each in kept.items()
            }
    return value


def as_table(values: list[Any]) -> Any:
    """Records with the same keys as a table, which takes half the room; other lists as they are."""
    if len(values) < 2 or not all(isinstance(each, dict) for each in values):
        return values
    columns = [*values[0]]
    if any([*each] != columns for each in values):
        return values
    return {"columns": columns, "rows": [[*each.values()] for each in values]}


def is_of_a_plugin(record: Any) -> bool:
    if not isinstance(record, dict) or not {"transformation", "metric"} <= record.keys():
        return False
    metric = metric_named(record["metric"])
    return metric is not None and not metric.is_built_in


def counts(skips: Any) -> Any:
    """Counts by reason as sorted counts, at any depth."""
    if not isinstance(skips, dict):
        return skips
    if skips and all(isinstance(value, int) for value in skips.values()):
        return sorted(skips.values())
    return {key: counts(each) for key, each in skips.items()}


def parsed(printed: str) -> Any:
    """One JSON document, one on each line, or lines of text."""
    lines = printed.splitlines()
    for read in (lambda: json.loads(printed), lambda: [json.loads(line) for line in lines]):
        with suppress(json.JSONDecodeError):
            return read()
    return lines


def written(value: Any, indent: str = "") -> str:
    """JSON with what is short, or holds no lists and objects, on one line."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(whole) + len(indent) <= LINE or is_flat(value):
        return whole
    deeper = indent + " "
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {written(each, deeper)}" for key, each in value.items()]
    else:
        inner = [written(each, deeper) for each in value]
    lines = f",\n{deeper}".join(inner)
    return f"{whole[0]}\n{deeper}{lines}\n{indent}{whole[-1]}"


def is_flat(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return not any(isinstance(each, dict | list) for each in members)


def in_any_order(value: Any) -> Any:
    """A result whose missing scores are sorted: they are a set."""
    if not isinstance(value, dict):
        return value
    found = {key: in_any_order(each) for key, each in value.items()}
    gone = found.get("omitted")
    if isinstance(gone, dict) and "rows" in gone:
        found["omitted"] = gone | {"rows": sorted(gone["rows"])}
    return found


def check(name: str, exit_code: int, result: Any) -> None:
    """Compare with what is recorded, or record it; either fails with the difference."""
    before = in_any_order(recorded(name))
    result = in_any_order(result)
    known = before.get("result")
    if isinstance(known, dict) and not IS_RECORDING:  # a later result may say more
        result = {key: each for key, each in result.items() if key in known}
    after = before | {"exit_code": exit_code, "result": result}
    if after == before:
        return
    if IS_RECORDING:
        (FOLDER / f"{name}.json").write_text(written(after) + "\n", encoding="utf-8")
    lines = [written(each).splitlines() for each in (before, after)]
    difference = "\n".join(unified_diff(*lines, "recorded", "now", n=1, lineterm=""))
    pytest.fail(f"{name} {'is recorded again' if IS_RECORDING else 'differs'}:\n{difference}")


@pytest.fixture(scope="module")
def builtin() -> Dataset:
    return read_data("builtin")


def share(*parts: str) -> float:
    """A number from 0 up to 1 by a hash of texts."""
    return blake2b("|".join(parts).encode(), digest_size=1).digest()[0] / 256


class Attentive:
    """A bag of words that answers some prompts by their very letters."""

    def __init__(self, dataset: Dataset) -> None:
        self.bag = BagOfWords(dataset.examples)

    def __call__(self, prompt: str) -> Mapping[str, float]:
        if "Premise:" not in prompt:
            return {"banana": 1.0}
        return guess(prompt) if share(prompt) < 0.2 else self.bag(prompt)

    def reply(self, prompt: str) -> dict[str, str]:
        """The answer in words; to some items none."""
        if all(item_of(prompt)) and share("refused", *item_of(prompt)) < 0.15:
            return {"content": "I cannot answer that."}
        probabilities = self(prompt)
        return {"content": max(probabilities, key=lambda word: probabilities[word])}


@pytest.fixture
def brain(builtin: Dataset) -> Attentive:
    pytest.importorskip("httpx2", reason="needs httpx2")
    return Attentive(builtin)


@pytest.fixture
def chat_server(brain: Attentive) -> Iterator[str]:
    with FakeServer(brain=brain) as server:
        yield server.url


@pytest.fixture
def plain_server(brain: Attentive) -> Iterator[str]:
    with FakeServer(brain=brain, offers=("prompt-logprobs",)) as server:
        yield server.url


@pytest.fixture
def decision_server(brain: Attentive) -> Iterator[str]:
    with FakeServer(brain=brain, offers=("decisions",)) as server:
        yield server.url


@pytest.fixture
def parsed_server(brain: Attentive) -> Iterator[str]:
    with FakeServer(brain=brain, offers=(), reply=brain.reply) as server:
        yield server.url


@pytest.fixture
def typed(run: Command, tmp_path: Path, request: pytest.FixtureRequest) -> Command:
    """Run a recorded command beside the files of tests/recorded/given."""
    shutil.copytree(FOLDER / "given", tmp_path, dirs_exist_ok=True)

    def filled(word: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: str(request.getfixturevalue(found[1])), word)

    return lambda *words: run(*(filled(str(word)) for word in words))


RUNS = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != TEXTS_FILE)


@pytest.mark.parametrize("name", [marked(name, needs_nltk=name in OF_NLTK) for name in RUNS])
def test_a_recorded_command_gives_the_same_result(name: str, typed: Command) -> None:
    case = recorded(name)
    for package in case.get("needs", []):
        pytest.importorskip(package, reason=f"needs {package}")
    for words in case.get("before", []):
        assert typed(*words)[0] == 0
    code, printed, told = typed(*case["command"])
    assert printed, told
    check(name, code, stable(parsed(printed)))


@pytest.mark.skipif(IS_RECORDING or not hasattr(os, "fork"), reason="kills itself by a signal")
@pytest.mark.parametrize("call", [1, 3])
def test_a_killed_run_ends_with_the_recorded_result(
    call: int, typed: Command, tmp_path: Path
) -> None:
    words = recorded("killed")["command"]
    environment = {**os.environ, "RECORDED_KILLED_AT": str(call)}
    command = [sys.executable, "-m", "disorder", *words, "--out", "killed"]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode < 0, ended.stderr
    code, printed, told = typed("audit", "--resume", "killed", words[1], "--json")
    assert printed, told
    check("killed", code, stable(parsed(printed)))


TEXTS = recorded(TEXTS_FILE)


def uses_nltk_data(title: str) -> bool:
    return title.startswith(("drop_pos ", "keep_pos "))


@pytest.mark.parametrize(
    "title", [marked(title, needs_nltk=uses_nltk_data(title)) for title in TEXTS]
)
def test_a_recorded_transformation_makes_the_same_texts(title: str, builtin: Dataset) -> None:
    spec, _, rest = title.rpartition(" (")
    fidelity: Literal["paper", "released"] = "paper" if rest == "paper)" else "released"
    made = parse(spec, fidelity=fidelity).apply_all(
        builtin.examples[:N_EXAMPLES],
        task=builtin.task,
        q=Q,
        seed=0,
        short="use",
        context=RunContext(),
    )
    for before, after in zip(TEXTS[title], made, strict=True):
        if isinstance(after, DoesNotApply):
            assert isinstance(before, str)  # the reason
        else:
            assert [list(texts) for texts in variant_texts(after)] == before


def test_every_built_in_transformation_is_recorded() -> None:
    names = {name for name, part in parts(TransformationPart).items() if part.is_built_in}
    assert {title.split(" ")[0].split(":")[0] for title in TEXTS} == names
