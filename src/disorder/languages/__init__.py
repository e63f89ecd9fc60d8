"""Languages: which one some texts are in, and how it is written.

`detect` finds the language of a data set, by script first; `language_code` reads what a user types;
`segments` cuts a text at the boundaries that Unicode defines.
"""

from __future__ import annotations

from disorder.languages.detection import (
    AUTO,
    MIXED,
    NAMES,
    UNKNOWN,
    DetectedLanguage,
    detect,
    is_known,
    language_code,
    language_name,
    main_script,
    sampled,
)
from disorder.languages.scripts import (
    UNSPACED_LANGUAGES,
    UNSPACED_SCRIPTS,
    is_one_of_unspaced,
    n_words,
    script_of,
    scripts_of_language,
    segments,
    without_surrogates,
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
