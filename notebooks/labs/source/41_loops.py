# %% lab: stuck_router_counter

# %% [markdown]
# ### The symptom
#
# The handbook graph writes an answer, and a judge says whether the passages support it. If not, `regenerate` writes
# it again, twice at most. We give it a judge that says no to every draft, and stop it after 200 supersteps.

# %%
from cookbook.labs.kit import bill
from cookbook.published.handbook import Caps

caps = Caps(regenerations=2)
stuck = stuck_router_counter.never_satisfied(stuck_router_counter.broken(), caps, limit=200)
print(f"stopped by: {stuck.trace.stop_reason}; regenerate ran {stuck.ran('regenerate')} times")
assert (stuck.calls, stuck.ran("regenerate")) == (203, 98)
print(bill(stuck.trace))

# %% [markdown]
# Two were allowed. It did not stop; it was stopped, by a limit that we chose.
#
# ### Predict before you look
#
# 1. LangGraph used to stop every graph after 25 supersteps. How many calls does this request make there?
# 2. Today's default is 10,007 supersteps. How many calls then?
# 3. The budget of 2 is compared with a counter. What is the counter's value after the 98th regeneration?
#
# Write down three numbers.
#
# ### The trace
#
# A row for each node in the order in which they ran. The last column says which fields of the state the node
# returned; whatever is not in it was not changed.

# %%
from cookbook.show import show_table

rows = [
    {
        "superstep": n,
        "node": step.node,
        "calls so far": calls,
        "fields it returned": ", ".join(part.partition(":")[0] for part in step.note.split("; ")),
    }
    for n, (step, calls) in enumerate(zip(stuck.trace.steps, stuck.cumulative), 1)
]
show_table(rows[:11] + rows[-2:])

# %% [markdown]
# By the fifth superstep eight calls are made: the gate, five grades, a draft, its check. From there on a superstep is
# one call, another draft or another check, until the limit. So the first two answers are a sum: the limit plus three.

# %%
short = stuck_router_counter.never_satisfied(stuck_router_counter.broken(), caps, limit=25)
assert short.calls == 28
assert stuck.calls == 200 + 3
assert short.calls == 25 + 3
print(f"limit 25: {short.calls} calls; limit 200: {stuck.calls}; limit 10,007: {10_007 + 3:,}")

# %% [markdown]
# And the third:

# %%
print("regenerations in the state:", stuck.state["regenerations"])
assert stuck.state["regenerations"] == 0

# %% [markdown]
# The state says that nothing was ever regenerated. Here is the loop, with the number of times each edge was taken.
# The red edge is the one that should have been closed after two.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges

graph = stuck_router_counter.broken()(Judges(), caps)
draw_graph(graph, trace=stuck.trace, mark=[("check_support", "regenerate")])

# %% [markdown]
# Two functions take part in it. The *node* `regenerate` writes the draft:

# %% broken: cookbook.published.handbook.regenerate

# %% [markdown]
# The *router* `after_support` is asked which edge to take, each time the draft was checked:

# %% broken: cookbook.published.handbook.after_support

# %% [markdown]
# One of them counts. Compare with the trace: is it one of those whose return value changes the state?

# %% exercise

# %% closing
