"""A local judge that is built inside the call: each check waits for the weights, and no bill shows it.

Taught in notebooks/labs/48_bills.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, unfit
from cookbook.published import nli_loop
from cookbook.published.graphs import Run, run
from cookbook.published.models import gold
from cookbook.published.nli_loop import Entailment, NliJudges, State, WordEntailment
from cookbook.published.steps import Update

LAB = Lab(
    module=__name__,
    title="The judge is hired for every question",
    difficulty=2,
    minutes=20,
    you_will=(
        "build an expensive model once, when it is first needed, and prove it by counting constructions "
        "instead of seconds"
    ),
    symptom=(
        "Answers take as many seconds longer as there are checks in them. The bill has not changed, and the "
        "profiler says that no call to the language model is slow."
    ),
    task=(
        "Write `build_graph(judges)`: the same graph, whose support check uses *one* entailment model for "
        "all questions. `judges.load_nli()` builds one and takes seconds; `model.entails(premise, "
        "hypothesis)` is quick. Build it at most once for a graph, and not before there is something to "
        "check: without kept passages nothing is supported, and nobody needs a model to say so. "
        "`nli_loop.build(judges, check_support=my_node)` compiles the graph with your node, which takes "
        "`(state, judges)` and returns `{\"supported\": True or False}`. The premise is the texts of "
        "`state[\"kept\"]`, joined by line breaks."
    ),
    hints=(
        "Which line of the node costs four seconds, and what in it depends on the question? For which rows "
        "of the table was the model built although there was nothing to read?",
        "`build_graph` runs once, the node in it for every check. An empty list beside the node, into which "
        "the node puts the model the first time, lives as long as the graph. Return `{\"supported\": False}` "
        "before you come to it when nothing was kept.",
    ),
    in_the_wild=(
        "firelock-ai/kin built its cross-encoder 50 times in 50 calls: 2.62 s a query in the median, and "
        "0.68 s without; it is proved mended by counting builds (pull request 775). 54yyyu/zotero-mcp kept "
        "its reranker in an object, and made a new object for every request: the cache never held anything, "
        "and clients timed out (pull request 365)."
    ),
    transfer=(
        "Your mended graph serves eight requests at once, in threads, and has just been started. How many "
        "models are built in the first second, and what stands in the way of a second one?"
    ),
    answer=(
        "Up to eight: each thread looks, finds nothing, and begins to build; with 1 GB a model that may be "
        "the end of the process. A lock around *look and build* lets one build and the others wait. Building "
        "at start-up instead is simpler and costs every process that never checks anything. Count "
        "constructions under threads, too."
    ),
    pitfall=(
        "They build it in `build_graph`: quick from the first question on, and paid for by every command "
        "that only draws the graph. Or they keep it in a module: ask which model the *second* graph gets, if "
        "it was to have another."
    ),
)  # fmt: skip

Builder = Callable[[NliJudges], Any]

LOAD = 4
"""Seconds that a load counts as here; an example. Nothing in this lab waits."""
OPTIMIZER = "Which optimizer was used for training?"
COMPANY = "Which company did the author who proposed replacing recurrence with attention work for?"
QUESTIONS = (
    OPTIMIZER,
    "How many GPUs were the models trained on, and of which kind?",
    "Which beam size was used to translate?",
    COMPANY,
    "How many layers does BERT have?",
)
"""Three that the digest answers, and two for which it holds no passage."""
LIMIT = 30


# ---------------------------------------------------------------- the graph


def published(judges: NliJudges) -> Any:
    """The graph as it was."""
    return nli_loop.build(judges)


def build_graph(judges: NliJudges) -> Any:
    """The NLI loop, compiled; its model is built when the first draft with passages is checked, and never again."""
    ### BEGIN SOLUTION
    built: list[Entailment] = []

    def check_support(state: State, judges: NliJudges) -> Update:
        if not state["kept"]:
            return {"supported": False}
        if not built:
            built.append(judges.load_nli())
        premise = "\n".join(hit.text for hit in state["kept"])
        return {"supported": built[0].entails(premise, state["draft"])}

    return nli_loop.build(judges, check_support=check_support)
    ### END SOLUTION


def broken() -> Builder:
    return published


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- a series of questions


@dataclass
class Counting(WordEntailment):
    """The stand-in for the entailment model, which lists what it was asked about."""

    asked: list[str] = field(default_factory=list)

    def entails(self, premise: str, hypothesis: str) -> bool:
        self.asked.append(hypothesis)
        return super().entails(premise, hypothesis)


@dataclass(frozen=True)
class Series:
    """Questions put to one graph: a run and the number of loads for each; ``models`` are those that were built."""

    judges: NliJudges
    runs: list[Run]
    loads: list[int]
    built_before: int
    models: list[Counting]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each question, for ``show_table``."""
        return [
            {
                "question": str(done.state["question"])[:58],
                "kept": len(done.state["kept"]),
                "checks": done.ran("check_support"),
                "loads": loads,
                "seconds for loading": loads * LOAD,
            }
            for done, loads in zip(self.runs, self.loads, strict=True)
        ]


