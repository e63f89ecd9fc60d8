"""Results as pages: one template, whatever the verb."""

from __future__ import annotations

from disorder.results.page import template
from disorder.results.result import Result


def page(result: Result, *, in_folder: bool = True) -> str:
    """A result as one page of HTML that works from disk."""
    return _drawn(result, "base.html", in_folder=in_folder, has_contents=True)


def notebook(result: Result) -> str:
    """The content of the page with its style, for the output of a notebook's cell.

    It links to no section: other cells may have sections of the same name.
    """
    return _drawn(result, "notebook.html", in_folder=False, has_contents=False)


def _drawn(result: Result, layout: str, *, in_folder: bool, has_contents: bool) -> str:
    html: str = template("result.html").render(
        result=result, layout=layout, in_folder=in_folder, has_contents=has_contents
    )
    return html
