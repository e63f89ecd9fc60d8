"""The fault laboratory: what is done to the program, and what it must not do.

Small in `make test`; `make test-faults` runs all of it (`DISORDER_FAULTS=full`) and prints what was
injected, survived and lost.
"""
