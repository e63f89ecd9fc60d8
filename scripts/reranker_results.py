"""The reranker of docs/results/embedders.md: a cross-encoder trained here, and how it ranks.

python scripts/reranker_results.py CLASSIFIER OUT [N_ROWS N_QUERIES Q CANDIDATES]
(DISORDER_DATA: the data)

CLASSIFIER is a folder of a small network for natural-language inference: entailment minus
contradiction becomes its one output. It learns from pairs of QNLI whose question is none of the
queries and whose sentence stands in no passage, then ranks what BM25 finds in squad_retrieval;
BM25's own order of the same documents stands beside it. What is in OUT already is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s
import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import disorder
from disorder.data import read_data
from disorder.types import Example

N_HELD_OUT = 200
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


def started(folder: str) -> torch.nn.Module:
    """The classifier with one output."""
    network = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    layer, place = network.classifier, network.config.label2id
    network.classifier = torch.nn.Linear(layer.in_features, 1)
    with torch.no_grad():
        for new, old in (
            (network.classifier.weight, layer.weight),
            (network.classifier.bias, layer.bias),
        ):
            new.copy_(old[[place["entailment"]]] - old[[place["contradiction"]]])
    network.config.id2label = {0: "relevance"}
    network.config.label2id = {"relevance": 0}
    network.num_labels = 1
    return network


def train(folder: str, rows: Sequence[Example], out: Path) -> None:
    """Once over the rows by binary cross-entropy, with the rate falling to 0; rows of about one
    length go together.
    """
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = started(folder).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    by_length = sorted(rows, key=lambda row: len(row.text_a) + len(str(row.text_b)))
    batches = [by_length[i : i + BATCH] for i in range(0, len(rows) - BATCH + 1, BATCH)]
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, len(batches))
    for i in rng.permutation(len(batches)):
        loss = losses(network, tokenizer, batches[i]).mean()
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


def bm25(data: Path) -> Callable[[list[dict[str, object]]], list[list[float]]]:
    """BM25 as a function that ranks the passages as they are."""
    corpus = read_data(data).task.corpus
    assert corpus is not None
    place = {text: i for i, text in enumerate(corpus.texts)}
    index = bm25s.BM25()
    cut = {"stopwords": None, "show_progress": False}
    index.index(bm25s.tokenize(list(corpus.texts), **cut), show_progress=False)

    def relevance(requests: list[dict[str, object]]) -> list[list[float]]:
        found = []
        for request in requests:
            [words] = bm25s.tokenize([request["query"]], return_ids=False, **cut)
            scores = index.get_scores(words)
            found.append([float(scores[place[text]]) for text in request["documents"]])
        return found

    return relevance


def main() -> None:
    classifier, out = sys.argv[1], Path(sys.argv[2])
    given = [int(each) for each in sys.argv[3:7]]
    n_rows, n, q, candidates = given if len(given) == 4 else (2000, 100, 3, 20)
    data = Path(os.environ["DISORDER_DATA"])
    rows = pairs(data)
    folder = out / "reranker"
    if not folder.exists():
        train(classifier, rows[N_HELD_OUT : N_HELD_OUT + n_rows], folder)
        print(f"right on {right(folder, rows[:N_HELD_OUT]):.3f} of {N_HELD_OUT} held-out pairs")
    retrieval = data / "squad_retrieval"
    for name, model, on in (
        ("bm25", bm25(retrieval), "query"),
        ("query", f"rerank:{folder}", "query"),
        ("document", f"rerank:{folder}", "document"),
    ):
        if not (out / name / "result.json").exists():
            disorder.audit(
                model,
                retrieval,
                candidates=f"bm25:{candidates}",
                on=on,
                with_="derange",
                q=q,
                limit=n,
                until="never",
                out=out / name,
            )
        for record in disorder.read_run(out / name).scores:
            bounds = f"{record.value:.3f} [{record.low:.3f}, {record.high:.3f}]"
            print(name, record.transformation, record.metric, bounds)


if __name__ == "__main__":
    main()
