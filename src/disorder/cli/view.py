"""`disorder view`: look at runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def view(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that has run folders in it")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one", min=0, max=65535)
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; other machines can reach any but the default"),
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="Token that visitors need (generated where --host needs one)")
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser")] = False,
) -> None:
    """Look at the runs below DIR in a browser.

    A list of runs, each with its scores and charts; examples by label, length, prediction and
    accepted share; every perturbed version of an example; runs side by side; the progress of a
    run. Nothing leaves this machine, and no file is changed.
    """
    from disorder.cli.output import announce
    from disorder.web.access_control import one_token, token_for
    from disorder.web.server import require_web, serve

    require_web("disorder view", "duckdb")
    from disorder.web.viewer_app import viewer_app

    needed = token_for(host, token)
    serve(
        viewer_app(folder),
        announce,
        host=host,
        port=port,
        token=needed,
        is_good=one_token(needed) if needed else None,
        name="disorder view",
        is_opened=is_opened,
    )
