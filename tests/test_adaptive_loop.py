"""The adaptive loop: what sends a question where, what each failure mends, and what the writer gets to read."""

from __future__ import annotations

import pytest
from standins import CARD, DOWN, HAPPY, StandInClient, StandInRetriever, build_loop, count_call, hits

from cookbook.assemble import parts_for
from cookbook.embedders import HashEmbedder
from cookbook.errors import ConfigError, ReplyUnparsable
from cookbook.providers import LLMClient
from cookbook.providers.meter import Budget
from cookbook.providers.scripted import scripted, scripted_table
from cookbook.reflect.gate import LLMGate, need
from cookbook.reflect.generate import Draft
from cookbook.reflect.relevance import EmbeddingRelevance
from cookbook.reflect.rewrite import LLMRewriter
from cookbook.reflect.support import DetailedSupport, LLMSupport
from cookbook.schema import (
    Chunk,
    Decision,
    Hit,
    Provenance,
    Reason,
    Relevance,
    Retrieve,
    ScoreKind,
    Status,
    Support,
    Usefulness,
    Verdict,
)
from cookbook.sources import SecondCorpus
from cookbook.systems.adaptive_loop import AdaptiveLoop, Caps
from cookbook.systems.base import Parts
from cookbook.tracing import note_verdict

YES, NO = Relevance.RELEVANT, Relevance.IRRELEVANT


def build(retriever=None, client=None, **options):
    return build_loop(AdaptiveLoop, retriever, client, **options)


class Split:
    """A decomposer with a fixed result, or an error."""

    def __init__(self, *parts: str | Exception) -> None:
        self.parts = parts

    def split(self, question: str) -> list[str]:
        count_call()
        if isinstance(self.parts[0], Exception):
            raise self.parts[0]
        return list(self.parts)


class Graded:
    """Grades by a table from (question, passage name) to P(relevant); 0 for any other pair."""

    def __init__(self, table: dict[tuple[str, str], float]) -> None:
        self.table = table

    def grade(self, question, found):
        verdicts = []
        for hit in found:
            p = self.table.get((question, hit.chunk.doc_id.removesuffix(".md")), 0.0)
            label, sure = (YES, p) if p >= 0.5 else (NO, 1 - p)
            verdicts.append(Verdict(Decision.RELEVANCE, label, sure, subject=hit.chunk_id))
            note_verdict(verdicts[-1])
        return verdicts[::-1]  # joined by id, so the order must not matter


def ids(answer) -> list[str]:
    return [hit.chunk.doc_id.removesuffix(".md") for hit in answer.contexts]


def notes(answer, node: str) -> list[str]:
    return [step.note for step in answer.trace.steps if step.node == node]


# ---------------------------------------------------------------- the route


def test_one_pass_costs_four_calls():
    """Gate, draft, two checks: the split is not asked for one question, and the encoder costs nothing."""
    loop, _ = build()
    answer = loop.answer("How long?")
    assert answer.status is Status.ANSWERED
    assert answer.trace.calls == 4
    assert answer.trace.nodes == [
        *("decide_retrieval", "decompose", "retrieve", "grade"),
        *("generate", "check_support", "check_usefulness"),
    ]


def test_what_needs_no_document_leaves_the_store_alone():
    retriever = StandInRetriever()
    loop, _ = build(retriever, gate=[Retrieve.NO])
    answer = loop.answer("What is 9 plus 10?")
    assert (answer.text, answer.provenance) == ("19", Provenance.MODEL_MEMORY)
    assert (answer.trace.calls, retriever.queries) == (2, [])


@pytest.mark.parametrize(
    ("label", "probability", "needed"),
    [
        (Retrieve.YES, 0.9, 0.9),
        (Retrieve.NO, 0.9, 0.1),
        (Retrieve.YES, 0.35, 0.35),
        (Retrieve.NO, None, None),
    ],
)
def test_one_number_means_one_thing(label, probability, needed):
    assert need(Verdict(Decision.RETRIEVE, label, probability)) == pytest.approx(needed)


