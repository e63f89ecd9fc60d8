"""The choice of a tagger for a language: which one is installed here, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

from disorder.errors import BadSetting, MissingData, MissingPackage, install_command, option
from disorder.languages import is_known, language_name
from disorder.registry import TAGGERS, TaggerPart, part, parts
from disorder.specs import split_spec
from disorder.transformations.tags import spacy
from disorder.transformations.tags.english import TRIED, installed_tagger

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
    """The tagger that the user names, if it is for the language, or the usual one of the language;
    raises where there is none.
    """
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
    """What would add a tagger for a language: a package or a spaCy pipeline by name; empty where
    none is known.
    """
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
