"""Render the published studies again: study.md of each from its study.json, after the look of
tables has changed.

python scripts/render_studies.py [FOLDER]     (docs/results/study; a test holds them current)
"""

from __future__ import annotations

import sys
from pathlib import Path

from disorder.papers.study import as_markdown, read_study

FOLDER = Path(__file__).parents[1] / "docs" / "results" / "study"


def main(folder: Path) -> None:
    """Write every study.md that is not what its study.json gives."""
    for record in sorted(folder.glob("*/study.json")):
        path = record.with_suffix(".md")
        text = as_markdown(read_study(record.parent))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
