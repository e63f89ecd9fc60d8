"""Taggers: the universal class of each word of a split text, one file per tagger; and the choice
of a tagger for a language: which one is installed here, or why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from disorder.errors import BadSetting, MissingData, MissingPackage, install_command, option
from disorder.languages import is_known, language_name
from disorder.registry import TAGGERS, TaggerPart, part, parts
from disorder.specs import split_spec
from disorder.store.store import Memo
from disorder.transformations.tags import spacy
from disorder.transformations.tags.english import TRIED, installed_tagger
from disorder.transformations.tags.nltk import DOWNLOAD
from disorder.transformations.tags.spacy import installed_pipeline
from disorder.transformations.tags.word_classes import UNIVERSAL, Tags, classes_named, is_of
from disorder.transformations.words import split
from disorder.types import Sentence

# spaCy's own name of its small pipeline, by language, to name in a message
PIPELINES = dict.fromkeys(
    (
        *("ca", "da", "de", "el", "es", "fi", "fr", "hr", "it", "ja", "ko", "lt", "mk", "nl", "no"),
        *("pl", "pt", "ro", "ru", "sl", "sv", "uk"),
    ),
    "core_news_sm",
)
OWN_CODES = {"no": "nb"}  # where spaCy's code for a language is another


@dataclass(frozen=True)
class TaggerChoice:
    """The tagger for a language; where `tagger` is empty, `reason` says why and what would help."""

    language: str
    tagger: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.tagger)

    def named(self) -> str:
        """The tagger; raises `MissingData` with the reason where there is none."""
        if not self.tagger:
            raise MissingData(self.reason)
        return self.tagger


def tagger_for(language: str, preferred: str = "") -> TaggerChoice:
    """Which tagger serves texts in a language on this machine, or why none does.

    `preferred` is a tagger that is taken if it serves the language and is installed, e.g. "spacy".

    >>> tagger_for("und").reason
    'word classes need a known language; name it: --language en'
    """
    if not is_known(language):
        few = "one language" if language == "mul" else "a known language"
        return TaggerChoice(language, reason=f"word classes need {few}; name it: --language en")
    try:
        return TaggerChoice(language, _installed(language, preferred))
    except (MissingData, MissingPackage) as missing:
        return TaggerChoice(language, reason=str(missing))


def named_or_usual(named: str, language: str, preferred: Mapping[str, str]) -> str:
    """The tagger that the user names, or the usual one of the language; raises on none."""
    if named:
        check_fits(named, language)
        return named
    return tagger_for(language, preferred.get(language, "")).named()


def check_fits(tagger: str, language: str) -> None:
    """Raise where a tagger that the user names is for another language than that of the texts."""
    name, model = split_spec(tagger)
    made_for = part(TaggerPart, name).language
    if name == "spacy":
        made_for = spacy.language_of(model) if model else "en"
    if made_for in ("any", "xx", language):
        return
    raise BadSetting(
        "tagger",
        tagger=tagger,
        need=f"one for {language_name(language)}: this one is for {language_name(made_for)} "
        f"(where the texts are that, say {option('language', made_for)})",
    )


def _installed(language: str, preferred: str) -> str:
    if language == "en":
        usual = preferred or TAGGERS[language]
        if usual in TRIED:
            installed_tagger(usual)
        else:
            spacy.installed_pipeline()
        return usual
    if language == "zh" and find_spec("rjieba") is not None:
        return "jieba"
    plugins = [name for name, entry in parts(TaggerPart).items() if entry.language == language]
    own = [name for name in plugins if name != "jieba"]
    if own:
        return own[0]
    pipeline = _pipeline(language)
    if pipeline:
        return f"spacy:{pipeline}"
    raise MissingData(_advice(language))


@lru_cache(maxsize=64)
def _pipeline(language: str) -> str:
    """The first spaCy pipeline for a language that is installed."""
    if find_spec("spacy") is None:
        return ""
    return next(iter(spacy.installed_pipelines(OWN_CODES.get(language, language))), "")


def package_for(language: str) -> str:
    """The package or spaCy pipeline that would add a tagger; empty where none is known."""
    if language == "en":
        return spacy.USUAL
    if language == "zh":
        return "the extra nlp"
    if language not in PIPELINES:
        return ""
    return f"{OWN_CODES.get(language, language)}_{PIPELINES[language]}"


def _advice(language: str) -> str:
    """What to install for a language."""
    name = language_name(language)
    if language == "zh":
        return f"no tagger for {name} is installed: {install_command('nlp')}"
    package = package_for(language)
    if package:
        return (
            f"no tagger for {name} is installed: python -m spacy download {package}, or name a "
            "spaCy pipeline that you have (tagger=spacy:FOLDER)"
        )
    return (
        f"no tagger for {name} is installed, and spaCy has no pipeline of its own for it; any "
        "pipeline that tags universal classes serves (tagger=spacy:FOLDER), or a plugin"
    )


__all__ = [
    "UNIVERSAL",
    "TaggerChoice",
    "Tags",
    "classes_named",
    "is_of",
    "named_or_usual",
    "package_for",
    "resolved",
    "tagged",
    "tagged_units",
    "tagger_for",
    "tagger_notes",
]

_kept: Memo[tuple[str, str, bytes], Tags] = Memo()


def tagged(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with word classes, by a tagger such as `spacy:NAME`; none is tagged twice."""
    if not sentences:
        return []
    chosen = resolved(tagger)
    name, model = split_spec(chosen)
    found = _kept(
        [(chosen, sentence.text, sentence.starts.tobytes()) for sentence in sentences],
        lambda missing: part(TaggerPart, name).function(
            [sentences[i] for i in missing], model=model
        ),
    )
    return [
        replace(s, tags=tags.tags, is_head=tags.is_head)
        for s, tags in zip(sentences, found, strict=True)
    ]


