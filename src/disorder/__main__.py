"""`python -m disorder` is the command line."""

from disorder.cli import main

main()
