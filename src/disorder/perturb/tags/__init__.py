"""Which word class has each word? One file a tagger; each gives universal classes for words that are cut already."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

from disorder.perturb.tags._classes import Tags, classes_named, is_of
from disorder.registry import part
from disorder.types import Sentence

__all__ = ["Tags", "classes_named", "is_of", "tagged"]

N_KEPT = 50_000  # tagged texts that are remembered: every transformation of a run asks about the same ones
_Key = tuple[str, str, bytes]
_kept: OrderedDict[_Key, Tags] = OrderedDict()
_lock = Lock()


def tagged(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with their word classes, by a tagger such as `nltk` or `spacy:en_core_web_sm`; none is tagged twice."""
    keys = [_key(tagger, sentence) for sentence in sentences]
    with _lock:
        found = {key: _kept[key] for key in keys if key in _kept}
    missing = {key: sentence for key, sentence in zip(keys, sentences, strict=True) if key not in found}
    if missing:
        name, _, model = tagger.partition(":")
        fresh = part("tagger", name).function(list(missing.values()), model=model)
        found |= dict(zip(missing, fresh, strict=True))
        _keep({key: found[key] for key in missing})
    return [
        replace(sentence, tags=found[key].tags, is_head=found[key].is_head)
        for key, sentence in zip(keys, sentences, strict=True)
    ]


def _keep(fresh: dict[_Key, Tags]) -> None:
    with _lock:
        _kept.update(fresh)
        while len(_kept) > N_KEPT:
            _kept.popitem(last=False)


def _key(tagger: str, sentence: Sentence) -> _Key:
    return tagger, sentence.text, sentence.starts.tobytes()
