"""Ten families of failures, one notebook each, and the order in which they are taught.

A slug here is a module ``cookbook/labs/<slug>.py`` once it is written. A notebook is named by number and
family, and keeps its number.
"""

from __future__ import annotations

from dataclasses import dataclass

from cookbook.errors import ConfigError


@dataclass(frozen=True)
class Family:
    """Labs that fail for one kind of reason. ``introduction`` is the paragraph below the notebook's title."""

    number: int
    name: str
    title: str
    introduction: str
    slugs: tuple[str, ...]

    @property
    def stem(self) -> str:
        """``40_verdicts``: its source, its two notebooks."""
        return f"{self.number}_{self.name}"


FAMILIES = (
    Family(
        40,
        "verdicts",
        "Reading a verdict",
        "A judge that is a language model replies with text, and somewhere a line of code turns that text into "
        "yes or no. Whatever is lost in that line is lost for the whole loop, and nothing downstream can see it: "
        "a *no* that was read as yes, a failure that was read as no, a better answer that lost to a worse one.",
        ("substring_verdicts", "outage_as_verdict", "partial_equals_none", "inverted_confidence"),
    ),
    Family(
        41,
        "loops",
        "Loops that do not end",
        "A reflective system goes round until a check says yes. When the check never does, a counter has to end "
        "it. These labs are about counters: where they are written, whose they are, what resets them, and what "
        "one that does not count costs before somebody notices.",
        ("stuck_router_counter", "half_true_router_write", "shared_budget", "reset_breaks_limit"),
    ),
    Family(
        42,
        "endings",
        "How a request ends",
        "Every path through a graph ends somewhere, and the paths that end badly are walked least in testing. "
        "These systems judge well and then say the wrong thing at the end: an answer from nothing, an answer that "
        "was rejected, a refusal that throws a good answer away.",
        ("empty_context_pass", "fix_that_still_lies", "good_answer_overwritten"),
    ),
    Family(
        43,
        "repetition",
        "Paying for the same thing again",
        "A second attempt can only help if something is different the second time. These loops go round with the "
        "same prompt, the same passages or the same words twice, and pay for each round in full.",
        ("blind_regeneration", "same_passages_again", "overlapping_windows", "piling_documents"),
    ),
    Family(
        44,
        "queries",
        "From a question to a query",
        "A rewriter may change the query as it likes and the question not at all. These labs lose the question, "
        "lose the one word in it that mattered, or never come to the rewrite that would have found the passage.",
        ("question_lost", "lost_error_code", "no_rewrite_when_needed"),
    ),
    Family(
        45,
        "scores",
        "What a score means",
        "A similarity, a distance, a logit, a log-probability and a fused rank are all numbers, and code compares "
        "them all with the same sign. Each of these thresholds worked once, on scores of another kind.",
        ("raw_scores_as_probabilities", "log_prob_ratio", "score_polarity", "fused_threshold"),
    ),
    Family(
        46,
        "support",
        "Is it really supported?",
        "A support check is the last thing between an invention and its reader. These checks run, say yes, and "
        "have looked at half of the evidence, at the answer as a lump, at its words instead of its meaning, or "
        "at a quote that stands nowhere.",
        ("graded_on_half", "one_claim_hides", "paraphrase_of_opposite", "invented_quotes"),
    ),
    Family(
        47,
        "leaks",
        "What gets in that should not",
        "Passages are written by strangers, a cache by other questions, a thread's memory by earlier ones. In "
        "each of these labs something reaches a judge or a reader from where it should not.",
        ("injected_passage", "semantic_cache_lies", "stale_thread_state"),
    ),
    Family(
        48,
        "bills",
        "What it costs",
        "Reflection is paid for in calls and seconds, and both are easy to spend without seeing it: on a model "
        "that is loaded for every question, on a retry that cannot succeed, and on a meter that reads nothing.",
        ("judge_reloaded", "cost_off_the_cache", "truncated_json"),
    ),
    Family(
        49,
        "measuring",
        "Measured wrong",
        "The most expensive failure is a number that looks good. Here the system is only as broken as the "
        "measurement says it is not: two things changed at once, questions without an answer in the corpus, "
        "rows that left the mean, a metric that forgives.",
        (
            "confounded_comparison",
            "unanswerable_corpus",
            "metric_that_forgives",
            "case_sensitive_gold",
            "retrieval_frequency",
        ),
    ),
)


def family_of(slug: str) -> Family:
    """The family of a lab; ConfigError for a slug that no family lists."""
    for family in FAMILIES:
        if slug in family.slugs:
            return family
    raise ConfigError(f"no family lists the lab {slug!r}; add it to cookbook/labs/families.py")


def family_named(stem: str) -> Family:
    """The family of a stem such as ``40_verdicts``; ConfigError lists the known ones."""
    for family in FAMILIES:
        if stem == family.stem:
            return family
    raise ConfigError(f"no family is called {stem!r}; known: {', '.join(family.stem for family in FAMILIES)}")
