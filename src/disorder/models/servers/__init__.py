"""Language models behind an HTTP server: the client, the ways to get an answer, and the probe that
chooses among them.
"""
