"""placeholder"""
from pathlib import Path
from disorder.report.run import Run
def write_report(folder: Path, run: Run) -> None: ...
