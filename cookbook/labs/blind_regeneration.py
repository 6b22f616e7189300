"""A second attempt with the prompt of the first: at temperature 0 it is the first attempt again, paid for twice.

Taught in notebooks/labs/43_repetition.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, times
from cookbook.published import nli_loop
from cookbook.published.graphs import Run, run
from cookbook.published.models import gold, in_turn
from cookbook.published.nli_loop import NliJudges, State
from cookbook.published.steps import Update
from cookbook.schema import Hit, Status, Usefulness

LAB = Lab(
    module=__name__,
    title="The same prompt, the same answer, the same bill",
    difficulty=2,
    minutes=20,
    you_will="make a second attempt differ from the first, by telling the writer what was wrong with it",
    symptom=(
        "An answer that fails its check is written once more. In a month of logs the second attempt has "
        "passed when the first one failed: "
        "never. It is paid for every time."
    ),
    task=(
        "Write the node `generate(state, judges)` of this loop. It calls `judges.generate(question, passages, "
        "feedback)` once and returns the fields it changes, "
        "`draft` and `attempts`, as now. The first attempt is made without feedback. From the second on, "
        "`feedback` quotes the draft that was rejected "
        "(`state[\"draft\"]`) and says why: it is not supported (`state[\"supported\"]` is False), or it is "
        "supported and does not answer the question. Question and "
        "passages stay as they are."
    ),
    hints=(
        "Compare the two rows of the trace: which of the three things that the writer is given differs? And "
        "`state[\"attempts\"]` says which attempt this is.",
        "`feedback = \"\"` when `state[\"attempts\"]` is 0; else a sentence with `state[\"draft\"]` in it, of "
        "which there are two: one for `not state[\"supported\"]`, "
        "one for the rest. Pass it as the third argument.",
    ),
    in_the_wild=(
        "LangGraph's Self-RAG example (langchain-ai/langgraph, `examples/rag/langgraph_self_rag.ipynb`) sends "
        "*not supported* back to `generate`, which asks at temperature 0 with the same question and "
        "documents. In Ragas the second try at a reply that could not be parsed ran at a temperature of 0.01 "
        "and brought the same reply back (vibrantlabsai/ragas, pull request 2817). What helps is known: in "
        "Self-Refine (arXiv 2303.17651) specific feedback beats generic feedback, and generic feedback beats "
        "none."
    ),
    transfer=(
        "A colleague mends it by raising the temperature of the second attempt to 1. The drafts differ now. "
        "What is better about feedback, and in which case is a temperature all "
        "that is left?"
    ),
    answer=(
        "A temperature makes the writer say something else, not something better: it does not know that "
        "Adagrad was wrong, and may say it again. Feedback moves the second draft away from the fault, and "
        "costs a sentence. Where nothing is known about the fault (a reply that does not parse, say) another "
        "temperature, another model or other passages are what is left; "
        "the same prompt at temperature 0 is never worth its call."
    ),
    pitfall=(
        "They write \"Please try again\" or \"That was wrong\". The prompt is another one then, and says "
        "nothing that the writer could act on. Or they forget to count the attempt and "
        "build a loop without an end."
    ),
)  # fmt: skip

Generate = Callable[[State, NliJudges], Any]

QUESTION = "Which optimizer was used for training?"
WRONG, RIGHT = "It was trained with Adagrad.", "It was trained with the Adam optimizer."
BESIDE = "Epsilon guards a division against zero."
LIMIT = 60


# ---------------------------------------------------------------- the node


def generate(state: State, judges: NliJudges) -> Update:
    """The draft of this attempt, and one attempt more. A later attempt tells the writer what was wrong with the last draft.

    `attempts` counts those that were made before.
    """
    ### BEGIN SOLUTION
    feedback = ""
    if state["attempts"]:
        fault = "does not answer the question" if state["supported"] else "is not supported by the passages"
        feedback = f"Your last draft was rejected, because it {fault}: {state['draft']}"
    draft = judges.generate(state["question"], state["kept"], feedback)
    return {"draft": draft, "attempts": state["attempts"] + 1}
    ### END SOLUTION


def broken() -> Generate:
    return nli_loop.generate


def solution() -> Generate:
    return generate


# ---------------------------------------------------------------- one request


@dataclass(frozen=True)
class Asked:
    """What the writer was given, and what it wrote."""

    question: str
    passages: tuple[str, ...]
    feedback: str
    draft: str


@dataclass(frozen=True)
class Request:
    run: Run
    asked: list[Asked]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each attempt, for ``show_table``."""
        return [
            {
                "attempt": n,
                "question": asked.question,
                "passages": ", ".join(asked.passages),
                "feedback": asked.feedback,
                "draft": asked.draft,
            }
            for n, asked in enumerate(self.asked, 1)
        ]


