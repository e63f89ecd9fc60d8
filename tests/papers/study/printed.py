"""How is each table of the papers printed? Finds published numbers in the papers' texts, table by
table and line by line.

A printed line is a label and then its cells, in order, with no other number between or after them:
so a wrong digit, a swapped cell, a cell too many and a line under the wrong label all fail. Lines
of a table are found one below the other, between its caption and the caption before it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import disorder

PUBLISHED = Path(disorder.__file__).parent / "papers" / "items"
TEXTS = {
    "unli": "unnatural-language-inference.txt",
    "ooo": "out-of-order.md",
    "ws": "word-salad.txt",
    "ndsc": "nli-data-sanity-check.txt",
}
SECOND_COPIES = {"ooo": "out-of-order-second-copy.txt"}  # has what the first copy has lost
CAPTION = re.compile(r"(Table|Figure) (A?\d+): ")
Row = Mapping[str, Any]
Item = Mapping[str, Any]
Label = Callable[[Row], str]
# between two cells: anything but a number or a sign; a lone dash is an empty cell
GAP = r"(?:[^\d+-]|- )*"
SET = {
    **{f"anli:r{i}": rf"(?:A{i}\*?|ANLI [Rr]{i} \(?[Dd]ev\)?)" for i in (1, 2, 3)},
    "mnli:matched": "MNLI(?: m dev| Matched)?",
    "mnli:mismatched": "MNLI (?:mm dev|Mismatched)",
    "anli": "ANLI",
    "anli:dev": "ANLI",
    "mean": "Mean",
    "snli:dev": "SNLI(?: [Dd]ev)?",
    "snli:test": "SNLI [Tt]est",
    "qqp:dev": "QQ(?:P|pr)",
    "mrpc:dev": "MRPC",
    "sst2:dev": "SST-2",
    "cola:dev": "Co[Ll]A",
    "rte:dev": "RTE",
    "qnli:dev": "QNLI",
    "stsb:dev": "STS-B",
}
SALAD = {
    "original": "Un-transformed",
    "sort": "Sort",
    "reverse": "Reverse",
    "shuffle": "Shuffle",
    "copy_sort": "CopySort",
    "mean of lexical": r"(?:Avg\. )?Lex(?:ical|\.)",
    "replace_least": "Replace",
    "repeat_most": "Repeat",
    "drop_least": "Drop",
    "copy_one": "CopyOne",
    "mean of gradient": r"(?:Avg\. )?Grad(?:ient|\.)",
    "pbsmt": "PBSMT",
    "chance": "Random",
    "mean of all": "Baseline",
}
RECIPES = {
    "plain": "Baseline",
    "label_smoothing": "Label Smoothing",
    "focal": "Focal Loss",
    "temperature": "Temperature Scaling",
}
MODELS = {
    "RoBERTa-base": "RoBERTa_{base}",
    "ALBERT-base": "$ALBERT_{base}$",
    "BERT-base": r"$\operatorname{BERT}_{base}$",
    "RoBERTa-large": "RoBERTa_{large}",
    "mean": "Average",
}
RUNS = {None: "RoBERTa", "best run": "Our best model", "mean of 5 runs": r"Average \(5 runs\)"}
SAMPLES = {
    "positives where heads match": r"a\. 1,453 selected 0/5 \(\+\) examples",
    "random positives": r"b\. 1,453 random 0/5 \(\+\) examples",
    "random positives and negatives": (
        r"c\. 1,453 random 0/5 \(\+\) examples & 1,453 random 0/5 \(-\) examples"
    ),
    "all of dev-r": r"d\. \(\+/-\) All 5,000 examples",
}
SALAD_EXAMPLES = {
    "original": "Original (?:H:|Q2:|A).*(?:Ent|Yes|ve)",
    "shuffle": "Shuffled H.*Ent",
    "pbsmt": "PBSMT-E H.*Ent",
    "repeat_most": "Repeat Q2:.*Yes",
    "copy_sort": "CopySort Q2:.*Yes",
    "sort": "Sort a.*ve",
    "drop_least": "Drop a.*ve",
}


@dataclass(frozen=True)
class Layout:
    """Which rows share a printed line (those that agree in `by`), what the line begins with, and in
    what order cells stand.

    Without `parts` the cells stand row by row; with it, all cells of its first columns, then those
    of the next. `across` is for tables printed on their side: a label and the columns of each line.
    `heading` names the key printed above.
    """

    by: tuple[str, ...] = ()
    label: Label = lambda row: SET[row["data"]]
    parts: tuple[tuple[str, ...], ...] = ()
    across: tuple[tuple[str, tuple[str, ...]], ...] = ()
    heading: str | None = None


def _variant(row: Row) -> str:
    return re.escape(row["variant"]) + r"\t.*" + (f'"{row["label"]}"' if "label" in row else "")


def _classes(row: Row) -> str:
    name, tags = row["transformation"].split(":tags=")
    return re.escape(tags) if name == "keep_pos" else f"[AM]NLI-{tags.replace('+', '-')}"


def _salad_model(row: Row) -> str:
    name = (
        row["model"].replace("-base", "-B").replace("-large", r"-L\.?").replace("ESIM-", "ESIM- ")
    )
    return rf"(?<!\w){name}"


BY_SET = Layout(("data",))
ORDER = Layout(
    ("data",), parts=(("accuracy", "spearman", "confidence", "chance"), ("wos",), ("gain",))
)
LARGE = Layout(("data", "model"), parts=ORDER.parts)
CLASSES = Layout(("transformation",), _classes)
LINES = Layout(("variant",), _variant)
SALADS = Layout(("transformation",), lambda row: SALAD[row["transformation"]])
LAYOUTS: dict[str, Layout] = {
    "unli/table2": Layout(("model", "data"), heading="model"),
    "unli/table3": Layout(("model",), lambda row: row["model"]),
    "unli/table4": Layout(("evaluator",), lambda row: row["evaluator"]),
    "unli/table5": Layout(("data",), parts=(("accuracy",), ("omega_max",))),
    "unli/table6": BY_SET,
    "unli/table7": BY_SET,
    "ndsc/table2": CLASSES,
    "ndsc/table3": Layout(
        ("trained_on",),
        lambda row: {"original": "MNLI", "alldrop": "MNLI-ALLDROP"}[row["trained_on"]],
    ),
    "ndsc/table4": CLASSES,
    "ndsc/table5": Layout(
        ("trained_on",), lambda row: "ANLI" if row["trained_on"] == "original" else "ANLI-NOUN"
    ),
    "ndsc/table6": Layout(
        ("transformation",),
        lambda row: (
            "ANLI"
            if row["transformation"] == "original"
            else f"ANLI-SHUFFLE-n{row['transformation'].split('n=')[1][0]}"
        ),
    ),
    "ndsc/appendix2": CLASSES,
    "ndsc/appendix3": CLASSES,
    "ooo/table2": ORDER,
    "ooo/table3": Layout(("sample",), lambda row: SAMPLES[row["sample"]]),
    "ooo/table4": BY_SET,
    "ooo/table5": Layout(("of",), lambda row: RUNS[row.get("of")]),
    "ooo/tableA1": Layout(
        ("distance_at_most",),
        lambda row: "Total" if row["distance_at_most"] == "any" else f"≤ {row['distance_at_most']}",
    ),
    "ooo/tableA2": LARGE,
    "ooo/tableA3": Layout(
        across=(
            ("Total examples in subset 5/5", ("examples",)),
            (r'\("positive" / "negative"\)', ("positive", "negative")),
            ("Not found in dictionary", ("not_found", "examples")),
            ("", ("not_found_share",)),
            ("Found in dictionary", ("found", "examples")),
            ("", ("found_share",)),
            (r'P \("positive" sentence positive top-1 word\)', ("positive_hits", "positive_words")),
            ("", ("p_positive",)),
            (r'P \("negative" sentence negative top-1 word\)', ("negative_hits", "negative_words")),
            ("", ("p_negative",)),
        )
    ),
    "ooo/tableA4": Layout(
        ("data",), parts=(("dev",), ("step1",), ("step2",), ("step3",), ("total",))
    ),
    "ooo/tableA5": ORDER,
    "ooo/tableA6": Layout(
        ("model",), lambda row: re.escape(MODELS[row["model"]]).replace("_", " ?_")
    ),
    "ooo/fig3": LINES,
    "ooo/fig4": LINES,
    "ooo/figA1": Layout(
        ("heads",), lambda row: "Total" if row["heads"] == "all" else re.escape(row["heads"])
    ),
    "ooo/figA2": LINES,
    "ooo/figA3": Layout(("variant",), lambda row: r'A\t.*"equivalent"'),
    "ooo/figA4": Layout(("variant",), lambda row: '.*"entailment"'),
    "ws/table1": Layout(
        ("data", "transformation"), lambda row: ".*" + SALAD_EXAMPLES[row["transformation"]]
    ),
    "ws/table4": SALADS,
    "ws/table5": BY_SET,
    "ws/table6": SALADS,
    "ws/table7": SALADS,
    "ws/table8": Layout(("recipe",), lambda row: RECIPES[row["recipe"]]),
    "ws/table9": SALADS,
    "ws/table10": Layout(("model",), lambda row: ".*" + _salad_model(row)),
    "ws/table11": Layout(
        ("trained_on",),
        lambda row: {"shuffle": "Shuffled", "original": "Original"}[row["trained_on"]],
    ),
    "ws/table12": BY_SET,
    "ws/fig1": Layout(("transformation",), lambda row: ".*ENTAILMENT with probability"),
}

# A printed number, with its sign.
NUMBER = r"([-+]?\d+(?:\.\d+)?)"
# Numbers in running text: the words around them, by row and column.
STATED: dict[str, dict[tuple[int, str], str]] = {
    "unli/fig3": {(0, "acceptance"): r"\(([\d.]+)% for the lowest BLEU-2"},
    "unli/fig5": {
        (0, "p_c"): r"\(([\d.]+)% for InferSent compared to",
        (1, "p_c"): r"InferSent compared to ([\d.]+)% for RoBERTa on MNLI",
    },
    "unli/fig7": {(0, "minitree"): r"‘river’ would have a POS tag minitree score of (\d\.\d+)"},
    "unli/fig8": {
        (0, "omega_all"): r"when x = 1\.0, there are more than (\d+)% of examples",
        (1, "omega_all"): r"more than (\d+)% in case of InferSent",
        (2, "omega_all"): r"more than (\d+)% in case of InferSent and DistilBERT",
    },
    "unli/fig10": {
        (0, "bleu3"): r"negligibly low \(< (\d\.\d+) BLEU-3",
        (0, "bleu4"): r"BLEU-3 and < (\d\.\d+) BLEU-4\)",
    },
    "ndsc/fig1": {
        (0, "premises"): r"there are only ([\d,]+) occur-",
        (0, "delta"): r"is the highest \((-[\d.]+) points\)",
        (1, "premises"): r"removing ([\d,]+) deter- miners",
        (1, "delta"): r"small impact on accuracy \((-[\d.]+) points\)",
    },
    "ooo/table5": {
        (6, "accuracy"): rf"Our best {NUMBER}",
        (6, "gain"): rf"model {NUMBER} \+0",
        (7, "accuracy"): rf"Our best [\d.]+ {NUMBER}",
        (7, "gain"): rf"model \+[\d.]+ {NUMBER}",
        (12, "accuracy"): rf"Average {NUMBER} 91",
        (12, "gain"): rf"80\.75 \(5 runs\) {NUMBER}",
        (13, "accuracy"): rf"Average 73\.[\d]+ {NUMBER}",
        (13, "gain"): rf"80\.75 \(5 runs\) \+[\d.]+ {NUMBER}",
        (15, "accuracy"): rf"Average 73\.(?:[\d.]+ ){{3}}{NUMBER}",
        (15, "gain"): rf"80\.75 \(5 runs\) (?:\+[\d.]+ ){{3}}{NUMBER}",
    },
    "ooo/fig4": {
        (1, "confidence"): rf"Q1 Apollo the Phillips How missions long did manage\? {NUMBER}",
        (2, "confidence"): rf"Q2 Phillips long manage How missions the Apollo did\? {NUMBER}",
    },
    "ooo/figA3": {
        (1, "confidence"): rf"A1 event any is one [^“]*“equivalent” {NUMBER}",
        (2, "confidence"): rf"A2 one based today [^“]*“equivalent” {NUMBER}",
    },
    "ooo/figA4": {
        (1, "confidence"): rf"“entailment” {NUMBER} H1 people in miilion",
        (2, "confidence"): rf"“entailment” {NUMBER} H2 33\.5 in people",
    },
    "ooo/text": {
        (0, "value"): rf"at step 4, {NUMBER}% of the same word",
        (1, "value"): rf"Second, for ∼{NUMBER}% \(i",
        (2, "value"): rf"obtained a ∼{NUMBER}% training-set",
        (3, "value"): rf"training-set ac- curacy and a ∼{NUMBER}% dev-set",
        (4, "value"): rf"dev-set accu- racy of {NUMBER}% for these 5 tasks",
        (5, "value"): rf"86\.35%× 75% ≈ {NUMBER}% of the groundtruth",
        (6, "value"): rf"we filtered out ∼{NUMBER}% of the",
    },
    "ws/table7": {(10, "confidence"): rf"average confidence of ~ {NUMBER}%"},
    "ws/table12": {(15, "agreement"): rf"decrease to an average of {NUMBER}% after"},
    "ooo/tableA2": {
        (40, "dev_accuracy"): r"on ANLI are ([\d.]+)% and",
        (41, "dev_accuracy"): r"on ANLI are [\d.]+% and ([\d.]+)%",
    },
    "ooo/figA1": {
        (8, "share"): r"(\d+)% of the task of attending to duplicate words",
        (9, "share"): r"(\d+)% of the work of matching similar words",
        (10, "share"): r"account for (\d+)%, \d+%, and \d+% of",
        (11, "share"): r"account for \d+%, (\d+)%, and \d+% of",
        (
            12,
            "share",
        ): r"account for \d+%, \d+%, and (\d+)% of the \"wordmatching\" task on QQP, RTE, and MRPC",
    },
    "ooo/fig1": {
        (0, "accuracy"): r"achieving a ([\d.]+)% accuracy on QQP",
        (1, "confidence"): r"\(a\) Prediction: \"duplicate\" (\d\.\d+)",
        (2, "confidence"): r"\(b\) Prediction: \"duplicate\" (\d\.\d+)",
        (3, "confidence"): r"\(c\) Prediction: \"duplicate\" (\d\.\d+)",
        (4, "confidence"): r"\(d\) Prediction: \"duplicate\" (\d\.\d+)",
    },
    "ooo/section33": {
        (0, "importance_drop"): r"decreased substantially by (\d\.\d+) and",
        (1, "importance_drop"): r"decreased substantially by \d\.\d+ and (\d\.\d+), respectively",
        (2, "importance_drop"): r"only changed marginally \(by (\d\.\d+),",
        (1, "stable"): r"\*\*([\d.]+)%\*\* \(\*\*RTE\*\*\)",
        (3, "stable"): r"\*\*([\d.]+)%\*\* \(\*\*QNLI\*\*\)",
    },
    "ws/human": {
        (0, "accuracy"): r"invalid examples in (\d+)% of the cases",
        (1, "accuracy"): r"cases as opposed to (\d+)% for",
    },
}


@cache
def published(paper: str) -> dict[str, Any]:
    """A paper's items, as stored."""
    found = tomllib.loads((PUBLISHED / f"{paper}.toml").read_text(encoding="utf-8"))
    return {
        name: section
        for name, section in found.items()
        if name != "names" and isinstance(section, dict) and section.keys() > {"item"}
    }


