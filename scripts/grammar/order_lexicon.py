"""Frames for the pairs that order decides: sentences whose meaning changes when like words swap.

A premise names A, B and C. Its `Pattern` lists for which pairs XY the claim "X does it to Y" (or "X
is before Y", "X is more than Y", "X and not Y did it") is entailed, excluded or left open.
"""

from __future__ import annotations

from typing import NamedTuple

from .lexicon import NAMES, entries, listed


class Pattern(NamedTuple):
    """A premise and what it says of each ordered pair of its three entities."""

    text: str
    entailment: tuple[str, ...]
    contradiction: tuple[str, ...]
    neutral: tuple[str, ...]

    def reading(self, label: str) -> tuple[str, ...]:
        """The pairs XY that have this label."""
        return {
            "entailment": self.entailment,
            "contradiction": self.contradiction,
            "neutral": self.neutral,
        }[label]

    def reversed(self) -> Pattern:
        """What the premise says of the opposite relation, where one of the two must hold."""
        return self._replace(entailment=self.contradiction, contradiction=self.entailment)


class Claim(NamedTuple):
    """A hypothesis about X and Y; `opposite`: it says that Y comes before, or is more than, X."""

    text: str
    opposite: bool


class Scale(NamedTuple):
    """An adjective and its opposite, each with its comparative."""

    plain: str
    more: str
    low: str
    less: str

    def opposite(self) -> Scale:
        """The same scale from the other end."""
        return Scale(self.low, self.less, self.plain, self.more)


def _patterns(readings: str, text: str) -> tuple[Pattern, ...]:
    entailment, contradiction, neutral = (tuple(part.split()) for part in readings.split("|"))
    return tuple(
        Pattern(line.strip(), entailment, contradiction, neutral)
        for line in text.strip().splitlines()
    )


def _claims(text: str, *, opposite: bool = False) -> tuple[Claim, ...]:
    return tuple(Claim(line.strip(), opposite) for line in text.strip().splitlines())


def _scales(text: str) -> tuple[Scale, ...]:
    return tuple(Scale(*forms) for forms in entries(text))


PEOPLE = listed("""
    nurse pilot clerk baker judge singer farmer plumber dancer lawyer teacher painter driver
    gardener actor tailor waiter banker surgeon sailor butler editor barber miner poet guard dentist
    chemist cashier porter librarian carpenter detective violinist reporter mechanic student
    architect engineer magician postman translator captain cleaner juggler watchmaker secretary
    ranger fireman optician beekeeper conductor blacksmith umpire receptionist astronaut caretaker
    hairdresser accountant weaver
""")
ANIMALS = listed("""
    fox heron goat otter badger donkey goose squirrel hedgehog owl swan mole beaver camel tiger wolf
    ferret rooster turkey llama monkey panda puffin walrus zebra hamster lizard raven magpie stork
""")
INSTITUTIONS = listed("""
    bank museum hospital library university orchestra bakery theatre airline factory council
    newspaper brewery zoo embassy laboratory publisher shipyard observatory college monastery
    foundation
""")
PLACES = listed("""
    harbour village valley island market station castle suburb park lighthouse square cathedral
    campsite airport bazaar vineyard stadium monastery bay marina hamlet plateau courtyard cellar
    attic ballroom
""")
EVENTS = listed("""
    parade auction concert lecture wedding banquet raffle interview ceremony tournament rehearsal
    festival picnic workshop exhibition regatta quiz debate carnival fair recital inspection vote
    trial seminar sale marathon screening reception excursion pageant
""")
TRANSPORT = listed("""
    tram ferry train bus taxi lorry balloon barge parcel telegram letter package van tractor
    carriage helicopter steamer coach
""")
THINGS = listed("""
    map lamp rope kettle blanket ladder vase hammer mirror basket umbrella clock teapot drum carpet
    candle bucket suitcase violin notebook helmet pillow shovel camera lantern compass trumpet mug
    statue bell broom cushion wallet saddle parasol chessboard telescope toaster bookcase necklace
    tray kite stove anchor scarf typewriter wheelbarrow accordion thermometer jar
""")
ENTITIES: dict[str, tuple[str, ...]] = {
    "names": NAMES,
    "people": PEOPLE,
    "animals": ANIMALS,
    "institutions": INSTITUTIONS,
    "places": PLACES,
    "events": EVENTS,
    "transport": TRANSPORT,
    "things": THINGS,
}

