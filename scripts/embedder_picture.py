"""Draws docs/results/embedders.svg from the tables of docs/results/embedders.md."""

from __future__ import annotations

import re
from pathlib import Path

from disorder.results.result import Figure
from disorder.verbs.explain.chart_style import domain, intervals, name, number, ruled

PAGE = Path(__file__).parents[1] / "docs" / "results" / "embedders.md"
ROW = re.compile(r"^\| ([^,|]+),.*\| (−?[\d.]+) \[(−?[\d.]+), (−?[\d.]+)\] \|$", re.MULTILINE)


def main() -> None:
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    rows = []
    for data, *numbers in found:
        value, low, high = (float(each.replace("−", "-")) for each in numbers)
        rows.append({"data": data, "value": value, "low": low, "high": high})
    x = name("data", [row["data"] for row in rows], "data")
    x["axis"] = {"labelAngle": -30}
    ends = domain(min(0.0, *(row["low"] for row in rows)), max(1.0, *(row["high"] for row in rows)))
    y = number("value", "skill kept", ends)
    caption = "Skill kept when every word moves: 1 for a bag of words, 0 for a model that reads."
    layers = {"layer": [*intervals(x, y), *ruled("y", 1.0), *ruled("y", 0.0)]}
    figure = Figure("embedders", caption, rows, layers)
    PAGE.with_suffix(".svg").write_text(figure.svg, encoding="utf-8")


if __name__ == "__main__":
    main()
