"""How far llama.cpp and `causal:` differ: SmolLM2-135M-Instruct in 4 bits behind a server, and the
same weights turned into single precision.

python scripts/server_agreement.py MODEL_FOLDER [N_PAIRS]     (MODEL_FOLDER: see convert_smollm2.py)

Prints the share of equal labels and the differences of probabilities on built-in pairs; the figures
of docs/llm.md. DISORDER_DATA is not needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from disorder.data import select
from disorder.models import load
from disorder.models.prompting import prompt_for

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from server_speed import llama_server


def main() -> None:
    folder, n = sys.argv[1], int((sys.argv[2:] or ["30"])[0])
    data = select("builtin", limit=n)
    texts = [example.texts for example in data.examples]
    prompt = prompt_for(data.task, is_pair=True)
    here = load(f"causal:{folder}", task=data.task, options={"prompt": prompt})(texts)
    with llama_server() as url:
        options = {"prompt": prompt, "base_url": url, "answers": "first-token"}
        there = load("openai:smollm2", task=data.task, cache=None, options=options)(texts)
    difference = np.abs(here - there[:, : here.shape[1]])
    same = float((here.argmax(axis=1) == there.argmax(axis=1)).mean())
    margin = np.sort(here, axis=1)
    gaps = (margin[:, -1] - margin[:, -2])[here.argmax(axis=1) != there.argmax(axis=1)]
    print(f"{n} pairs: same label {same:.3f}; difference of a probability: mean "
          f"{difference.mean():.4f}, largest {difference.max():.4f}")  # fmt: skip
    if len(gaps):
        print(f"where labels differ, the two likeliest are at most {gaps.max():.4f} apart here")


if __name__ == "__main__":
    main()
