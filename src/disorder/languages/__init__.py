"""Languages: which one some texts are in, and how it is written.

`detect` finds the language of a data set, by script first; `language_code` reads what a user types;
`segments` cuts a text at the boundaries that Unicode defines.
"""

from __future__ import annotations

from disorder.languages.boundaries import n_words, segments, without_surrogates
from disorder.languages.detection import AUTO, DetectedLanguage, detect, main_script, sampled
from disorder.languages.names import MIXED, NAMES, UNKNOWN, is_known, language_code, language_name
from disorder.languages.scripts import (
    UNSPACED_LANGUAGES,
    UNSPACED_SCRIPTS,
    is_one_of_unspaced,
    script_of,
    scripts_of_language,
)

__all__ = [
    "AUTO",
    "MIXED",
    "NAMES",
    "UNKNOWN",
    "UNSPACED_LANGUAGES",
    "UNSPACED_SCRIPTS",
    "DetectedLanguage",
    "detect",
    "is_known",
    "is_one_of_unspaced",
    "language_code",
    "language_name",
    "main_script",
    "n_words",
    "sampled",
    "script_of",
    "scripts_of_language",
    "segments",
    "without_surrogates",
]