WHEN = (
    "on Monday",
    "on Tuesday",
    "on Friday",
    "last week",
    "yesterday",
    "that morning",
    "last night",
    "in March",
    "in December",
    "at Easter",
    "last summer",
    "on Sunday",
    "that evening",
    "two days ago",
)
INDOORS = (
    "at the party",
    "at the station",
    "in the office",
    "at the wedding",
    "in the hotel",
    "on the ferry",
    "in the courtyard",
    "at the reunion",
    "on the bus",
    "at the conference",
    "in the canteen",
    "at the theatre",
    "after the meeting",
    "during the interval",
    "in the corridor",
    "on the platform",
    "over lunch",
)
WILDERNESS = (
    "in the meadow",
    "behind the barn",
    "by the river",
    "near the well",
    "on the hill",
    "under the oak",
    "in the yard",
    "by the pond",
    "along the hedge",
    "at dawn",
    "in the snow",
)
BUSINESS = (
    "in public",
    "in spring",
    "during the strike",
    "at the summit",
    "before the election",
    "after the merger",
)

# Roles: X did it to Y

HUMAN_VERBS = entries("""
    thank/thanked/thanked, help/helped/helped, call/called/called, praise/praised/praised,
    blame/blamed/blamed, invite/invited/invited, visit/visited/visited, greet/greeted/greeted,
    pay/paid/paid, warn/warned/warned, teach/taught/taught, trust/trusted/trusted,
    interview/interviewed/interviewed, photograph/photographed/photographed, phone/phoned/phoned,
    forgive/forgave/forgiven, tease/teased/teased, congratulate/congratulated/congratulated,
    rescue/rescued/rescued, recognise/recognised/recognised, ignore/ignored/ignored,
    admire/admired/admired, nominate/nominated/nominated, question/questioned/questioned,
    encourage/encouraged/encouraged, guide/guided/guided, defend/defended/defended,
    outrun/outran/outrun, envy/envied/envied, scold/scolded/scolded, surprise/surprised/surprised,
    trick/tricked/tricked, consult/consulted/consulted, remind/reminded/reminded,
    welcome/welcomed/welcomed, choose/chose/chosen, amuse/amused/amused,
    interrupt/interrupted/interrupted, draw/drew/drawn, outwit/outwitted/outwitted
""")
ANIMAL_VERBS = entries("""
    chase/chased/chased, follow/followed/followed, bite/bit/bitten, watch/watched/watched,
    wake/woke/woken, frighten/frightened/frightened, lick/licked/licked, sniff/sniffed/sniffed,
    push/pushed/pushed, feed/fed/fed, hear/heard/heard, overtake/overtook/overtaken,
    kick/kicked/kicked, lead/led/led
""")
BUSINESS_VERBS = entries("""
    sue/sued/sued, fund/funded/funded, pay/paid/paid, praise/praised/praised, blame/blamed/blamed,
    advise/advised/advised, support/supported/supported, warn/warned/warned,
    criticise/criticised/criticised, thank/thanked/thanked, sponsor/sponsored/sponsored,
    mock/mocked/mocked
""")
ROLE_WORLDS = (
    ("people", HUMAN_VERBS, INDOORS),
    ("names", HUMAN_VERBS, INDOORS),
    ("people", HUMAN_VERBS, INDOORS),
    ("animals", ANIMAL_VERBS, WILDERNESS),
    ("institutions", BUSINESS_VERBS, BUSINESS),
)
ROLE_PREMISES = (
    *_patterns(
        "AB | AC | BA CA CB",
        """{A} {did} {B} {where} {when} but did not {do} {C}
        {when}, {A} {did} {B} {where} but never {did} {C}
        {A} did not {do} {C} {where}, but {A} did {do} {B}
        it was {B} and not {C} that {A} {did} {when}
        instead of {C}, it was {B} that {A} {did} {where}
        {B} was {done} by {A} {where}, but {A} did not {do} {C}""",
    ),
    *_patterns(
        "AB | CB | AC CA BA BC",
        """{A} {did} {B} {where} {when}, but {C} did not
        {B} was {done} by {A} {where}, but not by {C}
        it was {A}, not {C}, {who} {did} {B} {where}
        unlike {C}, {A} {did} {B} {where} {when}
        {C} did not {do} {B} {where}, although {A} did
        {B} was not {done} by {C} {when}, but by {A}""",
    ),
    *_patterns(
        "AB | BA | AC CA BC CB",
        """{A} {did} {B} in front of {C}, but {B} never {did} {A}
        {B} was {done} by {A} next to {C}, not the other way round
        {when}, {C} saw that {A} {did} {B} and not the reverse
        {C} heard that {B} was {done} by {A}, not {A} by {B}
        {B} did not {do} {A} {where}, but {A} did {do} {B} beside {C}
        {A} was near {C} and {did} {B}, but {B} did not {do} {A}""",
    ),
)
ROLE_HYPOTHESES = _claims("""
    whatever {Z} may say about it, {X} {did} {Y}
    {X} {did} {Y}, no matter what {Z} may think
    quite apart from {Z}, it was {X} {who} {did} {Y}
    leaving {Z} out of it, {X} {did} {Y}
    the truth is that {X} {did} {Y}, {Z} aside
    {Y} was {done} by {X}, whatever {Z} may think
    never mind {Z}, for {Y} was {done} by {X}
    forgetting about {Z} for now, {X} {did} {Y}
    setting {Z} aside, {Y} was the one {whom} {X} {did}
    {Z} is beside the point, because {X} {did} {Y}
    it was by {X} that {Y} was {done}, {Z} aside
""")

