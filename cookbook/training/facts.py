"""An encyclopaedia that never was: persons, towns, films and clubs whose facts are known because we drew them.

Our corpora know no birthdays, rivers or film directors, and a critic that never met any would learn what a help
page looks like. Here a program draws subjects and their facts, says each fact in one of several ways and asks for it in
several others. Which question a text answers, and which claim it supports, follows from the facts and not from the words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

# ---------------------------------------------------------------- names

FIRST = (
    "Anna Boris Clara David Elena Felix Greta Hugo Irene Jonas Karin Louis Marta Nils Olga Peter Rosa Stefan Tilda Victor "
    "Walter Yusuf Zoe Amir Bella Carlos Diana Edward Fatima George Helen Ivan Julia Kenji Laura Marco Nadia Oscar Paula Robert"
).split()
LAST = (
    "Almqvist Barnes Castell Dorn Eriksen Faulk Galanis Hartwell Ilves Jansen Kowal Lindgren Marchetti Novak Okafor Petrov "
    "Quintana Rossi Sandoval Tanaka Ulrich Varga Whitlock Yilmaz Zeller Abbott Bellamy Carver Delgado Ferris Grant Hollis"
).split()
_TOWN = (
    "Arn Bel Cal Dor El Fen Gal Hart Is Kel Lor Mar Nor Ost Pen Rav Sel Tor Ul Ver Wyn Brad Stan Lang".split(),
    "burg ton ville ford stad holm wick mouth field dale bridge ham port minster haven".split(),
)
COUNTRIES = (
    "France Norway Canada Brazil India Kenya Japan Poland Chile Egypt Italy Greece Mexico Ireland Peru Turkey Vietnam Ghana"
).split()
_PEOPLES = (
    "French Norwegian Canadian Brazilian Indian Kenyan Japanese Polish Chilean Egyptian Italian Greek Mexican Irish Peruvian "
    "Turkish Vietnamese Ghanaian"
).split()
_TITLE = (
    "Silent Golden Last Broken Hidden Winter Burning Second Paper Distant Crimson Empty Iron Lonely Quiet Northern Velvet Blind "
    "Hollow Midnight Perfect Seventh Stolen White".split(),
    "Garden Harbour Letter River Orchestra Station Mirror Kingdom Lantern Voyage Season Bridge Witness Valley Promise Clock "
    "Dancer Island Journey Judge Road Shadow Summer Tower".split(),
)
_PLAYERS = "Foxes Engines Sisters Clocks Rivers Owls Pilots Kings Sailors Mirrors Wolves Strangers Lights Tigers".split()
_COATS = "spotted lesser ringed grey Andean dwarf red-bellied greater pale crested horned striped mountain blue".split()
_ANIMALS = "heron vole gecko otter finch beetle newt shrew lemur adder plover marten bat toad crab hare seal wren".split()
MONTHS = "January February March April May June July August September October November December".split()


def person(rng: Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def town(rng: Random) -> str:
    return rng.choice(_TOWN[0]) + rng.choice(_TOWN[1])


def title(rng: Random) -> str:
    return f"The {rng.choice(_TITLE[0])} {rng.choice(_TITLE[1])}"


def _of(text: str) -> Callable[[Random], str]:
    choices = [choice.strip() for choice in text.split(",")]
    return lambda rng: rng.choice(choices)


def _between(low: int, high: int, step: int = 1) -> Callable[[Random], str]:
    def draw(rng: Random) -> str:
        n = rng.randrange(low, high, step)
        return f"{n:,}" if n > 9999 else str(n)

    return draw


def _day(low: int, high: int) -> Callable[[Random], str]:
    return lambda rng: f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {rng.randint(low, high)}"


# ---------------------------------------------------------------- kinds of subjects and what is said of them


@dataclass(frozen=True)
class Attribute:
    """One thing that is known of a subject. It has one value, so that another value contradicts.

    ``says`` are sentences with {s} and {v}; ``asks`` are questions with {s}.
    """

    name: str
    draw: Callable[[Random], str]
    says: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of subject. ``pronouns`` may stand for its name in a later sentence; ``aside`` describes it by one
    of its attributes, ``described_by``, between commas in a question."""

    name: str
    draw: Callable[[Random], str]
    pronouns: tuple[str, ...]
    described_by: str
    aside: str
    attributes: tuple[Attribute, ...]


