# %% lab: judge_reloaded

# %% [markdown]
# ### The symptom
#
# In this graph a small model on the same machine says whether the passages entail a draft. It is no language model,
# costs nothing a call, and is quick once its weights are in memory. Getting them there takes seconds; here we count
# four. Five questions:

# %%
from cookbook.labs.judge_reloaded import LOAD
from cookbook.labs.kit import bill

series = judge_reloaded.ask(judge_reloaded.broken())
loads = series.judges.loads
print(f"{len(series.runs)} questions: {loads} loads, {loads * LOAD} seconds of waiting")
assert (loads, loads * LOAD) == (7, 28)
print(bill(series.runs[0].trace))

# %% [markdown]
# The bill of the first question, and the waiting is not in it. A meter of calls sees calls.
#
# ### Predict before you look
#
# Two of the five questions have no relevant passage, so there is nothing for the model to read.
#
# 1. How many times was it loaded for each of these two?
# 2. And for each of the other three?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(series.rows)
assert series.loads == [1, 1, 1, 2, 2]

# %% [markdown]
# The questions about nothing are the dearest: the published loop writes and checks twice before it gives up. Here it
# is; the red edge leads to the check, each time with a model of its own.

# %%
from cookbook.draw import draw_graph
from cookbook.published.nli_loop import NliJudges

graph = judge_reloaded.broken()(NliJudges())
draw_graph(graph, trace=series.runs[3].trace, mark=[("generate", "check_support")])

# %% [markdown]
# And the node:

# %% broken: cookbook.published.nli_loop.check_support

# %% [markdown]
# In the notebook in which this was written it was one line of setup above one question. Then it became a node.

# %% exercise

# %% closing

# %% lab: cost_off_the_cache

# %% [markdown]
# ### The symptom
#
# Two systems on four questions: a plain recipe with one call a question, and a reflective loop with nine. Replies are
# kept in a cache, so that nothing is paid for twice, and the harness counts the calls of a system as *the entries
# that are new in the cache* when it is done. The loop was tried out yesterday.

# %%
from cookbook.labs.cost_off_the_cache import QUESTIONS
from cookbook.labs.kit import bill

rows, today = cost_off_the_cache.compare(cost_off_the_cache.broken())
for row in rows:
    print(f"{row['system']:<16} {row['new cache entries'] / len(QUESTIONS):.1f} calls a question")
assert [row["new cache entries"] for row in rows] == [4, 0]
print(bill(today))

# %% [markdown]
# Reflection is free.
#
# ### Predict before you look
#
# 1. How many calls does the loop make for a customer whose question is new?
# 2. Today one attempt timed out and was made again. How many requests went out for the plain recipe?
# 3. Name two more ways to make a call without a new entry in the cache.
#
# ### The trace
#
# The scripted model counts what reaches it. That is the column in the middle:

# %%
from cookbook.show import show_table

show_table(rows)
assert [row["on the wire"] for row in rows] == [5, 0]

# %% [markdown]
# Neither of the harness's figures is what it says it is. For the recipe a request is missing, the one that failed.
# For the loop nothing went out *today*, which is true and says nothing about the loop: thirty-six answers came out of
# the cache. The two columns on the right belong to a meter that is there already; nobody tells it anything.

# %%
from cookbook.labs.cost_off_the_cache import Model
from cookbook.providers.meter import Meter, metered

with metered(Meter()) as meter:
    cost_off_the_cache.run(cost_off_the_cache.broken(), "reflective loop", model := Model(), {})
print(f"with an empty cache: {model.made} calls on the wire, {meter.calls} on the meter")
assert (model.made, meter.calls) == (36, 0)

# %% [markdown]
# Every call goes through one function. It knows what happened, and keeps it to itself:

# %% broken

# %% exercise

# %% closing

# %% lab: truncated_json

# %% [markdown]
# ### The symptom
#
# A judge is asked which claims of an answer no passage supports, and replies with a JSON object. This answer has
# twelve:

# %%
from cookbook.labs.kit import bill

made, judge, meter = truncated_json.ask(truncated_json.broken(), truncated_json.verdict_on(12))
print(f"{type(made).__name__}: {made}")
assert (meter.calls, meter.completion_tokens) == (3, 192)
print(bill(meter))

# %% [markdown]
# The team's notes say: *the judge is too small for JSON; tried a sterner prompt, an example, a schema.*
#
# ### Predict before you look
#
# 1. Three attempts, three errors. Were the three replies different?
# 2. The judge's reply is 87 tokens long. Where exactly is the mistake in its JSON?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(judge.rows)

# %% [markdown]
# There is none. Each reply ends in the middle of the ninth claim, because the client said that it might have 64
# tokens. The provider said so, three times, in a field next to the text. With room for it, the same judge says:

# %%
whole = judge(256)
print(f"cut off: {whole.truncated}; {len(whole.text.split())} tokens; ends in {whole.text[-34:]!r}")
assert not whole.truncated

# %% [markdown]
# The client asks one thing of a reply, whether it parses:

# %% broken

# %% [markdown]
# Its comment is right about models that slip. What slipped here was a limit.

# %% exercise

# %% closing