@pytest.mark.parametrize(
    ("search", "node"),
    [(0.95, "decompose"), (0.35, "decompose"), (0.25, "answer_directly"), (0.02, "answer_directly")],
)
def test_low_certainty_retrieves(search, node):
    """A sure "no documents" and a sure "documents" are as far apart as can be; doubt goes to the store."""
    client = LLMClient(scripted_table({"": {"search": search, "math": 1 - search}}))
    loop, _ = build()
    loop.gate = LLMGate(client, CARD)
    answer = loop.answer("No, it is five years, confirm.")
    assert answer.trace.nodes[1] == node
    assert notes(answer, "decide_retrieval") == [f"documents are needed: {search:.2f}"]


def test_a_gate_that_failed_retrieves():
    loop, _ = build(gate=["fail"])
    assert loop.answer("How long?").trace.nodes[1] == "decompose"


# ---------------------------------------------------------------- retrieval fails: the query changes


def test_no_relevant_passage_rewrites_and_sees_other_passages():
    retriever = StandInRetriever(
        {"How long?": hits("a", "b"), "query 0": hits("a", "c"), "query 1": hits("b", "d")}
    )
    loop, _ = build(retriever, grades=[NO, NO, NO, YES])
    answer = loop.answer("How long?")
    assert ids(answer) == ["d"]
    assert retriever.queries == ["How long?", "query 0", "query 1"]
    graded = [[v.subject for v in s.verdicts] for s in answer.trace.steps if s.node == "grade"]
    assert graded == [["a.md#0", "b.md#0"], ["c.md#0"], ["d.md#0"]]  # none of them twice
    assert answer.trace.nodes.count("regenerate") == 0


def test_nothing_relevant_refuses_before_writing():
    loop, _ = build(grades=[NO])
    answer = loop.answer("How much does the starter plan cost per month?")
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE
    assert answer.trace.calls == 1 + 2  # the gate and two rewrites
    assert "generate" not in answer.trace.nodes


def test_a_query_that_comes_again_looks_past_what_was_seen():
    retriever = StandInRetriever({"How long?": hits(*"abcdefghij")})
    loop, _ = build(retriever, grades=[NO] * 5 + [YES], queries=["How long?"])
    answer = loop.answer("How long?")
    assert ids(answer) == list("fghij")
    assert notes(answer, "rewrite") == ["How long? (tried before: the passages after those seen)"]


def test_a_corpus_that_was_seen_whole_says_so():
    retriever = StandInRetriever({q: hits("a", "b") for q in ("How long?", "query 0", "query 1")})
    loop, _ = build(retriever, grades=[NO])
    answer = loop.answer("How long?")
    assert notes(answer, "retrieve")[1:] == ["0 passages for: query 0", "0 passages for: query 1"]
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE


def test_an_abstaining_writer_is_a_failure_of_retrieval():
    loop, _ = build(drafts=[None, "For 30 days."])
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes[4:7] == ["generate", "rewrite", "retrieve"]


def test_not_useful_rewrites_and_shows_what_was_found():
    loop, script = build(usefulness=[Usefulness.NOT_USEFUL])
    answer = loop.answer("How long?")
    assert (answer.status, answer.found) == (Status.REFUSED, "Yes, for 30 days.")
    assert answer.trace.nodes.count("rewrite") == 2
    assert 'did not resolve it: "Yes, for 30 days."' in script.seen_feedback[1]
    assert "30 days" not in answer.text


def test_evidence_that_was_read_is_not_written_from_again():
    """The rewrites bring nothing relevant: the old evidence is still there, and the same draft is not paid for."""
    loop, _ = build(grades=[YES] * 5 + [NO], usefulness=[Usefulness.NOT_USEFUL])
    answer = loop.answer("How long?")
    assert answer.trace.nodes.count("generate") == 1
    assert answer.found == "Yes, for 30 days."
    assert notes(answer, "grade")[1] == "5 kept as evidence, 0 new"


CONSTRAINED = 'Which plans did Acme sell before 2019, excluding "Europe", and which is not on /v1/plans?'


