"""Exported tasks: other tools run them as they are, and lm-evaluation-harness agrees with us."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import Command, pairs
from disorder.errors import DisorderError
from disorder.models import load
from disorder.models.causal import CausalModel
from disorder.models.prompting import Question
from disorder.requests.settings import Settings
from disorder.store.sample_parts import SampleParts
from disorder.verbs.prompting import prompt_of

LIMIT = 6
Q = 3
SHOTS = 2


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("others") / "others.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pairs(6)), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def task(others: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("lm-eval") / "task"
    texts = disorder.perturb("builtin", with_=["derange", "sort"], q=Q, limit=LIMIT)
    return folder, texts.export(folder, as_="lm-eval", shots=SHOTS, shots_from=others)


def test_the_rows_are_our_prompts(task: tuple[Path, str]) -> None:
    folder, group = task
    assert group == "disorder_builtin"
    counts = {path.stem: len(lines(path)) for path in folder.glob("*.jsonl")}
    assert counts == {"original": LIMIT, "derange": LIMIT * Q, "sort": LIMIT}
    row = lines(folder / "original.jsonl")[0]
    [example] = [e for e in disorder.read_data("builtin").examples if e.id == row["id"]]
    assert row["choices"][row["gold"]] == {"entailment": "yes", "neutral": "maybe"}.get(
        example.label, "no"
    )
    assert row["prompt"].endswith(
        f"Premise: {example.text_a}\nHypothesis: {example.text_b}\nAnswer:"
    )
    assert row["prompt"].count("Answer:") == SHOTS + 1


def test_lm_eval_gives_the_same_log_likelihoods_and_accuracies(
    task: tuple[Path, str], others: str, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proof that we are right: the same model, prompts and rows in the field's own tool."""
    pytest.importorskip("lm_eval", reason="needs lm-eval (pip install --group peers)")
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    folder, group = task
    theirs = simple_evaluate(
        model=HFLM(
            pretrained=str(tiny_llama),
            dtype="float32",
            device="cpu",
            backend="causal",
            batch_size=4,
        ),
        tasks=[group],
        # their own tasks take long to find
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        bootstrap_iters=0,
        verbosity="ERROR",
    )
    data = disorder.read_data("builtin")
    drawn = {row["id"] for row in lines(folder / "original.jsonl")}
    some = disorder.types.Dataset(
        "builtin", data.task, [e for e in data.examples if e.id in drawn], {}, ""
    )
    prompt = prompt_of(some, Settings(shots=SHOTS, shots_from=others))
    model = load(f"causal:{tiny_llama}", task=data.task, options={"prompt": prompt}).predictor
    assert isinstance(model, CausalModel)
    run = disorder.audit(
        f"causal:{tiny_llama}",
        "builtin",
        with_=["derange", "sort"],
        q=Q,
        limit=LIMIT,
        shots=SHOTS,
        shots_from=others,
        cache="off",
    )
    for name in ("original", "derange", "sort"):
        samples = theirs["samples"][f"{group}_{name}"]
        samples.sort(key=lambda sample: sample["doc_id"])
        found = np.array([[float(each[0]) for each in s["filtered_resps"]] for s in samples])
        questions = _questions(prompt, some, name)
        np.testing.assert_allclose(model.option_scores(questions), found, atol=1e-4)
        accuracy = theirs["results"][f"{group}_{name}"]["acc,none"]
        assert run[name, "accuracy"].value == pytest.approx(accuracy, abs=1e-6)


def _questions(prompt: Any, data: Any, name: str) -> list[Any]:
    if name == "original":
        return list(prompt.questions([example.texts for example in data.examples]))
    records = disorder.perturb(data, with_=name, q=Q)
    return list(prompt.questions([(r["text_a"], r["text_b"]) for r in records]))


CHOICES = [
    {
        "id": f"q{i}",
        "question": f"which animal saw the dog number {i} ?",
        "options": ["a cat", "the brown horse", f"bird {i}"][: 2 + i % 2],
        "answer": i % 2,
    }
    for i in range(8)
]
PAIRED = [
    {
        "id": f"p{i}",
        "good": f"the dog saw a cat in {i} houses",
        "bad": f"dog the saw cat a in {i} houses",
    }
    for i in range(8)
]