# Time: X came before Y

MOMENTS = entries("""
    arrived/arrived, left/left, spoke/spoken, finished/finished, sang/sung, woke up/woken up,
    signed in/signed in, sat down/sat down, stood up/stood up, went home/gone home, applied/applied,
    voted/voted, retired/retired, moved out/moved out, paid/paid, resigned/resigned,
    replied/replied, joined/joined
""")
PHASES = entries(
    "took place/taken place, began/begun, ended/ended, started/started, finished/finished"
)
TRIPS = entries("""
    arrived/arrived, left/left, stopped/stopped, set off/set off, came back/come back,
    turned up/turned up
""")
TIME_WORLDS = (
    ("people", MOMENTS),
    ("names", MOMENTS),
    ("events", PHASES),
    ("transport", TRIPS),
)
TIME_PREMISES = (
    *_patterns(
        "AB AC | BA CA | BC CB",
        """{A} {did} before both {B} and {C} {when}
        {B} and {C} both {did} after {A} {when}
        by the time {B} and {C} {did} {when}, {A} had already {done}
        {A} {did} before {B} {when}, and {C} {did} after {A} too
        {when}, {C} {did} after {A}, and so did {B}
        {A} {did} first {when}, long before either {B} or {C}""",
    ),
    *_patterns(
        "BA CA | AB AC | BC CB",
        """{A} {did} after both {B} and {C} {when}
        {B} and {C} both {did} before {A} {when}
        by the time {A} {did} {when}, {B} and {C} had already {done}
        {B} {did} before {A} {when}, and {A} {did} after {C} too
        {when}, {C} {did} before {A}, and so did {B}
        {A} {did} last {when}, long after both {B} and {C}""",
    ),
    *_patterns(
        "AB | BA | AC CA BC CB",
        """{A} {did} before {B} {when}, but nobody recalls when {C} {did}
        {B} {did} after {A} {when}, while nothing is known about {C}
        {when}, {A} {did} and then {B} {did}, but {C} is not recorded
        before {B} {did} {when}, {A} had already {done}, but the notes omit {C}
        nobody saw when {C} {did}, but {when} {B} {did} after {A}
        the times for {C} are lost, but {A} {did} before {B} {when}""",
    ),
)
TIME_HYPOTHESES = (
    *_claims("""
    leaving {Z} aside, {X} {did} some time before {Y}
    {X} {did} before {Y}, no matter when {Z} {did}
    whatever the order for {Z}, {X} {did} before {Y}
    when {Y} {did}, {X} had already {done}, never mind {Z}
    forgetting about {Z} for now, {X} {did} before {Y}
    {X} {did} earlier than {Y}, {Z} being another matter"""),
    *_claims(
        """
    leaving {Z} aside, {X} {did} some time after {Y}
    {X} {did} after {Y}, no matter when {Z} {did}
    whatever the order for {Z}, {X} {did} after {Y}
    forgetting about {Z} for now, {X} {did} after {Y}
    {X} {did} later than {Y}, {Z} being another matter""",
        opposite=True,
    ),
)

