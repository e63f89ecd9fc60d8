"""How long until something happens? `disorder --help` and `import disorder` against `import numpy`.

python benchmarks/start.py     (wall time of whole processes, medians of 9)
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import disorder": [sys.executable, "-c", "import disorder"],
    "disorder --help": [sys.executable, "-m", "disorder", "--help"],
}

if __name__ == "__main__":
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(9):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            times[name].append(time.perf_counter() - began)
    base = statistics.median(times["import numpy"])
    print("| | seconds | ÷ import numpy |\n|---|---|---|")
    for name, values in times.items():
        print(
            f"| {name} | {statistics.median(values):.3f} | {statistics.median(values) / base:.2f} |"
        )
