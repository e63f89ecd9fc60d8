"""Words per text in several languages: by our splitters, by spaces, and by ICU's own count.

DATA_DIR=../shared/data python benchmarks/words_per_text.py     (else the built-in data)
"""

from __future__ import annotations

import os

from _measure import TOY

from disorder.data import read_data
from disorder.errors import DoesNotApply
from disorder.languages import n_words
from disorder.transformations import parse
from disorder.transformations.words import split
from disorder.types import Dataset

FOLDER = os.environ.get("DATA_DIR")
SETS = ("xnli:en", "xnli:de", "xnli:zh", "xnli:th", "ocnli:dev") if FOLDER else ("builtin",)
Q = 100


def counted(dataset: Dataset) -> str:
    """One row of the table."""
    texts = [text for example in dataset.examples for text in example.texts if text]
    transformation = parse("derange")
    splitter = transformation.splitter_for(dataset.task)
    sentences = [split(text, words=splitter) for text in texts]
    ours = sum(len(sentence.movable) for sentence in sentences) / len(texts)
    spaces = sum(len(text.split()) for text in texts) / len(texts)
    icu = sum(map(n_words, texts)) / len(texts)
    made = list(transformation.apply_all(dataset.examples, task=dataset.task, q=Q, seed=0))
    variants = [len(each) for each in made if not isinstance(each, DoesNotApply)]
    n = len(dataset.examples)
    return (
        f"| {dataset.name} | {dataset.task.language} | {splitter} | {spaces:.1f} | {icu:.1f} | "
        f"{ours:.1f} | {len(variants):,} of {n:,} | {sum(variants):,} |"
    )


def main() -> None:
    columns = "by spaces | by ICU | words per text | used, q = 100 | variants"
    print(f"| data | language | splitter | {columns} |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for name in SETS:
        dataset = read_data(name, data_dir=FOLDER)
        if TOY:
            dataset = Dataset(dataset.name, dataset.task, dataset.examples[:20])
        print(counted(dataset))


if __name__ == "__main__":
    main()