# Comparatives: X is more than Y

HUMAN_SCALES = _scales("""
    old/older/young/younger, tall/taller/short/shorter, strong/stronger/weak/weaker,
    rich/richer/poor/poorer, quick/quicker/slow/slower, polite/more polite/rude/ruder,
    happy/happier/sad/sadder, loud/louder/quiet/quieter, calm/calmer/nervous/more nervous,
    brave/braver/timid/more timid, generous/more generous/mean/meaner, tidy/tidier/messy/messier
""")
ANIMAL_SCALES = _scales("""
    fast/faster/slow/slower, strong/stronger/weak/weaker, large/larger/small/smaller,
    heavy/heavier/light/lighter, tame/tamer/wild/wilder, old/older/young/younger,
    noisy/noisier/quiet/quieter, bold/bolder/shy/shyer
""")
THING_SCALES = _scales("""
    heavy/heavier/light/lighter, expensive/more expensive/cheap/cheaper, new/newer/old/older,
    large/larger/small/smaller, clean/cleaner/dirty/dirtier, sturdy/sturdier/fragile/more fragile,
    common/more common/rare/rarer, shiny/shinier/dull/duller
""")
PLACE_SCALES = _scales("""
    warm/warmer/cold/colder, noisy/noisier/quiet/quieter, large/larger/small/smaller,
    crowded/more crowded/empty/emptier, damp/damper/dry/drier, bright/brighter/dark/darker,
    safe/safer/dangerous/more dangerous, clean/cleaner/dirty/dirtier
""")
SCALE_WORLDS = (
    ("people", HUMAN_SCALES),
    ("names", HUMAN_SCALES),
    ("animals", ANIMAL_SCALES),
    ("things", THING_SCALES),
    ("places", PLACE_SCALES),
)
SOURCES = (
    "the survey",
    "the report",
    "the almanac",
    "the guidebook",
    "the register",
    "the local paper",
    "the catalogue",
    "the notebook",
    "the encyclopaedia",
    "the census",
    "the yearbook",
    "the logbook",
    "the diagram",
    "the article",
)
SCALE_PREMISES = (
    *_patterns(
        "AB AC | BA CA | BC CB",
        """according to {source}, {A} is {more} than both {B} and {C}
        {B} and {C} are both {less} than {A}, says {source}
        neither {B} nor {C} is as {plain} as {A}, according to {source}
        compared with {A}, both {B} and {C} are {less}, says {source}
        {source} says that {A} is {more} than {B} and than {C}
        {C} is {less} than {A}, and so is {B}, says {source}""",
    ),
    *_patterns(
        "AB | BA | AC CA BC CB",
        """{A} is {more} than {B}, but {source} says nothing about {C}
        {B} is {less} than {A}, while {C} is missing from {source}
        {B} is not as {plain} as {A}, and {source} leaves {C} out
        nobody compared {C}, but {source} shows that {A} is {more} than {B}
        as {source} shows, {B} is {less} than {A}, but nobody knows about {C}
        {source} forgets {C} but adds that {B} is not as {plain} as {A}""",
    ),
)
SCALE_HYPOTHESES = (
    *_claims("""
    leaving {Z} aside, {X} is clearly {more} than {Y}
    {X} is {more} than {Y}, whatever we think of {Z}
    {X} is not as {low} as {Y}, never mind {Z}
    compared with {Y}, {X} is {more}, and {Z} is another story
    no matter how {plain} {Z} is, {X} is {more} than {Y}
    forgetting about {Z} for now, {X} is {more} than {Y}"""),
    *_claims(
        """
    leaving {Z} aside, {X} is clearly {less} than {Y}
    {X} is {less} than {Y}, whatever we think of {Z}
    {X} is not as {plain} as {Y}, never mind {Z}
    compared with {Y}, {X} is {less}, and {Z} is another story
    no matter how {low} {Z} is, {X} is {less} than {Y}
    forgetting about {Z} for now, {X} is {less} than {Y}""",
        opposite=True,
    ),
)

