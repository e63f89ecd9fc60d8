"""Tiny fixtures: a handful of examples, files made of them, and where the shared data lies when it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from disorder.types import Example, Outcomes, Task

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

settings.register_profile(
    "disorder",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("disorder")

SHARED = Path(__file__).parents[1].parent / "shared"
NLI = Task("toy", ("entailment", "neutral", "contradiction"), "b", "neutral", "entailment")

Rows = Iterable[Mapping[str, Any]]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the papers' data; tests that need it are skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"needs the papers' data in {SHARED / 'data'}")
    return SHARED / "data"


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a JSONL file and give its path."""

    def write(rows: Rows, name: str = "data.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def pairs(n: int, labels: tuple[str, ...] = NLI.labels, *, n_words: int = 9) -> list[dict[str, str]]:
    """Rows of made-up pairs with distinct words, so that every word order is another text."""
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koi", "lynx"]
    return [
        {
            "id": f"e{i:04d}",
            "text_a": f"{' '.join(words[:n_words])} a{i}.",
            "text_b": f"{' '.join(reversed(words[:n_words]))} b{i}.",
            "label": labels[i % len(labels)],
        }
        for i in range(n)
    ]


def example(text_a: str, text_b: str | None = None, *, name: str = "1") -> Example:
    """An example whose label does not matter."""
    return Example(name, text_a, text_b, "neutral")


def outcomes(
    gold: Iterable[int],
    original: Iterable[int],
    answers: Iterable[Iterable[int]],
    *,
    labels: tuple[str, ...] = NLI.labels,
    sure: float = 1.0,
    **more: Any,
) -> Outcomes:
    """Outcomes of a model that answers label numbers, with probability `sure`; −1 is a variant that is not there."""
    m = len(labels)
    table = np.vstack([np.eye(m) * sure + (1 - np.eye(m)) * (1 - sure) / (m - 1), np.full((1, m), np.nan)])
    first, second = np.array(list(original), dtype=int), np.array([list(row) for row in answers], dtype=int)
    given = {
        "transformation": "derange",
        "task": Task("toy", labels, "b", labels[1], labels[0]),
        "example": np.array([f"e{i}" for i in range(len(first))]),
        "gold": np.array(list(gold), dtype=int),
        "original": table[first],
        "answers": table[second.reshape(len(first), -1)],
        "is_simple": np.ones(len(first), dtype=bool),
    }
    return Outcomes(**(given | more))
