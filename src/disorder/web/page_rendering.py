"""Pages from templates that escape every value, and the static files that they share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from disorder import results
from disorder.results.render import environment

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import Response
    from jinja2 import Environment

STATIC = Path(__file__).parent / "static"
RESULT_STYLE = Path(results.__file__).parent / "templates" / "result.css"


@cache
def templates() -> Environment:
    """The templates; every value is escaped, and the filter `visible` shows the control characters
    of untrusted text.
    """
    return environment("disorder.web", query=query)


def render_page(template: str, **values: Any) -> Response:
    """A page as a response; what cannot be written as UTF-8 is replaced."""
    from fastapi.responses import Response

    text = templates().get_template(template).render(**values)
    return Response(text.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")


def query(values: dict[str, Any], **changes: Any) -> str:
    """The query of an address, with some values changed; empty values are left out."""
    pairs = {
        name: value for name, value in (values | changes).items() if value not in (None, "", [])
    }
    return urlencode(pairs, doseq=True)


def serve_static(app: FastAPI) -> None:
    """Serve the style sheets and scripts of the package under /static."""
    from fastapi.responses import FileResponse
    from starlette.staticfiles import StaticFiles

    class RevalidatedStaticFiles(StaticFiles):
        """Static files that a browser checks for changes each time, so that an upgrade shows."""

        def file_response(self, *arguments: Any, **named: Any) -> Any:
            response = super().file_response(*arguments, **named)
            response.headers["cache-control"] = "no-cache"
            return response

    @app.get("/static/result.css")
    def style() -> Response:
        return FileResponse(RESULT_STYLE, headers={"cache-control": "no-cache"})

    app.mount("/static", RevalidatedStaticFiles(directory=STATIC))
