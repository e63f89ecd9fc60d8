"""Makes the pictures of the documentation: terminal, report, viewer, board and site, wide and on a
phone.

python scripts/screenshots.py [FOLDER]      needs Chromium and the dependency group `browser`
"""

from __future__ import annotations

import functools
import http.server
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SIZES = {"": (1280, 800), "-phone": (390, 844)}
MODELS = {
    "reader": "builtin",
    "bag-of-words": "builtin:bow",
    "always-neutral": "always:neutral",
    "guesses": "uniform",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def disorder(*words: object, folder: Path) -> str:
    """Run a command in a folder, at eighty columns, with colours."""
    environment = os.environ | {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-m", "disorder", *map(str, words)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return done.stdout


def make_runs(folder: Path) -> None:
    """A few models on two datasets."""
    for data in ("builtin", "builtin:sentiment"):
        for name, model in MODELS.items():
            if "sentiment" in data and name in ("always-neutral",):
                continue
            out = folder / "runs" / f"{name}-{data.replace(':', '-')}"
            words: list[object] = ["audit", model, data, "--limit", 200, "--q", 10, "--out", out]
            if (name, data) != ("reader", "builtin"):  # the one that is shown has the whole suite
                words += ["--with", "derange"]
            disorder(*words, folder=folder)
    disorder(
        "explain", "builtin", "builtin", "--by", "omega_curve", "--by", "overlap", "--limit", 60,
        "--q", 5, "--out", folder / "runs" / "explained", folder=folder,
    )  # fmt: skip
    make_other_results(folder)


def make_other_results(folder: Path) -> None:
    """One of each other kind of result, small."""
    runs = folder / "runs"
    checks = ["--check", "labels", "--check", "order", "--check", "texts", "--check", "words"]
    small = ["--limit", 300, "--train-limit", 1500]
    disorder("sanity", "builtin", *checks, *small, "--out", runs / "sanity", folder=folder)
    disorder(
        "study", "unli/fig8", runs / "reader-builtin", "--q", 10, "--out", runs / "study",
        folder=folder,
    )  # fmt: skip
    (runs / "comparison").mkdir()
    both = (runs / "reader-builtin", runs / "bag-of-words-builtin")
    page = runs / "comparison" / "compare.html"
    disorder("compare", *both, "--with", "derange", "--html", page, folder=folder)
    people = ["--n", 20, "--out", runs / "people"]
    disorder("human", "make", runs / "reader-builtin", *people, folder=folder)
    notebook = (
        "import disorder, pathlib; run = disorder.read_run('runs/bag-of-words-builtin'); "
        "pathlib.Path('notebook.html').write_text('<meta charset=utf-8>' + run._repr_html_())"
    )
    subprocess.run([sys.executable, "-c", notebook], cwd=folder, check=True)


def terminal(folder: Path, out: Path) -> None:
    """What `disorder audit` prints, as a picture."""
    from rich.console import Console
    from rich.text import Text

    text = disorder("report", "runs/reader-builtin", folder=folder)
    kept = text.strip("\n").split("\n")[:24]
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(Text.from_ansi("$ disorder audit\n\n" + "\n".join(kept)))
    svg = console.export_svg(title="disorder audit", clear=False)
    # no web font: the picture must look the same offline
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "DejaVu Sans Mono, Menlo, Consolas, monospace")
    svg = svg.replace("Fira Code", "DejaVu Sans Mono")
    (out / "terminal.svg").write_text(svg, encoding="utf-8")


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """A running `disorder view`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "disorder", "view", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := re.search(r"https?://\S+", line):
                yield found[0].rstrip("/")
                break
    finally:
        process.terminate()
        process.wait()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder behind a plain web server."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def pages(folder: Path, at: str, browser: Any, site: str | None) -> dict[str, str]:
    """Each picture's name and what it shows."""
    page = browser.new_page()
    page.goto(at)
    run = page.get_by_role("link", name="reader-builtin", exact=True).get_attribute("href")
    page.goto(f"{at}{run}")
    example = page.get_by_role("link", name="open example").first.get_attribute("href")
    page.close()
    found = {
        "report": (folder / "runs" / "reader-builtin" / "report.html").as_uri(),
        "view": f"{at}/",
        "view-run": f"{at}{run}",
        "view-example": f"{at}{example}",
        "board": (folder / "board" / "index.html").as_uri(),
    }
    listed = {"sanity": "sanity", "study": "study", "compare": "comparison"}
    names = {"sanity": "report.html", "study": "report.html", "compare": "compare.html"}
    for name, place in listed.items():
        found[name] = (folder / "runs" / place / names[name]).as_uri()
    found["explain"] = (folder / "runs" / "explained" / "explain.html").as_uri()
    found["notebook"] = (folder / "notebook.html").as_uri()
    page = browser.new_page()
    page.goto(at)
    people = page.locator('a[href^="/human/"]').first.get_attribute("href")
    page.close()
    found["view-people"] = f"{at}{people}"
    return found | ({"docs": f"{site}/index.html"} if site else {})


def photograph(browser: Any, found: dict[str, str], out: Path) -> None:
    for name, address in found.items():
        for suffix, (width, height) in SIZES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="light"
            )
            page.goto(address)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=out / f"{name}{suffix}.png")
            page.close()


def main(arguments: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    out = Path(arguments[0]) if arguments else ROOT / "docs" / "screenshots"
    out.mkdir(parents=True, exist_ok=True)
    program = next(path for name in BROWSERS if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make_runs(folder)
        disorder("board", "runs", "--out", "board", folder=folder)
        terminal(folder, out)
        flags = ["--disable-gpu", "--no-sandbox"] if os.geteuid() == 0 else ["--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        with viewer(folder / "runs") as at, served(ROOT / "site") as docs:
            has_site = (ROOT / "site" / "index.html").exists()
            photograph(browser, pages(folder, at, browser, docs if has_site else None), out)
        browser.close()
    print(f"pictures in {out}")


if __name__ == "__main__":
    main(sys.argv[1:])
