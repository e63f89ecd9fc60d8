"""The time until something happens: `disorder --help` and `import disorder` against `import numpy`.

python benchmarks/start.py     (wall time of whole processes, medians of 9)
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from _measure import TOY

ROUNDS = 1 if TOY else 9
COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import disorder": [sys.executable, "-c", "import disorder"],
    "disorder --help": [sys.executable, "-m", "disorder", "--help"],
}


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            times[name].append(time.perf_counter() - began)
    base = statistics.median(times["import numpy"])
    print("| | seconds | ÷ import numpy |\n|---|---|---|")
    for name, values in times.items():
        seconds = statistics.median(values)
        print(f"| {name} | {seconds:.3f} | {seconds / base:.2f} |")


if __name__ == "__main__":
    main()
