"""A judge that reads the first 512 words: evidence at the end of a passage is lost, and a right answer refused.

Taught in notebooks/labs/46_support.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.corpora import load_corpus
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.published import nli_loop
from cookbook.published.graphs import Run, run
from cookbook.published.models import Shelf
from cookbook.published.nli_loop import NliJudges, WordEntailment
from cookbook.published.steps import Update
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Chunk, Hit, Reason, Relevance, Status

LAB = Lab(
    module=__name__,
    title="The judge stopped reading",
    difficulty=3,
    minutes=25,
    you_will="find out how much of a passage a judge reads, and show it all of a long one, in windows",
    symptom=(
        "Answers from short documents are fine. Ask about something near the end of a long one, and the assistant finds it, writes a right "
        "answer, and refuses to give it."
    ),
    task=(
        "Write `supported(entails, passages, claim)`: does *one* of the passages, read whole, state the claim? `entails(premise, claim)` is the judge. It reads "
        "the first `READS` (512) words of the premise and ignores the rest without a word. Cut a longer passage into windows of at most `READS` words, each sharing `OVERLAP` "
        "(50) words with the one before, so that no sentence is only ever seen cut in two. Passages are not glued together. For 1,200 words "
        "of passage, 6 windows must be enough."
    ),
    hints=(
        "In the picture, how many words of the premise did the judge see, and where does the sentence stand that bears the answer out? "
        "Does any later attempt change that?",
        "For each passage take `words = passage.split()`. Windows begin at 0, READS - OVERLAP, 2 * (READS - OVERLAP), ... as long as there are words that no window held yet. "
        "One yes is enough; without any, the answer is False.",
    ),
    in_the_wild=(
        "In vllm-project/semantic-router, issue 3365, a false answer was detected beside a context of 208 characters and declared free of hallucination beside the "
        "same context repeated to 2,080: the input was cut at 512 tokens. An early deepeval cut the context into chunks, looped over them, and gave the "
        "model the whole context each time (confident-ai/deepeval, issue 84)."
    ),
    transfer=(
        "A relevance grader gets the first 300 characters of each passage, to save tokens; the writer gets the passages whole. Which "
        "passages does the grader throw away, and why does no test with short passages show it?"
    ),
    answer=(
        "Those whose relevant sentence comes late: in a handbook, the exceptions and the time limits, which stand after the rule. Short passages are read whole by "
        "both. Build the text for grader and writer with one function (`prompts.passages_block` here), and test with "
        "the evidence in the *last* sentence of the longest passage you have."
    ),
    pitfall=(
        "They cut into windows without overlap, and the sentence that lies across word 512 is lost: the check reports the very positions. Or they join all passages "
        "first, and a window then holds the end of one and the beginning of the next, which together state things that nobody wrote."
    ),
)  # fmt: skip

Entails = Callable[[str, str], bool]
Supported = Callable[[Entails, Sequence[str], str], bool]

READS = WordEntailment.READS
OVERLAP = 50
MOST_WINDOWS = 6

QUESTION = "My sync stops with error LK-504. What can I set to make it work?"
ANSWER = "Set batch_size to 500 or lower and call again with the same token."


# ---------------------------------------------------------------- the code


def one_premise(entails: Entails, passages: Sequence[str], claim: str) -> bool:
    """The support check of the published loop: everything that was kept, as one premise."""
    return entails("\n".join(passages), claim)


def supported(entails: Entails, passages: Sequence[str], claim: str) -> bool:
    """True if one passage, read whole, entails the claim.

    The judge is shown windows of at most READS words; neighbours share OVERLAP words.
    """
    ### BEGIN SOLUTION
    for passage in passages:
        words = passage.split()
        for start in range(0, max(len(words) - OVERLAP, 1), READS - OVERLAP):
            if entails(" ".join(words[start : start + READS]), claim):
                return True
    return False
    ### END SOLUTION


def broken() -> Supported:
    return one_premise


def solution() -> Supported:
    return supported


# ---------------------------------------------------------------- the symptom


def ask(candidate: Supported) -> Run:
    """The published NLI loop over the handbook, a whole document to a passage, with this support check.

    The relevance judge keeps the chapter on the API; the writer quotes it correctly.
    """
    documents = [
        Chunk(f"{document.doc_id}#0", document.doc_id, document.text, 0, len(document.text))
        for document in load_corpus("larkspur")
    ]

    def relevance(question: str, hit: Hit) -> Relevance:
        return Relevance.RELEVANT if hit.chunk.doc_id == "api.md" else Relevance.IRRELEVANT

    def check_support(state: nli_loop.State, judges: NliJudges) -> Update:
        passages = [hit.text for hit in state["kept"]]
        return {"supported": candidate(judges.load_nli().entails, passages, state["draft"])}

    def fallback(state: nli_loop.State, judges: NliJudges) -> Update:
        return {"draft": SENTENCES[Reason.NOT_SUPPORTED], "status": Status.REFUSED}

    judges = NliJudges(
        Shelf(documents), relevance=relevance, generate=lambda question, hits, feedback: ANSWER
    )
    graph = nli_loop.build(judges, check_support=check_support, fallback=fallback)
    return run(graph, nli_loop.fresh_state(QUESTION))


# ---------------------------------------------------------------- the check

CLAIM = "Set batch_size to 500 or lower."
_FILLER = "Some of the chapter is about other things and not about this.".split()
LENGTH = 1200


def passage_with(sentence: str, at: int, length: int = LENGTH) -> str:
    """A passage of ``length`` words in which ``sentence`` begins at word ``at``, counted from 0."""
    words = (_FILLER * (length // len(_FILLER) + 1))[:length]
    said = sentence.split()
    return " ".join([*words[:at], *said, *words[at : length - len(said)]])


@dataclass
class Counter:
    """The judge, with the number of premises it was shown."""

    calls: int = 0

    def entails(self, premise: str, claim: str) -> bool:
        self.calls += 1
        return WordEntailment().entails(premise, claim)


@guard(returns="True or False")
def check(candidate: Supported) -> LabVerdict:
    """Counts the windows, moves the evidence through a passage of 1,200 words, then looks at what must not be supported."""
    judge = Counter()
    candidate(judge.entails, [passage_with("", 0)], CLAIM)
    if judge.calls > MOST_WINDOWS:
        return failed(
            "too_many_windows",
            f"for a passage of {LENGTH:,} words the judge was shown {judge.calls:,} windows; {MOST_WINDOWS} must be enough. A window may move on by "
            f"READS - OVERLAP = {READS - OVERLAP} words",
        )
    entails = WordEntailment().entails
    last = LENGTH - len(CLAIM.split())
    places = [*range(0, last, 2), last]
    said: dict[int, Any] = {at: candidate(entails, [passage_with(CLAIM, at)], CLAIM) for at in places}
    if strange := [at for at in places if not isinstance(said[at], bool)]:
        return failed("no_bool", f"you returned {said[strange[0]]!r}; return True or False")
    if lost := [at for at in places if not said[at]]:
        return _lost(lost, places)
    for case in _UNSUPPORTED:
        if candidate(entails, case.passages, case.claim):
            return failed(case.diagnosis, f"{case.said}, and you return True. {case.lesson}")
    if not candidate(entails, ["The API is described here.", passage_with(CLAIM, 900)], CLAIM):
        return failed(
            "second_passage_lost",
            "the evidence stands in the second of two passages, and you return False. Any passage may be the one",
        )
    if not candidate(entails, [CLAIM], CLAIM):
        return failed(
            "short_passage_lost",
            f"the passage is the claim itself, {len(CLAIM.split())} words, and you return False",
        )
    return passed(
        f"the evidence was found at each of {len(places)} places in {LENGTH:,} words, with {judge.calls} windows; two passages are not read as one, "
        "and what stands nowhere is not supported"
    )


def _lost(lost: list[int], places: list[int]) -> LabVerdict:
    """The verdict on places where the evidence was not found."""
    saw = (
        f"in a passage of {LENGTH:,} words the evidence is lost at {len(lost)} of {len(places)} places: when its first word is number "
        f"{_ranges(lost)}"
    )
    if lost[-1] == places[-1]:
        return failed(
            "end_lost", f"{saw}. The judge reads {READS} words of what you give it and ignores the rest"
        )
    if lost[0] == 0:
        return failed("beginning_lost", f"{saw}. What comes first was never shown to the judge")
    return failed(
        "cut_at_the_border",
        f"{saw}. There the sentence begins in one window and ends in the next, and no window holds it whole. Let neighbours share "
        f"{OVERLAP} words",
    )


def _ranges(places: list[int]) -> str:
    """``508 to 510 and 1,020 to 1,022``: runs of places, which are two apart, the first two of them."""
    runs: list[list[int]] = []
    for at in places:
        if runs and at - runs[-1][-1] <= 2:
            runs[-1].append(at)
        else:
            runs.append([at])
    named = [f"{found[0]:,} to {found[-1]:,}" if len(found) > 1 else f"{found[0]:,}" for found in runs]
    return " and ".join(named[:2]) + (", and so on" if len(named) > 2 else "")


@dataclass(frozen=True)
class Unsupported:
    """Passages that do not state a claim, and the diagnosis of a check that says they do."""

    said: str
    passages: Sequence[str]
    claim: str
    diagnosis: str
    lesson: str


_UNSUPPORTED = (
    Unsupported("there are no passages", [], CLAIM, "unread_is_supported",
                "Nothing was read, so nothing is supported."),
    Unsupported(f"{LENGTH:,} words do not state the claim", [passage_with("", 0)], CLAIM, "unread_is_supported",
                "A passage that is too long to be read at once is no evidence."),
    Unsupported("one passage says \"Starter has no audit log.\" and the next \"On Studio the log goes back 90 days.\"",
                ["Starter has no audit log.", "On Studio the log goes back 90 days."],
                "On Starter the audit log goes back 90 days.", "passages_glued",
                "Neither of them states the claim; glued together they hold all of its words."),
)  # fmt: skip
