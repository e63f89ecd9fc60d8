"""Sentiment of reviews: half is decided by one polar word, half by where two of them stand."""

from __future__ import annotations

from functools import partial

from .draw import Draw
from .lexicon import listed
from .made_example import MadeExample, MadeGroup, Maker
from .surface import VOWEL_SOUND, article, n_words, sentence

MIN_WORDS = 8
LABELS = ("positive", "negative")

GOOD = listed("""
    brilliant delightful superb wonderful charming moving gripping dazzling splendid refreshing
    elegant graceful marvellous captivating magnificent thrilling warm witty inspiring polished
    memorable fascinating luminous heavenly flawless joyful stunning sparkling terrific enchanting
    excellent amazing exquisite engaging uplifting astonishing outstanding absorbing
""")
BAD = listed("""
    dull dreadful boring terrible clumsy tedious lifeless shabby dismal dreary pointless tiresome
    miserable disappointing mediocre predictable shallow sloppy stale forgettable bland laboured
    wretched horrible pathetic tasteless feeble depressing ghastly grim awful atrocious annoying
    unpleasant uninspired irritating insipid abysmal
""")
NOUNS = {
    "positive": listed(
        "triumph masterpiece delight treat pleasure marvel joy gem success treasure"
    ),
    "negative": listed("disaster failure mess bore letdown nightmare shambles chore flop farce"),
}
VERBS = {
    "positive": listed("delighted enchanted thrilled charmed impressed captivated"),
    "negative": listed("bored disgusted annoyed irritated disappointed depressed"),
}
ADVERBS = {
    "positive": listed("beautifully superbly brilliantly wonderfully gracefully splendidly"),
    "negative": listed("dreadfully terribly clumsily badly atrociously poorly"),
}
ADJECTIVES = {"positive": GOOD, "negative": BAD}

WORKS = listed("""
    film play concert opera musical documentary comedy thriller ballet performance production show
    recital drama revue cabaret operetta pantomime tragedy
""")
PLACES = listed("""
    restaurant hotel campsite guesthouse bistro spa inn hostel tavern brasserie resort tearoom
    chalet lodge
""")
PARTS = (
    "the second act",
    "the final scene",
    "the opening minute",
    "the lead actor",
    "the soundtrack",
    "the dialogue",
    "the costume design",
    "the choreography",
    "the narrator",
    "the score",
    "the last song",
    "the plot",
    "the whole cast",
    "the young director",
    "the violin solo",
    "the set design",
    "the lighting",
    "the closing number",
)
SERVICES = (
    "the service",
    "the breakfast",
    "the view from our room",
    "the guided tour",
    "the waiter at our table",
    "the dessert",
    "the soup of the day",
    "the welcome at the desk",
    "the new menu",
    "the owner",
    "the evening meal",
)
AUDIENCE = (
    "everyone in the hall",
    "the whole audience",
    "my parents and me",
    "our little group",
    "the people around us",
    "most of the critics",
    "the children in our row",
    "half the town",
    "my oldest friend",
    "the regular visitors",
)
TIMES = (
    "last Saturday",
    "on the opening night",
    "this spring",
    "during our holiday",
    "yesterday evening",
    "in August",
    "on a rainy Tuesday",
    "over the weekend",
    "at the festival",
    "on our second visit",
    "last month",
    "in late October",
)
OPENERS = (
    "to my mind",
    "if you ask me",
    "in my opinion",
    "as far as I can tell",
    "speaking for myself",
    "all in all",
    "having slept on it",
    "looking back",
    "after two visits",
    "when all is said and done",
)

