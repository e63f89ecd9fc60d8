"""What explanations say of models whose mechanism is known: the table in
docs/results/explain/README.md.

python scripts/explain_zoo.py     writes it again (models of tests/verbs/explain/mechanisms.py)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verbs" / "explain"))
from mechanisms import MECHANISMS

from disorder.types import Score
from disorder.verbs.explain import Explanations, explain

PAGE = Path(__file__).parents[1] / "docs" / "results" / "explain" / "README.md"
BY = {
    "overview": "overview",
    "ladder": "ladder",
    "leave_one_out": "leave_one_out",
    "lime": "lime:n=30,samples=200",
    "neighbours": "neighbours:budget=100,n=40",
    "overlap": "overlap",
    "omega_curve": "omega_curve",
    "accepted_by_length": "accepted_by_length",
    "entropy": "entropy",
    "sides": "sides",
    "shuffles": "shuffles:samples=50",
    "minitree": "minitree:tagger=at_hand",
}
# these need an embedder, a network, a language model or numbers
LACKING = ("cosine", "gradients", "heads", "recover", "similarity")
Cell = Callable[[Explanations], str]


def part(title: str) -> Cell:
    """What a part of the ladder adds."""
    return lambda found: signed(found["overview"].scores[title])


def signed(score: Score) -> str:
    mark = "**" if score.low > 0 else ""
    value = f"{score.value:+.2f}".replace("-", "−")
    return f"{mark}{'0' if value.endswith('0.00') else value}{mark}"


def words(found: Explanations) -> str:
    """The words that are named."""
    named = re.findall(r"(\w+) \([\d.]+ in", found["overview"].finding)
    return ", ".join(named) or "none"


def share(by: str, title: str) -> Cell:
    return lambda found: f"{found[by].scores[title].value:.2f}"


COLUMNS: Mapping[str, Cell] = {
    "length": part("length"),
    "words": part("words"),
    "global order": part("global order"),
    "local order": part("local order"),
    "words named": words,
    "same top words when shuffled": share("leave_one_out", "same_top"),
    "flipped by moving one word": share("neighbours", "flipped by one word"),
    "more than half of permutations accepted": share("omega_curve", "omega@0.5"),
}


def table(found: Mapping[str, Explanations]) -> str:
    """One row per mechanism."""
    lines = [f"| mechanism | {' | '.join(COLUMNS)} |", "| --- " * (1 + len(COLUMNS)) + "|"]
    for name, each in found.items():
        lines.append(f"| {name} | {' | '.join(cell(each) for cell in COLUMNS.values())} |")
    return "\n".join(lines)


def main() -> None:
    found = {
        name: explain(each, each.rows(), by=list(BY.values())) for name, each in MECHANISMS.items()
    }
    page = PAGE.read_text(encoding="utf-8")
    pattern = r"\| mechanism \|.*?\n(?!\|)"
    PAGE.write_text(
        re.sub(pattern, lambda _: table(found) + "\n", page, count=1, flags=re.DOTALL),
        encoding="utf-8",
    )
    print(table(found))


if __name__ == "__main__":
    main()
