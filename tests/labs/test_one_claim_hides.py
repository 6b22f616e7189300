"""What the check of one_claim_hides says of checks that average, lump together or cut in the wrong place."""

from cookbook.labs.one_claim_hides import (
    INVENTED,
    TRUE,
    broken,
    check,
    judge_answers,
    passages,
    solution,
)
from cookbook.published.nli_loop import WordEntailment
from cookbook.reflect.claims import sentences
from cookbook.schema import Support

BROKEN = "the_rest_vouches_for_it"


def level_of(claims, unsupported):
    if len(unsupported) == len(claims):
        return Support.NONE
    return Support.PARTIALLY if unsupported else Support.FULLY


def by_claim(answer, passages, entails, *, split=sentences):
    claims = split(answer)
    unsupported = [claim for claim in claims if not any(entails(passage, claim) for passage in passages)]
    return claims, unsupported


def the_mean(answer, passages, entails):
    claims, unsupported = by_claim(answer, passages, entails)
    return (Support.FULLY if len(unsupported) <= len(claims) / 4 else Support.NONE), unsupported


def whole_answer_in_one_passage(answer, passages, entails):
    claims = sentences(answer)
    best = min(
        ([claim for claim in claims if not entails(passage, claim)] for passage in passages),
        key=len,
        default=claims,
    )
    return level_of(claims, best), best


def at_full_stops(answer, passages, entails):
    claims, unsupported = by_claim(
        answer,
        passages,
        entails,
        split=lambda text: [part.strip() + "." for part in text.split(".") if part.strip()],
    )
    return level_of(claims, unsupported), unsupported


def glued(answer, passages, entails):
    claims, unsupported = by_claim(answer, ["\n".join(passages)], entails)
    return level_of(claims, unsupported), unsupported


def all_of_none(answer, passages, entails):
    claims, unsupported = by_claim(answer, passages, entails)
    return (Support.FULLY if not unsupported else level_of(claims, unsupported)), unsupported


def the_supported_ones(answer, passages, entails):
    claims, unsupported = by_claim(answer, passages, entails)
    return level_of(claims, unsupported), [claim for claim in claims if claim not in unsupported]


def partial_at_worst(answer, passages, entails):
    _, unsupported = by_claim(answer, passages, entails)
    return (Support.PARTIALLY if unsupported else Support.FULLY), unsupported


WRONG = {
    "a quarter may fail": (the_mean, "the_rest_vouches_for_it"),
    "never worse than partially": (partial_at_worst, "invention_has_support"),
    "one passage for the whole answer": (whole_answer_in_one_passage, "one_passage_for_all"),
    "split at full stops": (at_full_stops, "cut_inside_a_number"),
    "all passages as one": (glued, "passages_glued"),
    "all() of nothing": (all_of_none, "nothing_is_supported"),
    "list what is supported": (the_supported_ones, "wrong_list"),
    "the level alone": (lambda answer, passages, entails: Support.FULLY, "no_pair"),
}


def test_the_symptom():
    rows, meter = judge_answers(INVENTED, " ".join([*TRUE, INVENTED]))
    assert [row["the judge says"] for row in rows] == ["none", "fully"]
    assert [round(row["share supported"], 2) for row in rows] == [0.5, 0.87]
    assert meter.calls == 4
    level, unsupported = solution()(" ".join([*TRUE, INVENTED]), passages(), WordEntailment().entails)
    assert (level, unsupported) == (Support.PARTIALLY, [INVENTED])


def test_the_message_names_the_place():
    assert check(broken()).message == (
        "three true sentences and an invented one at place 4: you say fully and []; it is partially. The sentence on renewing "
        "stands in no passage, whatever stands beside it."
    )
