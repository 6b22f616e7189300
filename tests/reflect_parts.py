"""Passages and scripted judges that the tests of the reflection steps share."""

from __future__ import annotations

from cookbook.reflect.entailment import Entailment
from cookbook.schema import Chunk, Hit, ScoreKind


def passage(
    text: str, chunk_id: str = "a.md#0", score: float = 0.5, kind: ScoreKind = ScoreKind.COSINE
) -> Hit:
    return Hit(Chunk(chunk_id, chunk_id.split("#")[0], text, 0, len(text), ("Title",)), score, kind)


ENTAILS = Entailment(0.9, 0.08, 0.02)
SILENT = Entailment(0.1, 0.8, 0.1)
DENIES = Entailment(0.05, 0.15, 0.8)


class TableJudge:
    """Says what the table says of (part of the premise, hypothesis), else that the premise is silent."""

    def __init__(self, table: dict[tuple[str, str], Entailment | Exception], calls: int = 1) -> None:
        self.table, self.calls = table, calls
        self.asked: list[tuple[str, str]] = []

    def judge(self, premise: str, hypothesis: str) -> Entailment:
        self.asked.append((premise, hypothesis))
        found = next(
            (said for (part, claim), said in self.table.items() if part in premise and claim in hypothesis),
            SILENT,
        )
        if isinstance(found, Exception):
            raise found
        return found
