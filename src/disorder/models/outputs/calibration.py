"""Calibration of a model: calibration.json in its folder, with a temperature and the probability
below which to abstain.

Both are applied wherever the folder is used. The temperature changes how confident a prediction is,
never which label it is; below the threshold the model abstains, and the text gets no label.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from disorder.errors import BadData, BadModel
from disorder.store.storage import write_atomically
from disorder.types import Bools, Floats
from disorder.untrusted_files import read_json, validated
from disorder.visible_text import one_line

FILE = "calibration.json"
TINY = 1e-300  # a probability of 0 has no logarithm


@dataclass(frozen=True)
class Calibration:
    """By what logits are divided, and the top probability below which a text is taken to be
    invalid.
    """

    temperature: float = 1.0
    threshold: float | None = None

    def __call__(self, probabilities: Floats) -> Floats:
        """The softmax of logits / temperature, from the softmax of the logits.

        >>> Calibration(2.0)(np.array([[0.8, 0.2]])).round(3).tolist()
        [[0.667, 0.333]]
        """
        scaled = np.log(np.maximum(probabilities, TINY)) / self.temperature
        raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def abstains_on(self, probabilities: Floats) -> Bools:
        """Which rows of label probabilities lie below the threshold.

        >>> Calibration(threshold=0.7).abstains_on(np.array([[0.8, 0.2], [0.4, 0.6]])).tolist()
        [False, True]
        """
        return np.asarray(probabilities.max(axis=1) < (self.threshold or 0.0))

    def write(self, folder: Path) -> None:
        """Write calibration.json."""
        write_atomically(folder / FILE, (json.dumps(asdict(self)) + "\n").encode())


def calibration_of(spec: str) -> Calibration | None:
    """What the folder that a model spec names says of itself, if anything."""
    path = Path(spec.partition(":")[2]).expanduser() / FILE
    if ":" not in spec or not path.is_file():
        return None
    try:
        raw = read_json(path)
        unknown = set(raw) - {"temperature", "threshold"} if isinstance(raw, dict) else ()
        if unknown:
            raise BadData(f"{path} is damaged: {one_line(min(unknown))!r} means nothing there")
        found: Calibration = validated(Calibration, raw, str(path))
    except BadData as error:
        raise BadModel(str(error)) from None
    if found.temperature <= 0 or not (found.threshold is None or 0 <= found.threshold <= 1):
        raise BadModel(f"{path}: need a temperature above 0 and a threshold from 0 to 1")
    return found
