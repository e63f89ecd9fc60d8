"""How results display themselves in a notebook: pictures, and pages as one HTML fragment.

The page is shown in a frame of its own, so that its style neither leaks out nor is disturbed.
"""

from __future__ import annotations

from html import escape

from disorder.errors import DisorderError, UnknownName
from disorder.results import charts
from disorder.results.page import page
from disorder.results.result import Picture
from disorder.results.run import Run
from disorder.results.wording import main_transformation

HEIGHT = 640  # pixels of the frame in a notebook
BY_TRANSFORMATION = {
    "omega_curve": charts.omega_curve,
    "acceptance": charts.acceptance,
    "confidence": charts.confidence,
    "reliability": charts.reliability,
}


def run_picture(run: Run, name: str, transformation: str = "") -> Picture:
    """A picture of a run: `forest`, or one of a transformation, by default the main one."""
    if name == "forest":
        return Picture(charts.forest(run, run.main_score))
    if name not in BY_TRANSFORMATION:
        raise UnknownName("picture", name, ["forest", *BY_TRANSFORMATION])
    chosen = transformation or main_transformation(run)
    if chosen not in run.figures:
        raise UnknownName("transformation with pictures", chosen, run.figures)
    if name.partition("_")[0] not in run.figures[chosen]:
        raise DisorderError(f"there is no picture {name} of {chosen}: it was not measured there")
    return Picture(BY_TRANSFORMATION[name](run, chosen))


def run_html(run: Run) -> str:
    """The report of a run, for a notebook."""
    return framed(page(run))


def framed(content: str, *, height: int = HEIGHT) -> str:
    """A page in a frame of its own, as HTML for a notebook's cell."""
    return (
        f'<iframe srcdoc="{escape(content, quote=True)}" sandbox="" '
        f'style="width: 100%; height: {height}px; border: 1px solid #d0d7de"></iframe>'
    )
