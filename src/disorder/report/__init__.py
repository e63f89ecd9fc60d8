"""What does a person see? The run folder, the verdict, a table in the terminal, and one HTML page."""

from __future__ import annotations

from disorder.report.place import place
from disorder.report.run import Record, Run, read_run, write_run
from disorder.report.samples import Parts
from disorder.report.verdict import verdict

__all__ = ["Parts", "Record", "Run", "place", "read_run", "verdict", "write_run"]
