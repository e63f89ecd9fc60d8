"""The tables and figures of the four papers: one file per paper, and its printed numbers beside."""
