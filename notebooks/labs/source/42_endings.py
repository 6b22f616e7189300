# %% lab: empty_context_pass

# %% [markdown]
# ### The symptom
#
# The handbook graph searches, grades each passage, and writes from the ones that are relevant. A judge then says
# whether the passages support the answer. The grader here is a perfect one: it knows which passages answer which
# question. We ask for something that the handbook does not hold.

# %%
from cookbook.published.handbook import Caps
from cookbook.show import show_table

asked = empty_context_pass.nowhere(empty_context_pass.broken(), Caps(rewrites=2))
state = asked.run.state
show_table(
    [{"field": name, "value": str(state[name])} for name in ("question", "draft", "status", "support")]
)
assert (state["status"], state["support"]) == ("answered", "fully")

# %% [markdown]
# An answer, with a status and a support that a page would show with a green tick. What it cost:

# %%
from cookbook.labs.kit import bill

assert asked.run.calls == 20
print(bill(asked.run.trace))

# %% [markdown]
# ### Predict before you look
#
# The graph retrieves five passages, and may rewrite the query twice.
#
# 1. How many passages did the grader let through, in all?
# 2. Twenty calls were made. How many of them asked whether the answer is supported?
# 3. Who said *fully*?
#
# Write down two numbers and a name.
#
# ### The trace
#
# A row for each node in the order in which they ran. The last column says what the node returned; whatever is not
# in it was not changed.

# %%
from cookbook.labs.kit import supersteps

show_table(supersteps(asked.run))

# %% [markdown]
# Three searches, five grades for each of them, and `kept: 0` three times: the grader did its work. Then, in row 10,
# a draft is written from nothing. In row 11 the support check returns *fully*, and the calls stand still at 19: it
# asked nobody. Here is what each kind of judge was asked:

# %%
show_table([{"kind of call": kind, "calls": n} for kind, n in asked.judges.calls.items()])
assert list(dict.fromkeys(asked.run.cumulative)) == [1, 6, 7, 12, 13, 18, 19, 20]
assert asked.judges.calls["support"] == 0

# %% [markdown]
# This is the node that said it:

# %% broken: cookbook.published.handbook.check_support

# %% [markdown]
# With nothing kept it asks nobody and says *fully*. And whatever it says comes late: the draft is written by then,
# and paid for. The red edge is the one that should not have been
# taken on the third visit.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges

graph = empty_context_pass.broken()(Judges(), Caps())
draw_graph(graph, trace=asked.run.trace, mark=[("grade", "generate")])

# %% [markdown]
# Three times the router behind `grade` was asked where to go. Twice it named `rewrite`; the third time no rewrite
# was left.

# %% broken: cookbook.published.handbook.after_grades

# %% exercise

# %% closing

# %% lab: fix_that_still_lies

# %% [markdown]
# ### The symptom
#
# This is the handbook graph with its loop mended: `regenerate` counts itself, so that it runs twice at most. The
# writer invents three answers to a question that the handbook answers differently (the owner can export, for 30
# days), and the support judge rejects each of them.

# %%
from cookbook.published.handbook import Caps
from cookbook.schema import Support
from cookbook.show import show_table

asked = fix_that_still_lies.rejected(fix_that_still_lies.broken(), Caps(regenerations=2), Support.NONE)
state = asked.run.state
show_table(
    [{"field": name, "value": str(state[name])} for name in ("question", "draft", "status", "support")]
)
assert (state["status"], state["support"]) == ("answered", "none")

# %% [markdown]
# It ended, as promised. It ended with *answered* and *none* side by side.

# %%
from cookbook.labs.kit import bill

assert asked.run.calls == 13
print(bill(asked.run.trace))

# %% [markdown]
# ### Predict before you look
#
# 1. The judge said no to every draft. How many drafts was it asked about?
# 2. After the last *no*, the graph went on. Which node ran next, and after which verdict is that node meant to run?
# 3. A refusal in its place would have cost how many calls?
#
# Write down a number, a name and a number.
#
# ### The trace

# %%
from cookbook.labs.kit import supersteps

show_table(supersteps(asked.run))

# %% [markdown]
# Rows 5, 7 and 9 are the three rejections. After the first two a new draft is written. After the third the draft
# goes to `check_usefulness`, where drafts go that are supported: it is asked whether the answer is useful, and a
# lie is often useful. The red edge is taken once, with `support: none`.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges

graph = fix_that_still_lies.broken()(Judges(), Caps())
draw_graph(graph, trace=asked.run.trace, mark=[("check_support", "check_usefulness")])

# %% [markdown]
# The router behind `check_support`. It has two reasons to leave the loop, and one way out for both:

# %% broken: cookbook.published.handbook.after_support

# %% [markdown]
# (The line that adds one in the router does nothing, as you may know from another lab; the node counts now.)

# %% exercise

# %% closing

# %% lab: good_answer_overwritten

# %% [markdown]
# ### The symptom
#
# The revise graph asks two judges about each draft: whether the passages support it, with quotes as evidence, and
# whether it resolves the question. A supported draft that is not useful sends the query to be rewritten, and the
# search starts again. We ask whether data can be exported *after* a plan was cancelled:

# %%
from cookbook.labs.good_answer_overwritten import FULLY, GROUNDED
from cookbook.show import show_table

done = good_answer_overwritten.ask(good_answer_overwritten.broken(), (GROUNDED, FULLY))
fields = ("draft", "status", "support", "usefulness", "evidence", "found")
show_table([{"field": name, "value": str(done.state[name])} for name in fields])
assert (done.state["status"], done.state["support"]) == ("refused", "fully")

# %% [markdown]
# A refusal, fully supported, with a quote for evidence. Which half of this is true?

# %%
from cookbook.labs.kit import bill

assert done.calls == 15
print(bill(done.trace))

# %% [markdown]
# ### Predict before you look
#
# The field `found` is new, and meant for a draft that is supported and does not resolve the question; nothing fills
# it yet.
#
# 1. How often was the support judge asked, and about which text?
# 2. How many drafts were written, and what became of them?
# 3. Which node wrote the text that the customer sees, and which fields did it leave alone?
#
# ### The trace

# %%
from cookbook.labs.kit import supersteps

show_table(supersteps(done))

# %% [markdown]
# One draft, judged twice: supported, and not useful, because it does not say whether a customer who has cancelled
# may still do it. The second search finds nothing relevant, and the last node writes a refusal over the only thing
# that fifteen calls have found. It names two fields. The others keep what they held: verdicts on a text that is
# gone.

# %%
from cookbook.draw import draw_graph
from cookbook.published.models import Judges
from cookbook.published.revise import Caps

graph = good_answer_overwritten.broken()(Judges(), Caps())
draw_graph(graph, trace=done.trace, mark=[("grade", "no_answer")])

# %% [markdown]
# The node at the end of the red edge:

# %% broken: cookbook.published.revise.no_answer

# %% [markdown]
# And the one that knew both verdicts on the draft while it was still there:

# %% broken: cookbook.published.revise.check_usefulness

# %% exercise

# %% closing
