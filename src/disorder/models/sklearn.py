"""Saved scikit-learn models: a joblib or pickle file, which can run any code when it is loaded."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from disorder.errors import BadModel, MissingPackage, option
from disorder.models.fingerprints import path_fingerprint
from disorder.models.python import PythonModel, as_predictor
from disorder.registry import model
from disorder.types import Predictor, Task


@model(form="sklearn:FILE", needs="scikit-learn")
def sklearn(address: str, *, task: Task, allow_pickle: bool = False) -> Predictor:
    """A scikit-learn model from a joblib or pickle file, which runs code when it is loaded: asks
    first, unless --allow-pickle says that you trust it.
    """
    path = Path(address).expanduser()
    if not path.is_file():
        raise BadModel(f"sklearn:{address}: no such file")
    if not (allow_pickle or _is_trusted(path)):
        raise BadModel(
            f"{path} is a pickle, which can run any code when it is loaded; if you trust where it "
            f"comes from, add {option('allow_pickle')}"
        )
    try:
        import sklearn as library  # noqa: F401  (said here, or unpickling fails in its own words)
    except ImportError as error:
        raise MissingPackage(f"sklearn:{address}", "scikit-learn", "sanity") from error
    predictor = as_predictor(_unpickled(path), task=task)
    if not isinstance(predictor, PythonModel):
        return predictor
    own = f"sklearn:{path_fingerprint(address)}/{version('scikit-learn')}"
    return replace(predictor, spec=f"sklearn:{address}", fingerprint=own)


def _unpickled(path: Path) -> Any:
    try:
        import joblib
    except ImportError:
        with path.open("rb") as file:
            return pickle.load(file)
    return joblib.load(path)


def _is_trusted(path: Path) -> bool:
    """What the user answers, where there is one to be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{path} is a pickle, which can run any code. Load it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
