"""Languages by name (ISO 639), and the one that a data set is in, from a sample of its texts.

The script settles it where it belongs to one language (Thai, Hangul, Greek, …). Else a detector of
letter sequences (py3langid) chooses among the languages of the script, on many rows joined, since a
single row is often too short to tell. Rows are looked at one by one only to notice data that mix
languages.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from tempfile import gettempdir
from typing import TypeVar

from disorder.errors import CannotWrite, UnknownName
from disorder.languages.scripts import LANGUAGES, script_of

T = TypeVar("T")
AUTO = "auto"
SAMPLE = 400  # rows looked at
LONGEST = 400  # characters of a row that are looked at
FEWEST = 20  # letters without which nothing is said
KANA = 0.1  # share of kana from which Han is Japanese
ENOUGH = {"Han": 8, "Kana": 8, "Hangul": 12}  # letters with which a row counts by itself
ENOUGH_LETTERS = 40  # in all other scripts
SURE = 0.9  # probability with which a row counts as another language
SHARE = 0.1  # share of the rows from which another language makes the data mixed
UNSURE = 0.5  # probability of all rows together below which nothing is said
# languages that a row alone does not tell apart
KIN = (
    {"no", "nn", "da", "sv", "fo"},
    {"hr", "bs", "sr", "sl"},
    {"id", "ms", "jv"},
    {"pt", "gl", "es", "ca", "oc"},
    {"cs", "sk"},
    {"hi", "mr", "ne"},
    {"bn", "as"},
    {"ru", "uk", "be", "bg", "mk", "sr"},
    {"kk", "ky", "mn"},
    {"xh", "zu"},
    {"af", "nl"},
    {"de", "lb"},
    {"ar", "fa", "ur", "ps", "ug", "ku"},
)
UNKNOWN = "und"  # ISO 639's codes for "undetermined" and "multiple languages"
MIXED = "mul"
NAMES = {
    "af": "Afrikaans",
    "am": "Amharic",
    "ar": "Arabic",
    "as": "Assamese",
    "az": "Azerbaijani",
    "be": "Belarusian",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "bo": "Tibetan",
    "br": "Breton",
    "bs": "Bosnian",
    "ca": "Catalan",
    "cs": "Czech",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fo": "Faroese",
    "fr": "French",
    "ga": "Irish",
    "gl": "Galician",
    "gu": "Gujarati",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "ht": "Haitian Creole",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "jv": "Javanese",
    "ka": "Georgian",
    "kk": "Kazakh",
    "km": "Khmer",
    "kn": "Kannada",
    "ko": "Korean",
    "ku": "Kurdish",
    "ky": "Kyrgyz",
    "la": "Latin",
    "lb": "Luxembourgish",
    "lo": "Lao",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mg": "Malagasy",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mn": "Mongolian",
    "mr": "Marathi",
    "ms": "Malay",
    "mt": "Maltese",
    "my": "Burmese",
    "ne": "Nepali",
    "nl": "Dutch",
    "nn": "Norwegian Nynorsk",
    "no": "Norwegian",
    "oc": "Occitan",
    "or": "Odia",
    "pa": "Punjabi",
    "pl": "Polish",
    "ps": "Pashto",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "si": "Sinhala",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sq": "Albanian",
    "sr": "Serbian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tl": "Tagalog",
    "tr": "Turkish",
    "ug": "Uyghur",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "xh": "Xhosa",
    "zh": "Chinese",
    "zu": "Zulu",
}
ALIASES = {"nb": "no", "iw": "he", "cmn": "zh", "fil": "tl", "tgl": "tl", "pes": "fa"}


@dataclass(frozen=True)
class DetectedLanguage:
    """The language of some data: its code, `mul` where rows differ and `und` where none is found.

    `shares` says for each language which share of the rows looked at is in it, largest first.
    `likeliest` is the best guess where no language is found; empty for texts without letters.
    """

    code: str
    shares: Mapping[str, float] = field(default_factory=dict)
    likeliest: str = ""

    @property
    def note(self) -> str:
        """What a run says about it; empty where there is nothing to say."""
        if self.code == UNKNOWN and self.likeliest:
            return (
                "there is too little text to tell its language "
                f"({language_name(self.likeliest)} is the best guess); where it matters, name it: "
                f"--language {self.likeliest}"
            )
        if self.code != MIXED:
            return ""
        shares = ", ".join(
            f"{language_name(code)} {100 * share:.0f} %" for code, share in self.shares.items()
        )
        return (
            f"the texts are in several languages ({shares}); word classes need one: split the data "
            "by language, or name one with --language"
        )


def detect(texts: Sequence[str]) -> DetectedLanguage:
    """The language of some texts, of which a sample is looked at.

    >>> detect(["ตัวอย่างประโยคภาษาไทยสั้น ๆ หนึ่งประโยค"]).code
    'th'
    >>> detect(["12 34"]).code
    'und'
    """
    rows = [text[:LONGEST] for text in sampled(texts)]
    by_script: dict[str, list[str]] = {}
    n_letters = 0
    for row in rows:
        script = main_script(row)
        n_letters += sum(script_of(char) != "" for char in row)
        if script:
            by_script.setdefault(script, []).append(row)
    if n_letters < FEWEST:
        return DetectedLanguage(UNKNOWN, likeliest=_guessed(by_script))
    votes: Counter[str] = Counter()
    for script, written in by_script.items():
        votes.update(_votes(script, written))
    found = _decided(votes)
    if found.code != UNKNOWN:
        return found
    return DetectedLanguage(UNKNOWN, found.shares, _guessed(by_script))


def _guessed(by_script: Mapping[str, Sequence[str]]) -> str:
    """The likeliest language of the commonest script; empty where there is no letter."""
    if not by_script:
        return ""
    script = max(by_script, key=lambda name: len(by_script[name]))
    codes = LANGUAGES[script]
    return codes[0] if len(codes) == 1 else _best(" ".join(by_script[script]), codes)[0]


def sampled(rows: Sequence[T]) -> Sequence[T]:
    """So many rows from all over the data, always the same ones."""
    if len(rows) <= SAMPLE:
        return rows
    return [rows[i * len(rows) // SAMPLE] for i in range(SAMPLE)]


def main_script(text: str) -> str:
    """The script of most letters of a text, empty without any; Han with some kana is Japanese."""
    counts = Counter(filter(None, map(script_of, text)))
    script = max(counts, key=lambda name: counts[name], default="")
    if script == "Han" and counts["Kana"] >= KANA * (counts["Han"] + counts["Kana"]):
        return "Kana"
    return script


def _votes(script: str, rows: Sequence[str]) -> Counter[str]:
    """How many rows of a script are in which language."""
    codes = LANGUAGES[script]
    if len(codes) == 1:
        return Counter({codes[0]: len(rows)})
    main, probability = _best(" ".join(rows), codes)
    if probability < UNSURE:
        return Counter({UNKNOWN: len(rows)})
    others: Counter[str] = Counter()
    n_judged = 0
    for row in rows:
        if not _is_enough(row, script):
            continue
        n_judged += 1
        code, probability = _best(row, codes)
        if probability >= SURE and not _are_kin(code, main):
            others[code] += 1
    if not n_judged:
        return Counter({main: len(rows)})
    scaled = {code: round(n * len(rows) / n_judged) for code, n in others.items()}
    return Counter(scaled) + Counter({main: max(1, len(rows) - sum(scaled.values()))})


def _is_enough(row: str, script: str) -> bool:
    n = sum(script_of(char) != "" for char in row)
    return n >= ENOUGH.get(script, ENOUGH_LETTERS)


def _are_kin(one: str, other: str) -> bool:
    return one == other or any(one in group and other in group for group in KIN)


def _best(text: str, codes: Sequence[str]) -> tuple[str, float]:
    """The likeliest of these languages, and its probability among them."""
    import py3langid

    try:
        ranked = py3langid.rank(text)
    except OSError as error:  # it unpacks its model first
        raise CannotWrite(
            f"the language cannot be found out: no file can be written to {gettempdir()} "
            f"({error.strerror or error}); make room, or name it: --language"
        ) from None
    scores = {ALIASES.get(code, code): score for code, score in reversed(ranked)}
    known = {code: scores[code] for code in codes if code in scores}
    # the detector's own scale: its scores grow with the length of the text
    scale = math.sqrt(len(text.encode("utf-8", "replace")) or 1)
    best = max(known, key=lambda code: known[code])
    weights = [math.exp((score - known[best]) / scale) for score in known.values()]
    return best, 1 / sum(weights)


def _decided(votes: Counter[str]) -> DetectedLanguage:
    n = sum(votes.values())
    shares = {code: count / n for code, count in votes.most_common() if count >= SHARE * n}
    if not shares:
        return DetectedLanguage(MIXED, {code: count / n for code, count in votes.most_common(5)})
    if len(shares) == 1:
        return DetectedLanguage(next(iter(shares)), shares)
    return DetectedLanguage(MIXED, shares)


def language_code(given: str) -> str:
    """The code of a language as a user types it: `de`, `de-AT`, `zh_Hans`, or its English name.

    >>> language_code("de-AT"), language_code("German"), language_code("nb")
    ('de', 'de', 'no')
    """
    typed = given.strip().lower()
    first = typed.replace("_", "-").split("-")[0]
    by_name = {name.lower(): code for code, name in NAMES.items()}
    code = by_name.get(typed) or ALIASES.get(first, first)
    if code in NAMES or code in (UNKNOWN, MIXED):
        return code
    is_name = bool(difflib.get_close_matches(typed, by_name, n=1))
    raise UnknownName("language", typed, by_name if is_name else ["auto", *NAMES])


def language_name(code: str) -> str:
    """The English name of a language, for messages: `German (de)`."""
    if code == UNKNOWN:
        return "an unknown language"
    if code == MIXED:
        return "several languages"
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def is_known(code: str) -> bool:
    """Whether this is one language, rather than none or several."""
    return code not in (UNKNOWN, MIXED, "")