# Scope of negation: X and not Y

DEEDS = entries("""
    sing/sang, dance/danced, laugh/laughed, speak/spoke, vote/voted, cry/cried, smile/smiled,
    cheer/cheered, whistle/whistled, complain/complained, volunteer/volunteered,
    apologise/apologised, clap/clapped, sneeze/sneezed, yawn/yawned, bow/bowed,
    tell a joke/told a joke, win a prize/won a prize, buy a ticket/bought a ticket,
    wear a hat/wore a hat, make a speech/made a speech, ask a question/asked a question,
    leave early/left early, arrive late/arrived late, fall asleep/fell asleep, drink tea/drank tea
""")
DOERS = ("people", "people", "names")
UNDECIDED = "AB | BA BC CA | CB AC"
DEED_PREMISES = _patterns(
    UNDECIDED,
    """{A} {did} {where}, {B} did not, and nobody asked about {C}
    not {B} but {A} {did} {where}, and nothing is known of {C}
    {B} did not {do} {where}, though {A} did, and {C} went unnoticed
    {when}, {A} {did} and {B} refused to, but nobody noticed {C}
    it was {A}, not {B}, who {did} {where}, and {C} may have too
    nobody watched {C}, but {A} {did} {when} and {B} did not
    whether {C} {did} is unclear, but {B} did not, and {A} did
    {B} chose not to {do} {where}, unlike {A}, and nobody watched {C}""",
)
DEED_HYPOTHESES = _claims("""
    whatever {Z} says, it was {X} and not {Y} who {did}
    {X} {did} but {Y} did not, whatever {Z} says
    {Y} did not {do} but {X} did, whatever {Z} says
    leaving {Z} aside, {X} {did} and {Y} did not
    it was {X} who {did}, not {Y}, never mind {Z}
    not {Y} but {X} {did}, no matter what {Z} says
    {Y} never {did}, but {X} did, whatever {Z} claims
    unlike {Y}, {X} {did}, not that {Z} matters here
""")
HANDLINGS = entries("""
    pack/packed/packed, buy/bought/bought, sell/sold/sold, paint/painted/painted,
    clean/cleaned/cleaned, break/broke/broken, hide/hid/hidden, find/found/found, lose/lost/lost,
    carry/carried/carried, repair/repaired/repaired, wrap/wrapped/wrapped,
    photograph/photographed/photographed, borrow/borrowed/borrowed, order/ordered/ordered,
    choose/chose/chosen, move/moved/moved, weigh/weighed/weighed, measure/measured/measured,
    draw/drew/drawn, drop/dropped/dropped, polish/polished/polished
""")
THING_PREMISES = _patterns(
    UNDECIDED,
    """{someone} {did} {A} but not {B} {when}, and nobody mentioned {C}
    nobody checked {C}, but {someone} {did} {A} {when} and not {B}
    {A} was {done} by {someone} {when}, {B} was not, and nobody checked {C}
    {someone} did not {do} {B} {when} but did {do} {A}, never mentioning {C}
    {when}, {B} was not {done} by {someone}, but {A} was, and {C} is a mystery
    whether {C} was {done} is unknown, but {someone} {did} {A} and not {B}
    {someone} {did} {A} {when} and left {B} alone, and nobody checked {C}""",
)
THING_HYPOTHESES = _claims("""
    {someone} {did} {X} and not {Y}, whatever became of {Z}
    apart from {Z}, it was {X} and not {Y} that {someone} {did}
    {X} was {done} by {someone} but {Y} was not, {Z} aside
    {Y} was not {done} by {someone}, but {X} was, {Z} aside
    leaving {Z} aside, {someone} {did} {X} and not {Y}
    never mind {Z}, because {someone} {did} {X} and not {Y}
    {someone} did not {do} {Y}, but did {do} {X}, {Z} aside
""")