def _attribute(name: str, draw: Callable[[Random], str], says: str, asks: str) -> Attribute:
    def lines(text: str) -> tuple[str, ...]:
        return tuple(line.strip() for line in text.strip().splitlines())

    return Attribute(name, draw, lines(says), lines(asks))


_TRADES = "novelist, painter, chemist, composer, botanist, architect, actor, surgeon, journalist, cyclist, economist, singer, poet, lawyer"
_FIELDS = "a treatise on tides, the design of steam pumps, portraits of sailors, studies of moss, a cycle of piano songs, reports from the front, work on glass, a map of the northern coast"
_GENRE = "thriller, comedy, western, documentary, war film, romantic drama, horror film, musical"
_GOODS = "bicycles, paper, watches, tinned fish, organs, tractors, medicines, toys, tiles, cameras, ships, chocolate"
_LABEL = "Bluebird Records, Northlight, Harbour Music, Redwood Sound, Parallel, Tin Roof Records"
_FOOD = "beetles, seeds, small fish, fruit, leaves, snails, mosses, worms"
_PLACES = "marshes, pine forests, deserts, rocky coasts, high meadows, caves, river banks, mangroves"
_STYLE = "Gothic, Baroque, modernist, neoclassical, Romanesque, Art Nouveau"

KINDS: tuple[Kind, ...] = (
    Kind("person", person, ("He", "She"), "trade", ", the {v},", (
        _attribute("born", _between(1702, 1985), """{s} was born in {v}.
            The year of birth of {s} is {v}.
            {s} came into the world in {v}.""", """When was {s} born?
            In what year was {s} born?
            What is the birth year of {s}?"""),
        _attribute("birthplace", town, """{s} grew up in {v}, the town of his birth.
            {s} is a native of {v}.
            {s}'s birthplace is {v}.""", """Where was {s} born?
            What town is {s} from?
            What is the birthplace of {s}?"""),
        _attribute("trade", _of(_TRADES), """{s} worked as a {v}.
            {s} was a {v} by profession.
            {s} earned a living as a {v}.""", """What was {s}'s profession?
            What did {s} do for a living?
            What is {s} by trade?"""),
        _attribute("spouse", person, """{s} married {v}.
            {s}'s spouse was {v}.
            {v} and {s} were husband and wife.""", """Who did {s} marry?
            Who was {s} married to?
            What is the name of the spouse of {s}?"""),
        _attribute("died", _day(1986, 2015), """{s} died on {v}.
            The death of {s} was announced on {v}.
            {s} passed away on {v}.""", """When did {s} die?
            On what date did {s} pass away?
            What is the date of {s}'s death?"""),
        _attribute("known", _of(_FIELDS), """{s} is best known for {v}.
            {s} became famous for {v}.
            The fame of {s} rests on {v}.""", """What is {s} known for?
            What made {s} famous?
            Why is {s} remembered?"""),
        _attribute("nation", _of(", ".join(_PEOPLES)), """{s} was {v}.
            {s} held {v} citizenship.
            {s} had a {v} passport.""", """What nationality was {s}?
            What is the citizenship of {s}?"""),
        _attribute("children", _of("two, three, four, five, six, seven"), """{s} had {v} children.
            {s} raised {v} children.
            {v} children survived {s}.""", """How many children did {s} have?
            What number of children did {s} raise?"""),
    )),
    Kind("town", town, ("The town", "It"), "country", ", the town in {v},", (
        _attribute("country", _of(", ".join(COUNTRIES)), """{s} lies in {v}.
            {s} is a town in {v}.
            {s} belongs to {v}.""", """In which country is {s}?
            In what country is {s} located?
            What country does {s} belong to?"""),
        _attribute("population", _between(2100, 940000, 37), """{s} has {v} inhabitants.
            The population of {s} is {v}.
            {v} people live in {s}.""", """How many people live in {s}?
            What is the population of {s}?
            How large is {s}?"""),
        _attribute("founded", _between(1105, 1890), """{s} was founded in {v}.
            The founding of {s} dates back to {v}.
            {s} was first settled in {v}.""", """When was {s} founded?
            In what year was {s} settled?
            How old is {s}?"""),
        _attribute("river", _of("Ema, Torv, Sill, Garra, Lune, Oder, Vesk, Marn, Iller, Tama"), """{s} stands on the river {v}.
            The {v} flows through {s}.
            {s} was built on the banks of the {v}.""", """What river flows through {s}?
            On which river does {s} stand?
            Which river is {s} on?"""),
        _attribute("mayor", person, """{v} is the mayor of {s}.
            {s} is governed by its mayor, {v}.
            {s} elected {v} as mayor.""", """Who is the mayor of {s}?
            Who governs {s}?
            What is the name of {s}'s mayor?"""),
        _attribute("goods", _of(_GOODS), """{s} is known for its {v}.
            The main product of {s} is {v}.
            {s} lives on making {v}.""", """What is {s} known for?
            What is produced in {s}?
            What does {s} make?"""),
    )),
    Kind("film", title, ("The film", "It"), "year", ", the {v} film,", (
        _attribute("director", person, """{s} was directed by {v}.
            {v} directed {s}.
            {v} was the director of {s}.""", """Who directed {s}?
            Who was the director of {s}?
            Who is the film {s} by?"""),
        _attribute("year", _between(1921, 2021), """{s} was released in {v}.
            {s} came out in {v}.
            {s} is a film from {v}.""", """When did {s} come out?
            In what year was {s} released?
            What year is {s} from?"""),
        _attribute("genre", _of(_GENRE), """{s} is a {v}.
            Critics describe {s} as a {v}.
            {s} was made as a {v}.""", """What kind of film is {s}?
            What genre does {s} belong to?"""),
        _attribute("star", person, """{s} stars {v}.
            {v} plays the lead in {s}.
            The leading part in {s} went to {v}.""", """Who stars in {s}?
            Who plays the leading role in {s}?
            Which actor has the lead in {s}?"""),
        _attribute("minutes", _of("74, 81, 88, 95, 102, 117, 131, 144"), """{s} runs for {v} minutes.
            {s} is {v} minutes long.
            The running time of {s} is {v} minutes.""", """How long is {s}?
            What is the running time of {s}?
            How many minutes does {s} last?"""),
        _attribute("earned", _between(3, 480), """{s} earned {v} million dollars.
            {s} brought in {v} million dollars at the box office.
            The box office takings of {s} were {v} million dollars.""", """How much money did {s} make?
            What did {s} earn at the box office?
            How much did {s} bring in?"""),
    )),
    Kind("company", lambda rng: f"{rng.choice(LAST)} {rng.choice(['Works', 'Brothers', 'Industries', '& Sons'])}", ("The company", "It"), "goods", ", the maker of {v},", (
        _attribute("founder", person, """{s} was founded by {v}.
            {v} set up {s}.
            The founder of {s} is {v}.""", """Who founded {s}?
            Who started {s}?
            Who is the founder of {s}?"""),
        _attribute("founded", _between(1807, 2012), """{s} was established in {v}.
            {s} began trading in {v}.
            {s} dates from {v}.""", """When was {s} established?
            In what year did {s} start?
            When did {s} begin trading?"""),
        _attribute("seat", town, """{s} has its headquarters in {v}.
            {s} is based in {v}.
            The head office of {s} is in {v}.""", """Where is {s} based?
            Where are the headquarters of {s}?
            What town has the head office of {s}?"""),
        _attribute("goods", _of(_GOODS), """{s} makes {v}.
            {s} is a maker of {v}.
            {s} manufactures {v}.""", """What does {s} make?
            What are the products of {s}?
            What does {s} manufacture?"""),
        _attribute("staff", _between(40, 88000, 13), """{s} employs {v} people.
            {s} has a staff of {v}.
            {v} people work for {s}.""", """How many people work for {s}?
            How many employees does {s} have?
            What is the size of {s}'s staff?"""),
        _attribute("owner", lambda rng: f"{rng.choice(LAST)} Holding", """{s} belongs to {v}.
            {s} was bought by {v}.
            {v} is the owner of {s}.""", """Who owns {s}?
            Who bought {s}?
            To whom does {s} belong?"""),
    )),
    Kind("battle", lambda rng: f"the Battle of {town(rng)}", ("It", "The battle"), "cause", ", which was about {v},", (
        _attribute("date", _day(1410, 1870), """{s} was fought on {v}.
            {s} took place on {v}.
            The date of {s} was {v}.""", """When was {s} fought?
            On what day did {s} take place?
            When did {s} happen?"""),
        _attribute("winner", person, """{v} won {s}.
            {s} was won by {v}.
            {s} ended in a victory of {v}.""", """Who won {s}?
            Who was victorious in {s}?
            Who was the winner of {s}?"""),
        _attribute("dead", _between(300, 42000, 100), """{s} cost {v} lives.
            {v} soldiers died in {s}.
            {s} left {v} dead.""", """How many soldiers died in {s}?
            How many lives did {s} cost?
            What was the death toll of {s}?"""),
        _attribute("cause", _of("a quarrel over salt, a disputed throne, a broken treaty, the toll on a bridge, a failed harvest"), """{s} was fought because of {v}.
            {v} led to {s}.
            The cause of {s} was {v}.""", """Why was {s} fought?
            What was the cause of {s}?
            What led to {s}?"""),
    )),
    Kind("band", lambda rng: f"The {rng.choice(_TITLE[0])} {rng.choice(_PLAYERS)}", ("The band", "They"), "home", ", the band from {v},", (
        _attribute("singer", person, """{v} sings in {s}.
            The singer of {s} is {v}.
            {s} took on {v} as singer.""", """Who is the singer of {s}?
            Who sings in {s}?"""),
        _attribute("home", town, """{s} come from {v}.
            {s} were formed in {v}.
            {v} is the home of {s}.""", """Where do {s} come from?
            In what town were {s} formed?
            Where are {s} from?"""),
        _attribute("label", _of(_LABEL), """{s} signed with {v}.
            {s} recorded for {v}.
            The records of {s} came out on {v}.""", """Which label did {s} sign with?
            Who released the records of {s}?"""),
        _attribute("split", _between(1968, 2019), """{s} broke up in {v}.
            {s} disbanded in {v}.
            {s} played together until {v}.""", """When did {s} break up?
            In which year did {s} disband?
            Until when did {s} play?"""),
        _attribute("album", title, """{s} called their first album {v}.
            {v} is the debut of {s}.
            {s} made their debut with {v}.""", """What is the first album of {s}?
            What is the title of {s}'s debut?"""),
    )),
    Kind("animal", lambda rng: f"the {rng.choice(_COATS)} {rng.choice(_ANIMALS)}", ("It", "The animal"), "eats", ", which eats {v},", (
        _attribute("lives", _of(_PLACES), """{s} lives in {v}.
            {s} makes its home in {v}.
            {s} is found in {v}.""", """Where does {s} live?
            What is the habitat of {s}?
            Where can {s} be found?"""),
        _attribute("eats", _of(_FOOD), """{s} eats {v}.
            {s} feeds on {v}.
            The diet of {s} consists of {v}.""", """What does {s} eat?
            What does {s} feed on?
            What is the diet of {s}?"""),
        _attribute("weight", _between(20, 900, 5), """{s} weighs {v} grams.
            The weight of {s} is {v} grams.
            {s} reaches a weight of {v} grams.""", """How heavy is {s}?
            What does {s} weigh?
            How much does {s} weigh?"""),
        _attribute("age", _of("3, 5, 8, 11, 14, 19, 26"), """{s} lives for {v} years.
            {s} reaches an age of {v} years.
            The life span of {s} is {v} years.""", """How long does {s} live?
            What age does {s} reach?
            What is the life span of {s}?"""),
    )),
    Kind("building", lambda rng: f"{town(rng)} {rng.choice('Cathedral Tower Castle Library Station Museum'.split())}", ("The building", "It"), "style", ", the {v} building,", (
        _attribute("architect", person, """{s} was designed by {v}.
            {v} designed {s}.
            {v} was the architect of {s}.""", """Who designed {s}?
            Who was the architect of {s}?"""),
        _attribute("height", _between(18, 310), """{s} is {v} metres high.
            {s} rises to {v} metres.
            The height of {s} is {v} metres.""", """How tall is {s}?
            What is the height of {s}?
            How high does {s} rise?"""),
        _attribute("finished", _between(1201, 2016), """{s} was completed in {v}.
            {s} was finished in {v}.
            Work on {s} ended in {v}.""", """When was {s} completed?
            In what year was {s} finished?
            When did work on {s} end?"""),
        _attribute("style", _of(_STYLE), """{s} is {v} in style.
            {s} was built in the {v} style.
            {s} is an example of {v} architecture.""", """In what style was {s} built?
            What is the architectural style of {s}?"""),
        _attribute("visitors", _between(4000, 2400000, 1000), """{s} attracts {v} visitors a year.
            {v} people visit {s} every year.
            {s} has {v} visitors each year.""", """How many people visit {s} each year?
            How many visitors does {s} attract?"""),
    )),
)  # fmt: skip
