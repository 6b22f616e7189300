# %% lab: blind_regeneration

# %% [markdown]
# ### The symptom
#
# This loop answers from a digest of a paper. An entailment model says whether the passages support the draft; if
# not, or if the draft is not useful, it is written once more. The writer runs at temperature 0, so the same prompt
# gives the same text. Ours is mistaken at first, and mends its draft when it is told what is wrong with it.

# %%
request = blind_regeneration.ask(blind_regeneration.broken())
print(f"{request.run.state['status']}: {request.run.state['draft']}")
for attempt in request.asked:
    print("draft:", attempt.draft)
assert [attempt.draft for attempt in request.asked] == ["It was trained with Adagrad."] * 2

# %% [markdown]
# Two attempts, and a refusal, for a question that the digest answers.

# %%
from cookbook.labs.kit import bill

assert request.run.calls == 9
print(bill(request.run.trace))

# %% [markdown]
# ### Predict before you look
#
# 1. How many of the nine calls were made for the second attempt and its check?
# 2. How likely was the second draft to differ from the first?
# 3. Say in one sentence what you would have told the writer.
#
# ### The trace
#
# Everything that the writer was given, and what it wrote:

# %%
from cookbook.show import show_table

show_table(request.rows)

# %% [markdown]
# The two rows are the same. One call to write and one to judge were paid for a text that was known. (The entailment
# model is no LLM and costs no call.) The red edge goes back to the writer with empty hands:

# %%
from cookbook.draw import draw_graph
from cookbook.published import nli_loop

graph = nli_loop.build(nli_loop.NliJudges())
draw_graph(graph, trace=request.run.trace, mark=[("check_usefulness", "generate")])

# %% [markdown]
# This node runs both times. The state that it is given holds the last draft, whether it was supported, and how many
# attempts were made; it reads one of the three.

# %% broken

# %% exercise

# %% closing

# %% lab: same_passages_again

# %% [markdown]
# ### The symptom
#
# No passage of the handbook names a price. The graph searches, grades five passages with one call each, rewrites
# the query, and searches again, three times in all; then it refuses, as it should. The rewriter here says the
# question again.

# %%
request = same_passages_again.ask(same_passages_again.broken(), same_passages_again.PRICE)
print(f"{request.run.state['status']}, {request.run.state['reason']}")
assert request.run.calls == 18

# %% [markdown]
# Eighteen calls for *I do not know*. An answer costs nine.

# %%
from cookbook.labs.kit import bill

print(bill(request.run.trace))

# %% [markdown]
# ### Predict before you look
#
# 1. How many of the eighteen calls graded a passage, and how many different passages were graded?
# 2. If each passage were graded once, what would the refusal cost?
# 3. A grader at temperature 0 was asked three times about the same passage and the same question. Can the third
#    reply be of any use?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(request.rows)
assert (len(request.asked), request.different) == (15, 5)

# %% [markdown]
# Ten of fifteen grades were known before they were paid for. The red edge was taken three times with the same five
# passages.

# %%
from cookbook.draw import draw_graph
from cookbook.published import handbook
from cookbook.published.models import Judges

graph = handbook.build(Judges(), after_grades=same_passages_again.refuse_at_the_cap)
draw_graph(graph, trace=request.run.trace, mark=[("retrieve", "grade")])

# %% [markdown]
# The node behind it looks at what was found, and at nothing that was known:

# %% broken

# %% exercise

# %% closing

# %% lab: overlapping_windows

# %% [markdown]
# ### The symptom
#
# The handbook is cut into windows of four sentences, and a window begins at each sentence: neighbours share three.
# So nothing that belongs together is cut apart. Five windows are found for a question, and the grader, asked about
# each, calls all of them relevant.

# %%
request = overlapping_windows.ask(overlapping_windows.broken())
print(f"{len(request.graded)} passages graded, {request.read:,} characters read")
assert (len(request.graded), request.read) == (5, 1367)

# %% [markdown]
# One call for each passage, and one to write from all of them:

# %%
from cookbook.labs.kit import bill

assert request.meter.calls == 6
print(bill(request.meter))

# %% [markdown]
# ### Predict before you look
#
# 1. 1,367 characters were read. How many *different* characters of the handbook were among them?
# 2. The five windows stand in how many places of the handbook?
# 3. "Five of five passages agree." How many witnesses are that?
#
# ### The trace
#
# The passages in the order in which they were found, and where each stands in its document:

# %%
from cookbook.show import show_table

show_table(request.rows)
print("different characters:", request.different)
assert request.different == 551

# %% [markdown]
# All five stand in one stretch of 551 characters at the beginning of one document. As a picture:

# %%
for row in sorted(request.rows, key=lambda row: row["from"]):
    print(f"{row['passage']:18}", " " * (row["from"] // 10) + "#" * ((row["to"] - row["from"]) // 10))

# %% [markdown]
# The sentences in the middle were judged four times. A search for five passages has brought one, and room for four
# others was lost. This is the code that hands the windows on to the grader:

# %% broken

# %% [markdown]
# Each hit knows its document and its offsets, and `chunk.text` is what stands between them.

# %% exercise

# %% closing

# %% lab: piling_documents

# %% [markdown]
# ### The symptom
#
# This is the handbook graph after a tidy-up: the nodes return the whole state, so that nothing gets lost, and the
# list of passages adds what it is given, so that nothing gets overwritten. The retriever fetches four passages.
# Three requests: one whose first answer is useful, one that needs a second search, one that needs a third.

# %%
from cookbook.show import show_table

piled = [piling_documents.ask(piling_documents.broken(), rewrites=n) for n in range(3)]
show_table(
    [
        {
            "searches": n,
            "calls": request.run.calls,
            "grades": len(request.asked),
            "different": len(set(request.asked)),
        }
        for n, request in enumerate(piled, 1)
    ]
)
assert [request.run.calls for request in piled] == [8, 80, 1176]

# %% [markdown]
# Each search should add eight calls.

# %%
from cookbook.labs.kit import bill

print(bill(piled[1].run.trace))

# %% [markdown]
# ### Predict before you look
#
# The first of the three requests looks right: eight calls, four grades. It retrieved four passages, once.
#
# 1. How many passages does its state hold at the end?
# 2. The rewriter returns `hits: []`, to clear the list. How many are there after that?
#
# Write down two numbers.
#
# ### The trace
#
# The second request. What each node returned in the field `hits`, and what the state held when that was added:

# %%
show_table(piled[1].rows)
assert [row["hits in the state"] for row in piled[1].rows][:6] == [0, 4, 8, 16, 32, 64]

# %% [markdown]
# `retrieve` fetched four. Each node after it returned the passages that it was given, along with everything else,
# and the field added them to those that were there: 4, 8, 16, 32, 64. An empty list clears nothing, because 64 plus
# nothing is 64. Then come four new ones, and the grader is asked about all 68.

# %%
from cookbook.draw import draw_graph
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges

graph = piling_documents.broken()(Judges(), Caps())
draw_graph(graph, trace=piled[1].run.trace, mark=[("retrieve", "grade")])

# %% [markdown]
# The two halves of the tidy-up, the field that adds and the node that returns everything:

# %% broken: cookbook.labs.piling_documents.Piling

# %% broken: cookbook.labs.piling_documents.whole

# %% broken: cookbook.labs.piling_documents.rewrite_and_clear

# %% exercise

# %% closing
