"""Every public function once, on built-in data: a script that a type checker can read.

Run: python examples/every_function.py [FOLDER]
Needs: pip install -c constraints.txt ".[nlp]" for the study item, which splits words as UNLI did.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import disorder


def audits(folder: Path) -> tuple[disorder.Run, disorder.Run]:
    """Two models on the same examples."""
    reader = disorder.audit("builtin", "builtin", with_="derange", q=5, limit=60, out=folder / "r")
    bag = disorder.audit("builtin:bow", "builtin", with_="derange", q=5, limit=60, out=folder / "b")
    print(reader.verdict)
    print(reader["derange", "p_c"].value, len(reader.scores), reader.folder)
    return reader, bag


def main(folder: Path) -> None:
    """Use everything."""
    reader, bag = audits(folder)
    print(disorder.resume(folder / "r").status, disorder.read_run(folder / "r").model)
    print(disorder.compare(reader, bag, metrics="p_c"))
    print(disorder.gate(bag, "derange:accuracy > 0.99").passed)

    for record in disorder.perturb("builtin", with_="shuffle_ngrams:n=2", limit=1):
        print(record["text_b"])
    data = disorder.read_data("builtin:sentiment")
    model = disorder.load_model("builtin", task=data)
    print(model([example.texts for example in data.examples[:2]]))
    print(disorder.list_parts("metric")[0]["name"])

    print(disorder.explain("builtin", "builtin", by="omega_curve", q=5, limit=60))
    print(disorder.sanity("builtin", check="duplicates", limit=200))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
    except disorder.DisorderError as error:
        sys.exit(str(error))
