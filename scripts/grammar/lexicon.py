"""Words that may replace one another: the domains of the pairs that words alone decide.

A line reads `general: special, special`. Each special word implies the general one, and words of
different lines exclude each other. In `kinds` the special words of one line exclude each other too;
in `shades` they are near-synonyms and do not.
"""

from __future__ import annotations

from typing import NamedTuple


class Domain(NamedTuple):
    """Lines of words for one slot of a sentence: (general word, special words)."""

    lines: tuple[tuple[str, tuple[str, ...]], ...]
    specials_exclude: bool
    unrelated: bool = False


def listed(text: str) -> tuple[str, ...]:
    """The words of a text as a list to choose from."""
    return tuple(text.split())


def entries(text: str) -> tuple[tuple[str, ...], ...]:
    """The entries of `form/form, form/form` as tuples of forms.

    >>> entries("sing/sang, wake up/woke up")
    (('sing', 'sang'), ('wake up', 'woke up'))
    """
    return tuple(
        tuple(part.strip() for part in entry.split("/"))
        for entry in text.split(",")
        if entry.strip()
    )


def _lines(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    joined = text.strip().replace("\n    ", " ")  # an indented line continues the one before
    pairs = (line.partition(":") for line in joined.splitlines())
    return tuple(
        (head.strip(), tuple(w.strip() for w in rest.split(",") if w.strip()))
        for head, _, rest in pairs
    )


def kinds(text: str) -> Domain:
    """A domain in which no two words of a line can be true of the same thing."""
    return Domain(_lines(text), specials_exclude=True)


def shades(text: str) -> Domain:
    """A domain in which the special words of a line only say the general one more strongly."""
    return Domain(_lines(text), specials_exclude=False)


def unrelated(phrases: tuple[str, ...]) -> Domain:
    """A domain in which no phrase implies or excludes another."""
    return Domain(tuple((phrase, ()) for phrase in phrases), specials_exclude=False, unrelated=True)


def with_preposition(domain: Domain, preposition: str) -> Domain:
    """The same domain with a preposition before each word."""
    lines = tuple(
        (f"{preposition} {h}", tuple(f"{preposition} {w}" for w in ws)) for h, ws in domain.lines
    )
    return Domain(lines, domain.specials_exclude)


# Who

NAMES = listed("""
    Anna Maria Clara Sofia Emma Lucy Nora Alice Helen Irene Julia Laura Marta Nina Olga Paula Rosa
    Sara Tessa Vera Wendy Yara Zoe Bella Carmen Diana Elena Fatima Greta Hannah Ingrid Joan Karin
    Leila Mona Priya Ruth Stella Amina Mei Peter Paul Simon Thomas Victor Oscar Leo Hugo Felix David
    Daniel Bruno Carlos Boris Anton Adam Edgar Frank George Henry Ivan Jacob Kevin Lukas Martin
    Nathan Omar Patrick Quentin Robert Samuel Tariq Walter Yusuf Kenji Diego Emil Gustav Louis
    Rafael
""")

PROFESSIONS = kinds("""
musician: violinist, pianist, drummer, cellist, guitarist, flautist, trumpeter, organist
doctor: surgeon, dentist, psychiatrist, paediatrician, cardiologist
scientist: chemist, botanist, biologist, geologist, astronomer, physicist, zoologist
athlete: sprinter, gymnast, boxer, rower, wrestler, goalkeeper, hurdler
artist: painter, sculptor, potter, illustrator, engraver
writer: novelist, poet, playwright, columnist, biographer
teacher: professor, tutor, lecturer
shopkeeper: grocer, florist, butcher, bookseller, jeweller, fishmonger
builder: bricklayer, roofer, plasterer, stonemason
cook: chef, baker, confectioner
sailor: helmsman, deckhand, bosun
soldier: sergeant, colonel, corporal, lieutenant
farmer: shepherd, beekeeper, ploughman
lawyer: barrister, solicitor, prosecutor
politician: mayor, senator, governor
""")
FOLK = shades("""
man: grandfather, uncle, bridegroom, widower, gentleman
woman: grandmother, aunt, bride, widow, lady
boy: schoolboy, choirboy
girl: schoolgirl
""")
ANIMALS = shades("""
dog: poodle, beagle, spaniel, terrier, greyhound, dachshund, labrador, collie, bulldog
cat: tabby, tomcat, kitten
horse: pony, mare, stallion, foal
sheep: lamb, ewe
cow: heifer, calf
goat:
pig: piglet
""")
PETS = shades("""
dog: poodle, beagle, spaniel, terrier, greyhound, dachshund, labrador, collie, bulldog
cat: tabby, tomcat, kitten
horse: pony, mare, stallion
bird: parrot, canary, budgerigar, cockatoo
rabbit:
tortoise:
""")

# What kind of person or animal

YOUTH = shades("young: youthful\nelderly: aged")
WEALTH = shades("rich: wealthy, affluent, prosperous\npoor: penniless, impoverished")
FAME = shades("famous: celebrated, renowned, legendary\nunknown: obscure")
POLITENESS = shades("polite: courteous, gracious\nrude: insolent, impolite")
TEMPER = shades("""
cheerful: jolly, merry, overjoyed
gloomy: melancholy, miserable
angry: furious, enraged
""")
COURAGE = shades("brave: fearless, heroic, courageous\ncowardly: timid")
ENERGY = shades("tired: weary, exhausted\nenergetic: lively, tireless")
THRIFT = shades("generous: charitable\nstingy: miserly")
COAT = kinds("black:\nwhite:\nbrown:\ngrey:\nspotted:")
HUNGER = shades("hungry: starving, famished\noverfed:")

# What was done to what

GOODS = kinds("""
vehicle: lorry, van, motorbike, tractor, scooter, minibus
instrument: piano, guitar, violin, trumpet, cello, flute, harp, banjo
seat: armchair, stool, bench, sofa, deckchair
garment: jacket, sweater, skirt, cardigan, waistcoat, raincoat, blouse
tool: hammer, screwdriver, chisel, spanner, shovel, rake
pot: saucepan, kettle, teapot, wok
toy: doll, puppet, kite, rattle
lamp: lantern, torch, chandelier
bag: suitcase, rucksack, satchel, handbag, briefcase
""")
PARCELS = kinds("""
jewel: diamond, sapphire, pearl, opal, emerald
book: dictionary, atlas, cookbook, diary
picture: portrait, photograph, watercolour, sketch
cup: mug, goblet, tumbler
knife: dagger, penknife
hat: beret, bonnet, fedora, turban
shoe: sandal, slipper, moccasin
carpet: rug, doormat
""")
BUILDINGS = kinds("""
house: cottage, bungalow, villa, cabin, mansion
boat: canoe, dinghy, yacht, raft, barge
tower: lighthouse, steeple, belfry
bridge: viaduct, footbridge
barrier: fence, wall, barricade
""")
OPENINGS = kinds("""
door: gate, trapdoor
window: skylight, porthole
box: crate, chest, casket
bag: suitcase, satchel, briefcase
bottle: flask, flagon
""")
FOODS = kinds("""
fruit: apple, pear, banana, mango, peach, plum, melon, pineapple
vegetable: carrot, turnip, leek, potato, parsnip, courgette, cabbage
fish: trout, salmon, mackerel, herring, sardine
cake: muffin, brownie, doughnut, pancake
""")
PLANTS = kinds("""
tree: oak, birch, willow, maple, elm, cedar
flower: rose, tulip, daisy, lily, orchid, poppy
shrub: azalea, hydrangea, juniper
vegetable: leek, cabbage, turnip
""")
TEXTS = kinds("""
poem: sonnet, ballad, limerick, haiku
letter: postcard, telegram
book: novel, biography, memoir, textbook
play: tragedy, comedy, farce
report: survey, audit
""")
SHOWS = kinds("""
film: thriller, documentary, cartoon, western
concert: recital, serenade
play: tragedy, comedy, farce, pantomime
lecture: seminar, sermon
exhibition: retrospective
""")
CONTESTS = kinds("""
race: marathon, regatta, relay, steeplechase
match: derby, shootout
election: referendum
quiz:
debate:
duel:
""")
STUDIES = kinds("""
a language: French, Italian, Russian, Latin, Greek, Arabic, Turkish
a science: physics, chemistry, geology, biology, astronomy
a craft: pottery, weaving, carpentry, embroidery
a sport: fencing, archery, judo, hockey
""")

TRADE = shades("bought: purchased, acquired\nsold: auctioned\nborrowed:\nrented: hired")
BARTER = shades("bought: purchased, acquired\nsold: auctioned\nstole: pilfered")
MENDING = shades("repaired: mended, fixed, restored\ndamaged: smashed, wrecked, shattered")
LIKING = shades("liked: loved, adored, enjoyed\ndisliked: hated, detested, loathed, despised")
FINDING = shades("""
found: discovered, located, unearthed
lost: misplaced, mislaid
hid: concealed, buried
""")
SENDING = shades("sent: mailed, posted, shipped\nreceived:\nkept: retained")
CLEANING = shades("cleaned: washed, scrubbed, polished, scoured\nsoiled: stained, muddied")
MOVING = shades("""
pushed: shoved, nudged
pulled: dragged, tugged, hauled
lifted: hoisted, raised
dropped:
""")
OPENING = shades("opened: unlocked, unbolted\nclosed: shut, locked, bolted, sealed")
EATING = shades("""
ate: devoured, gobbled, nibbled
refused: declined, rejected
cooked: fried, roasted, grilled, boiled
""")
BUILDING = shades("""
built: constructed, erected
destroyed: demolished, razed, flattened
designed: planned
""")
GARDENING = shades("planted:\nwatered: sprinkled\ncut: trimmed, pruned, clipped\nuprooted:")
READING = shades("""
read: studied, perused, skimmed
wrote: composed, drafted, penned
burned: torched, incinerated
""")
JUDGING = shades("""
praised: applauded, commended, acclaimed
criticised: condemned, mocked, ridiculed
""")
COMPETING = shades("won: dominated\nlost: forfeited\nwatched: observed, witnessed\nmissed: skipped")
LEARNING = shades("studied: learned, practised\ntaught:\nneglected: abandoned")
PETTING = shades("""
stroked: petted, patted, caressed
ignored: disregarded
scolded: reprimanded
chased: pursued
""")
WALKING = shades("""
ran: sprinted, raced, dashed, jogged
walked: strolled, marched, wandered, ambled
stood: waited, lingered
""")
PERFORMING = shades("""
sang: crooned, warbled
danced: waltzed
slept: dozed, napped, snoozed
wept: sobbed, cried
""")
TRAVELLING = kinds("flew:\nsailed: cruised\ndrove: motored\ncycled: pedalled\nhitchhiked:")
GRAZING = shades("""
ran: raced, galloped, bolted
slept: dozed, napped, snoozed
ate: grazed, munched
swam: paddled
""")

# What the thing was like

COLOUR = shades("""
red: scarlet, crimson
blue: navy, turquoise, azure
green: olive, lime
yellow: golden, amber
black:
white: ivory
purple: mauve, lilac
brown: chestnut
""")
SIZE = shades("large: huge, enormous, gigantic, colossal\nsmall: minuscule, miniature, tiny")
NEWNESS = shades("old: ancient, antique\nnew: modern")
PRICE = shades("expensive: costly, priceless\ncheap: inexpensive, worthless")
WEIGHT = shades("heavy: hefty, weighty\nlight: lightweight, featherweight")
BEAUTY = shades("beautiful: gorgeous, lovely, exquisite\nugly: hideous, unsightly, ghastly")
STRENGTH = shades("sturdy: robust, solid\nfragile: flimsy, brittle")
LENGTH = shades("long: lengthy, endless\nshort: brief")
EASE = shades("difficult: demanding, gruelling\neasy: effortless, undemanding")
FUN = shades("funny: hilarious, amusing\nsad: tragic, heartbreaking")
HEAT = shades("hot: scalding, steaming\ncold: chilled, icy, frozen")
FRESHNESS = shades("fresh: crisp\nrotten: mouldy, spoiled")

# When, where and how

WEEKDAY = kinds("""
on a weekday: on Monday, on Tuesday, on Wednesday, on Thursday, on Friday
at the weekend: on Saturday, on Sunday
""")
SEASON = kinds("""
in spring: in March, in April
in summer: in June, in July, in August
in autumn: in October, in November
in winter: in January, in February
""")
DAYPART = shades("""
in the morning: at dawn, at sunrise, before breakfast
in the afternoon: soon after lunch
in the evening: at dusk, at sunset
at night: at midnight, in the dead of night
""")
COUNTRIES = kinds("""
France: Paris, Lyon, Marseille, Bordeaux
Spain: Madrid, Seville, Valencia, Granada
Italy: Rome, Naples, Milan, Florence
Germany: Berlin, Munich, Hamburg, Cologne
Japan: Tokyo, Kyoto, Osaka
Egypt: Cairo, Luxor
Brazil: Salvador, Brasilia
Canada: Toronto, Montreal, Vancouver
India: Mumbai, Delhi, Kolkata
Norway: Oslo, Bergen
""")
VENUE = kinds("""
outdoors: in the garden, in the park, on the beach, in the orchard, in the meadow,
    by the lake, in the forest
indoors: in the kitchen, in the library, in the attic, in the basement, in the hallway,
    in the ballroom
""")
OUTDOORS = kinds("""
in a park: in the botanical gardens
on a farm: in the barnyard
by the water: by the river, by the lake, on the beach, by the canal
in the mountains: in an alpine valley
in the desert: among the dunes
in the forest: in a clearing, under the pines
""")
WEATHER = shades("""
in the rain: in a downpour, in a drizzle
in the snow: in a blizzard
in the sunshine: in bright sunlight
in the fog: in a thick mist
""")
SPEED = shades("quickly: swiftly, rapidly, hastily\nslowly: unhurriedly")
NOISE = shades("quietly: silently, noiselessly, soundlessly\nloudly: noisily, boisterously")
CARE = shades("carefully: cautiously, meticulously\ncarelessly: recklessly, sloppily")
MOOD = shades("""
happily: cheerfully, joyfully, blissfully
sadly: mournfully, tearfully
angrily: furiously
""")
WILL = shades("willingly: gladly, eagerly\nreluctantly: grudgingly, unwillingly")
SKILL = shades("skilfully: expertly, deftly, masterfully\nclumsily: awkwardly, ineptly")
SECRECY = shades("secretly: covertly, furtively\nopenly: publicly, brazenly")
COMPANY = shades("""
alone: without any company
with relatives: with cousins, with three nephews, with a niece
with colleagues: with two workmates
""")

# Facts that nothing else in a sentence implies or excludes
CAUSES = tuple(
    line.strip()
    for line in """
    because of a bet
    for a jealous neighbour
    as a practical joke
    out of sheer boredom
    for a school project
    to impress a visitor
    in exchange for a favour
    after a bitter argument
    in honour of an anniversary
    for a television programme
    during a power failure
    in front of a crowd
    with the help of a stranger
    on behalf of a museum
    for an insurance company
    thanks to a lucky coincidence
    in spite of a headache
    as a birthday surprise
    on the advice of a friend
    to raise money for charity
    for a handsome reward
    because of a misunderstanding
    under police supervision
    for a magazine competition
    to win a promotion
    as an experiment
    in memory of an ancestor
    to annoy a landlord
    without official permission
    for the sake of tradition
    to settle a debt
    because of a strange dream
    during a royal visit
    for an impatient customer
    to please an inspector
    as a gesture of thanks
    after a sleepless week
    despite a sprained ankle
    on the orders of a spy
    for a scientific journal
""".strip().splitlines()
)

HERD_FACTS = (
    "after a heavy shower",
    "in spite of the flies",
    "during a thunderstorm",
    "next to a broken fence",
    "behind a rusty gate",
    "beside a haystack",
    "in full view of the tourists",
    "without its mother",
    "under the eyes of a vet",
    "for the first time in days",
    "near a steam train",
    "with straw on its back",
)
