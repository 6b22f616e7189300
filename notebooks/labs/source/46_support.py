# %% lab: graded_on_half

# %% [markdown]
# ### The symptom
#
# The handbook is stored a whole chapter to a passage. A developer asks about an error code, the chapter on the API is found and
# kept, the writer quotes it, and an entailment model checks the answer against it.

# %%
from cookbook.labs.kit import bill

done = graded_on_half.ask(graded_on_half.broken())
print(f"{done.state['status'].upper()}: {done.state['draft']}")
assert (done.calls, done.state["attempts"]) == (9, 2)
print(bill(done.trace))

# %% [markdown]
# Two attempts, nine calls, a refusal. This is what the writer had written, both times, and what the chapter says:

# %%
[chapter] = done.state["kept"]
evidence = "Set `batch_size` to 500 or lower and call again with the same token."
print("the answer: ", graded_on_half.ANSWER)
print("the chapter:", evidence if evidence in chapter.text else "(nothing of the kind)")

# %% [markdown]
# ### Predict before you look
#
# Answer and chapter agree, but for the marks around `batch_size`. If the chapter were only its last 100 words, with this sentence in
# them, would the same judge pass the same answer? Decide what each of the two results would tell you.
#
# ### The trace

# %%
from cookbook.labs.kit import supersteps
from cookbook.show import show_table

show_table(
    [
        {
            "node": row["node"],
            "calls so far": row["calls so far"],
            "what it returned": row["what it returned"][:50],
        }
        for row in supersteps(done)
    ]
)

# %% [markdown]
# The check says no, twice, and nothing in the trace says why. So ask the judge twice by hand:

# %%
from cookbook.published.nli_loop import WordEntailment

words = chapter.text.split()
for name, premise in (("the whole chapter", words), ("its last 100 words", words[-100:])):
    print(f"{name}: {WordEntailment().entails(' '.join(premise), graded_on_half.ANSWER)}")

# %% [markdown]
# It is not the marks and not the words. The model is a cross-encoder, and those have a longest input: this one reads
# 512 words and ignores what follows.

# %%
from cookbook.draw import canvas

begins = len(chapter.text[: chapter.text.index(evidence)].split())
figure = canvas(8, 1.3)
place = figure.subplots()
place.barh(0, len(words), color="#c3ccd4", label="the chapter, which the writer read")
place.barh(0, graded_on_half.READS, color="#2a7fb8", label="what the judge read")
place.barh(0, len(evidence.split()), left=begins, color="#c8371b", label="the evidence")
place.set(yticks=(), xlabel="words")
place.legend(ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1))
figure

# %% [markdown]
# The writer read the whole chapter and the judge the first 512 words of it. They disagree because they were shown
# different things.

# %%
print(f"the evidence begins at word {begins} of {len(words)}")
assert begins > graded_on_half.READS == 512

# %% broken

# %% [markdown]
# Writing again does not help, and neither does a better writer: no answer from the end of this chapter can ever pass.

# %% exercise

# %% closing

# %% lab: one_claim_hides

# %% [markdown]
# ### The symptom
#
# Of each answer a judge is asked whether the passages support it. (It is a script with the habit of such judges: it says yes when four fifths of
# the answer are borne out.) Two answers to the same question. The second is the first with three true sentences before it.

# %%
from cookbook.labs.kit import bill
from cookbook.labs.one_claim_hides import INVENTED, TRUE

rows, meter = one_claim_hides.judge_answers(INVENTED, " ".join([*TRUE, INVENTED]))
for row in rows:
    print(f"{row['sentences']} sentence(s): the judge says {row['the judge says']}")
assert [row["the judge says"] for row in rows] == ["none", "fully"]
assert meter.calls == 4
print(bill(meter))

# %% [markdown]
# Here is the sentence. The handbook says: "An expired link cannot be renewed: start a new export."

# %%
print(INVENTED)

# %% [markdown]
# ### Predict before you look
#
# The judge called this sentence unsupported when it stood alone. What share of the *longer* answer do you think it found supported? And how many true
# sentences does an invention need beside it to pass: three, two, one?
#
# ### The trace

# %%
from cookbook.show import show_table

answers = [" ".join([*TRUE[:n], INVENTED]) for n in range(4)]
rows, _ = one_claim_hides.judge_answers(*answers)
show_table([{"true sentences beside it": n, **row} for n, row in enumerate(rows)])

