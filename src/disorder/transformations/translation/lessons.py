"""Which pairs does the translator of a label learn from, and was it trained before? Memo on disk,
never trusted unchecked.

A kept translator lies in a folder named by a hash of its pairs, its training and Thot's version. It
is built beside its place and moved there whole, so that two processes may train the same one at
once; a damaged one is trained again.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from weakref import WeakKeyDictionary

from disorder.errors import DisorderError, DoesNotApply
from disorder.randomness import digest
from disorder.runs.cache_folder import default_folder
from disorder.transformations.translation import translator as thot_translator
from disorder.transformations.translation.translator import Translator, Untranslatable, WordPair
from disorder.transformations.words import split
from disorder.types import Context, Example, Ints, Sentence

TRAINING = "1"  # changed whenever the same pairs would train another translator
FEWEST = 20  # pairs to learn anything from
LONGEST = 200  # words that Thot aligns and translates
CONTENTS = "contents.json"  # names and hashes of the files beside it, written last
HALF_DONE, STALE = (
    ".part-",
    24 * 3600.0,
)  # folders being filled; seconds after which nobody is filling them any more
N_LOADED = 8  # translators in memory at once
say = logging.getLogger("disorder").info

Kind = tuple[str, bool]  # a label, and whether its examples are pairs


@dataclass(frozen=True)
class Lessons:
    """What translators learn from: a data spec, how many pairs a label, of how many words a side,
    and which.
    """

    train: str
    limit: int
    longest: int
    seed: int


_chosen: WeakKeyDictionary[Context, dict[Lessons, Mapping[Kind, list[WordPair]]]] = (
    WeakKeyDictionary()
)
_loaded: dict[Path, Translator] = {}
_one_at_a_time = RLock()


def translator(context: Context, label: str, *, is_pair: bool, lessons: Lessons) -> Translator:
    """The translator of a label, trained now if it never was."""
    with _one_at_a_time:
        known = _chosen.setdefault(context, {})
        if lessons not in known:
            known[lessons] = choose(context.training(lessons.train), lessons)
        pairs = known[lessons].get((label, is_pair), [])
        if len(pairs) < FEWEST:
            what = "pairs" if is_pair else "single texts"
            raise DoesNotApply(
                f"{lessons.train} has {len(pairs)} {what} of its label {label!r}, too few to learn from"
            )
        return _kept(default_folder() / "translators" / _key(pairs), label, pairs)


def choose(examples: Iterator[Example], lessons: Lessons) -> dict[Kind, list[WordPair]]:
    """As many pairs of each label as asked for, drawn by their ids: whatever the order of the rows."""
    drawn: dict[Kind, list[tuple[bytes, Example]]] = defaultdict(list)
    for example in examples:
        place = digest(lessons.seed, "pbsmt", example.id)
        drawn[example.label, example.text_b is not None].append((place, example))
    return {kind: list(_usable(found, lessons)) for kind, found in drawn.items()}


def _usable(drawn: list[tuple[bytes, Example]], lessons: Lessons) -> Iterator[WordPair]:
    n_left = lessons.limit
    for _, example in sorted(drawn, key=lambda item: item[0]):
        source, target = sides(example.text_a, example.text_b)
        if source and target and max(len(source), len(target)) <= lessons.longest:
            yield source, target
            n_left -= 1
        if not n_left:
            return


def sides(text_a: str, text_b: str | None) -> WordPair:
    """What is translated and into what: the two texts, or the halves of the only one."""
    if text_b is not None:
        return _words(split(text_a)), _words(split(text_b))
    sentence = split(text_a)
    first, second = halves(sentence)
    return _words(sentence.select(first)), _words(sentence.select(second))


def halves(sentence: Sentence) -> tuple[Ints, Ints]:
    """The positions before and after the middle; the final punctuation belongs to neither."""
    middle = (len(sentence.body) + 1) // 2
    return sentence.body[:middle], sentence.body[middle:]


def _words(sentence: Sentence) -> list[str]:
    """Lower-cased words without what Thot's files cannot hold: control characters, half characters,
    its own three bars.
    """
    words = (word.lower().replace("|", "¦") for word in sentence.words)
    return [
        word
        for word in words
        if not any(unicodedata.category(char) in ("Cc", "Cs") for char in word)
    ]


def _key(pairs: Sequence[WordPair]) -> str:
    hashed = blake2b(f"{TRAINING} {version('sil-thot')}".encode(), digest_size=16)
    for source, target in pairs:
        hashed.update(f"\n{' '.join(source)}\t{' '.join(target)}".encode())
    return hashed.hexdigest()


def _kept(folder: Path, label: str, pairs: Sequence[WordPair]) -> Translator:
    if folder not in _loaded:
        if len(_loaded) == N_LOADED:
            del _loaded[next(iter(_loaded))]
        try:
            _loaded[folder] = _found(folder) or _trained(folder, label, pairs)
        except OSError as error:
            where, why = folder.parent, error.strerror or error
            raise DisorderError(
                f"pbsmt: {where} cannot be used ({why}); set DISORDER_CACHE to a folder with room"
            ) from None
    return _loaded[folder]


def _found(folder: Path) -> Translator | None:
    with suppress(Untranslatable):
        return Translator(folder) if _is_whole(folder) else None
    return None


def _trained(folder: Path, label: str, pairs: Sequence[WordPair]) -> Translator:
    say("pbsmt: learning %r from %s pairs", label, f"{len(pairs):,}")
    began = time.monotonic()
    with _beside(folder) as part:
        thot_translator.build(pairs, part)
        made = Translator(
            part
        )  # before it has its place, where another process might clear it away
        (part / CONTENTS).write_text(json.dumps(_hashes(part)), encoding="utf-8")
        if not _is_whole(folder):
            _clear(folder)
            with suppress(OSError):  # another process was faster: its translator is the same
                part.rename(folder)
    say("pbsmt: learned %r in %.0f s, kept in %s", label, time.monotonic() - began, folder)
    return made


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder to fill, gone in the end unless it was moved."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob(f"{HALF_DONE}*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE:
                shutil.rmtree(old, ignore_errors=True)
    part = Path(tempfile.mkdtemp(prefix=HALF_DONE, dir=folder.parent))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Take a damaged translator away in one step, so that nobody finds half of it."""
    with suppress(FileNotFoundError), _beside(folder) as part:
        folder.rename(part / "damaged")


def _is_whole(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / CONTENTS).read_bytes()) == _hashes(folder))
    except (OSError, ValueError):
        return False


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.name != CONTENTS)
    return {path.name: blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in files}