@pytest.mark.parametrize("dropped", ["before", "2019", '"Europe"', "not", "/v1/plans", "Acme"])
def test_a_rewrite_that_drops_a_constraint_is_told_of_and_mended(dropped):
    class Careless:
        def rewrite(self, question, tried, feedback=""):
            count_call()
            kept = question.replace("excluding", "") if dropped == "before" else question
            return kept.replace(dropped.strip('"'), "")

    loop, _ = build(grades=[NO], rewriter=Careless())
    answer = loop.answer(CONSTRAINED)
    assert answer.trace.question == CONSTRAINED
    for note in notes(answer, "rewrite"):
        assert f"(the rewrite had lost {dropped})" in note
        assert dropped in note.partition(" (the rewrite")[0]


def test_the_question_is_judged_and_answered_as_it_was_asked():
    seen = []

    class Attentive:
        def judge(self, question, answer):
            seen.append(question)
            return Verdict(Decision.USEFULNESS, Usefulness.NOT_USEFUL)

        def write(self, question, found, feedback=""):
            seen.append(question)
            return Draft("Yes.", (found[0].chunk_id,))

    loop, _ = build(writer=Attentive())
    loop.usefulness = Attentive()
    loop.answer(CONSTRAINED)
    assert seen == [CONSTRAINED] * 6


# ---------------------------------------------------------------- writing fails: the draft changes


def test_an_unsupported_draft_is_written_again_with_what_was_wrong():
    class Listing:
        def check(self, question, answer, found):
            count_call()
            wrong = "90" in answer
            reason = "not in the passages: For 90 days" if wrong else ""
            return Verdict(Decision.SUPPORT, Support.NONE if wrong else Support.FULLY, reason=reason)

    loop, script = build(drafts=["For 90 days.", "For 30 days."])
    loop.support = Listing()
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes.count("rewrite") == 0
    assert "not in the passages: For 90 days" in script.seen_feedback[1]


def test_the_default_support_lists_what_is_wrong_and_only_then():
    answers = iter(["no", '{"unsupported": ["Guests pay."]}', "yes"])

    @scripted("support_then_list")
    def support_then_list(messages):
        return next(answers)

    parts = Parts(LLMClient("scripted/support_then_list"), StandInRetriever(), CARD)
    support = AdaptiveLoop(parts).support
    verdict = support.check("q", "Guests pay.", hits("a"))
    assert (verdict.label, verdict.reason) == (Support.NONE, "not in the passages: Guests pay.")
    assert support.check("q", "It is about a.", hits("a")).label is Support.FULLY


def test_a_list_that_cannot_be_read_leaves_the_verdict_as_it_is():
    class Graded:
        def check(self, question, answer, found):
            return Verdict(Decision.SUPPORT, Support.PARTIALLY, reason="no passage on money")

    support = DetailedSupport(Graded(), LLMClient("scripted/garbage"))
    verdict = support.check("q", "Guests pay.", hits("a"))
    assert (verdict.label, verdict.reason) == (Support.PARTIALLY, "no passage on money")


def test_an_invented_number_is_found_without_asking_anybody():
    support = DetailedSupport(LLMSupport(down := LLMClient("scripted/unavailable")), down)
    verdict = support.check("Is it 5 years?", "No, it is 2 years.", hits("a"))
    assert (verdict.label, verdict.reason) == (Support.NONE, "2 year in no passage")
    assert support.check("Is it 5 years?", "Yes, 5 years.", hits("a")).failed  # that one had to be asked


def test_a_draft_that_rests_on_no_passage_is_written_again_without_a_check():
    class Empty:
        def write(self, question, found, feedback=""):
            count_call()
            return (
                Draft("For 30 days.", (found[0].chunk_id,))
                if feedback
                else Draft("YES ANSWER", attributed=True)
            )

    loop, _ = build(writer=Empty())
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.calls == 5  # gate, two drafts, one check of each kind
    assert notes(answer, "check_support") == ["It rests on none of the passages.", ""]


