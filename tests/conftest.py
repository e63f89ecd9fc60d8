"""Tiny fixtures: a handful of examples, files made of them, and where ../shared lies.

Tests that need ../shared (the papers' data, NLTK's data, a trained model) carry the marker
`shared`: by hand, or because they use the fixture `shared_data`, `shared` or `nltk_data`.
`make test` leaves them out, `make test-shared` runs them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from disorder.testing.made_up import CHINESE as CHINESE
from disorder.testing.made_up import NLI as NLI
from disorder.testing.made_up import Surroundings as RunContext  # noqa: F401
from disorder.testing.made_up import example as example
from disorder.testing.made_up import outcomes as outcomes
from disorder.testing.made_up import pairs as pairs

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
# torch's threads wait for each other by spinning: beside other workers ten times the work itself
os.environ.setdefault("OMP_NUM_THREADS", "1")

PLUGIN = Path(__file__).parents[1] / "examples" / "disorder-stutter" / "src"
if any(entry.name == "stutter" for entry in entry_points(group="disorder")):
    # the example plugin of this checkout, not the copy that was installed; also for subprocesses
    sys.path.insert(0, str(PLUGIN))
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PLUGIN), *([given] if given else [])])

settings.register_profile(
    "disorder",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("disorder")

OLD_RUNS = Path(__file__).parent / "old_runs"
SHARED = Path(__file__).parents[1].parent / "shared"
if (SHARED / "nltk_data").is_dir() and not os.environ.get("NLTK_DATA"):
    os.environ["NLTK_DATA"] = str(SHARED / "nltk_data")

_numbers = count()  # of tests, for a cache each; `mktemp` would list all folders every time
Rows = Iterable[Mapping[str, Any]]
Command = Callable[..., tuple[int, str, str]]


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("shared") and not (SHARED / "data").is_dir():
        pytest.skip(f"needs {SHARED}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the papers' data."""
    return SHARED / "data"


@pytest.fixture(scope="session")
def shared(shared_data: Path) -> Path:
    """The shared folder itself, with its models."""
    return shared_data.parent


@pytest.fixture(scope="session")
def nltk_data(shared_data: Path) -> Path:
    """NLTK's data, which `NLTK_DATA` names wherever ../shared is."""
    return shared_data.parent / "nltk_data"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's prediction cache, or that of another test."""
    folder = tmp_path_factory.getbasetemp() / "caches" / str(next(_numbers))
    monkeypatch.setenv("DISORDER_CACHE", str(folder))


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small BERT classifier of random weights and a WordPiece tokenizer made from
    the built-in data.
    """
    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    from disorder.data import read_data

    folder = tmp_path_factory.mktemp("tiny-bert")
    texts = [
        text for e in read_data("builtin").examples[:600] for text in (e.text_a, str(e.text_b))
    ]
    words = sorted(
        {word.strip(".,;:!?'").lower() for text in texts for word in text.split()} - {""}
    )
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,;:!?'-", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab={word: i for i, word in enumerate(vocabulary)})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=3,
        id2label=dict(enumerate(("contradiction", "entailment", "neutral"))),
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
        initializer_range=0.5,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_reranker(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder with a small network of random weights."""
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    folder = tmp_path_factory.mktemp("tiny-reranker")
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    transformers.AutoModelForSequenceClassification.from_pretrained(
        tiny_bert, num_labels=1, ignore_mismatched_sizes=True
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_masked(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model of random weights, with the tokenizer of the classifier."""
    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    folder = tmp_path_factory.mktemp("tiny-masked")
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(tiny_bert)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small Llama of random weights and a byte-level BPE made from the built-in
    data; it has no chat template.
    """
    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    from disorder.data import read_data

    folder = tmp_path_factory.mktemp("tiny-llama")
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [text for e in read_data("builtin").examples[:300] for text in e.texts if text]
    core.train_from_iterator([*texts, "Answer: yes", "Answer: no", "Answer: maybe"], trainer)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=core.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_chat(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with a chat template."""
    folder = tmp_path_factory.mktemp("tiny-chat") / "model"
    shutil.copytree(tiny_llama, folder)
    (folder / "chat_template.jinja").write_text(
        "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message.content }}\n"
        "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}",
        encoding="utf-8",
    )
    return folder


def _gguf_order(weights: Any, n_heads: int) -> Any:
    """Rows of queries or keys as GGUF has them: the halves of a head in turn."""
    n_rows, n_columns = weights.shape
    halves = weights.reshape(n_heads, 2, n_rows // n_heads // 2, n_columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(n_rows, n_columns))


@pytest.fixture(scope="session")
def tiny_gguf(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small Llama, unquantised, as a folder with one GGUF file and nothing else."""
    gguf = pytest.importorskip("gguf", reason="needs gguf")
    from safetensors.numpy import load_file

    config = json.loads((tiny_llama / "config.json").read_text())
    model = json.loads((tiny_llama / "tokenizer.json").read_text())["model"]
    folder = tmp_path_factory.mktemp("tiny-gguf")
    writer = gguf.GGUFWriter(folder / "tiny.gguf", "llama")
    n_heads, n_kv = config["num_attention_heads"], config["num_key_value_heads"]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_rope_dimension_count(config["hidden_size"] // n_heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_head_count(n_heads)
    writer.add_head_count_kv(n_kv)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(sorted(model["vocab"], key=model["vocab"].get))
    writer.add_token_types([3, 3] + [1] * (len(model["vocab"]) - 2))
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(False)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, weights in load_file(tiny_llama / "model.safetensors").items():
        heads = {"q_proj": n_heads, "k_proj": n_kv}.get(name.split(".")[-2])
        ordered = _gguf_order(weights, heads) if heads else weights
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), ordered)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command; gives exit code, standard output and standard error."""
    from disorder.cli import main

    def go(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        return int(stopped.value.code or 0), *capsys.readouterr()

    return go


@pytest.fixture
def run(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return command


@pytest.fixture
def old_runs(tmp_path: Path) -> Path:
    """Copies of run folders that version 0.1.0 made, as they were left."""
    return shutil.copytree(OLD_RUNS, tmp_path / "old_runs")


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a JSONL file and give its path."""

    def write(rows: Rows, name: str = "data.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write
