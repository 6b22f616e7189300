"""One call per passage: the grader that costs most, and the one a small model does best."""

from __future__ import annotations

from collections.abc import Sequence

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.schema import Decision, Hit, Relevance, Verdict

KEEP_AT = 0.55
"""The careful end of the cuts that separate alike on the "fit" half of the Larkspur set, by the 1.5B judge: from 0.34 to
0.56 balanced accuracy lies between .71 and .77, but 0.34 keeps all gold passages and half of the others, 0.55 keeps six
gold ones in ten and one other in eight. It was chosen on the first 77 grades, where it was the best one. Another model
wants its own; tests/test_calibration.py repeats the count."""


class LLMRelevance:
    """One call and one output token per passage. A failure on one passage leaves the others alone."""

    def __init__(self, client: LLMClient, *, threshold: float = KEEP_AT) -> None:
        self.client, self.threshold = client, threshold

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        labels = {"yes": Relevance.RELEVANT, "no": Relevance.IRRELEVANT}
        return [
            ask_binary(
                self.client,
                prompts.RELEVANCE.messages(
                    question=prompts.as_data(question), passage=prompts.passages_block([hit])
                ),
                Decision.RELEVANCE,
                labels,
                threshold=self.threshold,
                subject=hit.chunk_id,
            )
            for hit in hits
        ]
