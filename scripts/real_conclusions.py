"""What audits conclude on real data, beside what is known about it: docs/results/conclusions.md.

python scripts/real_conclusions.py FOLDER [--write docs/results/conclusions.md]

DISORDER_DATA names the folder of the papers' datasets, MINILM that of a MiniLM fine-tuned on MNLI,
ENCODER that of the encoder all-MiniLM-L6-v2.
Models and runs that FOLDER has already are kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import disorder
from disorder.results.conclusion import Conclusion, figures

COMMON = "--with derange --q 10 --short use"
FIDELITIES = ("paper", "natural")
TRAINED = {
    "sst2-bow": "sst2:train --model bow --limit 6000 --set epochs=3",
    "de-bow": "de-train.jsonl --task xnli --language de --model bow --set epochs=3",
    "ocnli-bow": "ocnli:train --model bow --set epochs=3",
}
# the premises of XNLI have three hypotheses each, which stand together: none is in both parts
MADE = {
    "de-train.jsonl": "zcat $DISORDER_DATA/xnli/dev_de.jsonl.gz | head -1980 > de-train.jsonl",
    "de-test.jsonl": "zcat $DISORDER_DATA/xnli/dev_de.jsonl.gz | tail -510 > de-test.jsonl",
}
PAWS = "$DISORDER_DATA/paws_wiki/dev.jsonl.gz"
MODELS = f"python:{Path(__file__).with_name('real_models.py')}"


@dataclass(frozen=True)
class Known:
    """An audit, and what is known about its model and data."""

    shown: str
    audit: str
    known: str


AUDITS = {
    "mnli": Known(
        "MiniLM-L6, fine-tuned on MNLI",
        "hf:$MINILM mnli:matched --limit 300",
        "larger models keep most of their predictions (UNLI)",
    ),
    "sst2": Known(
        "MiniLM-L6 (all-MiniLM), logistic regression on its vectors",
        f"{MODELS}:sst2 sst2:dev --limit 300",
        "words alone answer most of SST-2",
    ),
    "tweets": Known(
        "TF-IDF over `\\S+`, logistic regression",
        f"{MODELS}:tweets tweets.jsonl --limit 300",
        "literally a bag of what stands between spaces",
    ),
    "paws": Known(
        "MiniLM-L6 (all-MiniLM), cosine",
        f"embed:$ENCODER {PAWS} --limit 300 --threshold 0.95",
        "both texts of a pair share nearly all words, by design",
    ),
    "de": Known(
        "bag of words, German",
        "bow:de-bow de-test.jsonl --task xnli --language de --limit 300",
        "blind to order",
    ),
    "zh": Known("bag of words, Chinese", "bow:ocnli-bow ocnli:dev --limit 300", "blind to order"),
    "sst2-bow": Known("bag of words, SST-2", "bow:sst2-bow sst2:dev --limit 300", "blind to order"),
}


def commands() -> Iterator[tuple[str, str]]:
    """Every command, with the file or folder that it leaves."""
    yield from MADE.items()
    yield "tweets.jsonl", f"python {Path(__file__).with_name('real_models.py')} > tweets.jsonl"
    for name, given in TRAINED.items():
        yield name, f"disorder train plain {given} --out {name}"
    for name, row in AUDITS.items():
        for fidelity in FIDELITIES:
            left = f"runs/{name}-{fidelity}"
            told = f"{row.audit} {COMMON} --fidelity {fidelity}"
            yield left, f"disorder audit {told} --out {left}"


def run_all(folder: Path) -> None:
    """Run what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for left, command in commands():
        if not (folder / left).exists():
            subprocess.run(command, shell=True, check=True, cwd=folder)


def table(folder: Path) -> Iterator[str]:
    """One line per audit: before (as the papers write texts) and after, with the control."""
    yield "| model | data | accuracy | `--fidelity paper` | natural | control ÷ original | known |"
    yield "| --- | --- | ---: | --- | --- | --- | --- |"
    for name, row in AUDITS.items():
        before, after = (disorder.read_run(folder / "runs" / f"{name}-{f}") for f in FIDELITIES)
        kept = after.score("surface:of=derange", "skill_kept")
        control = "–" if kept is None else f"{kept.value:.2f} [{kept.low:.2f}, {kept.high:.2f}]"
        right = after.score("original", "accuracy")
        assert right is not None
        data = Path(after.data).name.removesuffix(".jsonl.gz")
        drawn = [told(run.conclusion) for run in (before, after) if run.conclusion]
        cells = (row.shown, f"`{data}`", f"{right.value:.2f}", *drawn, control, row.known)
        yield f"| {' | '.join(cells)} |"


def told(found: Conclusion) -> str:
    """The kind with its number, or with the reason why there is none."""
    if found.value is None:
        return f"`{found.kind}`"
    return f"`{found.kind}`, {figures(found)}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, help="a page with <!-- real --> … <!-- /real -->")
    given = parser.parse_args()
    if not {"DISORDER_DATA", "MINILM", "ENCODER"} <= set(os.environ):
        raise SystemExit("set DISORDER_DATA, MINILM and ENCODER to the folders of data and models")
    run_all(given.folder)
    text = "\n".join(table(given.folder))
    if given.write is None:
        print(text)
        return
    page = given.write.read_text(encoding="utf-8")
    head, _, rest = page.partition("<!-- real -->\n")
    _, mark, tail = rest.partition("<!-- /real -->")
    if not mark:
        raise SystemExit(f"{given.write} has no <!-- real --> … <!-- /real -->")
    given.write.write_text(f"{head}<!-- real -->\n\n{text}\n\n{mark}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