def cells(item: Item) -> Iterator[tuple[int, str, str]]:
    """Every cell of an item, with the number of its row and its column."""
    for i, row in enumerate(item.get("rows", ())):
        for column, cell in row["cells"].items():
            yield i, column, cell


@cache
def flattened(text: str) -> str:
    """The text in one line."""
    return re.sub(r"\s+", " ", text)


@cache
def span(name: str, text: str) -> list[str]:
    """The lines between this item's caption and the one before it."""
    kind, number = ("Table", name[5:]) if name.startswith("table") else ("Figure", name[3:])
    if name.startswith("appendix"):  # the appendix of NDSC begins to count again
        kind, number = "Table", name.removeprefix("appendix")
    lines = text.split("\n")
    captions = [
        (i, found[1], found[2]) for i, line in enumerate(lines) if (found := CAPTION.match(line))
    ]
    places = [k for k, caption in enumerate(captions) if caption[1:] == (kind, number)]
    k = places[-1] if name.startswith("appendix") else places[0]
    return lines[captions[k - 1][0] + 1 if k else 0 : captions[k][0]]


def printed(item: Item, layout: Layout, skip: set[int]) -> Iterator[tuple[str, list[str], Row]]:
    """Each printed line: its label, its cells in order, and its first row."""
    rows = [row for i, row in enumerate(item["rows"]) if i not in skip]
    if layout.across:
        for label, columns in layout.across:
            yield label, [row["cells"][column] for row in rows for column in columns], rows[0]
        return
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in layout.by), []).append(row)
    for group in groups.values():
        parts = layout.parts or (tuple(item["columns"]),)
        order = [
            [row["cells"][c] for c in part if c in row["cells"]] for part in parts for row in group
        ]
        yield layout.label(group[0]), [cell for some in order for cell in some], group[0]