def ask(
    node: Generate, *, first: str = WRONG, usefulness: Sequence[Usefulness] = (Usefulness.USEFUL,)
) -> Request:
    """One request to a writer at temperature 0: it says ``first``, unless the feedback quotes that; then it says RIGHT."""
    asked: list[Asked] = []

    def writer(question: str, hits: Sequence[Hit], feedback: str) -> str:
        draft = RIGHT if first in feedback else first
        asked.append(Asked(question, tuple(hit.chunk_id for hit in hits), feedback, draft))
        return draft

    judges = NliJudges(relevance=gold("attention_digest"), generate=writer, usefulness=in_turn(*usefulness))
    graph = nli_loop.build(judges, generate=node)
    return Request(run(graph, nli_loop.fresh_state(QUESTION), recursion_limit=LIMIT), asked)


# ---------------------------------------------------------------- the check


@guard(returns="the fields it changes, {'draft': ..., 'attempts': ...}")
def check(candidate: Generate) -> LabVerdict:
    """A first draft that is not supported; one that is and does not answer; one that is right at once."""
    unsupported = ask(candidate)
    if (verdict := _second(unsupported, WRONG, "is not supported")) is not None:
        return verdict
    useless = ask(candidate, first=BESIDE, usefulness=(Usefulness.NOT_USEFUL, Usefulness.USEFUL))
    if (verdict := _second(useless, BESIDE, "is supported and does not answer the question")) is not None:
        return verdict
    said = [request.asked[1].feedback for request in (unsupported, useless)]
    if said[0].replace(WRONG, "") == said[1].replace(BESIDE, ""):
        return failed(
            "one_reason_for_two",
            "a draft that is not supported and one that does not answer the question get the same words: "
            f"{said[0].replace(WRONG, '...')!r}. "
            'The first is to be made true and the second to be made to the point; `state["supported"]` tells them apart',
        )
    good = ask(candidate, first=RIGHT)
    if len(good.asked) != 1:
        return failed(
            "good_draft_lost",
            f"the first draft is right, and the writer was asked {len(good.asked)} times; it was "
            f"{good.run.state['draft']!r}",
        )
    return passed(
        f"the second prompt says {said[0]!r}, and the second draft is {RIGHT!r}: {unsupported.run.calls} "
        "calls, as before, and an answer for them"
    )


def _second(request: Request, first: str, fault: str) -> LabVerdict | None:
    """What is wrong with a request whose first draft is rejected; None when nothing is."""
    asked, done = request.asked, request.run
    if not done.ended:
        return failed(
            "not_counted",
            f"the first draft {fault}: the writer was asked {len(asked)} times, until the check stopped it, "
            "and `attempts` stands at "
            f"{done.state['attempts']}. Two attempts are allowed; return `attempts`, one higher each time",
        )
    if asked and asked[0].feedback:
        return failed(
            "feedback_before_any_draft",
            f"the first attempt was given the feedback {asked[0].feedback!r}, and nothing was written before "
            "it. When `attempts` is 0 there is none",
        )
    if len(asked) != 2 or done.ran("generate") != 2:
        return failed(
            "not_two_attempts",
            f"the first draft {fault}: generate ran {times(done, 'generate')} and called the writer "
            f"{len(asked)} times; it is one call in each of two attempts",
        )
    one, two = asked
    if (one.question, one.passages) != (two.question, two.passages) or one.question != QUESTION:
        return failed(
            "other_question",
            f"the question and the passages stay as they are. The writer was given {one.question!r} and "
            f"{_n(one.passages)} the first time, "
            f"{two.question!r} and {_n(two.passages)} the second. What is wrong with the draft belongs into "
            "the feedback",
        )
    if not two.feedback:
        return failed(
            "same_prompt",
            f"the first draft, {one.draft!r}, {fault}. The second attempt was given the same question, the "
            "same passages and no feedback, and at temperature 0 the "
            f"writer said {two.draft!r} again. The request ends with status '{done.state['status']}' after "
            f"{done.calls} calls; {_paid(done)} of them asked for the second attempt and its check. "
            "Give `judges.generate` a third argument that quotes the rejected draft",
        )
    if first not in two.feedback:
        return failed(
            "says_nothing",
            f"the second attempt was given the feedback {two.feedback!r}, which does not say what was wrong: "
            f"the rejected draft, {first!r}, does not stand in it, and the "
            f"writer said {two.draft!r} again",
        )
    if done.state["status"] is not Status.ANSWERED or done.state["draft"] != RIGHT:
        return failed(
            "draft_not_returned",
            f"the writer's second draft was {two.draft!r}, and the request ends with status "
            f"'{done.state['status']}' and {done.state['draft']!r}. Return it as `draft`",
        )
    return None


def _n(passages: tuple[str, ...]) -> str:
    return f"{len(passages)} passage{'s' * (len(passages) != 1)}"


def _paid(done: Run) -> int:
    """Calls made after the first draft was judged."""
    second = [n for n, step in enumerate(done.trace.steps) if step.node == "generate"][1]
    return sum(step.calls for step in done.trace.steps[second:])