@pytest.mark.parametrize(
    ("rows", "options", "metric"),
    [
        (CHOICES, {"choose_by": "likelihood"}, "acc,none"),
        (CHOICES, {"choose_by": "normalised"}, "acc_norm,none"),
        (CHOICES, {"choose_by": "letter", "chat": "on"}, "acc,none"),
        (CHOICES, {"choose_by": "likelihood", "chat": "on"}, "acc,none"),
        (PAIRED, {}, "acc,none"),
    ],
)
def test_lm_eval_decides_choices_and_pairs_as_we_do(
    rows: list[dict[str, Any]],
    options: dict[str, Any],
    metric: str,
    tiny_llama: Path,
    tiny_chat: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("lm_eval", reason="needs lm-eval (pip install --group peers)")
    is_chat = options.get("chat") == "on"
    folder = tiny_chat if is_chat else tiny_llama
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    asked: dict[str, Any] = {"with_": "derange", "q": 2, "short": "use"}
    texts = disorder.perturb(rows, language="en", **asked)
    group = texts.export(tmp_path / "task", as_="lm-eval", **options)
    theirs = simple_evaluate(
        model=HFLM(
            pretrained=str(folder),
            dtype="float32",
            device="cpu",
            backend="causal",
            batch_size=4,
        ),
        tasks=[group],
        task_manager=TaskManager(include_path=str(tmp_path / "task"), include_defaults=False),
        bootstrap_iters=0,
        apply_chat_template=is_chat,
        verbosity="ERROR",
    )
    more = {"chat": "off", **options} if options else {}
    run = disorder.audit(
        f"causal:{folder}",
        rows,
        language="en",
        cache="off",
        out=tmp_path / "run",
        **asked,
        **more,
    )
    raw = _raw_scores(rows, options, folder, theirs["samples"])
    table = SampleParts.open(tmp_path / "run", to_write=False).table().to_pylist()
    ours = {
        (row["transformation"], row["example"], row["variant"]): row["probabilities"]
        for row in table
        if not row["repeat"]
    }
    for name in ("original", "derange"):
        for sample in theirs["samples"][f"{group}_{name}"]:
            doc = sample["doc"]
            found = np.array([float(each[0]) for each in sample["filtered_resps"]])
            np.testing.assert_allclose(raw[tuple(doc["choices"]), doc["prompt"]], found, atol=1e-4)
            if metric.startswith("acc_norm"):
                found /= [len(text) for text in doc["choices"]]
            expected = np.exp(found) / np.exp(found).sum()
            mine = ours[name, doc["id"], doc["variant"]][: len(expected)]
            np.testing.assert_allclose(mine, expected, atol=1e-4)
        accuracy = theirs["results"][f"{group}_{name}"][metric]
        assert run[name, "accuracy"].value == pytest.approx(accuracy, abs=1e-6)


def _raw_scores(
    rows: list[dict[str, Any]], options: dict[str, Any], folder: Path, samples: dict[str, Any]
) -> dict[tuple[tuple[str, ...], str], Any]:
    """Our log-likelihoods of what stands in the exported rows, by options and prompt."""
    data = disorder.read_data(rows, language="en")
    asked = [(s["doc"]["prompt"], s["doc"]["choices"]) for each in samples.values() for s in each]
    if not options:
        model: Any = load(f"causal:{folder}", task=data.task).predictor
        return {
            (tuple(choices), text): model.model.log_likelihoods(choices) for text, choices in asked
        }
    prompt = prompt_of(data, Settings(**{"chat": "off", **options}))
    model = load(f"causal:{folder}", task=data.task, options={"prompt": prompt}).predictor
    return {
        (tuple(choices), text): model.option_scores([Question("", (), text, tuple(choices))])[0]
        for text, choices in asked
    }


def test_a_chat_with_examples_is_not_written_for_lm_eval(others: str, tmp_path: Path) -> None:
    texts = disorder.perturb("builtin", with_="derange", limit=2)
    with pytest.raises(DisorderError, match="each as turns of its own"):
        texts.export(tmp_path / "t", as_="lm-eval", chat="on", shots=1, shots_from=others)


# a provider that says the same to everything; inspect_ai's own mock counts tokens by the network
DRIVER = """
import json

from inspect_ai import eval
from inspect_ai.model import ModelAPI, ModelOutput, modelapi


@modelapi(name="constant")
class Constant(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content(self.model_name, "Yes.")

    async def count_text_tokens(self, text):
        return len(text.split())


for log in eval("tasks.py", model="constant/yes", log_dir="logs", display="none"):
    accuracy = log.results.scores[0].metrics["accuracy"].value
    print(json.dumps([log.eval.task, log.status, log.results.total_samples, accuracy]))
"""


def test_inspect_runs_the_file_as_it_is(others: str, tmp_path: Path) -> None:
    inspect = os.environ.get("INSPECT") or shutil.which("inspect")
    if inspect is None:
        pytest.skip("needs inspect_ai in an environment of its own (make test-inspect)")
    folder = tmp_path / "task"
    texts = disorder.perturb("builtin", with_="derange", q=2, limit=6)
    assert texts.export(folder, as_="inspect", shots=1, shots_from=others) == "tasks.py"
    python = Path(inspect).absolute().with_name("python")
    done = subprocess.run(
        [str(python), "-c", DRIVER], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    rows = {name: lines(folder / f"{name}.jsonl") for name in ("original", "derange")}
    expected = [
        [
            f"disorder_builtin_{name}",
            "success",
            len(own),
            pytest.approx(sum(row["target"] == "yes" for row in own) / len(own)),
        ]
        for name, own in rows.items()
    ]
    assert sorted(found) == sorted(expected, key=lambda row: row[0])


def test_inspect_rows_are_messages_with_the_gold_word(others: str, tmp_path: Path) -> None:
    folder = tmp_path / "task"
    disorder.perturb("builtin", with_="derange", limit=2).export(
        folder, as_="inspect", shots=1, shots_from=others
    )
    row = lines(folder / "derange.jsonl")[0]
    assert [turn["role"] for turn in row["input"]] == ["user", "assistant", "user"]
    assert row["target"] in ("yes", "maybe", "no")
    assert row["metadata"]["transformation"] == "derange"
    assert len({row["id"] for row in lines(folder / "derange.jsonl")}) == 2


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [("No.", True), ("no", True), ("Not enough information", False), ("no or yes", False)],
)
def test_inspect_grades_by_the_whole_answer(answer: str, is_right: bool, tmp_path: Path) -> None:
    disorder.perturb("builtin", with_="derange", limit=2).export(tmp_path / "task", as_="inspect")
    source = (tmp_path / "task" / "tasks.py").read_text(encoding="utf-8")
    grading = source[source.index("def is_right") : source.index("@scorer")]
    names: dict[str, Any] = {"re": re}
    exec(grading, names)
    assert names["is_right"](answer, "no") is is_right


def test_the_command_says_what_to_run(run: Command, tmp_path: Path) -> None:
    code, _, err = run(
        *("perturb", "builtin", "--with", "derange", "--limit", 3, "--as", "lm-eval"),
        *("--out", tmp_path / "task"),
    )
    assert code == 0
    assert "run it: lm_eval --model hf" in err
    assert "--tasks disorder_builtin" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as", "helm"], "need jsonl or training or lm-eval or inspect"),
        (["--shots", "2"], "texts alone have no prompt"),
        (["--as", "lm-eval", "--prompt", "nil"], "did you mean 'nli'"),
    ],
)
def test_options_that_cannot_work_are_one_line(
    options: list[str], message: str, run: Command, tmp_path: Path
) -> None:
    code, _, err = run(
        *("perturb", "builtin", "--with", "sort", "--limit", 2, "--out", tmp_path / "x"), *options
    )
    assert code == 2
    assert message in err


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DisorderError, match="is not empty"):
        disorder.perturb("builtin", with_="sort", limit=2).export(tmp_path, as_="lm-eval")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
