"""The reflection tokens and the prompt that a model was trained with: one letter off, and it answers otherwise.

Names, weights and prompt are those of the released Self-RAG models (paper: arXiv 2310.11511; code:
AkariAsai/self-rag at 1fcdc42, folder retrieval_lm). Each group maps its tokens to what they are worth.
"""

from __future__ import annotations

import re

from cookbook.schema import Hit

RETRIEVAL, NO_RETRIEVAL, CONTINUE = "[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"
PARAGRAPH, END_PARAGRAPH = "<paragraph>", "</paragraph>"

#: Retrieve: do I need documents? CONTINUE says "go on with what I have" and takes no part in the decision.
RETRIEVE = {RETRIEVAL: 1.0, NO_RETRIEVAL: 0.0}
#: ISREL: does this passage help?
RELEVANCE = {"[Relevant]": 1.0, "[Irrelevant]": 0.0}
#: ISSUP: does the passage support what was written?
SUPPORT = {"[Fully supported]": 1.0, "[Partially supported]": 0.5, "[No support / Contradictory]": 0.0}
#: ISUSE: does it answer the question? From -1 to 1, so that a useless answer costs.
USEFULNESS = {
    "[Utility:1]": -1.0,
    "[Utility:2]": -0.5,
    "[Utility:3]": 0.0,
    "[Utility:4]": 0.5,
    "[Utility:5]": 1.0,
}

REFLECTION_TOKENS = (*RETRIEVE, CONTINUE, *RELEVANCE, *SUPPORT, *USEFULNESS, PARAGRAPH, END_PARAGRAPH)
_SPECIAL = re.compile("|".join(re.escape(token) for token in (*REFLECTION_TOKENS, "<s>", "</s>", "<unk>")))


def instruction(question: str) -> str:
    """The prompt of a question. What the model says, and the passages it is given, are appended to it."""
    return f"### Instruction:\n{as_text(question)}\n\n### Response:\n"


def with_passage(prompt: str, hit: Hit) -> str:
    """The prompt, followed by one passage as if the model had asked for it."""
    return f"{prompt}{RETRIEVAL}{PARAGRAPH}{as_text(title(hit))}\n{as_text(hit.text)}{END_PARAGRAPH}"


def title(hit: Hit) -> str:
    """The section titles above a passage, or the name of its document."""
    return " > ".join(hit.chunk.headings) or hit.chunk.doc_id


def as_text(foreign: str) -> str:
    """Text from outside without its power: a passage that says ``[Fully supported]`` must not become the token."""
    return _SPECIAL.sub(lambda found: f"{found[0][0]} {found[0][1:]}", foreign)


def spoken(text: str) -> str:
    """What a reader sees of a continuation: no reflection tokens, single spaces."""
    return " ".join(_SPECIAL.sub(" ", text).split())
