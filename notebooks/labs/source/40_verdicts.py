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

# %% lab: outage_as_verdict

# %% [markdown]
# ### The symptom
#
# The same question about exports, a day later. The judge runs on a server of its own, and between two and three o'clock
# that server did not answer. This is what the customer got:

# %%
from cookbook.labs.kit import bill
from cookbook.labs.outage_as_verdict import TIMEOUT

request = outage_as_verdict.ask_handbook(outage_as_verdict.broken(), TIMEOUT)
print(request.text)
assert request.text == "I looked, and none of the passages I found answers this."
assert request.meter.calls == 5
print(bill(request.meter))

# %% [markdown]
# Five calls, a polite refusal, no error in the log. In the week's report this request counts as *no relevant passage*,
# beside the questions that the handbook really does not answer.
#
# ### Predict before you look
#
# 1. How many of the five passages did the judge reject?
# 2. Each call waited 60 seconds before it gave up. How long did the customer wait for the sentence above?
# 3. What should the customer have been told?
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(request.rows)

# %% [markdown]
# It rejected none: it did not say a word about any of them, and the customer waited five minutes. The sentence is a
# statement about the handbook, made by a program that knows nothing about the handbook. Here is where silence becomes
# a no:

# %% broken

# %% [markdown]
# The comment means well, and for one passage of five it is right to go on. What is lost is the difference between
# *rejected* and *not judged*, and with it the right to say that nothing was found. This is what there is to say instead:

# %%
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Reason

print(SENTENCES[Reason.GRADER_FAILED])

# %% exercise

# %% closing

# %% lab: partial_equals_none

# %% [markdown]
# ### The symptom
#
# This system writes an answer from each relevant passage, lets one judge say how well the passage supports it and
# another how useful it is (1 to 5), and returns the best. The question is the one about exports again:

# %%
from cookbook.labs.kit import bill

done = partial_equals_none.ask_three_passages()
print(f"{done.state['status'].upper()}: {done.state['draft']}")
assert done.calls == 15
print(bill(done.trace))

# %% [markdown]
# The handbook has a window of 30 days in which the owner may export, and nobody else. "For ever" and "anybody" are
# inventions.
#
# ### Predict before you look
#
# Fifteen calls were made: one asks whether to retrieve, five grade the passages, and three were spent on each of the
# three candidates. Three things can have gone wrong: the support judge liked the invention; all three answers were as
# bad; or the judges saw the difference, and it was lost afterwards. Which one, and what did the judges say of the answer
# above?
#
# ### The trace

# %%
from cookbook.show import show_table

candidates = done.state["candidates"]
show_table(
    [
        {"answer": found.text, "support": found.support.value, "utility": int(found.utility)}
        for found in candidates
    ]
)

# %% [markdown]
# The judge called the winner unsupported, and said that another answer has some support. Fifteen calls bought that knowledge.
# This line compares it:

# %% broken: cookbook.published.best_passage.pick

# %% [markdown]
# Here is what it compares. Two rows of the first column are the same that were different above:

# %%
keys = [(found.support.value == "fully", int(found.utility)) for found in candidates]
show_table([{"is it 'fully'?": str(first), "utility": second} for first, second in keys])
assert max(keys) == (False, 5)

# %% exercise

# %% closing

# %% lab: inverted_confidence

# %% [markdown]
# ### The symptom
#
# A router decides for each message whether it needs the handbook, and says how confident it is. Retrieval costs time, so it
# is used only when the program is confident enough. Eight messages of a morning, the first five about the handbook:

# %%
from cookbook.labs.kit import bill

rows, meter = inverted_confidence.answer_messages(inverted_confidence.broken())
from_memory = [row["message"] for row in rows[:5] if row["looked up"] == "no"]
for_nothing = [row["message"] for row in rows[5:] if row["looked up"] == "yes"]
print("answered from memory, about the handbook:", *from_memory, sep="\n  ")
print("looked up in the handbook for nothing:", *for_nothing, sep="\n  ")
assert (len(from_memory), len(for_nothing)) == (3, 3)
print(bill(meter))

# %% [markdown]
# Three of five handbook questions never saw the handbook, and each piece of small talk did.
#
# ### Predict before you look
#
# For "Good evening!" the router chose *no retrieval*. Was its confidence high or low, and would you call that a good
# judgement? And for "Does my token survive a new password?", which was answered from memory: what did the router choose,
# and how sure was it? Write down two choices and two numbers.
#
# ### The trace

# %%
from cookbook.show import show_table

show_table(rows)

# %% [markdown]
# The router is good: it is right about seven of the eight, and unsure about the one it gets wrong. The prompt had
# asked it *how confident are you in your choice?* Here is what the program made of the number:

# %% broken

# %% [markdown]
# To the router the number says how sure it is of `choice`. To this line it says how much retrieval is wanted, and `choice` is not
# even looked at. A confident *no* and a confident *yes* are the same to it:

# %%
boxes = [(choice, sure) for choice in ("yes", "no") for sure in (True, False)]
in_box = {box: [row for row in rows if (row["choice"], row["confidence"] >= 0.7) == box] for box in boxes}
show_table(
    [
        {
            "choice": choice,
            "confidence": "0.7 or more" if sure else "below 0.7",
            "messages": len(in_box[choice, sure]),
            "looked up": sum(row["looked up"] == "yes" for row in in_box[choice, sure]),
        }
        for choice, sure in boxes
    ]
)

# %% [markdown]
# Of the four boxes three are the wrong way round. Which one is right?

# %% exercise

# %% closing
