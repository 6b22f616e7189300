# %% lab: confounded_comparison

# %% [markdown]
# ### The symptom
#
# A vanilla recipe and a reflective loop, on the 70 questions that the handbook answers. Retrieval is real; a model
# answers right if it reads the evidence, and a small one reads two passages, a large one five.

# %%
from cookbook.labs.confounded_comparison import BASELINE, LOOP, table
from cookbook.show import show_table

headline = table(confounded_comparison.broken()(BASELINE, LOOP))
before, after = headline
print(f"reflection lifts right answers from {before['share']} to {after['share']}")
assert (before["right"], after["right"], after["of"]) == (33, 61, 70)

# %% [markdown]
# And what a question costs with the second of them:

# %%
from cookbook.labs.kit import bill

costs = {setup.system: confounded_comparison.one_question(setup) for setup in (BASELINE, LOOP)}
assert [meter.calls for meter in costs.values()] == [1, 9]
print(bill(costs["loop"]))

# %% [markdown]
# ### Predict before you look
#
# 28 more questions answered right. If the team had added the loop to the recipe and *changed nothing else*, how many
# of the 28 would they have got? Write down a number.
#
# ### The trace
#
# What was compared:

# %%
columns = ("system", "chunker", "k", "model", "right", "of")
show_table([{name: row[name] for name in columns} for row in headline])

# %% [markdown]
# Four columns differ, and the headline speaks of one. Whoever measured this was not dishonest: the baseline is last
# year's code, and the loop was built with everything learned since. Here is the answer to the question above: the
# loop, put on top of the recipe as it was.

# %%
from dataclasses import replace

added = table([BASELINE, replace(BASELINE, system="loop")])
show_table([{name: row[name] for name in (*columns, "gained")} for row in added])
assert added[1]["gained"] == "+1"

# %% [markdown]
# One. That is not the whole truth either: on better parts the loop may be worth more, or less. It takes the steps in
# between. This is all that was asked of the comparison:

# %% broken

# %% exercise

# %% closing

# %% lab: unanswerable_corpus

# %% [markdown]
# ### The symptom
#
# The prompt recipe grades eight passages for each question and writes from those that its filter keeps; if it keeps
# none, it refuses. 55 questions about Rust, all of which the notes answer:

# %%
from cookbook.labs.kit import bill

asked, meter = unanswerable_corpus.ask_recipe(unanswerable_corpus.index("landing"))
answered = sum(one.kept > 0 for one in asked)
kept, graded = sum(one.kept for one in asked), sum(len(one.graded) for one in asked)
print(
    f"{answered} of {len(asked)} answered; the filter keeps {kept} of {graded} passages ({kept / graded:.0%})"
)
assert (answered, len(asked), kept, graded) == (14, 55, 14, 440)
print(bill(meter))

# %% [markdown]
# The notes of the project say: *a healthy filter keeps a third; ours is far too strict; loosened the prompt; no
# change.*
#
# ### Predict before you look
#
# The filter read 440 passages and kept 14. Take a question that was refused. If you read its eight passages yourself,
# how many would you keep?
#
# ### The trace

# %%
from cookbook.show import show_table

refused = next(one for one in asked if not one.kept)
print(refused.row.question)
show_table([{"passage": id, "kept": "yes" if relevant else "no"} for id, relevant in refused.graded])

# %% [markdown]
# None. Its verdicts are the gold ones: the filter of this lab makes no mistakes. So look up where the answer stands,
# and what the index has of that file:

# %%
[quote] = refused.row.gold
here = [chunk for chunk in unanswerable_corpus.index("landing") if chunk.doc_id == quote.file]
whole = [chunk for chunk in unanswerable_corpus.index("sections") if chunk.doc_id == quote.file]
print(f"the answer: {quote.quote!r} in {quote.file}")
print(f"the file has {len(whole)} sections; in the index: {[chunk.chunk_id for chunk in here]}")
assert (len(whole), len(here)) == (5, 1)
print("does a chunk of the index hold the quote?", any(quote.stands_in(chunk) for chunk in here))

# %% [markdown]
# The loader stopped after the first section of each file. Nobody saw it, because every file is there, and that is
# what the test of the index asks:

# %% broken

# %% [markdown]
# A filter cannot keep what was never indexed. Its keep rate was the only honest figure in the report.

# %% exercise

# %% closing

# %% lab: metric_that_forgives

# %% [markdown]
# ### The symptom
#
# Sixty questions, twenty of them without an answer in the handbook, and four systems. Two understand nothing: one
# refuses everything, one hands out the first passage. They were put there to see whether the metric is any good.

# %%
from cookbook.labs.metric_that_forgives import SYSTEMS
from cookbook.show import show_table