def pattern(label: str, found: Sequence[str], *, may_lose_points: bool) -> re.Pattern[str]:
    """A line with this label and just these numbers; the text of Word Salad lost some decimal
    points.
    """
    numbers = [
        re.escape(cell).replace(r"\.", r"\.?" if may_lose_points else r"\.") for cell in found
    ]
    exact = [rf"(?<![\d.,]){number}(?!\d|[.,]\d)" for number in numbers]
    return re.compile(rf"^(?:[^\d+]*\t)?{label}{GAP}{GAP.join(exact)}[^\d]*$")


def complaints(paper: str, name: str, item: Item, text: str, second: str = "") -> list[str]:
    """What of this item is not printed as stored; empty when all is.

    `second` is another copy of the paper, for what the first has lost.
    """
    stated = STATED.get(f"{paper}/{name}", {})
    wrong = []
    for (i, column), words in stated.items():
        found = re.search(words, flattened(text)) or re.search(words, flattened(second))
        cell = item["rows"][i]["cells"].get(column)
        if found is None or found[1] != cell:
            wrong.append(f"{paper}/{name}: row {i}, {column} = {cell} is not what the text states")
    layout = LAYOUTS.get(f"{paper}/{name}")
    lines = span(name, text) if layout else []
    at = 0
    for label, found_cells, row in printed(item, layout, {i for i, _ in stated}) if layout else ():
        line = pattern(label, found_cells, may_lose_points=paper == "ws")
        k = next((k for k in range(at, len(lines)) if line.match(lines[k])), None)
        if k is None:
            wrong.append(f"{paper}/{name}: no line reads {label} {' '.join(found_cells)}")
        elif layout and layout.heading and _heading(lines[:k]) != row[layout.heading]:
            wrong.append(
                f"{paper}/{name}: {' '.join(found_cells)} is not below {row[layout.heading]}"
            )
        at = at if k is None else k + 1
    return wrong


def _heading(lines: Sequence[str]) -> str:
    """The last line without numbers."""
    return next(
        line.strip() for line in reversed(lines) if line.strip() and not re.search(r"\d\.\d", line)
    )
