"""Pages in a browser: `disorder view` over run folders, `disorder human serve` over a task folder,
and the local server that both use.
"""
