"""The tables and figures of the four papers, one file per paper."""
