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

# %% lab: half_true_router_write

# %% [markdown]
# ### The symptom
#
# What a router assigns to its state is thrown away, as the first lab shows. Somebody found a way around it: the
# router keeps a *list* of the rejected drafts and appends to it. One request, with a judge that always says no and
# two regenerations allowed:

# %%
from cookbook.labs.half_true_router_write import fresh_state, serve
from cookbook.published.handbook import Caps
from cookbook.schema import Support

build = half_true_router_write.broken()
alone = serve(build, fresh_state(""), support=Support.NONE, caps=Caps(regenerations=2))
print(
    f"regenerate ran {alone.ran('regenerate')} times, {alone.calls} calls, stopped by: {alone.trace.stop_reason}"
)
assert (alone.calls, alone.ran("regenerate")) == (13, 2)

# %% [markdown]
# Two regenerations, as allowed, and an end. The test is green. Then it is deployed, in a service that makes its
# first state once, when it starts, and begins each request from it. Five customers, each with a judge that rejects
# the first draft and accepts the second:

# %%
from cookbook.published.models import in_turn

start = fresh_state("")
served = [
    serve(build, start, support=in_turn(Support.NONE, Support.FULLY), caps=Caps(regenerations=2))
    for _ in range(5)
]
print("support of what each customer got:", ", ".join(done.state["support"] for done in served))
assert [done.calls for done in served] == [11, 11, 9, 9, 9]

# %% [markdown]
# Two customers got a supported answer, and three got the draft that the judge had rejected.

# %%
from cookbook.labs.kit import bill

print(bill(served[0].trace))

# %% [markdown]
# ### Predict before you look
#
# 1. The service makes a copy of the state for each request: `{**start, "question": ...}`. How many lists named
#    `rejected` are there after five requests?
# 2. How many drafts does `start["rejected"]` hold?
# 3. A request whose judge always says no is paused before each regeneration, so that a person may look, and goes on
#    from its checkpoint. How often does it regenerate?
#
# ### The trace

# %%
from cookbook.show import show_table

rows = [
    {
        "customer": n,
        "calls": done.calls,
        "regenerate ran": done.ran("regenerate"),
        "its list is start's list": str(done.state["rejected"] is start["rejected"]),
    }
    for n, done in enumerate(served, 1)
]
show_table(rows)
assert len(start["rejected"]) == 5

# %% [markdown]
# And which nodes returned the field, in all five requests:

# %%
print([step.node for done in served for step in done.trace.steps if "rejected:" in step.note])

# %% [markdown]
# None did, and there is one list, with five drafts in it. The copy of a dict holds the same lists as the dict,
# LangGraph passes on what it was given, and the router appends to it: for this request, for the caller, and for
# everybody who comes after. The third customer starts with a budget that is used up.
#
# A checkpoint goes the other way. It stores what nodes *return*, and no node returns this field:

# %%
resumed = half_true_router_write.with_pauses(build, Caps(regenerations=2))
show_table(resumed.rows[:4])
print(f"after {len(resumed.rows)} pauses we stopped it; it had ended: {resumed.ended}")
assert (len(resumed.rows), resumed.ended) == (10, False)

# %% [markdown]
# So the count is kept where it should be forgotten, and forgotten where it should be kept. Here is the third
# customer's request: after its first *no* it takes the red edge, which is for a *yes* or a used-up budget.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges

draw_graph(build(Judges(), Caps()), trace=served[2].trace, mark=[("check_support", "check_usefulness")])

# %% [markdown]
# The router:

# %% broken: cookbook.labs.half_true_router_write.append_and_count

# %% exercise

# %% closing

# %% lab: shared_budget

# %% [markdown]
# ### The symptom
#
# There are two loops in the handbook graph: a search that finds nothing relevant is made again with another query,
# and a draft that is not supported is written again. Two of each are allowed. In this request the third search
# finds the passages, and the judge rejects the first draft from them and would accept the second.

# %%
from cookbook.published.handbook import Caps
from cookbook.schema import Support

judged = {"empty_searches": 2, "support": (Support.NONE, Support.FULLY)}
done = shared_budget.ask(shared_budget.broken(), Caps(rewrites=2, regenerations=2), **judged)
print(
    f"{done.state['status']}, {done.state['reason']}: rewrite ran {done.ran('rewrite')} times, regenerate {done.ran('regenerate')}"
)
assert (done.calls, done.ran("rewrite"), done.ran("regenerate")) == (20, 2, 0)

