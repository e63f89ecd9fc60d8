"""An example plugin that adds a part of each of six kinds, one file each.

The entry point in pyproject.toml names this module; importing it runs the decorators below.
"""

from disorder_stutter import item, longer_than, repeated_words, steadiness, stutter, twisters

__all__ = ["item", "longer_than", "repeated_words", "steadiness", "stutter", "twisters"]
