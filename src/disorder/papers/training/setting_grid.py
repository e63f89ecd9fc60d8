"""A grid of a mitigation's settings: `entropic:lam=0.1/1/10`.

Word Salad (Gupta et al., 2021) tunes its hyperparameters on a tenth of the training data. Every
value is trained, and the one that is best on held-out data is tested: best is the mean of accuracy
on original texts (an abstention is not correct) and of the share of perturbed texts abstained on,
the two numbers that its Table 12 gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from disorder.errors import DisorderError
from disorder.safe_io import read_json
from disorder.verbs.train import HELD_OUT

SEPARATOR = "/"


def grid_of(settings: Mapping[str, str]) -> list[dict[str, str]]:
    """Every combination of values; settings without alternatives have one.

    >>> grid_of({"lam": "0.1/1", "rule": "grid"})
    [{'lam': '0.1', 'rule': 'grid'}, {'lam': '1', 'rule': 'grid'}]
    """
    values = [str(value).split(SEPARATOR) for value in settings.values()]
    return [dict(zip(settings, each, strict=True)) for each in product(*values)]


def held_out_score(folder: Path) -> dict[str, float]:
    """Accuracy, what is caught, and their mean, as a training measured them on held-out data."""
    found = read_json(folder / "training.json").get("after", {}).get(HELD_OUT)
    if not found:
        raise DisorderError(
            f"{folder} has no score on held-out data to choose a setting by; use a recipe that "
            "abstains below a threshold"
        )
    accuracy, caught = float(found["accuracy"]), float(found["caught"])
    return {"accuracy": accuracy, "caught": caught, "mean": (accuracy + caught) / 2}


def best_of(scores: Mapping[str, Mapping[str, float]]) -> str:
    """The name with the best mean; of equals the first.

    >>> best_of({"a": {"mean": 0.5}, "b": {"mean": 0.7}, "c": {"mean": 0.7}})
    'b'
    """
    return max(scores, key=lambda name: scores[name]["mean"])


def chosen_text(scores: Mapping[str, Mapping[str, float]]) -> str:
    """Which setting was best, and how good it is."""
    best = best_of(scores)
    score = scores[best]
    return (
        f"{best} was best on held-out data (accuracy {score['accuracy']:.3f}, caught "
        f"{score['caught']:.3f})"
    )
