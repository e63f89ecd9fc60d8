"""Where is kept what takes long to make again? Answers of models and trained translators, under one
folder of the user's.
"""

from __future__ import annotations

import os
from pathlib import Path


def default_folder() -> Path:
    """DISORDER_CACHE, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("DISORDER_CACHE") or Path(base) / "disorder")
