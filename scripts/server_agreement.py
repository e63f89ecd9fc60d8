"""How far llama.cpp and `causal:` differ: SmolLM2-135M-Instruct in 4 bits behind a server, and the
same weights turned into single precision.

python scripts/server_agreement.py MODEL_FOLDER [N_PAIRS SHOTS]    (made by convert_smollm2.py)

Built-in pairs, the answers of the server by first-token. Compared with what `causal:` predicts (the
words as they are written), and with the same first tokens here (in every spelling, as the server's
are read). Prints the share of equal labels and differences of probabilities, for docs/llm.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data import select
from disorder.models import load
from disorder.models.causal import CausalModel
from disorder.models.servers.ways.first_token import N_TOP, matched
from disorder.requests.settings import Settings
from disorder.types import Floats, Texts
from disorder.verbs.prompting import prompt_of

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from server_speed import llama_server


def main() -> None:
    folder = sys.argv[1]
    n, shots = (int(each) for each in (sys.argv[2:] or ["30", "4"]))
    data = select("builtin", limit=n)
    texts = [example.texts for example in data.examples]
    prompt = prompt_of(data, Settings(shots=shots))
    local = load(f"causal:{folder}", task=data.task, options={"prompt": prompt}).predictor
    assert isinstance(local, CausalModel)
    with llama_server() as url:
        options: dict[str, Any] = {"prompt": prompt, "base_url": url, "answers": "first-token"}
        there = load("openai:smollm2", task=data.task, options=options)(texts)
    print(f"{n} pairs, {shots} shots; the server beside")
    report("causal:, the words as written", local(texts), there)
    report("the same first tokens here", first_tokens(local, texts), there)


def first_tokens(model: CausalModel, texts: list[Texts]) -> Floats:
    """Probabilities of the options by the likeliest first tokens, as a server's are read."""
    import torch

    rows = []
    for question in model.prompt.questions(texts):
        tokenizer = model.network.tokenizer
        ids = tokenizer(model.rendered(question), add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = model.network.network(torch.tensor([ids]), logits_to_keep=1).logits[0, -1]
        top = torch.log_softmax(logits, dim=-1).topk(N_TOP)
        tokens = [tokenizer.decode([token]) for token in top.indices.tolist()]
        found = matched(list(zip(tokens, top.values.tolist(), strict=True)), question.options)
        rows.append(np.array(found) / sum(found))
    return np.array(rows)


def report(name: str, here: Floats, there: Floats) -> None:
    difference = np.abs(here - there[:, : here.shape[1]])
    same = float((here.argmax(axis=1) == there.argmax(axis=1)).mean())
    print(
        f"{name}: same label {same:.3f}; difference of a probability: mean "
        f"{difference.mean():.4f}, largest {difference.max():.4f}"
    )


if __name__ == "__main__":
    main()
