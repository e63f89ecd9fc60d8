"""From chosen words to a sentence: articles, capitals, spaces and the full stop."""

from __future__ import annotations

import re

VOWEL_SOUND = re.compile(
    r"(?!(?:uni|use|usu|eu|one\b|once\b))[aeiou]|hon(?:est|ou)|hour|heir", re.IGNORECASE
)
WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def article(phrase: str) -> str:
    """The phrase with its indefinite article.

    >>> article("umbrella"), article("unicorn"), article("hour")
    ('an umbrella', 'a unicorn', 'an hour')
    """
    return f"{'an' if VOWEL_SOUND.match(phrase) else 'a'} {phrase}"


def join(*parts: str) -> str:
    """The parts with single spaces, empty ones left out."""
    return " ".join(part for part in parts if part)


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop.

    >>> sentence("it rained all day")
    'It rained all day.'
    """
    return f"{text[0].upper()}{text[1:]}."


def words(text: str) -> list[str]:
    """The lower-cased words of a text, punctuation left out."""
    return WORD.findall(text.lower())


def n_words(text: str) -> int:
    """How many words a text of this grammar has; its punctuation never stands alone."""
    return text.count(" ") + 1