# %% [markdown]
# The share rises with every true sentence, and none of them says anything about renewing a link. The judge did not misread
# anything. It was asked the wrong question: a share of an answer is no property of any sentence in it.

# %% broken

# %% [markdown]
# What a reader acts on is a sentence. So the sentences are what must be checked, and the worst one decides.

# %% exercise

# %% closing

# %% lab: paraphrase_of_opposite

# %% [markdown]
# ### The symptom
#
# The support check embeds answer and passage and wants a cosine of at least 0.7. The vectors are those of a real embedder,
# all-minilm-l6-v2.

# %%
from cookbook.labs.kit import bill
from cookbook.labs.paraphrase_of_opposite import PAIRS, TOKENS, cosine

answer, meter = paraphrase_of_opposite.ask(paraphrase_of_opposite.broken())
print("the customer reads:", answer)
print("the handbook says: ", TOKENS)
assert round(cosine(answer, TOKENS), 2) == 0.91
print(bill(meter))

# %% [markdown]
# ### Predict before you look
#
# An honest answer to the same question is "Your tokens go on working after you change your password." Is its cosine with the handbook's sentence
# higher or lower than 0.91? And can a threshold be found that keeps the honest answer and drops this one?
#
# ### The trace
#
# Eleven claims about six sentences, most similar first.

# %%
from cookbook.show import show_table

ranked = sorted(PAIRS, key=lambda pair: -cosine(pair.claim, pair.passage))
show_table(
    [
        {
            "cosine": f"{cosine(pair.claim, pair.passage):.3f}",
            "true": "yes" if pair.true else "NO",
            "claim": pair.claim,
            "what was done": pair.kind,
        }
        for pair in ranked
    ]
)

# %% [markdown]
# The most similar claims of all are false: a swap of two numbers, and a swap of *on* and *off*. The least similar is true. On a line:

# %%
from cookbook.draw import canvas

figure = canvas(7, 1.5)
place = figure.subplots()
for colour, true in (("#2b8a3e", True), ("#c8371b", False)):
    cosines = [cosine(pair.claim, pair.passage) for pair in PAIRS if pair.true is true]
    place.scatter(cosines, [int(true)] * len(cosines), color=colour)
place.axvline(0.7, color="#22303c", linestyle="--", linewidth=1)
place.set(
    yticks=(0, 1), yticklabels=("false", "true"), ylim=(-0.6, 1.6), xlabel="cosine of claim and passage"
)
figure

# %% [markdown]
# No line separates them, wherever you put it. Similarity says *what* a sentence is about; support asks what it *says*.

# %% broken

# %% [markdown]
# A model of entailment is made for this question: it was trained to tell "follows" from "contradicts". Ours is a script, and has one weakness that real
# ones share. Look at the last column:

# %%
show_table(
    [
        {"claim": pair.claim, "true": "yes" if pair.true else "NO", "the entailment model": pair.says}
        for pair in PAIRS
        if pair.kind in ("opposite", "number changed", "numbers swapped", "other units")
    ]
)

# %% exercise

# %% closing

# %% lab: invented_quotes

# %% [markdown]
# ### The symptom
#
# The support judge of the revise graph must give evidence: quotes, word for word. Here is a request, and what stands
# below its answer.

# %%
from cookbook.labs.kit import bill

done = invented_quotes.ask()
print(f"{done.state['status'].upper()}: {done.state['draft']}")
print(f"support: {done.state['support']}, with the evidence")
for quote in done.state["evidence"]:
    print(f"  “{quote}”")
assert done.calls == 9
print(bill(done.trace))

# %% [markdown]
# ### Predict before you look
#
# A verdict with evidence looks safer than one without. How many of the two quotes stand in the passages that the judge had before
# it? If one of them does not, where does it come from, and which part of the program would have noticed?
#
# ### The trace
#
# Each quote, looked up in the five passages, and the sentence that shares most words with it:

# %%
from cookbook.show import show_table

show_table(invented_quotes.look_up(done))

# %% [markdown]
# One stands, the other has 90 where the handbook has 30: made to fit the answer that it was to prove. Nothing in the program looked:

# %% broken: cookbook.published.revise.check_support

# %% [markdown]
# The quotes go into the state, from there to the reader, and nobody on the way has both quote and passage in hand, except this node.
# To look is one line of Python and no call to any model.

# %% exercise

# %% closing
