"""Messages that need no document: greetings, thanks, sums, rewriting. They teach ``[No Retrieval]``.

A model of this size knows nothing by heart and cannot compute. What it may say without a passage is one of
``REPLIES`` (``reflect/tokens/tiny.py``); for everything but a greeting and a thank-you that is the last one, which is of no use and labelled so.
"""

from __future__ import annotations

from random import Random

from cookbook.reflect.tokens.tiny import REPLIES

HELLO, WELCOME, NOTHING = REPLIES

#: Written by hand, in other words than the program's: whether the decision carries over is measured on these.
UNSEEN = tuple(
    """
Nice to meet you!|How is it going?|Hi, it is me again.|Good to see you.|I appreciate your help.|Thanks for nothing
|That is exactly what I was looking for, cheers.|See you next week.|What is the square root of 81?|Add 15 to 27.
|Is 91 a prime number?|What is half of 250?|Translate this into Finnish: the milk is cold.|What is the Latin word for bread?
|Correct the spelling: recieve, seperate, untill.|Make this sentence shorter: We went to the shop because we needed bread.
|Give me a synonym for quick.|Tell me a joke about penguins.|Invent a name for a sailing boat.|Compose two lines that rhyme with moon.
|Count from one to ten in Spanish.|Turn this into a list: apples, pears and plums.|Sing me a lullaby.|Guess my age.
""".replace("\n", "").split("|")
)

_NAMES = "Anna Ben Chloe David Emil Fatima Grace Hana Ivan Julia Karl Lena".split()
_GREETINGS = "Hi|Hello|Hey|Good morning|Good evening|Good afternoon|Hi there|Hello there|Hey there|Greetings|Good day".split(
    "|"
)
_THANKS = (
    "Thanks|Thank you|Many thanks|Thanks a lot|Thank you very much|Thank you so much|Perfect, thanks|Great, thank you|OK, thanks|Cheers"
).split("|")
_TAILS = (
    "|, that helped|, that was all|, I understand now|, you are a great help|, that is all I needed|, have a nice day|, bye|, it works now"
).split("|")
_WORDS = "good night|please|where is the station|I am tired|see you tomorrow|the house is red|my name is Anna|two cups of tea".split(
    "|"
)
_TONGUES = "German French Spanish Italian Dutch Polish Swedish Portuguese".split()
_SENTENCES = (
    "The cat chased the bird.|My brother paints the fence.|She wrote three letters.|The cook burned the soup.|They sold the old car."
    "|A child found the key.|The wind broke the window.|We cancelled the trip."
).split("|")
_FORMS = "in the past tense|in capital letters|as a question|more politely|in fewer words|in the plural|backwards|without the verb".split(
    "|"
)
_TOPICS = "spring|a lighthouse|my dog|the sea at night|an old bicycle|rain|a birthday|friendship".split("|")
_PIECES = "a poem|a haiku|a limerick|a short story|a joke|a song|a birthday card|a toast".split("|")


def small_talk(rng: Random) -> tuple[str, str]:
    """A message and the reply out of ``REPLIES`` (``reflect/tokens/tiny.py``) that fits it best."""
    return rng.choice((_greeting, _thanks, _sum, _translation, _rewriting, _writing))(rng)


def _greeting(rng: Random) -> tuple[str, str]:
    greeting = rng.choice(_GREETINGS)
    return rng.choice(
        (greeting, f"{greeting}!", f"{greeting}, how are you?", f"{greeting}, I am {rng.choice(_NAMES)}.")
    ), HELLO


def _thanks(rng: Random) -> tuple[str, str]:
    return f"{rng.choice(_THANKS)}{rng.choice(_TAILS)}{rng.choice('.!')}", WELCOME


def _sum(rng: Random) -> tuple[str, str]:
    a, b = rng.randint(2, 99), rng.randint(2, 99)
    how = rng.choice(("plus", "minus", "times", "divided by", "+", "-", "*", "/"))
    asked = rng.choice(("What is {}?", "Compute {}.", "How much is {}?", "{} = ?", "Please calculate {}."))
    return asked.format(f"{a} {how} {b}"), NOTHING


def _translation(rng: Random) -> tuple[str, str]:
    asked = rng.choice(
        ('Translate "{}" into {}.', 'How do you say "{}" in {}?', "Say {} in {}.", "{} in {}, please.")
    )
    return asked.format(rng.choice(_WORDS), rng.choice(_TONGUES)), NOTHING


def _rewriting(rng: Random) -> tuple[str, str]:
    asked = rng.choice(("Rewrite {0}: {1}", "Put this sentence {0}: {1}", "Say this {0}: {1}"))
    return asked.format(rng.choice(_FORMS), rng.choice(_SENTENCES)), NOTHING


def _writing(rng: Random) -> tuple[str, str]:
    asked = rng.choice(
        (
            "Write {} about {}.",
            "Please write {} about {}.",
            "Can you write {} about {}?",
            "Make up {} about {}.",
        )
    )
    return asked.format(rng.choice(_PIECES), rng.choice(_TOPICS)), NOTHING