board = metric_that_forgives.scoreboard(metric_that_forgives.broken())
show_table(board)
assert board[0] == {"place": 1, "system": "always refuses", "score": 1.0}

# %% [markdown]
# And the bill of the winner:

# %%
from cookbook.labs.kit import bill
from cookbook.providers.meter import Meter

print(bill(Meter()))

# %% [markdown]
# It is not good. By this metric the best thing to do is to shut the service down.
#
# ### Predict before you look
#
# The metric is the mean faithfulness of what a system says, as a judge marks it, from 0 to 1.
#
# 1. How can a system that says nothing get 1.0?
# 2. The second place goes to a system that fails on 21 of 60 questions. What does the metric do with those?
#
# ### The trace
#
# How each system's rows ended, by what would have been right:

# %%
from cookbook.labs.metric_that_forgives import two_by_two

show_table([{"system": name, **two_by_two(rows)} for name, rows in SYSTEMS.items()])

# %% [markdown]
# Read it by rows, and you know which system you want. Now count which of these cells the metric can see:

# %%
counted = []
for name, rows in SYSTEMS.items():
    seen = two_by_two(rows)
    refused = seen["refused"] + seen["to refuse: refused"]
    lost = seen["failed"] + seen["failed "]
    counted.append({"system": name, "rows": len(rows), "left out": lost, "1.0 for silence": refused})
show_table(counted)
assert [row["left out"] for row in counted] == [0, 21, 0, 0]
assert [row["1.0 for silence"] for row in counted] == [24, 19, 60, 0]

# %% broken

# %% [markdown]
# Three lines decide, and each sounds reasonable: no mark for a row without a reply; no claims, so none is unfaithful;
# the mean of the rest.

# %% exercise

# %% closing

# %% lab: case_sensitive_gold

# %% [markdown]
# ### The symptom
#
# 140 claims, each true or false. The model says which. This is exact match, the plainest metric there is:

# %%
from cookbook.labs.kit import bill

rows, meter = case_sensitive_gold.evaluate(case_sensitive_gold.broken())
print(f"right: {case_sensitive_gold.share(rows)} of {len(rows)}")
assert (case_sensitive_gold.share(rows), len(rows)) == ("0.7%", 140)
print(bill(meter))

# %% [markdown]
# ### Predict before you look
#
# A model that guesses gets about half of them. To get 0.7% one must *know* the answers and say the opposite. How many
# of the 140 did this model really get right? Write down a guess, and what you would look at first.
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(rows[:10])

# %% [markdown]
# Look at the second column and the third, and read them aloud. Row 8 is the only one in 140 that is spelled as the
# gold is.

# %%
from collections import Counter

print(dict(Counter(row["said"] for row in rows)))
[hit] = [row for row in rows if row["counts as"] == "right"]
assert hit["claim"] == 8

# %% [markdown]
# The model has a style. The metric compares styles:

# %% broken

# %% [markdown]
# At 0.7% somebody looks. Had the model written lower case in half of its replies, the figure would be a believable
# 32%.

# %% exercise

# %% closing

# %% lab: retrieval_frequency

# %% [markdown]
# ### The symptom
#
# A gate decides for each question whether to search. The evaluation prints how often it did. Forty questions:

# %%
from cookbook.labs.kit import bill

run = retrieval_frequency.evaluate(40, 6)
printed = retrieval_frequency.broken()(run.retrieved, run.results)
print(f"Retrieval frequency: {printed}; searches in the store's log: {run.searches}")
assert (printed, run.searches) == (0.75, 6)
print(bill(run.meter))

# %% [markdown]
# A team has read this line and concluded that its gate hardly ever saves a search.
#
# ### Predict before you look
#
# 6 divided by what is 0.75? And what in an evaluation of forty questions comes in that number?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(
    [
        {
            "key": key,
            "what it holds": f"{type(value).__name__}, {len(value) if isinstance(value, list) else value}",
        }
        for key, value in run.results.items()
    ]
)
assert len(run.results) == 8

# %% [markdown]
# Eight keys. The evaluation divides by the length of the dictionary in which it keeps its lists. Here is what is
# printed for a gate that searches for every second question, on sets of several sizes:

# %%
sizes = []
for questions in (4, 8, 16, 40, 200):
    half = retrieval_frequency.evaluate(questions, questions // 2)
    line = retrieval_frequency.broken()(half.retrieved, half.results)
    sizes.append({"questions": questions, "searched for": half.searches, "printed": line, "share": 0.5})
show_table(sizes)
assert [row["printed"] for row in sizes] == [0.25, 0.5, 1.0, 2.5, 12.5]

# %% [markdown]
# On eight questions it is right, and eight is a fine size for a test. On two hundred it is no share any more, and on
# the sizes in between it is believed. This is the line:

# %% broken

# %% exercise

# %% closing
