"""What audits conclude on real data, beside what is known about it: a table of docs/conclusions.md.

python scripts/real_conclusions.py FOLDER [--write docs/conclusions.md]

DISORDER_DATA names the folder of the papers' datasets, MINILM that of a MiniLM fine-tuned on MNLI.
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
TRAINED = {
    "sst2-bow": "sst2:train --model bow --limit 6000 --set epochs=3",
    "sst2-convnet": "sst2:train --model convnet --limit 12000 --set epochs=3",
    "cola-convnet": "cola:train --model convnet --set epochs=3",
    "qqp-bow": "qqp:train --model bow --limit 12000 --set epochs=3",
    "ocnli-bow": "ocnli:train --model bow --set epochs=3",
    "de-bow": "de-train.jsonl --task xnli --language de --model bow --set epochs=3",
}
# the premises of XNLI have three hypotheses each, which stand together: none is in both parts
GERMAN = (
    "zcat $DISORDER_DATA/xnli/dev_de.jsonl.gz | head -1980 > de-train.jsonl",
    "zcat $DISORDER_DATA/xnli/dev_de.jsonl.gz | tail -510 > de-test.jsonl",
)
PAWS = (
    "$DISORDER_DATA/paws_wiki/dev.jsonl.gz --limit 1000 "
    "--labels duplicate=paraphrase,not_duplicate=not_paraphrase"
)


@dataclass(frozen=True)
class Known:
    """An audit, and what is known about its model and data."""

    shown: str
    audit: str
    known: str


AUDITS = {
    "builtin": Known(
        "`builtin` (reader)",
        "builtin builtin --limit 1000",
        "half of the data needs order, by construction, and the model reads it",
    ),
    "builtin-bow": Known(
        "`builtin:bow`",
        "builtin:bow builtin --limit 1000",
        "a bag of words, at chance where order decides",
    ),
    "mnli": Known(
        "MiniLM-L6, fine-tuned on MNLI",
        "hf:$MINILM mnli:matched --limit 500",
        "the papers found larger models to keep most of their predictions (UNLI)",
    ),
    "sst2-bow": Known(
        "bag of words, SST-2",
        "bow:sst2-bow sst2:dev",
        "blind to order; words alone answer most of SST-2, so it is no fault of the model",
    ),
    "sst2-convnet": Known(
        "ConvNet, SST-2",
        "convnet:sst2-convnet sst2:dev",
        "sees neighbours, needs few of them: WOS 0.28 and below ([findings](findings.md))",
    ),
    "cola": Known(
        "ConvNet, CoLA",
        "convnet:cola-convnet cola:dev",
        "0.69 are acceptable, and a ConvNet from scratch learns hardly more than that; CoLA needs "
        "order ([datasets](results/sanity.md))",
    ),
    "paws-bow": Known(
        "bag of words, QQP",
        f"bow:qqp-bow {PAWS}",
        "the texts of a pair share nearly all words, whatever the label, by design (Zhang et al., "
        "2019): a bag of words is at chance",
    ),
    "de-bow": Known(
        "bag of words, German",
        "bow:de-bow de-test.jsonl --task xnli --language de",
        "blind to order",
    ),
    "zh-bow": Known(
        "bag of words, OCNLI",
        "bow:ocnli-bow ocnli:dev",
        "blind to order; Chinese is cut into words without being told",
    ),
}


def commands() -> Iterator[tuple[str, str]]:
    """Every command, with the file or folder that it leaves."""
    yield "de-train.jsonl", GERMAN[0]
    yield "de-test.jsonl", GERMAN[1]
    for name, given in TRAINED.items():
        yield name, f"disorder train plain {given} --out {name}"
    for name, row in AUDITS.items():
        yield f"runs/{name}", f"disorder audit {row.audit} {COMMON} --out runs/{name}"


def run_all(folder: Path) -> None:
    """Run what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for left, command in commands():
        if not (folder / left).exists():
            subprocess.run(command, shell=True, check=True, cwd=folder)


def table(folder: Path) -> Iterator[str]:
    """One line per audit, then the commands."""
    yield "| model | data | n | conclusion | caveats | what is known |"
    yield "| --- | --- | ---: | --- | --- | --- |"
    for name, row in AUDITS.items():
        run = disorder.read_run(folder / "runs" / name)
        found = run.conclusion
        assert found is not None
        drawn = [told(found)]
        drawn += [f"`{group}`: {told(each)}" for group, each in run.conclusions.items()]
        caveats = "; ".join(f"`{caveat.kind}`" for caveat in found.caveats) or "–"
        data = "/".join(Path(run.data).parts[-2:])
        cells = (row.shown, f"`{data}`", f"{found.n:,}", "; ".join(drawn), caveats, row.known)
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "```"
    yield from (command for _, command in commands())
    yield "```"


def told(found: Conclusion) -> str:
    """The kind with its number, or with the reason why there is none."""
    if found.value is None:
        return f"`{found.kind}`: {found.because}"
    more = f" (about {found.more_examples:,} more would decide it)" if found.more_examples else ""
    return f"`{found.kind}`, {figures(found)}{more}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, help="a page with <!-- real --> … <!-- /real -->")
    given = parser.parse_args()
    if not {"DISORDER_DATA", "MINILM"} <= set(os.environ):
        raise SystemExit("set DISORDER_DATA and MINILM to the folders of the data and of a model")
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
