"""Questions from statements by rule: a sentence that says when, how many or why answers the question that asks it.

"The owner can name up to 3 billing contacts" answers "How many billing contacts can the owner name?", "Who can name up
to 3 billing contacts?" and "Can the owner name up to 3 billing contacts?". The rules want a short subject before a verb
that they know, and pass over everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cookbook.training.clauses import VERB, auxiliary, base_form, main_clause


@dataclass(frozen=True)
class Asked:
    """A question and the words of the sentence that answer it. ``without`` is the sentence without these words,
    where what is left still reads as a sentence: it no longer answers the question."""

    question: str
    answer: str
    without: str = ""


_TAIL = re.compile(r"[,;:] .*$| (?:because|so that|although|whereas|while) .*$")
_PEOPLE = re.compile(
    r"\b(?:owners?|admins?|members?|guests?|persons?|people|you|everybody|creator|leads?|support|team|contacts?|somebody)\b",
    re.I,
)
_PRONOUN = re.compile(
    r"^(?:and|or|so|but|nor|normally|therefore|nothing|no|nobody|each$|all$|others?$|it|they|this|that|these|those|he|she|both|neither|either|there|here|what|its|their|such|then)\b",
    re.I,
)
_COUNT = re.compile(r"(?P<about>(?:up to|at most|at least|about|roughly|only|as many as|no more than) )?(?P<n>\d[\d,]*|two|three|four|five|six) (?P<noun>(?:[a-z-]+ ){0,1}?[a-z-]+s)\b(?! of)")  # fmt: skip
_TIME = re.compile(r"(?:seconds|minutes|hours|days|weeks|months|years)$")
_WHEN = re.compile(
    r" (?:(?:on|at|after|before|until|within|in|from) (?:the |each |every |an? |\d+ )?(?:[\w-]+ ){0,2}(?:day|date|month|year|week|time|hours?|days|minutes|months|end|beginning)(?: of [^,;:.]*)?|at once|immediately)$"
)
_WHERE = re.compile(
    r" (?:under|in|on|at) (?:Settings|the (?:menu|heap|stack|bottom|top|app|page|list|trash))(?: > [\w ]+)*$"
)
_WHY = re.compile(r",? (?:because|since) (?P<why>[^;:]+)$")
_OPENING = re.compile(r"^(?P<word>If|When|Once|After|While) (?P<case>[^,;:]+), ")


def questions_of(sentence: str) -> Iterator[Asked]:
    """The questions that one sentence answers, in a fixed order; none where no rule is sure."""
    for asked in _questions_of(sentence):
        if not asked.question.count("`") % 2 and asked.question.count("(") == asked.question.count(")"):
            yield asked


def _questions_of(sentence: str) -> Iterator[Asked]:
    said = sentence.rstrip(".")
    if (opening := _OPENING.match(said)) and not _PRONOUN.match(opening["case"]):
        yield Asked(f"What happens {opening['word'].lower()} {opening['case']}?", said[opening.end() :])
    clause = _clause(sentence)
    if clause is None:
        return
    yield from _about(clause)


@dataclass(frozen=True)
class _Clause:
    """A main clause: subject, auxiliary ("does" where the verb had none), and the rest with the verb in front."""

    sentence: str
    subject: str
    auxiliary: str
    rest: str
    finite: str  # the rest as it stands, for questions about the subject

    def but(self, part: str) -> str:
        """The sentence without ``part``, if that stands in it once."""
        return self.sentence.replace(part, "", 1) if self.sentence.count(part) == 1 else ""


def _clause(sentence: str) -> _Clause | None:
    start = main_clause(sentence)
    if start < 0:
        return None
    if found := auxiliary(sentence):
        word, rest = found[1], sentence[found.end() :].strip().rstrip(".")
        finite = f"{word} {rest}"
        if word in (
            "has to",
            "have to",
            "doesn't",
            "don't",
            "isn't",
            "aren't",
            "wasn't",
            "weren't",
            "won't",
            "can't",
        ):
            return None
        if word.endswith(" not"):
            word, rest = word.removesuffix(" not"), f"not {rest}"
        elif word == "cannot":
            word, rest = "can", f"not {rest}"
    else:
        found = VERB.search(sentence, start)
        if not found or re.search(r"[,;:?()]", sentence[start : found.start()]):
            return None
        rest = f"{base_form(found[1])} {sentence[found.end() :].strip().rstrip('.')}"
        word, finite = "does", f"{found[1]} {sentence[found.end() :].strip().rstrip('.')}"
    subject = sentence[start : found.start()].strip()
    words = subject.split()
    if not rest.removeprefix("not").strip():
        return None
    if not words or len(words) > 7 or _PRONOUN.match(subject) or subject.count("`") % 2:
        return None
    if re.search(
        r"\b(?:that|which|who|when|if|to|and|or|a|an|the)$|\b(?:that|which|who|whose|when|if)\b", subject
    ):
        return None
    subject = subject if start or not _lowers(words[0]) else subject[0].lower() + subject[1:]
    return _Clause(sentence, subject, word, rest, finite)


def _lowers(word: str) -> bool:
    return word in ("The", "A", "An", "One", "All", "Every", "Each", "Most", "Any", "No", "Only") or (
        word.istitle() and word.endswith("s") and len(word) > 4
    )


def _person(subject: str) -> bool:
    head = re.split(r" (?:of|to|with|on|for|in|from|and|or) ", subject)[0]
    return bool(_PEOPLE.fullmatch(head.split()[-1]))


def _about(clause: _Clause) -> Iterator[Asked]:
    rest, finite = _TAIL.sub("", clause.rest), _TAIL.sub("", clause.finite)
    subject, word = clause.subject, clause.auxiliary
    denied = rest.startswith("not ")
    inverted = f"{word} {subject}"
    if 2 <= len(finite.split()) <= 16 and not re.match(r"(?:No|Only|Nothing)\b", clause.sentence):
        if not re.match(r"(?:is|are|was|were) (?:an?|the|not an?|not the) ", finite):
            yield Asked(f"{'Who' if _person(subject) else 'What'} {finite}?", subject)
        yield Asked(f"{inverted[0].upper()}{inverted[1:]} {rest}?", "no" if denied else "yes")
    if why := _WHY.search(clause.sentence.rstrip(".")):
        body = re.sub(r",? (?:because|since) [^;:]+$", "", clause.rest)
        if not re.search(r"[,;:]", body):
            yield Asked(f"Why {inverted} {body}?", why["why"], clause.but(why.group()))
    if denied:
        return
    if count := _COUNT.search(rest):
        before, after = rest[: count.start()].strip(), rest[count.end() :].strip()
        gone = clause.but(count.group()[: count.start("noun") - count.start()])
        if _TIME.search(count["noun"]):
            if re.search(r"(?:^| )for$", before) and not after:
                shorter = clause.but(f" for {count.group()}")
                yield Asked(
                    f"How long {inverted} {before.removesuffix('for').strip()}?", count.group(), shorter
                )
            elif re.fullmatch(r"(?:take|last)", before):
                yield Asked(f"How long {inverted} {before} {after}".strip() + "?", count.group())
        elif (
            before
            and count["noun"] != "times"
            and " and " not in after
            and not re.search(r"\b(?:of|to|than|by|with|and|or|is|are|the)$", before)
            and word not in ("is", "are", "was")
        ):
            yield Asked(
                f"How many {count['noun']} {inverted} {before} {after}".strip() + "?", count.group(), gone
            )
    for pattern, ask in ((_WHEN, "When"), (_WHERE, "Where")):
        if (found := pattern.search(rest)) and found.start() > 3:
            asked = f"{ask} {inverted} {rest[: found.start()]}?"
            yield Asked(asked, found.group().strip(), clause.but(found.group()))
    if word == "does" and (
        thing := re.match(r"([a-z]+) ((?:an?|the|its|their|all|every|one) [^,;:]{3,60})$", rest)
    ):
        yield Asked(f"What {inverted} {thing[1]}?", thing[2])
    if word in ("is", "are") and (re.match(r"(?:an?|the) ", rest)) and len(subject.split()) <= 4:
        yield Asked(f"What {inverted}?", rest)
    if subject.startswith("`") and word == "does" and " " not in subject:
        yield Asked(f"What does {subject} do?", finite)
    if (unless := re.search(r" (if|unless|as soon as|only when|when) ([^,;:]+)$", rest)) and not re.search(
        r"\bonly ", rest[: unless.start() + 1]
    ):
        yield Asked(
            f"Under what condition {inverted} {rest[: unless.start()]}?",
            unless.group().strip(),
            clause.but(unless.group()),
        )
