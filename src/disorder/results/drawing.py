"""Drawing: Vega-Lite as SVG, PNG and PDF, by a child process with limits of time and memory.

The library that draws them brings a JavaScript engine, which ends the whole process where memory
is short. In a child it can end nothing but itself: a page then says so in the chart's place.
"""

from __future__ import annotations

import atexit
import base64
import json
import logging
import os
import selectors
import subprocess
import sys
import threading
import time
from html import escape
from typing import Any

from disorder.errors import DisorderError

logger = logging.getLogger("disorder")

GREY = "#555555"
FONT = "Helvetica, Arial, sans-serif"
WIDTH = 460
HEIGHT = 220

SECONDS = 60.0  # for one chart, the start of the process included
MEMORY = 2 * 1024**3  # bytes that the child may write to
MOST = 64 * 1024**2  # bytes of an answer
REST = 60.0  # seconds without another try after a failure
# -I: neither the working folder nor the user's settings decide what the child imports
CHILD = """
import base64, json, sys
def limit(n):
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (n, n))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
limit(int(sys.argv[1]))
import vl_convert
for line in sys.stdin:
    task = json.loads(line)
    try:
        if task["what"] == "svg":
            answer = {"svg": vl_convert.vegalite_to_svg(task["spec"])}
        elif task["what"] == "pdf":
            answer = {"pdf": base64.b64encode(vl_convert.svg_to_pdf(task["svg"])).decode()}
        else:
            image = vl_convert.svg_to_png(task["svg"], scale=task["scale"])
            answer = {"png": base64.b64encode(image).decode()}
    except Exception as error:
        answer = {"error": (str(error).splitlines() or [""])[0][:200] or type(error).__name__}
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""


class ChartFailed(DisorderError):
    """A chart could not be drawn; everything else about a run is there without it."""


class ChartProcess:
    """The child: started when first needed, started again after it died, ended with us."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()
        self._failed = float("-inf")
        self._reason = ""

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        """What the child answers to a task; raises `ChartFailed` where it does not."""
        with self._lock:
            if time.monotonic() - self._failed < REST:
                raise ChartFailed(self._reason)
            return self._answer(task)

    def _answer(self, task: dict[str, Any]) -> dict[str, Any]:
        child = self._started()
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps(task).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            raise self._gone() from None
        answer: dict[str, Any] = json.loads(self._line(child))
        if "error" in answer:
            raise ChartFailed(f"the chart could not be drawn ({answer['error']})")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        is_ours = self._owner == os.getpid()  # a forked process has none of its own
        if self._child is not None and is_ours and self._child.poll() is None:
            return self._child
        self.end()  # one that died leaves its pipes
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", CHILD, str(MEMORY)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us
            )
        except OSError as error:
            raise self._failure(f"no process could be started ({error.strerror})") from None
        self._owner = os.getpid()
        return self._child

    def _line(self, child: subprocess.Popen[bytes]) -> bytes:
        """One line of the child, within the time."""
        assert child.stdout is not None
        end = time.monotonic() + SECONDS
        found = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while not found.endswith(b"\n"):
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise self._failure(f"it took more than {SECONDS:.0f} s")
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    raise self._gone()
                found += part
                if len(found) > MOST:
                    raise self._failure(f"it has more than {MOST:,} bytes")
        return bytes(found)

    def _gone(self) -> ChartFailed:
        child = self._child
        code = child.wait() if child is not None else 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return self._failure(f"the process that draws charts died with {how}; is memory short?")

    def _failure(self, why: str) -> ChartFailed:
        """The error, after which the child is ended and none is started for a while."""
        self.end()
        self._failed = time.monotonic()
        self._reason = f"the chart could not be drawn ({why})"
        logger.warning("charts are left out: %s", why)
        return ChartFailed(self._reason)

    def end(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        if self._owner == os.getpid():  # a forked process has copies of the pipes only
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what it had not read yet
                    continue


drawn_by_child = ChartProcess()
atexit.register(drawn_by_child.end)


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite picture as SVG, in the style of all our pictures; where it cannot be drawn, a
    picture that says why.
    """
    try:
        drawn: str = drawn_by_child({"what": "svg", "spec": json.dumps(styled(spec))})["svg"]
    except ChartFailed as error:
        return _instead(str(error))
    return drawn


def _instead(told: str) -> str:
    """What stands where a chart is missing."""
    words = escape(told[:1].upper() + told[1:])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="40" role="img" '
        f'aria-label="{words}"><text x="0" y="24" font-family="{FONT}" font-size="12" '
        f'fill="{GREY}">{words}</text></svg>'
    )


def png(drawn: str) -> bytes:
    """An SVG as PNG, sharp enough for print."""
    return base64.b64decode(drawn_by_child({"what": "png", "svg": drawn, "scale": 3})["png"])


def pdf(drawn: str) -> bytes:
    """An SVG as PDF, its letters as letters."""
    return base64.b64decode(drawn_by_child({"what": "pdf", "svg": drawn})["pdf"])


def styled(spec: dict[str, Any]) -> dict[str, Any]:
    """The picture with our usual size, letters and axes where it does not say otherwise."""
    letters = {"labelFontSize": 12, "titleFontSize": 12, "labelFont": FONT, "titleFont": FONT}
    config = {
        "font": FONT,
        # room for letters that are wider where a page is read than where it was drawn
        "axis": letters | {"grid": True, "titlePadding": 12},
        "legend": letters | {"columnPadding": 28},
        "padding": {"left": 14, "right": 10, "top": 5, "bottom": 5},
        "view": {"stroke": None},
    }
    size = {} if "facet" in spec else {"width": WIDTH, "height": HEIGHT}
    return {**size, "config": config, "background": "white"} | spec
