"""What the check of overlapping_windows says of merges that drop, repeat, mix or miss something."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.labs.overlapping_windows import _covered, _hits, ask, broken, check, merge, solution
from cookbook.schema import Hit

BROKEN = "still_overlap"


def overlap(a, b):
    return a.doc_id == b.doc_id and a.start < b.end and b.start < a.end


def drop_the_lower(hits):
    kept: list[Hit] = []
    for hit in hits:
        if not any(overlap(hit.chunk, other.chunk) for other in kept):
            kept.append(hit)
    return kept


def join(one, other, *, text):
    chunk = replace(
        one.chunk,
        start=min(one.chunk.start, other.chunk.start),
        end=max(one.chunk.end, other.chunk.end),
        text=text,
    )
    return replace(one, chunk=chunk)


def tail(one, other):
    """The union's text of two overlapping chunks."""
    a, b = sorted((one.chunk, other.chunk), key=lambda chunk: chunk.start)
    return a.text + b.text[a.end - b.start :]


def pairwise_by_rank(hits):
    found: list[Hit] = []
    for hit in hits:
        for n, other in enumerate(found):
            if overlap(hit.chunk, other.chunk):
                found[n] = join(other, hit, text=tail(other, hit))
                break
        else:
            found.append(hit)
    return found


def glue_the_texts(hits):
    found: list[Hit] = []
    for hit in hits:
        if found and overlap(found[-1].chunk, hit.chunk):
            found[-1] = join(found[-1], hit, text=found[-1].text + hit.text)
        else:
            found.append(hit)
    return found


def in_the_order_of_the_documents(hits):
    return sorted(merge(hits), key=lambda hit: (hit.chunk.doc_id, hit.chunk.start))


def whatever_the_document(hits):
    found: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: hit.chunk.start):
        if found and hit.chunk.start < found[-1].chunk.end:
            found[-1] = join(found[-1], hit, text=tail(found[-1], hit))
        else:
            found.append(hit)
    return sorted(found, key=lambda hit: -hit.score)


def first_in_the_document_wins(hits):
    order = {hit.chunk.start: hit for hit in hits}
    return [
        replace(whole, score=order[whole.chunk.start].score, chunk=replace(whole.chunk, chunk_id=order[whole.chunk.start].chunk_id))
        for whole in merge(hits)
    ]  # fmt: skip


def from_the_first_to_the_last(hits):
    """One passage a document, from its first window to its last: what lies between is guessed."""
    found: dict[str, Hit] = {}
    for hit in hits:
        known = found.get(hit.chunk.doc_id)
        found[hit.chunk.doc_id] = join(known, hit, text=tail(known, hit)) if known else hit
    return list(found.values())


WRONG = {
    "drop the lower-ranked window": (drop_the_lower, "text_lost"),
    "compare with what came before": (pairwise_by_rank, "still_overlap"),
    "glue the texts together": (glue_the_texts, "said_twice"),
    "in the order of the documents": (in_the_order_of_the_documents, "order_lost"),
    "whatever the document": (whatever_the_document, "documents_mixed"),
    "the first in the document wins": (first_in_the_document_wins, "best_part_lost"),
}


def test_the_symptom():
    request = ask(broken())
    assert (request.meter.calls, len(request.graded), request.read, request.different) == (6, 5, 1367, 551)
    request = ask(solution())
    assert (request.meter.calls, len(request.graded), request.read, request.different) == (2, 1, 551, 551)
    [hit] = request.graded
    assert (hit.chunk_id, hit.chunk.start, hit.chunk.end) == ("cancellation.md#0", 0, 551)


def test_one_passage_a_document_makes_text_up():
    assert check(from_the_first_to_the_last).diagnosis == "text_and_offsets_differ"


def test_touching_windows_may_be_joined_or_not():
    hits = _hits(("alpha.md", 0, 2), ("alpha.md", 2, 4))
    assert len(merge(hits)) == 2


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["alpha.md", "beta.md"]), st.integers(0, 4), st.integers(1, 3)), max_size=6
    )
)
def test_the_solution_keeps_every_character_once(drawn):
    hits = _hits(*[(doc_id, first, min(first + length, 5)) for doc_id, first, length in drawn])
    merged = merge(hits)
    assert _covered(merged) == _covered(hits)
    assert sum(len(hit.text) for hit in merged) == len(_covered(hits))
    assert [hit.score for hit in merged] == sorted((hit.score for hit in merged), reverse=True)
