"""The contract of every explanation, built-in or from a plugin: same seed same rows, figures with
their rows, one line.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from disorder.errors import DisorderError
from disorder.registry import ExplanationPart, parts
from disorder.results.result import as_csv
from disorder.verbs.explain import Explained, explain

NAMES = list(parts(ExplanationPart))
SMALL: dict[str, Any] = {"limit": 30, "q": 4}
# what the built-in model and data, or a machine without taggers, cannot show, and a word of the
# line that says so
LACKS = {
    "heads": "attentions|two texts",
    "gradients": "gradients",
    "similarity": "numbers",
    "recover": "writes no text",
    "cosine": "no embedder",
    "sides": "come alone",
    "minitree": "spac|nltk",
}
QUICK = {"lime": "lime:n=6,samples=100"}  # the paper's 1,000 samples per text are slow


@cache
def explained_once(name: str) -> Explained:
    """What it finds on the built-in data, found once for the tests that only read it."""
    return explained(name)


def explained(name: str, data: str = "builtin", **more: Any) -> Explained:
    """What it finds, or a skip where this model or machine lacks what it needs, which must be said
    in one line.
    """
    try:
        return explain("builtin", data, by=QUICK.get(name, name), **(SMALL | more))[name]
    except DisorderError as error:
        reason = str(error)
    assert reason.startswith(f"{name}: ")
    assert "\n" not in reason
    assert name in LACKS, f"it should have been shown: {reason}"
    assert re.search(LACKS[name], reason)
    pytest.skip(reason)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_asks(name: str) -> None:
    asks = parts(ExplanationPart)[name].asks
    assert asks.endswith("?")
    assert asks[0].isupper()


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_svg_with_rows_and_names_of_their_own(name: str) -> None:
    found = explained_once(name)
    assert found.finding
    assert "\n" not in found.finding
    assert re.search(r"\d", found.finding), "a finding has numbers"
    names = [each.name for each in (*found.figures, *found.tables)]
    assert len(set(names)) == len(names)
    assert all(each.startswith(name) for each in names), "files of two explanations must not meet"
    for figure in found.figures:
        assert figure.rows
        assert figure.svg.startswith("<svg")
        assert figure.caption.endswith(".")
    json.dumps([[*each.rows] for each in (*found.figures, *found.tables)], allow_nan=False)
    for score in found.scores.values():
        assert score.low <= score.value <= score.high
        assert score.n > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_rows(name: str) -> None:
    first = explained_once(name)
    second = explained(name)
    assert first.finding == second.finding
    for one, other in zip(
        (*first.figures, *first.tables), (*second.figures, *second.tables), strict=True
    ):
        assert as_csv(one.rows) == as_csv(other.rows)


@pytest.mark.parametrize("data", ["builtin:sentiment", "builtin:acceptability"])
@pytest.mark.parametrize("name", NAMES)
def test_it_works_on_single_texts_or_says_why_not(name: str, data: str) -> None:
    assert explained(name, data, short="use").finding
