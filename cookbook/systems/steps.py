"""The nodes that loops are made of: each does one thing, writes it into the trace, and counts in the state.

A system picks from them and wires them its own way; where it does a step differently, it overrides that
one method. Nodes act and count. Routers, which live in the systems, read and nothing else.
"""

from __future__ import annotations

from typing import Any

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.reflect.gate import Gate
from cookbook.reflect.generate import Draft, Writer
from cookbook.reflect.relevance import RelevanceGrader, kept
from cookbook.reflect.rewrite import Rewriter
from cookbook.reflect.support import SupportGrader
from cookbook.reflect.terms import lost_names
from cookbook.reflect.usefulness import UsefulnessGrader
from cookbook.schema import Hit, Reason, Step, Support, Usefulness, Verdict
from cookbook.systems.base import Parts
from cookbook.systems.state import Found, State, Update, was_tried, written
from cookbook.tracing import step


class Steps:
    """The shared nodes. Each takes the state and returns the fields it changed."""

    parts: Parts
    gate: Gate
    relevance: RelevanceGrader
    writer: Writer
    support: SupportGrader
    usefulness: UsefulnessGrader
    rewriter: Rewriter

    def decide_retrieval(self, state: State) -> Update:
        with step("decide_retrieval"):
            return {"gate": self.gate.decide(state["question"])}

    def answer_directly(self, state: State) -> Update:
        with step("answer_directly") as entry:
            try:
                text = self.parts.client.chat(
                    prompts.DIRECT.messages(question=prompts.as_data(state["question"]))
                )
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return {"failure": str(error)}
            entry.note = "from the model's memory, no passage was read"
            return {"draft": Draft(text=text.strip())}

    def retrieve(self, state: State) -> Update:
        query = state["retrieval_query"]
        with step("retrieve") as entry:
            hits = self.search(state)
            entry.note = f"{len(hits)} passages for: {query}"
        # Verdicts and drafts of an earlier round would be stale from here on.
        return {
            "hits": hits,
            "tried": [*state["tried"], query],
            "keeps": [],
            "draft": None,
            "repeated": False,
            "support": None,
            "usefulness": None,
            "feedback": "",
        }

    def search(self, state: State) -> list[Hit]:
        """How passages are found for the current query; a system may search in another way."""
        return self.parts.retriever.retrieve(state["retrieval_query"], self.parts.k)

    def grade(self, state: State) -> Update:
        hits = state["hits"]
        with step("grade") as entry:
            fresh = [hit for hit in hits if hit.chunk_id not in state["judged"]]
            grades = self.relevance.grade(state["question"], fresh) if fresh else []
            # A failed grade is not remembered: should the passage come back, it is asked again.
            judged = state["judged"] | {v.subject: v for v in grades if not v.failed}
            keeps = kept(hits, [*judged.values(), *grades])
            failed = sum(verdict.failed for verdict in grades)
            entry.note = (
                f"kept {len(keeps)} of {len(hits)}"
                + (f", {len(hits) - len(fresh)} judged before" if len(fresh) < len(hits) else "")
                + (f", {failed} not graded" if failed else "")
            )
        # What nobody could judge is no "no": with nothing kept, a rewrite would only look away from it.
        failure = "no new passage could be graded" if grades and failed == len(grades) and not keeps else ""
        return {"judged": judged, "keeps": keeps, "failure": failure}

    def generate(self, state: State) -> Update:
        with step("generate") as entry:
            return self._write(state, entry)

    def regenerate(self, state: State) -> Update:
        with step("regenerate") as entry:
            update = self._write(state, entry)
            rejected, again = state["draft"], update["draft"]
            update["regenerations"] = state["regenerations"] + 1
            if rejected and again and again.text == rejected.text:
                # The same words again would be rejected again: what is wrong is the passages.
                entry.note = f"{again.text} (the same again)"
                update |= {"repeated": True, "support": state["support"], "usefulness": state["usefulness"]}
            return update

    def _write(self, state: State, entry: Step) -> Update:
        try:
            draft = self.writer.write(state["question"], state["keeps"], state["feedback"])
        except GRADER_FAILURES as error:
            entry.note = str(error)
            return {"draft": None, "failure": str(error)}
        entry.note = "abstained: no answer in the passages" if draft.abstained else draft.text
        return {"draft": draft, "support": None, "usefulness": None}

    def check_support(self, state: State) -> Update:
        draft = written(state)
        with step("check_support"):
            verdict = self.support.check(state["question"], draft.text, state["keeps"])
        return checked(draft, verdict)

    def check_usefulness(self, state: State) -> Update:
        draft = written(state)
        with step("check_usefulness"):
            verdict = self.usefulness.judge(state["question"], draft.text)
        if verdict.label is Usefulness.USEFUL:
            return {"usefulness": verdict}
        update: Update = {
            "usefulness": verdict,
            "feedback": f'This answer did not resolve it: "{draft.text}" {verdict.reason}'.strip(),
        }
        support = state["support"]
        if not verdict.failed and support is not None and support.label is Support.FULLY:
            update["found"] = state["found"] or Found(draft, tuple(state["keeps"]))
        return update

    def rewrite(self, state: State) -> Update:
        with step("rewrite") as entry:
            try:
                query = self.rewriter.rewrite(state["question"], state["tried"], state["feedback"])
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return {"failure": str(error), "rewrites": state["rewrites"] + 1}
            entry.note = f"{query} (tried before: stopping)" if was_tried(state, query) else query
            if lost := lost_names(state["question"], query):
                entry.note += f" (without {', '.join(lost)})"
        return {"retrieval_query": query, "rewrites": state["rewrites"] + 1}

    def refuse(self, state: State) -> Update:
        with step("refuse") as entry:
            entry.note = why(state).value
        # A draft that was rejected leaves the state here, so that nothing downstream can print it.
        return {"draft": None}


def checked(draft: Draft, verdict: Verdict[Support]) -> Update:
    """What a support check leaves in the state: the verdict, and for the writer what was wrong."""
    if verdict.label is Support.FULLY:
        return {"support": verdict, "feedback": ""}
    feedback = (
        "A previous attempt was rejected because the passages do not support it: "
        f'"{draft.text}" Say only what the passages state. {verdict.reason}'
    )
    return {"support": verdict, "feedback": feedback.strip()}


def why(state: State) -> Reason:
    """The reason of a refusal, read from what the last round left in the state."""
    checks: tuple[Any, ...] = (state["support"], state["usefulness"])
    if state["failure"] or any(v is not None and v.failed for v in checks):
        return Reason.GRADER_FAILED
    if state["usefulness"] is not None:
        return Reason.NOT_USEFUL
    if state["support"] is not None:
        return Reason.NOT_SUPPORTED
    return Reason.NO_RELEVANT_PASSAGE