def test_unsupported_at_the_cap_is_refused_and_never_searched_again():
    loop, _ = build(drafts=["For 90 days.", "For 91 days.", "For 92 days."], support=[Support.NONE])
    answer = loop.answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert (answer.trace.nodes.count("regenerate"), answer.trace.nodes.count("rewrite")) == (2, 0)
    assert "9" not in answer.text


def test_the_same_unsupported_draft_again_is_refused():
    loop, _ = build(drafts=["For 90 days."], support=[Support.NONE])
    answer = loop.answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes[-3:] == ["check_support", "regenerate", "refuse"]


def test_a_premise_that_the_passages_deny_does_not_get_through():
    """The writer gives in to a false premise; support says no, and the mended draft is what comes out."""
    corrected = "The warranty is 2 years, so it ends in 2025."
    loop, _ = build(
        drafts=["It is 5 years, so it ends in 2028.", corrected], support=[Support.NONE, Support.FULLY]
    )
    answer = loop.answer("Since the warranty is 5 years, when does mine end if bought in 2023?")
    assert answer.text == corrected
    assert answer.citations


@pytest.mark.parametrize("part", ["support", "usefulness", "grades"])
def test_a_judge_that_failed_is_a_failure_and_mends_nothing(part):
    loop, _ = build(**{part: ["fail"]})
    answer = loop.answer("How long?")
    assert answer.reason is Reason.GRADER_FAILED
    assert not {"rewrite", "regenerate"} & set(answer.trace.nodes)


def test_new_passages_that_nobody_could_grade_are_a_failure_too():
    loop, _ = build(grades=[YES] * 5 + ["fail"], usefulness=[Usefulness.NOT_USEFUL])
    answer = loop.answer("How long?")
    assert (answer.reason, answer.found) == (Reason.GRADER_FAILED, "")


# ---------------------------------------------------------------- several questions in one

BOTH = "How many guests are there, and what do they cost?"
GUESTS, COST = "How many guests are there?", "What do guests cost?"


def test_each_part_is_searched_and_graded_by_itself():
    retriever = StandInRetriever({GUESTS: hits("limits", "roles"), COST: hits("prices", "limits")})
    table = {(GUESTS, "limits"): 0.6, (COST, "prices"): 0.7, (COST, "limits"): 0.8}
    loop, _ = build(retriever, decomposer=Split(GUESTS, COST), relevance=Graded(table))
    answer = loop.answer(BOTH)
    assert retriever.queries == [GUESTS, COST]
    assert ids(answer) == ["limits", "prices"]  # once, under its better grade
    assert answer.question == BOTH
    assert answer.trace.calls == 5
    assert notes(answer, "decompose") == [f"{GUESTS} / {COST}"]


def test_a_part_without_a_passage_is_searched_again_before_anything_is_written():
    retriever = StandInRetriever(
        {GUESTS: hits("limits"), COST: hits("roles"), "price of guests": hits("prices")}
    )
    table = {(GUESTS, "limits"): 0.9, (COST, "prices"): 0.6}
    loop, _ = build(
        retriever, decomposer=Split(GUESTS, COST), relevance=Graded(table), queries=["price of guests"]
    )
    answer = loop.answer(BOTH)
    assert ids(answer) == ["limits", "prices"]
    assert answer.trace.nodes.count("generate") == 1
    assert answer.retrieval_query == "price of guests"


def test_at_the_cap_it_writes_from_what_it_has():
    retriever = StandInRetriever({GUESTS: hits("limits"), COST: []})
    loop, _ = build(retriever, decomposer=Split(GUESTS, COST), relevance=Graded({(GUESTS, "limits"): 0.9}))
    answer = loop.answer(BOTH)
    assert answer.trace.nodes.count("rewrite") == 2
    assert (answer.status, ids(answer)) == (Status.ANSWERED, ["limits"])


def test_no_part_can_fill_the_budget_alone():
    """Each passage has 3 words and marks. Three guests' passages are likelier than the one on prices."""
    retriever = StandInRetriever({GUESTS: hits("a", "b", "c"), COST: hits("d")})
    table = {(GUESTS, name): 0.9 for name in "abc"} | {(COST, "d"): 0.6}
    loop, _ = build(
        retriever, decomposer=Split(GUESTS, COST), relevance=Graded(table), caps=Caps(evidence_tokens=6)
    )
    assert ids(loop.answer(BOTH)) == ["a", "d"]


