"""Results as pages, in a notebook and as data: one template and one record, whatever the verb.

Texts and names are untrusted: they are escaped, and invisible characters are made visible.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from disorder.results.result import Result
from disorder.results.writing import capitalised, fixed
from disorder.visible_text import visible

if TYPE_CHECKING:
    from jinja2 import Environment

HEIGHT = 640  # pixels of the frame in a notebook


def page(result: Result, *, in_folder: bool = True) -> str:
    """A result as one page of HTML that works from disk, offline, on a phone and in print."""
    return _drawn(result, "base.html", in_folder=in_folder, has_contents=True)


def notebook(result: Result) -> str:
    """The content of the page with its style, for the output of a notebook's cell.

    It links to no section: other cells may have sections of the same name.
    """
    return _drawn(result, "notebook.html", in_folder=False, has_contents=False)


def framed(content: str, *, height: int = HEIGHT) -> str:
    """A page in a frame of its own, as HTML for a notebook's cell: its style neither leaks out nor
    is disturbed.
    """
    return (
        f'<iframe srcdoc="{escape(content, quote=True)}" sandbox="" '
        f'style="width: 100%; height: {height}px; border: 1px solid #d0d7de"></iframe>'
    )


def as_json(result: Result) -> str:
    """The text of result.json."""
    return json.dumps(result.as_data(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _drawn(result: Result, layout: str, *, in_folder: bool, has_contents: bool) -> str:
    html: str = template("result.html").render(
        result=result, layout=layout, in_folder=in_folder, has_contents=has_contents
    )
    return html


@lru_cache(maxsize=32)
def template(name: str, package: str = "disorder.results", **filters: Callable[..., str]) -> Any:
    """A page's template in a package, compiled once; it may extend ours."""
    return environment(package, **filters).get_template(name)


def environment(package: str, **filters: Callable[..., str]) -> Environment:
    """The templates of a package, and ours: everything is escaped, and nothing may be missing."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (package, "disorder.results")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"visible": visible, "number": fixed, "sentence": capitalised, **filters}
    return found