def tagged_units(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with word classes; a unit with marks glued to it has that of its first word."""
    words = [split(each.text) if each.keeps_gaps else each for each in sentences]
    found = tagged(words, tagger=tagger)
    return [
        _with_tags_of(sentence, known) if sentence.keeps_gaps else known
        for sentence, known in zip(sentences, found, strict=True)
    ]


def _with_tags_of(sentence: Sentence, known: Sentence) -> Sentence:
    """The units of a sentence with the classes of the words in them."""
    assert known.tags is not None
    if not len(sentence):
        return replace(sentence, tags=known.tags[:0], is_head=None)
    unit = np.searchsorted(sentence.starts, known.starts, side="right") - 1
    order = np.lexsort((known.starts, known.is_punctuation, unit))
    first = order[np.unique(unit[order], return_index=True)[1]]
    is_head = None
    if known.is_head is not None:
        is_head = np.bincount(unit, known.is_head, minlength=len(sentence)) > 0
    return replace(sentence, tags=known.tags[first], is_head=is_head)


def resolved(tagger: str) -> str:
    """The tagger that a name stands for on this machine: `english` is `nltk` or `spacy:PIPELINE`,
    `at_hand` the same with spaCy first, `spacy` the English pipeline that is installed.
    """
    if tagger in TRIED:
        return installed_tagger(tagger)
    if tagger == "spacy":
        return f"spacy:{installed_pipeline()}"
    return tagger


def tagger_notes(taggers: Iterable[str]) -> list[str]:
    """What a run says about its taggers, one line each."""
    notes: dict[str, str] = {}
    for tagger in sorted(taggers):  # `english` comes before the tagger it stands for
        chosen = resolved(tagger)
        name, model = split_spec(chosen)
        note = f"word classes by {name} {model}".rstrip()
        if tagger == "english" and name != "nltk":
            note += f"; the paper used NLTK, whose data is not here: {DOWNLOAD}"
        notes.setdefault(chosen, note)
    return list(notes.values())
