"""Words removed from ANLI by one word class after the other, each from what the last one left.

The numbers that NLI Data Sanity Check (Talman et al., 2021) prints in the appendix, Table 3, are
consistent with this; no code of the authors that counts so is at hand. `disorder study
ndsc/appendix3` removes each class from the original texts. Needs NLTK with its data.

    python scripts/ndsc_counts.py ../shared/data/anli/r1_test.jsonl.gz
"""

from __future__ import annotations

import sys

from nltk import pos_tag, word_tokenize
from nltk.tokenize.treebank import TreebankWordDetokenizer

from disorder.data import read_data

# an order that fits what is printed
CLASSES = ("NOUN", "VERB", "PRON", "ADJ", "ADV", "NUM", "CONJ", "DET")


def without(text: str, tag: str) -> tuple[str, int]:
    """A text without the words of one class, and how many those were."""
    tagged = pos_tag(word_tokenize(text), tagset="universal")
    kept = [word for word, found in tagged if found != tag]
    return TreebankWordDetokenizer().detokenize(kept), len(tagged) - len(kept)


def main(data: str) -> None:
    """Print the counts of each class: premises, hypotheses, both."""
    examples = read_data(data).examples
    sides = [[each.text_a for each in examples], [each.text_b or "" for each in examples]]
    print("class premises hypotheses total")
    for tag in CLASSES:
        counts = []
        for side, texts in enumerate(sides):
            left = [without(text, tag) for text in texts]
            sides[side] = [text for text, _ in left]
            counts.append(sum(n for _, n in left))
        print(tag, *counts, sum(counts), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
