"""Writes docs/results/screens.md: what an audit prints about ten models whose answer is known.

python scripts/screens.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from disorder.results.terminal import continued

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "screens.md"
sys.path.append(str(ROOT / "tests"))

INTRO = """# Ten screens

What `disorder audit` prints, in 24 lines of 80 columns, about ten models whose answer is known.
Models and texts are made up (`tests/screen_cases.py`); the screens are real, made by
`python scripts/screens.py` and held current by a test.
[What the verdict means](../conclusions.md) has the rules.
"""
PLACE = "127.0.0.1:"  # of a server, before its port


def cases() -> Iterator[tuple[str, str, str, Sequence[Any], str]]:
    """Each model: its title, what is known of it, its name, rows, and more words of the command."""
    from screen_cases import MORE, ROWS
    from zoo import half_order_rows, order_rows

    rows = {name: found for name, (found, _) in ROWS.items()}
    yield "A reader", "Which of two words comes first decides.", "reader", rows["reader"], ""
    yield "A bag of words", "One word decides, wherever it stands.", "bag", rows["bag"], ""
    mixed = rows["mixed"][100:300]
    yield "A mixed model", "It does both, on half of the texts each.", "mixed", mixed, ""
    yield "No skill", "It guesses.", "guesser", order_rows(1000), "--until never"
    known = "It reads, but only texts that begin with a capital."
    yield "Lost before a word moves", known, "surface", rows["surface"], ""
    known = "The mixed model, on few texts that mostly need order."
    few = [*half_order_rows(400)[:14], *half_order_rows(400)[-46:]]
    yield "Undecided between two", known, "mixed", few, ""
    known = "A bag of words answers in place of a language model."
    yield "A language model behind a server", known, "", (), "--limit 60 --q 2 --with derange"
    known = "It takes the option that the question names."
    yield "Multiple choice", known, "choices", rows["choices"], ""
    known = "Its number follows the length of the text."
    yield "Gold numbers", known, "numbers", rows["numbers"], ""
    known = "Two texts are similar where they have the same letters."
    words = " ".join(map(str, MORE["embedder"]))
    yield "An embedder", known, "embedder", rows["embedder"], words


def page() -> str:
    """The page as it should be."""
    from disorder.data import read_data
    from fake_server import FakeServer
    from oracles import BagOfWords
    from screen_cases import MODELS

    brain = BagOfWords(read_data("builtin").examples)
    pieces = [INTRO]
    with tempfile.TemporaryDirectory() as folder, FakeServer(brain=brain) as server:
        place = {"COLUMNS": "80", "XDG_CACHE_HOME": folder}
        with patch.dict(os.environ, place), contextlib.chdir(folder):
            Path("mine.py").write_text(MODELS, encoding="utf-8")
            for number, (title, known, model, rows, more) in enumerate(cases()):
                Path("data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
                named = ["openai:m", "builtin", "--base-url", server.url]
                words = ["audit", *([f"mine.py:{model}", "data.jsonl"] if model else named)]
                words += more.split()
                shown = screen([*words, "--out", f"runs/{number}"])
                command = "\n".join(continued(shlex.join(["disorder", *words]), 80)).strip()
                shown = re.sub(rf"(?<={PLACE})\d{{5}}", "12345", f"$ {command}\n{shown}")
                pieces.append(f"## {title}\n\n{known}\n\n```console\n{shown}```\n")
    return "\n".join(pieces)


def screen(words: Sequence[str]) -> str:
    """What a command prints."""
    from disorder.cli import main

    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        try:
            main(list(words))
        except SystemExit as ended:
            if ended.code:
                raise SystemExit(f"{words}: {told.getvalue()}") from None
    return printed.getvalue()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
