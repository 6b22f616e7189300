"""The adaptive loop: looks only where it must, judges with encoders and one-token checks, mends the right step.

The gate's one number, how sure it is that documents are needed, sends a question to the store or not. A
question that asks for several things is split, and each part is searched and graded by itself. Search is
hybrid and never brings a passage back; an encoder grades without a call. What no passage answers is a
failure of retrieval and rewrites the query; what the passages do not support is a failure of writing and
is written again. Neither is taken for the other.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.providers.meter import Budget
from cookbook.reflect.decompose import Decomposer, LLMDecomposer
from cookbook.reflect.evidence import best_within, odds
from cookbook.reflect.gate import LLMGate, need
from cookbook.reflect.generate import LLMWriter
from cookbook.reflect.relevance import calibrated
from cookbook.reflect.rewrite import LLMRewriter
from cookbook.reflect.support import DetailedSupport, LLMSupport
from cookbook.reflect.terms import lost_names, lost_terms
from cookbook.reflect.usefulness import LLMUsefulness
from cookbook.schema import Decision, Hit, Relevance, Step, Support, Verdict
from cookbook.sources import Source
from cookbook.systems.base import Parts
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import Judges, State, Update, fresh_state, was_tried, written
from cookbook.systems.steps import checked
from cookbook.tracing import note_verdict, step

KEEP_AT = 0.3
"""A passage graded irrelevant is never seen again, a bad one that is kept has three judges before it: so the
cut is low. On the "fit" half of the Larkspur set it keeps 26 of 29 gold passages, where 0.5 keeps 24."""


@dataclass(frozen=True)
class Caps:
    """How often each loop may run in one request, and how many tokens of passages the writer reads."""

    rewrites: int = 2
    regenerations: int = 2
    evidence_tokens: int = 600

    formula: ClassVar[str] = "2 + 3 * (rewrites + 1) + rewrites + 3 * regenerations"

    def calls(self, k: int) -> int:
        """The gate and the split; per round a draft and two checks; the rewrites between rounds; per
        regeneration the list of what was wrong, the draft and its check. The encoder costs none, so k does
        not appear: with a grader that asks an LLM, give the system a larger budget."""
        return 2 + 3 * (self.rewrites + 1) + self.rewrites + 3 * self.regenerations

    def supersteps(self) -> int:
        """The gate, the split, five nodes a round, the rewrites, two per regeneration, the end."""
        return 2 + 5 * (self.rewrites + 1) + self.rewrites + 2 * self.regenerations + 1


class AdaptiveState(State):
    """The shared state, in which ``keeps`` is the evidence of all attempts, and five fields more.

    ``parts`` are the sub-questions, or the question alone. ``searches`` maps each question of this attempt,
    the whole or a part, to the query it is searched with, and ``batches`` to what that found. ``leads`` maps
    a question to the verdict on its best passage; a part without one is open. ``read`` are the ids that the
    last draft was written from.
    """

    parts: list[str]
    searches: dict[str, str]
    batches: dict[str, list[Hit]]
    leads: dict[str, Verdict[Relevance]]
    read: list[str]


class AdaptiveLoop(Loop):
    """``judge`` is a smaller model for the gate, the checks and the queries; the model of ``parts`` writes.

    ``second`` is searched instead of the corpus in the last attempt. The encoder's calibration must belong
    to the embedder: for one that the cookbook does not know, give ``relevance``.
    """

    name = "adaptive_loop"
    default_caps = Caps()
    state_type = AdaptiveState
    encoders = frozenset({"relevance"})

    caps: Caps

    def __init__(
        self,
        parts: Parts,
        *,
        judge: LLMClient | None = None,
        decomposer: Decomposer | None = None,
        second: Source | None = None,
        caps: Caps | None = None,
        budget: Budget | None = None,
        checkpointer: Any = None,
        **judges: Unpack[Judges],
    ) -> None:
        self.judge = judge or parts.client
        self.decomposer = decomposer or LLMDecomposer(self.judge)
        self.retriever = parts.retriever.variant(mode="hybrid")
        self.second = second
        if "relevance" not in judges:
            judges["relevance"] = calibrated(parts.retriever.embedder, KEEP_AT)
        super().__init__(parts, caps=caps, budget=budget, checkpointer=checkpointer, **judges)

    def default_judges(self, parts: Parts) -> Judges:
        return Judges(
            gate=LLMGate(self.judge, parts.card),
            writer=LLMWriter(parts.client),
            support=DetailedSupport(LLMSupport(self.judge), self.judge),
            usefulness=LLMUsefulness(self.judge),
            rewriter=LLMRewriter(self.judge, parts.card),
        )

    def first_state(self, question: str) -> AdaptiveState:
        return AdaptiveState(
            **fresh_state(question), parts=[question], searches={}, batches={}, leads={}, read=[]
        )

    def wiring(self) -> Wiring:
        return {
            "decide_retrieval": (self.after_gate, ["decompose", "answer_directly"]),
            "answer_directly": END,
            "decompose": "retrieve",
            "retrieve": "grade",
            "grade": (self.after_grades, ["generate", "rewrite", "refuse"]),
            "generate": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_support": (self.after_support, ["check_usefulness", "regenerate", "refuse"]),
            "regenerate": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_usefulness": (self.after_usefulness, [END, "rewrite", "refuse"]),
            "rewrite": (self.after_rewrite, ["retrieve", "refuse"]),
            "refuse": END,
        }

    # ------------------------------------------------------------ nodes

    def decide_retrieval(self, state: State) -> Update:
        with step("decide_retrieval") as entry:
            verdict = self.gate.decide(state["question"])
            if (needed := need(verdict)) is not None:
                entry.note = f"documents are needed: {needed:.2f}"
        return {"gate": verdict}

    def decompose(self, state: State) -> Update:
        question = state["question"]
        with step("decompose") as entry:
            try:
                parts = self.decomposer.split(question)
            except GRADER_FAILURES as error:
                # Nothing is decided by it: the whole question can still be searched.
                parts, entry.note = [question], f"searched as a whole: {error}"
            else:
                entry.note = " / ".join(parts) if len(parts) > 1 else "one question"
        return {"parts": parts, "searches": {part: part for part in parts}}

    def retrieve(self, state: AdaptiveState) -> Update:  # type: ignore[override]
        searches, seen = state["searches"], list(state["judged"])
        source = self._source(state)
        with step("retrieve") as entry:
            batches = {
                asked: source.retrieve(query, self.parts.k, exclude=seen) for asked, query in searches.items()
            }
            entry.note = "\n".join(
                f"{len(batches[asked])} passages for: {query}" for asked, query in searches.items()
            )
            if source is self.second:
                entry.note += "\n(from the second source)"
        # The passages of this attempt replace those of the last; only the evidence stays.
        found = {hit.chunk_id: hit for hits in batches.values() for hit in hits}
        return {
            "batches": batches,
            "hits": list(found.values()),
            "tried": [*state["tried"], *searches.values()],
            "draft": None,
            "repeated": False,
            "support": None,
            "usefulness": None,
            "feedback": "",
        }

    def _source(self, state: State) -> Source:
        last = 0 < state["rewrites"] == self.caps.rewrites
        return self.second if self.second is not None and last else self.retriever

    def grade(self, state: AdaptiveState) -> Update:  # type: ignore[override]
        judged, leads = dict(state["judged"]), dict(state["leads"])
        relevant: list[Hit] = []
        with step("grade") as entry:
            grades = list(self._grades(state["batches"]))
            for asked, hit, verdict in grades:
                before = judged.get(hit.chunk_id)
                if not verdict.failed and (before is None or odds(verdict) > odds(before)):
                    judged[hit.chunk_id] = verdict
                if verdict.label is Relevance.RELEVANT:
                    relevant.append(hit)
                    if asked not in leads or odds(verdict) > odds(leads[asked]):
                        leads[asked] = verdict
            chances = {chunk_id: odds(verdict) for chunk_id, verdict in judged.items()}
            first = {verdict.subject for verdict in leads.values()}
            keeps = best_within(self.caps.evidence_tokens, [*state["keeps"], *relevant], chances, first=first)
            new = {hit.chunk_id for hit in keeps} - {hit.chunk_id for hit in state["keeps"]}
            failed = sum(verdict.failed for *_, verdict in grades)
            entry.note = f"{len(keeps)} kept as evidence, {len(new)} new"
            if failed:
                entry.note += f", {failed} not graded"
        # What nobody could judge is no "no": with nothing new to read, a rewrite would only look away from it.
        failure = "no new passage could be graded" if failed and failed == len(grades) and not new else ""
        return {"judged": judged, "leads": leads, "keeps": keeps, "failure": failure}

    def _grades(self, batches: Mapping[str, Sequence[Hit]]) -> Iterator[tuple[str, Hit, Verdict[Relevance]]]:
        """Each passage with the question it was searched for and its verdict on that one."""
        for asked, hits in batches.items():
            by_id = {v.subject: v for v in self.relevance.grade(asked, hits)} if hits else {}
            yield from ((asked, hit, by_id[hit.chunk_id]) for hit in hits)

    def _write(self, state: State, entry: Step) -> Update:
        return super()._write(state, entry) | {"read": [hit.chunk_id for hit in state["keeps"]]}

    def check_support(self, state: State) -> Update:
        draft = written(state)
        with step("check_support") as entry:
            if draft.citations:
                verdict = self.support.check(state["question"], draft.text, state["keeps"])
            else:  # nobody need be asked about a draft that not one passage shares its words with
                verdict = Verdict(Decision.SUPPORT, Support.NONE, reason="It rests on none of the passages.")
                note_verdict(verdict)
            entry.note = verdict.reason
        return checked(draft, verdict)

    def rewrite(self, state: AdaptiveState) -> Update:  # type: ignore[override]
        """Rewrites for the first part that is open, else for the question. A query that comes again is
        searched again, because passages already seen do not come back."""
        asked = next(iter(_open(state)), state["question"])
        with step("rewrite") as entry:
            try:
                query = self.rewriter.rewrite(asked, state["tried"], state["feedback"])
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return {"failure": str(error), "rewrites": state["rewrites"] + 1}
            lost = lost_terms(asked, query)
            lost += lost_names(asked, " ".join([query, *lost]))
            query = " ".join([query, *lost])
            entry.note = query
            if lost:
                entry.note += f" (the rewrite had lost {', '.join(lost)})"
            if was_tried(state, query):
                entry.note += " (tried before: the passages after those seen)"
        return {"searches": {asked: query}, "retrieval_query": query, "rewrites": state["rewrites"] + 1}

    # ------------------------------------------------------------ routers

    def after_gate(self, state: State) -> str:
        return "answer_directly" if super().after_gate(state) == "answer_directly" else "decompose"

    def after_grades(self, state: AdaptiveState) -> str:  # type: ignore[override]
        if state["failure"]:
            return "refuse"
        if _open(state) and state["rewrites"] < self.caps.rewrites:
            return "rewrite"
        unread = {hit.chunk_id for hit in state["keeps"]} != set(state["read"])
        return "generate" if unread else self.may_rewrite(state)

    def after_draft(self, state: State) -> str:
        if state["failure"] or state["repeated"]:
            return "refuse"
        return self.may_rewrite(state) if written(state).abstained else "check_support"

    def after_rewrite(self, state: State) -> str:
        return "refuse" if state["failure"] else "retrieve"


def _open(state: AdaptiveState) -> list[str]:
    """The parts of the question for which no relevant passage has been found."""
    return [part for part in state["parts"] if part not in state["leads"]]