def test_a_split_that_failed_searches_the_whole():
    retriever = StandInRetriever()
    loop, _ = build(retriever, decomposer=Split(ReplyUnparsable("the reply is no JSON")))
    answer = loop.answer(BOTH)
    assert answer.status is Status.ANSWERED
    assert retriever.queries == [BOTH]
    assert notes(answer, "decompose") == ["searched as a whole: the reply is no JSON"]


# ---------------------------------------------------------------- evidence


def test_evidence_is_the_best_of_all_attempts_within_the_budget():
    """Passages of 3 tokens: room for two. The third attempt's best pushes the first attempt's weakest out."""
    retriever = StandInRetriever(
        {"How long?": hits("a", "b"), "query 0": hits("a", "c"), "query 1": hits("d", "e")}
    )
    table = {("How long?", name): p for name, p in zip("abcde", (0.6, 0.7, 0.9, 0.55, 0.8), strict=True)}
    loop, _ = build(
        retriever,
        relevance=Graded(table),
        usefulness=[Usefulness.NOT_USEFUL, Usefulness.NOT_USEFUL, Usefulness.USEFUL],
        caps=Caps(evidence_tokens=6),
    )
    answer = loop.answer("How long?")
    assert ids(answer) == ["c", "e"]
    assert notes(answer, "grade") == [
        "2 kept as evidence, 2 new",
        "2 kept as evidence, 1 new",
        "2 kept as evidence, 1 new",
    ]


def test_a_passage_longer_than_the_budget_is_kept_alone():
    loop, _ = build(caps=Caps(evidence_tokens=1))
    assert ids(loop.answer("How long?")) == ["How long? a"]


# ---------------------------------------------------------------- what it is built from


def test_it_searches_by_meaning_and_words_whatever_the_parts_do():
    loop = AdaptiveLoop(parts_for(client=LLMClient("scripted/always_yes"), embedder="scripted"))
    assert loop.retriever.mode == "hybrid"
    assert loop.retriever.retrieve("LK-504", 1)[0].kind is ScoreKind.RRF
    assert loop.parts.retriever.mode == "dense"


def test_a_small_model_judges_and_a_large_one_writes():
    asked: dict[str, list[str]] = {"small": [], "large": []}

    @scripted("small")
    def small(messages):
        system = messages[0]["content"]
        asked["small"].append(system.split()[0])
        if system.startswith("Sort"):
            return "search"
        return "a query" if system.startswith("Turn") else "no" if "resolves" in system else "yes"

    @scripted("large")
    def large(messages):
        asked["large"].append(messages[0]["content"].split()[0])
        return "Until it ends [1]."

    parts = Parts(LLMClient("scripted/large"), StandInRetriever(), CARD)
    _, script = build()
    loop = AdaptiveLoop(parts, judge=LLMClient("scripted/small"), relevance=script, caps=Caps(rewrites=1))
    answer = loop.answer("How long?")
    assert answer.found == "Until it ends."
    assert asked["large"] == ["Answer", "Answer"]
    assert asked["small"] == ["Sort", "You", "You", "Turn", "You", "You"]


def test_the_last_attempt_looks_in_the_second_source():
    first = StandInRetriever({"How long?": hits("a"), "query 0": hits("b")})
    web = SecondCorpus(StandInRetriever({"query 1": hits("a")}), "web")
    loop, _ = build(first, second=web, grades=[NO, NO, YES])
    answer = loop.answer("How long?")
    assert first.queries == ["How long?", "query 0"]
    assert [hit.chunk_id for hit in answer.contexts] == ["web:a.md#0"]
    assert answer.contexts[0].chunk.metadata == {"source": "web"}
    assert answer.citations == ("web:a.md#0",)
    assert notes(answer, "retrieve")[-1] == "1 passages for: query 1\n(from the second source)"


