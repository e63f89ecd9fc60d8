"""Explanations, one file each: a function of a `Subject` that returns an `Explained`."""
