"""Where a sentence has its main clause and its verb: what a rule must know before it may touch a sentence.

A few hundred lines of grammar are not a parser. Everything here answers "not sure" where a sentence is not plain.
"""

from __future__ import annotations

import re

SUBORDINATE = re.compile(
    r"^(?:if|when|while|after|before|until|unless|once|where|as|since|although|whenever|because|for|in|on|at|to|with|without"
    r"|inside|from|under|during|by|of|among|instead|apart|besides|which|what|where|how|who|whether)\b",
    re.IGNORECASE,
)
AUXILIARY = re.compile(
    r"(?<![\w'`-])(can|cannot|can't|must|will|would|should|may|is|are|was|were|has to|have to|does not|do not|did not"
    r"|doesn't|don't|isn't|aren't|wasn't|weren't|won't)(?![\w'`-])"
)
QUANTIFIED = re.compile(
    r"\b(?:no|nothing|nobody|none|neither|never|nor|few|hardly|any|every|each|all|both|some|only|or)\b",
    re.IGNORECASE,
)
RELATIVE = re.compile(
    r"\b(?:that|which|who|whose|whom|where|when|if|while|what|how|because|whether)\b", re.IGNORECASE
)
_CODE = re.compile(r"`[^`]*`", re.DOTALL)

_VERBS = (
    "takes needs keeps shows moves sends returns costs stays becomes works goes gets sees counts includes contains "
    "removes leaves starts ends gives makes reads writes lists holds means allows follows uses checks receives requires "
    "adds changes opens runs lasts appears begins knows belongs accepts covers stores creates stops expires applies "
    "remains exists implements owns borrows compiles provides happens produces calls turns consumes yields drops panics "
    "learned learns helps matters differs depends replaces supports sorts deletes keeps blocks waits lives dies"
).split()
VERB = re.compile(rf"(?<![\w`'-])({'|'.join(dict.fromkeys(_VERBS))})(?![\w`'-])")


def main_clause(sentence: str) -> int:
    """Where the main clause begins: 0, or after the comma that ends an opening condition; -1 when unclear."""
    if not SUBORDINATE.match(sentence):
        return 0
    comma = sentence.find(", ")
    return -1 if comma < 0 or sentence.count(", ") > 1 else comma + 2


def auxiliary(sentence: str) -> re.Match[str] | None:
    """The finite auxiliary of the main clause, if it is beyond doubt: nothing before it opens another clause."""
    start = main_clause(sentence)
    if start < 0 or not (found := AUXILIARY.search(sentence, start)):
        return None
    before = sentence[start : found.start()]
    doubtful = not before.strip() or RELATIVE.search(before) or re.search(r"[,;:?()]", before)
    second = VERB.search(before) or re.search(
        r"\S\s+(?:it|they|he|she|you|we|this)\s$|\b(?:has|have|had)\b", before
    )
    return None if doubtful or second else found


def predicate(sentence: str) -> int:
    """Where the first finite verb that is known stands; the length of the sentence when none is."""
    start = max(main_clause(sentence), 0)
    found = [m.start() for pattern in (AUXILIARY, VERB) if (m := pattern.search(sentence, start))]
    return min(found, default=len(sentence))


def base_form(verb: str) -> str:
    """The infinitive of a verb in the third person: "takes" is take, "goes" go, "applies" apply."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("ses", "shes", "ches", "xes", "zes", "oes")) and verb not in (
        "uses",
        "causes",
        "closes",
        "raises",
    ):
        return verb[:-2]
    return verb[:-1]


def in_code(text: str, at: int) -> bool:
    """True inside backticks, where a character is a name and no word or number."""
    return any(code.start() <= at < code.end() for code in _CODE.finditer(text))