def test_without_a_rewrite_there_is_no_last_attempt():
    first = StandInRetriever()
    loop, _ = build(first, second=SecondCorpus(StandInRetriever(), "web"), caps=Caps(rewrites=0))
    assert [hit.chunk.metadata for hit in loop.answer("How long?").contexts] == [{}] * 5


def test_another_embedder_needs_its_own_calibration():
    class Other(HashEmbedder):
        fingerprint = HashEmbedder.fingerprint.__class__("other", "1", "", True, None, 256)

    parts = Parts(StandInClient(), StandInRetriever(embedder=Other()), CARD)
    with pytest.raises(ConfigError, match="no calibration is known for the embedder other"):
        AdaptiveLoop(parts)
    _, script = build()
    assert AdaptiveLoop(parts, relevance=script).relevance is script


def test_by_default_an_encoder_grades_and_says_how_sure_it_is():
    loop = AdaptiveLoop(Parts(StandInClient(), StandInRetriever(), CARD))
    assert isinstance(loop.relevance, EmbeddingRelevance)
    far = Hit(Chunk("x#0", "x", "Zebras graze at noon.", 0, 21), 0.03, ScoreKind.RRF)
    near = Hit(Chunk("y#0", "y", "How long may guests stay?", 0, 25), 0.03, ScoreKind.RRF)
    verdicts = loop.relevance.grade("How long may guests stay?", [far, near])
    assert [v.label for v in verdicts] == [NO, YES]
    assert all(v.probability > 0.9 for v in verdicts)


# ---------------------------------------------------------------- ceilings


@pytest.mark.parametrize(("rewrites", "regenerations", "k"), [(0, 0, 5), (2, 2, 5), (1, 3, 2), (8, 0, 1)])
def test_ceilings_are_reached_and_never_passed(rewrites, regenerations, k):
    """The worst path: the question is split, every regeneration is used, every round ends in "not useful"."""

    class Costly:
        """As the default: a "no" costs a second call."""

        left = regenerations

        def check(self, question, answer, found):
            count_call()
            if not self.left:
                return Verdict(Decision.SUPPORT, Support.FULLY)
            count_call()
            self.left -= 1
            return Verdict(Decision.SUPPORT, Support.NONE)

    caps = Caps(rewrites, regenerations)
    loop, _ = build(
        k=k,
        caps=caps,
        decomposer=Split("How long?"),
        drafts=[f"draft {n}" for n in range(40)],
        usefulness=[Usefulness.NOT_USEFUL],
        # Each attempt must bring something better, or the draft is not written again.
        relevance=Graded({("How long?", f"{query} a"): 0.6 for query in ["How long?", *HAPPY["queries"]]}),
    )
    loop.support = Costly()
    answer = loop.answer("How long?")
    assert answer.reason is Reason.NOT_USEFUL
    assert answer.trace.calls == caps.calls(k) == loop.budget.calls
    assert len(answer.trace.nodes) == caps.supersteps()


def test_the_default_ceiling():
    assert Caps().calls(5) == Caps().calls(50) == 19
    assert Caps().supersteps() == 24


def test_the_budget_is_hard():
    loop, _ = build(budget=Budget(2))
    answer = loop.answer("How long?")
    assert (answer.reason, answer.trace.calls) == (Reason.BUDGET_EXHAUSTED, 2)


@pytest.mark.parametrize("part", ["drafts", "queries"])
def test_a_writer_or_rewriter_that_is_down_is_a_failure(part):
    loop, _ = build(**({part: [DOWN]} | ({"grades": [NO]} if part == "queries" else {})))
    assert loop.answer("How long?").status is Status.FAILED


def test_the_rewriter_of_the_package_needs_no_mending():
    client = LLMClient(scripted_table({"": "plans"}))
    loop, _ = build(grades=[NO], rewriter=LLMRewriter(client, CARD))
    assert "had lost Acme" in notes(loop.answer(CONSTRAINED), "rewrite")[0]  # names are not its business
    lower = CONSTRAINED.replace("Acme", "acme")
    assert "had lost" not in notes(loop.answer(lower), "rewrite")[0]
