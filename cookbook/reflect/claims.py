"""Claims: the sentences of an answer, each of which is true or not by itself."""

from __future__ import annotations

import re

_YES_NO = re.compile(r"^(?:yes|no), +(?=\w)", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, white space normalised; those without a letter or digit join their neighbour."""
    from cookbook.chunkers import sentence_spans

    found = (" ".join(text[slice(*span)].split()) for span in sentence_spans(text))
    return [sentence for sentence in found if sentence]


def claims_of(answer: str, most: int = 6) -> list[str]:
    """The sentences of an answer, at most ``most``; the rest of a longer one is joined into the last.

    Nothing is left out, so a check of all claims is a check of the whole answer; only a "Yes," before a
    clause goes, which answers the question and claims nothing by itself. A blank answer is a ValueError:
    it would pass any check.
    """
    found = [_YES_NO.sub("", sentence) for sentence in sentences(answer)]
    if not found:
        raise ValueError("a blank answer makes no claim; there is nothing to check")
    return [*found[: most - 1], " ".join(found[most - 1 :])] if len(found) > most else found


def with_question(question: str, claim: str) -> str:
    """The claim, behind the question where it is no sentence: "7 days" claims nothing without what it answers."""
    whole = claim.rstrip().endswith((".", "!", "?")) and len(claim.split()) > 3
    return claim if whole else f"{question} {claim}"
