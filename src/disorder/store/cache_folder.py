"""The cache folder: predictions of models and trained translators, which take long to compute
again.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def default_folder() -> Path:
    """DISORDER_CACHE, or `disorder` in the user's cache folder ($XDG_CACHE_HOME or ~/.cache on
    Linux).
    """
    given = os.environ.get("DISORDER_CACHE")
    return Path(given) if given else user_cache_path("disorder", appauthor=False)
