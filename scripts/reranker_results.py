"""The rerankers of docs/results/embedders.md: a cross-encoder trained here, and what it ranks by.

python scripts/reranker_results.py ENCODER OUT [N_QUERIES Q CANDIDATES]  (DISORDER_DATA: the data)

ENCODER is a folder of a small BERT. It learns from pairs of QNLI whose question is none of the
queries and whose sentence stands in no passage, then ranks what BM25 finds in squad_retrieval.
What is in OUT already is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import disorder
from disorder.data import read_data
from disorder.types import Example

N_HELD_OUT = 200
EPOCHS = 2
BATCH = 32
RATE = 5e-5


def pairs(data: Path) -> list[Example]:
    """Questions with a sentence that answers them or not, none of which is audited."""
    retrieval = read_data(data / "squad_retrieval")
    assert retrieval.task.corpus is not None
    queries = {str(each.segments["query"]).strip() for each in retrieval.examples}
    passages = " ".join(retrieval.task.corpus.texts)
    found = read_data(data / "qnli" / "dev.jsonl.gz", task="qnli").examples
    return [e for e in found if e.text_a not in queries and str(e.text_b) not in passages]


def train(encoder: str, rows: Sequence[Example], out: Path) -> None:
    """One output, by binary cross-entropy, with the rate falling to 0."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    network = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    n_steps = EPOCHS * (len(rows) // BATCH)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, n_steps)
    network.train()
    for _ in range(EPOCHS):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows) - BATCH + 1, BATCH):
            batch = [rows[i] for i in order[start : start + BATCH]]
            loss = losses(network, tokenizer, batch).mean()
            loss.backward()
            optimizer.step()
            falling.step()
            optimizer.zero_grad()
        print(f"loss {loss.item():.3f}", file=sys.stderr, flush=True)
    network.eval().save_pretrained(out)
    tokenizer.save_pretrained(out)


def losses(network: torch.nn.Module, tokenizer: object, rows: Sequence[Example]) -> torch.Tensor:
    gold = torch.tensor([float(row.label == "entailment") for row in rows])
    found = logits(network, tokenizer, rows)
    return torch.nn.functional.binary_cross_entropy_with_logits(found, gold, reduction="none")


def logits(network: torch.nn.Module, tokenizer: object, rows: Sequence[Example]) -> torch.Tensor:
    texts = [row.text_a for row in rows], [str(row.text_b) for row in rows]
    given = tokenizer(*texts, padding=True, truncation=True, return_tensors="pt")  # type: ignore[operator]
    found: torch.Tensor = network(**given).logits[:, 0]
    return found


def right(folder: Path, rows: Sequence[Example]) -> float:
    """The share of pairs that it is right on."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        found = logits(network, tokenizer, rows) > 0
    gold = torch.tensor([row.label == "entailment" for row in rows])
    return float((found == gold).float().mean())


def main() -> None:
    encoder, out = sys.argv[1], Path(sys.argv[2])
    n, q, candidates = (int(each) for each in sys.argv[3:6]) if len(sys.argv) > 5 else (60, 2, 10)
    data = Path(os.environ["DISORDER_DATA"])
    rows = pairs(data)
    folder = out / "reranker"
    if not folder.exists():
        train(encoder, rows[N_HELD_OUT:], folder)
    print(f"right on {right(folder, rows[:N_HELD_OUT]):.3f} of {N_HELD_OUT} held-out pairs")
    for on in ("query", "document"):
        place = out / on
        if not (place / "result.json").exists():
            disorder.audit(
                f"rerank:{folder}",
                data / "squad_retrieval",
                candidates=f"bm25:{candidates}",
                on=on,
                with_="derange",
                q=q,
                limit=n,
                until="never",
                out=place,
            )
        run = disorder.read_run(place)
        for record in run.scores:
            if record.metric in ("ndcg@10", "skill_kept"):
                low, high = record.low, record.high
                print(
                    on,
                    record.transformation,
                    record.metric,
                    f"{record.value:.3f} [{low:.3f}, {high:.3f}]",
                )


if __name__ == "__main__":
    main()