# %% [markdown]
# The second draft was never written, although two regenerations were left.

# %%
from cookbook.labs.kit import bill

print(bill(done.trace))

# %% [markdown]
# ### Predict before you look
#
# 1. Another question: the first search finds passages, the judge rejects two drafts, accepts the third, and finds
#    it not useful. How many of the two rewrites does it get?
# 2. How many calls would the request above have made, had it been answered?
#
# Write down two numbers.
#
# ### The trace

# %%
from cookbook.labs.kit import supersteps
from cookbook.show import show_table

show_table(supersteps(done)[-6:])

# %% [markdown]
# `rewrites` stands at 2 when the draft is rejected. That is right, and no reason not to write another draft. The
# other order:

# %%
from cookbook.schema import Usefulness

judged = {
    "support": (Support.NONE, Support.NONE, Support.FULLY),
    "usefulness": (Usefulness.NOT_USEFUL, Usefulness.USEFUL),
}
other = shared_budget.ask(shared_budget.broken(), Caps(), **judged)
show_table(supersteps(other)[-6:])
assert (other.calls, other.ran("rewrite"), other.ran("regenerate")) == (13, 0, 2)

# %% [markdown]
# `rewrites` stands at 2 again, and nothing was rewritten. Each loop works alone; whoever comes second finds the
# counter used up. The red edge is the one that was closed to the first request.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges

graph = shared_budget.broken()(Judges(), Caps())
draw_graph(graph, trace=done.trace, mark=[("check_support", "regenerate")])

# %% [markdown]
# The node and the router that were written to mend a counter which never counted:

# %% broken: cookbook.labs.shared_budget.regenerate_and_count

# %% broken: cookbook.labs.shared_budget.while_rewrites_are_left

# %% exercise

# %% closing

# %% lab: reset_breaks_limit

# %% [markdown]
# ### The symptom
#
# The revise graph takes out of a draft what is not supported, three times at most, and rewrites the query twice at
# most. As it was published, the three revisions were for all searches together, so that a bad first draft left none
# for the later ones. That was improved: a new query starts a new count. The limit stayed at 25, which had always
# been enough. The longest request, before and after:

# %%
from cookbook.labs.reset_breaks_limit import longest
from cookbook.published.revise import Caps

before = longest(Caps(), limit=25, reset=False)
after = longest(Caps(), limit=25)
for name, done in (("before", before), ("after", after)):
    print(f"{name}: {done.supersteps} supersteps, {done.calls} calls, stopped by: {done.trace.stop_reason}")
assert (before.calls, before.supersteps) == (33, 24)
assert (after.calls, after.supersteps) == (31, 25)

# %% [markdown]
# Thirty-one calls for an exception.

# %%
from cookbook.labs.kit import bill

print(bill(after.trace))

# %% [markdown]
# ### Predict before you look
#
# 1. How many supersteps was the old graph away from the same error?
# 2. How many supersteps does the longest request take now, and how many calls?
# 3. With `Caps(rewrites=3)`, how many?
#
# Write down the numbers, and how you came to them.
#
# ### The trace
#
# Without a limit of ours it comes to its end. A row for each search, and the nodes that ran for it:

# %%
from cookbook.show import show_table

whole = longest(Caps())
path = " ".join(whole.trace.nodes).split(" rewrite ")
show_table([{"search": n, "supersteps": len(row.split()), "nodes": row} for n, row in enumerate(path, 1)])
assert (whole.calls, whole.supersteps) == (45, 36)

# %% [markdown]
# Twelve with the gate, eleven, eleven, and the two rewrites between them: 36. Before, the second and the third
# search had no revisions and took five each: 24, and the limit was 25. It was never chosen for this graph. The red
# edge is the one that got longer.

# %%
from cookbook.draw import draw_graph
from cookbook.published import revise
from cookbook.published.models import Judges

draw_graph(revise.build(Judges()), trace=whole.trace, mark=[("check_support", "revise")])

# %% [markdown]
# The improvement, which is right and stays:

# %% broken: cookbook.published.revise.rewrite_with_reset

# %% [markdown]
# And the limit:

# %% broken

# %% exercise

# %% closing
