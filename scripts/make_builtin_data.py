"""Write the built-in data: the texts of the grammar (scripts/grammar), a file per task and split.

    python scripts/make_builtin_data.py

The output depends on nothing but the grammar; a test compares it with the files in the package.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import grammar

OUT = Path(__file__).parents[1] / "src/disorder/data/builtin_data"
NAMES = ["label", "needs", "phenomenon"]  # few values, often repeated


def main() -> None:
    """Write all files."""
    OUT.mkdir(exist_ok=True)
    for task in grammar.MAKERS:
        for split in grammar.SPLITS:
            rows = list(grammar.rows(task, split))
            path = OUT / f"{task}-{split}.parquet"
            # the number of a row gives its id
            table = pa.Table.from_pylist(rows).drop_columns("id")
            pq.write_table(
                table,
                path,
                compression="zstd",
                compression_level=22,
                use_dictionary=NAMES,
                data_page_size=2**26,
                row_group_size=len(rows),
            )
            print(f"{path.name}: {len(rows):,} rows, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
