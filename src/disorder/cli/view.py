"""`disorder view`: look at runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def view(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that run folders lie in")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(help="Port to progress on; 0 takes a free one", min=0, max=65535)
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(help="Address to progress on; other machines can reach any but the default"),
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="Token to ask for (made where --host needs one)")
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser")] = False,
) -> None:
    """Look at the runs below DIR in a browser.

    A list of runs, each with its scores and charts; examples by label, length, answer and accepted
    share; every perturbed version of an example; runs side by side; how far a run is. Nothing leaves
    this machine, and no file of yours is changed.
    """
    from disorder.web.guard import one_token, token_for
    from disorder.web.serving import require_web, serve

    require_web("disorder view", "duckdb")
    from disorder.web.view import viewer

    asked = token_for(host, token)
    serve(
        viewer(folder),
        host=host,
        port=port,
        token=asked,
        is_good=one_token(asked) if asked else None,
        name="disorder view",
        is_opened=is_opened,
    )
