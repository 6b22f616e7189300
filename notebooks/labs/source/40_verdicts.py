# %% lab: substring_verdicts

# %% [markdown]
# ### The symptom
#
# A customer asks whether she can still export her data. Five passages come back, and a judge says of each whether
# it is relevant, so that the writer reads only what matters. This is how it went:

# %%
from cookbook.labs.kit import bill

reader = substring_verdicts.broken()
rows, meter = substring_verdicts.filter_passages(reader)
let_through = [row for row in rows if row["read as"] == "True"]
print(f"{len(let_through)} of {len(rows)} passages go on to the writer")
assert len(let_through) == 5
print(bill(meter))

# %% [markdown]
# Six calls, one for each passage and one to write. The filter costs five of them and filters nothing.
#
# ### Predict before you look
#
# There are three suspects: the passages (all five are good), the judge (it says yes to everything), or the line
# that reads what the judge said. Which is it, and how many of the five passages did the *judge* call relevant?
# Write down a number.
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(rows)

# %% [markdown]
# The judge did its work: two yes, two no, and one reply that says it cannot tell. The third column is what the
# program made of that. Here is the line:

# %% broken

# %% [markdown]
# It asks whether the word for yes *stands in* the reply. It does, in each of the five.

# %% exercise

# %% closing