WORD_FRAMES = (
    "{part} of the {work} was {a_adjective} surprise for {audience} {time}",
    "{opener}, {part} of this {work} was simply {adjective}",
    "{time}, {audience} found {part} of the {work} {adjective}",
    "the {work} that we saw {time} was {a_noun} from beginning to end",
    "{part} in the new {work} {verb} {audience} {time}",
    "{opener}, the {work} at the {place} was {adverb} staged and {adverb2} sung",
    "we visited the {place} {time}, and {service} was {adjective}",
    "{opener}, {service} at the {place} was {a_noun}",
    "{service} at this {place} {verb} {audience} {time}",
    "it was {a_adjective} evening at the {place}, and {service} was {adjective2}",
    "{audience} could not forget the {adjective} {work} we saw {time}",
    "the {work} was {adverb} written, and {part} was {adjective}",
    "{opener}, nothing else could have been so {adjective} as that {work}",
    "{time} we saw {a_adjective} {work} with {a_adjective2} ending",
)
# The label holds when p is a positive word and q a negative one; swapping the two reverses it.
ORDER_FRAMES = (
    ("negative", "I expected {a_p} {work}, but it turned out to be {q} in the end"),
    ("positive", "the {work} was {p}, not {q}, from the first minute {time}"),
    ("negative", "what began as {a_p} {work} {time} soon became {a_q} one"),
    ("negative", "everyone called the {work} {p}, yet I found it {q} {time}"),
    ("positive", "{opener}, {part} was far more {p} than {q} {time}"),
    ("negative", "{part} used to be {p}, but {time} it was simply {q}"),
    ("negative", "do not believe that the {work} is {p}, for it is truly {q}"),
    ("negative", "{service} looked {p} at first but proved {q} {time}"),
    ("negative", "far from being {p}, {part} of the {work} was {q}"),
    ("positive", "{service} at the {place} was always {p} and never {q}"),
    ("negative", "{service} at the {place} was never {p} and always {q}"),
    ("negative", "the critics were wrong to call the {work} {p}, because it was {q}"),
    ("positive", "{opener}, {p} is the right word for the {work}, and {q} the wrong one"),
    ("negative", "people who found the {place} {p} {time} now call it {q}"),
    ("positive", "{part} was {p} rather than {q}, whatever {audience} may say"),
    ("positive", "we had feared {a_q} {work}, but {time} we got {a_p} one"),
    ("negative", "I would not call {part} of the {work} {p} but {q}"),
    ("positive", "once {q}, {service} at the {place} is now {p}"),
)


def makers(block: int) -> list[Maker]:
    """One text per label that words decide, and one pair of anagrams that order decides."""
    reviews: list[Maker] = [partial(review, label=label) for label in LABELS]
    return [*reviews, anagrams]


def review(draw: Draw, *, label: str) -> MadeGroup:
    """One text whose polar words all point to the label."""
    while True:
        text = sentence(draw.pick(WORD_FRAMES).format_map(_neutral(draw) | _polar(draw, label)))
        if n_words(text) >= MIN_WORDS:
            return [MadeExample(text, None, label, "words", "polar_word")]


def anagrams(draw: Draw) -> MadeGroup:
    """Two texts of the same words and opposite labels."""
    label, frame = draw.pick(ORDER_FRAMES)
    good, bad = _alike(draw)
    fixed = _neutral(draw)
    texts = [sentence(frame.format_map(fixed | _pair(p, q))) for p, q in ((good, bad), (bad, good))]
    labels = (label, _opposite(label))
    return [
        MadeExample(text, None, which, "order", "contrast")
        for text, which in zip(texts, labels, strict=True)
    ]


def _neutral(draw: Draw) -> dict[str, str]:
    lists = {"work": WORKS, "place": PLACES, "part": PARTS, "service": SERVICES}
    lists |= {"audience": AUDIENCE, "time": TIMES, "opener": OPENERS}
    return {slot: draw.pick(options) for slot, options in lists.items()}


def _polar(draw: Draw, label: str) -> dict[str, str]:
    first, second = draw.distinct(ADJECTIVES[label], 2)
    words = {
        "adjective": first,
        "adjective2": second,
        "a_adjective": article(first),
        "a_adjective2": article(second),
    }
    words["adverb"], words["adverb2"] = draw.distinct(ADVERBS[label], 2)
    return words | {"verb": draw.pick(VERBS[label]), "a_noun": article(draw.pick(NOUNS[label]))}


def _pair(p: str, q: str) -> dict[str, str]:
    return {"p": p, "q": q, "a_p": article(p), "a_q": article(q)}


def _alike(draw: Draw) -> tuple[str, str]:
    # A swap must leave "a" and "an" as they are, or the bags of words would differ.
    while True:
        good, bad = draw.pick(GOOD), draw.pick(BAD)
        if bool(VOWEL_SOUND.match(good)) == bool(VOWEL_SOUND.match(bad)):
            return good, bad


def _opposite(label: str) -> str:
    return LABELS[1 - LABELS.index(label)]
