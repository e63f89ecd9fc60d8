"""Word forms and sentences for the acceptability task: right ones and wrong ones."""

from __future__ import annotations

from .lexicon import entries, listed

WHO = listed("""
    nurse pilot clerk baker judge singer farmer plumber dancer teacher painter driver gardener actor
    tailor waiter sailor librarian carpenter detective reporter mechanic student architect captain
    cleaner neighbour grandmother visitor tourist beekeeper caretaker
""")
KINDS = listed("old young tall quiet friendly careful tired cheerful clever patient famous polite")
WHERE = (
    "in the garden",
    "near the station",
    "at the market",
    "behind the school",
    "in the kitchen",
    "by the river",
    "on the beach",
    "outside the museum",
    "in the library",
    "beside the canal",
    "under the bridge",
    "at the harbour",
)
WHEN = (
    "last week",
    "yesterday",
    "on Monday",
    "this morning",
    "before lunch",
    "in April",
    "after the storm",
    "on Sunday",
    "two days ago",
    "in the evening",
    "last summer",
    "at noon",
)
VERDICTS = (
    "in every way",
    "by a long way",
    "in my view",
    "these days",
    "in most respects",
    "for most people",
)
HABITS = (
    "every morning",
    "on Sundays",
    "every summer",
    "on most days",
    "each evening",
    "all year round",
    "as a rule",
)

# right / wrong / how the sentence goes on
PASTS = entries("""
    went/goed/to the dentist, bought/buyed/a blue bicycle, caught/catched/a large trout,
    taught/teached/a difficult lesson, thought/thinked/about the long journey,
    brought/bringed/a basket of plums, swam/swimmed/across the cold lake,
    broke/breaked/a glass bowl, wrote/writed/a long letter, drove/drived/a rusty van,
    chose/choosed/a green scarf, flew/flied/a paper kite, grew/growed/a giant pumpkin,
    knew/knowed/the right answer, threw/throwed/a wet snowball, ate/eated/a bowl of soup,
    fell/falled/off a wooden ladder, forgot/forgetted/a birthday party, gave/gived/a short speech,
    hid/hided/a silver coin, held/holded/a burning torch, kept/keeped/a small diary,
    lost/losed/a leather glove, made/maked/a paper boat, met/meeted/a foreign guest,
    ran/runned/a long race, sold/selled/a wooden chair, sent/sended/a heavy parcel,
    slept/sleeped/on a hard bench, spoke/speaked/to a kind stranger, spent/spended/a whole fortune,
    stood/standed/on a low wall, stole/stealed/a loaf of bread, took/taked/a wrong turn,
    told/telled/a funny story, wore/weared/a straw hat, won/winned/a silver medal,
    felt/feeled/a cold breeze, fed/feeded/a hungry goose, drew/drawed/a detailed map,
    drank/drinked/a cup of tea, built/builded/a stone wall, dug/digged/a deep hole,
    rode/rided/a grey donkey, shook/shaked/a dusty carpet, sang/singed/a merry song
""")
PLURALS = entries("""
    children/childs, mice/mouses, geese/gooses, women/womans, men/mans, sheep/sheeps, wolves/wolfs,
    oxen/oxes, thieves/thiefs, policemen/policemans, firemen/firemans, deer/deers,
    fishermen/fishermans, calves/calfs
""")
CROWD_ACTS = (
    "waited",
    "slept",
    "gathered",
    "hid",
    "stood together",
    "rested",
    "appeared",
    "wandered about",
    "were seen",
    "made a noise",
    "crossed the road",
    "looked around",
)
NUMBERS = ("two", "three", "four", "several", "many", "seven", "a dozen", "both")
COUNTED = entries("""
    books/book, lamps/lamp, chairs/chair, letters/letter, tickets/ticket, apples/apple,
    baskets/basket, candles/candle, bottles/bottle, ladders/ladder, umbrellas/umbrella, boxes/box,
    hats/hat, coins/coin, plates/plate, keys/key, pencils/pencil, buckets/bucket, blankets/blanket,
    stamps/stamp
""")
GETTING = (
    "bought",
    "found",
    "sold",
    "carried",
    "counted",
    "wrapped",
    "borrowed",
    "lost",
    "photographed",
    "cleaned",
)
COMPARISONS = entries("""
    better/more better, better/gooder, worse/more worse, worse/badder, taller/more taller,
    older/more older, cheaper/more cheaper, stronger/more stronger, quieter/more quieter,
    safer/more safer, heavier/more heavier, smaller/more smaller, brighter/more brighter,
    more beautiful/beautifuller, more expensive/expensiver, more modern/moderner,
    more useful/usefuller, more famous/famouser
""")
COMPARED = (
    "the new bridge",
    "the red house",
    "this small hotel",
    "the village hall",
    "our wooden boat",
    "the blue lamp",
    "that old engine",
    "the white horse",
    "the brass clock",
    "their second plan",
    "the northern road",
    "my first bicycle",
)
ACTIONS = entries("""
    walk/walks, work/works, sing/sings, swim/swims, read/reads, paint/paints, cook/cooks,
    rest/rests, practise/practises, exercise/exercises, wait/waits, dance/dances, draw/draws,
    study/studies
""")
FORMS = entries("""
    go/went/to the dentist, buy/bought/a blue bicycle, catch/caught/a large trout,
    bring/brought/a basket of plums, swim/swam/across the cold lake, break/broke/a glass bowl,
    write/wrote/a long letter, drive/drove/a rusty van, choose/chose/a green scarf,
    eat/ate/a bowl of soup, forget/forgot/a birthday party, give/gave/a short speech,
    keep/kept/a small diary, lose/lost/a leather glove, sell/sold/a wooden chair,
    speak/spoke/to a kind stranger, take/took/a wrong turn, tell/told/a funny story,
    wear/wore/a straw hat, win/won/a silver medal, drink/drank/a cup of tea, ride/rode/a grey donkey
""")
AUXILIARIES = ("did not", "could not", "will never", "might", "should", "cannot")
PRONOUNS = entries("I/me, he/him, we/us, they/them")
AMOUNTS = entries("""
    much rain/many rain, much bread/many bread, much furniture/many furniture,
    much music/many music, many coins/much coins, many tourists/much tourists,
    many candles/much candles, many letters/much letters, much luggage/many luggage,
    many apples/much apples, much butter/many butter, many umbrellas/much umbrellas
""")

# base / past / objects
EVENTS = entries("""
    paint/painted/fence door boat bench, repair/repaired/clock roof bicycle engine,
    clean/cleaned/window carpet kettle statue, sell/sold/car piano farm lamp,
    hide/hid/key letter parcel ladder, break/broke/vase plate mirror chair,
    find/found/ring map suitcase wallet, carry/carried/basket bucket sofa crate,
    draw/drew/tower castle horse bridge, photograph/photographed/heron lighthouse parade garden,
    buy/bought/hat violin cottage tent, drop/dropped/tray bottle book camera,
    wash/washed/van blanket scarf dog, move/moved/table wardrobe stove trunk
""")
LOOKS = listed("red large small heavy wooden broken expensive beautiful dusty strange green round")
HOW = listed("quickly carefully secretly slowly proudly quietly happily often")
DETERMINERS = ("the", "the", "this", "my", "our")
PREPOSITIONS = ("in", "near", "behind", "beside", "outside")
SPOTS = listed(
    "station market school kitchen museum library hotel bakery theatre stable church shed"
)
