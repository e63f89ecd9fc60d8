"""The items of the papers, one file each: what they need, and the numbers that are printed."""

from __future__ import annotations

from pathlib import Path

from disorder.papers.study.item import read_items

for path in sorted(Path(__file__).parent.glob("*.toml")):
    read_items(path)
