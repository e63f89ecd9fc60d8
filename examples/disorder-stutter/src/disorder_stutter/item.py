"""A study item: stuttering on the plugin's own data, beside numbers that were written down before.

All of it stands in item.toml: what it needs, and the printed numbers, as strings exactly as they
were printed.
"""

from __future__ import annotations

from pathlib import Path

from disorder.papers.study import read_items

read_items(Path(__file__).with_suffix(".toml"))
