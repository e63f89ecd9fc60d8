"""The pre-commit hook: are these data files readable, and free of what `disorder sanity` finds
without training?

python -m disorder.cli.data_hook [--check NAME]… [--columns A=B,…] FILE…
Exit code 0: nothing found. 1: a check found something. 2: a file cannot be read.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence

from disorder.cli.output import print_text
from disorder.errors import DisorderError
from disorder.specs import parse_pairs

CHECKS = ("duplicates",)
FORM = "--columns: write it as name=name,name=name"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check files; gives the exit code."""
    parser = ArgumentParser(prog="disorder data hook", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--check", action="append", default=[])
    parser.add_argument("--columns", default="")
    given = parser.parse_args(arguments)
    try:
        columns = parse_pairs(given.columns, form=FORM)
        found = [
            line
            for path in given.files
            for line in _found(path, given.check or list(CHECKS), columns)
        ]
    except DisorderError as error:
        print_text(f"disorder: {error}", is_error=True)
        return 2
    print_text("".join(f"{line}\n" for line in found), end="")
    return 1 if found else 0


def _found(path: str, checks: list[str], columns: dict[str, str]) -> Iterator[str]:
    """One line for each thing found in a file."""
    from disorder.verbs.sanity import sanity

    result = sanity(path, check=checks, columns=columns)
    for verdict in result.verdicts:
        if verdict.kind == "open":  # found, skewed
            yield f"{path}: {verdict.question}: {verdict.because}"


if __name__ == "__main__":
    sys.exit(main())