def ask(build: Builder, questions: Sequence[str] = QUESTIONS, **replies: Any) -> Series:
    """Build a graph, then put the questions to it one after the other."""
    models: list[Counting] = []

    def load() -> Counting:
        models.append(Counting())
        return models[-1]

    judges = NliJudges(load=load, **{"relevance": gold("attention_digest")} | replies)
    graph = build(judges)
    before, runs, loads = judges.loads, [], []
    for question in questions:
        until = judges.loads
        runs.append(run(graph, nli_loop.fresh_state(question), recursion_limit=LIMIT))
        loads.append(judges.loads - until)
    return Series(judges, runs, loads, before, models)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Five questions, two that need no model, a draft that is not supported, and a second graph with a model of its own."""
    if (verdict := unfit(candidate(NliJudges()))) is not None:
        return verdict
    series = ask(candidate)
    if (verdict := _built_once(series) or _still_checked(candidate)) is not None:
        return verdict
    loads = series.judges.loads, ask(candidate).judges.loads
    if loads != (1, 1):
        return failed(
            "borrowed_judge",
            f"two graphs were built, each with judges of its own, and their models were loaded {loads[0]} "
            f"and {loads[1]} times: one graph uses the model of another. Keep the model beside the graph it "
            "belongs to, not in a place that all graphs share",
        )
    if (verdict := _each_draft(candidate)) is not None:
        return verdict
    nothing = ask(candidate, QUESTIONS[3:])
    if nothing.judges.loads:
        return failed(
            "loaded_for_nothing",
            "two questions for which nothing was kept, and the model was loaded "
            f"({nothing.judges.loads * LOAD} s). An answer without passages is not supported, whatever a "
            "model would say to it",
        )
    return passed(
        f"{len(QUESTIONS)} questions, {sum(done.ran('check_support') for done in series.runs)} checks, 1 "
        f"load: {LOAD} s in all, where the published graph loads 7 times. Questions without passages load "
        "nothing, and each graph has a model of its own"
    )


def _built_once(series: Series) -> LabVerdict | None:
    """What is wrong with the number of loads; None when nothing is."""
    checks = [done.ran("check_support") for done in series.runs]
    saw = (
        f"{len(series.runs)} questions, {sum(checks)} support checks, {series.judges.loads} loads "
        f"({series.judges.loads * LOAD} s)"
    )
    if series.built_before:
        return failed(
            "loaded_at_build",
            "the model was loaded before the first question, when the graph was built. Who only draws the "
            f"graph, or asks what needs no check, waits {LOAD} s for nothing. Build it when the first draft "
            "is checked",
        )
    if series.loads == checks:
        return failed(
            "loaded_every_time",
            f"{saw}: one for each check, {sum(series.loads[3:])} of them for questions without a passage to "
            "read. `load_nli` stands inside the node, and a node runs once for every check",
        )
    if series.judges.loads > 1:
        return failed(
            "loaded_again",
            f"{saw}, spread over the questions as {series.loads}. Something that changes from question to "
            "question decides whether the model is built; the model depends on none",
        )
    return None


def _still_checked(candidate: Builder) -> LabVerdict | None:
    """What is wrong with the verdict on a right and on a wrong draft; None when nothing is."""
    for draft, supported in (
        ("It was trained with Adagrad.", False),
        ("It was trained with the Adam optimizer.", True),
    ):
        [done] = ask(candidate, (OPTIMIZER,), generate=lambda *given, draft=draft: draft).runs
        if done.state["supported"] is not supported:
            return failed(
                "not_checked",
                f"the draft {draft!r} is {'' if supported else 'not '}supported, and the graph says "
                f"{done.state['supported']}. The model is to be kept, and asked about every draft",
            )
    return None


def _each_draft(candidate: Builder) -> LabVerdict | None:
    """Whether the model is asked about each draft, and whether none at all is supported by nothing; the verdict when not."""
    series = ask(candidate, QUESTIONS[:3])
    asked = [draft for model in series.models for draft in model.asked]
    if asked != [done.state["draft"] for done in series.runs]:
        return failed(
            "verdict_kept",
            f"three questions with a draft each, and the model was asked about {len(asked)}. A verdict is "
            "about one draft; keep the model, not what it said",
        )
    [done] = ask(candidate, (COMPANY,)).runs
    if done.state["supported"] is not False:
        return failed(
            "nothing_supported",
            f"{COMPANY!r}: nothing was kept, and the draft counts as supported = {done.state['supported']}. "
            "Nothing supports it",
        )
    return None
