"""What every relevance grader promises, and what its verdicts are used for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook.schema import Hit, Relevance, Verdict


class RelevanceGrader(Protocol):
    """Grades passages one by one or together; verdicts come back in the order of ``hits``.

    ``verdict.subject`` is the chunk id, so that verdicts are joined by id and never by position. The
    verdict of a passage does not depend on the order in which the passages are given.
    """

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]: ...


def kept(hits: Sequence[Hit], verdicts: Sequence[Verdict[Relevance]]) -> list[Hit]:
    """The hits judged relevant, in retrieval order. A failed verdict keeps nothing and drops nothing else."""
    relevant = {v.subject for v in verdicts if v.label is Relevance.RELEVANT}
    return [hit for hit in hits if hit.chunk_id in relevant]
