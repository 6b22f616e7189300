# %% lab: question_lost

# %% [markdown]
# ### The symptom
#
# The handbook says: *Viewers and guests cannot export anything.* A customer asks who may not. The graph searches,
# writes a draft, and a judge says whether the draft is useful to her. If it is not, the query is rewritten and the
# graph tries again:

# %%
from cookbook.labs.kit import bill

request = question_lost.ask(question_lost.broken())
print("asked:   ", question_lost.QUESTION)
print("answered:", request.run.state["draft"])
assert (request.run.calls, request.run.ran("rewrite")) == (18, 1)
print(bill(request.run.trace))

# %% [markdown]
# That is who *may*. It is in the handbook, it is supported, and it is the answer to another question.
#
# ### Predict before you look
#
# The judge of usefulness was asked twice, once for each draft.
#
# 1. Were the two drafts different?
# 2. It said no to the first and yes to the second. What could have changed its mind?
#
# Write both down.
#
# ### The trace
#
# Here is everybody who was asked something about the question, and which question they were given:

# %%
from cookbook.show import show_table

who = ["generate", "usefulness", "rewrite"]
show_table(
    [{"asked": kind, "about the question": question} for kind, question in request.heard if kind in who]
)
assert request.asked("usefulness") == [question_lost.QUESTION, "who can export"]

# %% [markdown]
# The drafts were the same text. The judge did not change its mind: it was asked about another question, one without
# *not*. And this is what each node gave back; whatever is not in the last column was not changed.

# %%
from cookbook.labs.kit import supersteps

rows = supersteps(request.run)
show_table([{"node": row["node"], "what it returned": row["what it returned"][:70]} for row in rows[5:9]])

# %% [markdown]
# A node that rewrites the query returns a field called `question`. From the red edge on nobody in this graph
# knows any more what the customer asked.

# %%
from cookbook.draw import draw_graph
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges

graph = question_lost.broken()(Judges(), Caps())
draw_graph(graph, trace=request.run.trace, mark=[("rewrite", "retrieve")])

# %% [markdown]
# These two nodes share that field, and that is why it was done: the one that writes it,

# %% broken: cookbook.labs.question_lost.rewrite_question

# %% [markdown]
# and the one that has to read it.

# %% broken: cookbook.labs.question_lost.search_question

# %% [markdown]
# The loop was built to improve the answer until it fits the question. There are two ways to make two things fit.

# %% exercise

# %% closing

# %% lab: lost_error_code

# %% [markdown]
# ### The symptom
#
# Here the query is rewritten before the first search, into the plain words in which handbooks are written. Eight
# developers ask about an error code. Each code has a section in the handbook, and a grader that knows the right
# section reads five passages for each question.

# %%
from cookbook.labs.kit import bill

asked, meter = lost_error_code.ask_handbook(lost_error_code.broken())
refused = [one for one in asked if one.rank is None]
print(f"{len(refused)} of {len(asked)} are told: {refused[0].text}")
assert (len(refused), len(asked)) == (4, 8)
print(bill(meter))

# %% [markdown]
# ### Predict before you look
#
# The grader is right about every passage it reads. So for four questions the section with the answer was not among
# the five. One of these is "What does LK-504 on /v1/sync mean, and how do I get past it?": what would *you* type into
# a search box for it? And which words of it would you leave out last?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(
    [{"question": one.row.question[:62], "searched for": one.query, "rank": one.rank} for one in asked]
)

# %% [markdown]
# Two of the queries still have their code and find their section first. Two others have lost it and are lucky: their
# other words occur in the right section. The rest search for "an error" in a handbook of sixty sections.
#
# What does the code itself do? The same search with nothing but the exact terms of the first question, and with both:

# %%
from cookbook.published.models import Shelf

shelf = Shelf.of("larkspur")
queries = ("timeout help", "LK-504 /v1/sync", "timeout help LK-504 /v1/sync")
found = {query: shelf.retrieve(query, 1)[0] for query in queries}
show_table([{"query": q, "first passage": hit.chunk_id, "score": hit.score} for q, hit in found.items()])
assert found["LK-504 /v1/sync"].chunk_id == "api.md#7"

# %% [markdown]
# A rewriter is good at words that can be said in another way. A code cannot. The step between rewriter and search
# does not look:

# %% broken

# %% exercise

# %% closing

# %% lab: no_rewrite_when_needed

# %% [markdown]
# ### The symptom
#
# In this handbook a card on a board is called a *task*, and nobody *bins* anything. The system has a rewriter for
# customers who do not know that; asked for this question, it would say "restore a deleted task".

# %%
from cookbook.labs.kit import bill

done = no_rewrite_when_needed.ask(no_rewrite_when_needed.broken())
print("asked:   ", no_rewrite_when_needed.QUESTION)
print("answered:", done.state["draft"])
assert (done.calls, done.ran("rewrite")) == (6, 0)
print(bill(done.trace))

# %% [markdown]
# The cheapest request of the day. Nobody complains about its bill.
#
# ### Predict before you look
#
# 1. Is the answer in the handbook?
# 2. This system rewrites the query twice at most. It had six calls to spend them in: how many were rewrites, and which were the others?
# 3. What would have to happen in this graph for the rewriter to run?
#
# ### The trace

# %%
from cookbook.labs.kit import supersteps
from cookbook.show import show_table

show_table(supersteps(done))

# %% [markdown]
# One call decided to search, five graded a passage each, and none was relevant. The answer is in the handbook; with
# the rewriter's words it is the first passage found:

# %%
from cookbook.published.models import Shelf

first = Shelf.of("larkspur").retrieve(no_rewrite_when_needed.REWRITE, 1)[0]
print(first.chunk_id, "|", first.text.splitlines()[2][:77])
assert first.chunk_id == "tasks-and-boards.md#2"

# %% [markdown]
# Here is the graph. The red edge was taken. Find the edges that lead to `rewrite`.

# %%
from cookbook.draw import draw_graph
from cookbook.published import revise
from cookbook.published.models import Judges

draw_graph(revise.build(Judges()), trace=done.trace, mark=[("grade", "no_answer")])

# %% [markdown]
# There is one, from the judge of usefulness: the query is rewritten when an answer was *written* and is no good.
# Whoever finds nothing at all is sent away by this router:

# %% broken

# %% [markdown]
# With the wrong words for everything you are the person the rewriter was made for, and the only one who cannot reach
# it.

# %% exercise

# %% closing
