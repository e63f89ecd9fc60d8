"""Names of languages: the codes that a user types (ISO 639), and what they stand for."""

from __future__ import annotations

import difflib

from disorder.errors import UnknownName

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
