"""Everything that is kept on disk: run folders and their samples, the prediction cache, storage
addresses.
"""
