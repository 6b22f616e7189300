"""Pairs of questions that look alike: half of them ask the same, half of them ask something else.

What a semantic cache must tell apart, and what an embedder hardly does. Hand-made, English, short. The
opposites differ in one word or in the order of words; the paraphrases are what people really type twice.
"""

from __future__ import annotations

OPPOSITE = (
    ("How do I turn on dark mode?", "How do I turn off dark mode?"),
    ("How do I enable two-step sign-in?", "How do I disable two-step sign-in?"),
    ("What changed before 2019?", "What changed after 2019?"),
    ("Can I travel with insulin?", "Can I travel without insulin?"),
    ("What is the weather in Paris?", "What is the weather in London?"),
    ("What was the revenue in 2023?", "What was the revenue in 2024?"),
    ("When was it that Acme acquired Bolt?", "When was it that Bolt acquired Acme?"),
    ("Has acme acquired bolt?", "Has bolt acquired acme?"),
    ("Was Acme acquired by Bolt?", "Has Acme acquired Bolt?"),
    ("Can I export my data after I cancel my plan?", "Can I export my data before I cancel my plan?"),
    ("Can I export my data after I cancel my plan?", "Can I cancel my plan after I export my data?"),
    ("How long can a deleted task be restored?", "How long can a deleted project be restored?"),
    ("What does LK-504 mean?", "What does LK-503 mean?"),
    ("How many guests may a Starter workspace have?", "How many guests may a Studio workspace have?"),
    ("Who is allowed to export anything?", "Who is not allowed to export anything?"),
    ("How do I add a seat?", "How do I remove a seat?"),
    ("Can I move from Starter to Studio?", "Can I move from Studio to Starter?"),
    ("Can I move to Starter from Studio?", "Can I move from Starter to Studio?"),
    ("What is the largest attachment?", "What is the smallest attachment?"),
    ("When does an invitation of a guest expire?", "When does an invitation of a member expire?"),
    (
        "Is the workspace token valid longer than the personal token?",
        "Is the personal token valid longer than the workspace token?",
    ),
    ("Which kinds of notification can I switch off?", "Which kinds of notification can I not switch off?"),
    ("When can I export my data?", "Where can I export my data?"),
    ("Can I see my invoices?", "Can I see her invoices?"),
    ("Does the audit log show who has read a task?", "Does the audit log show who has edited a task?"),
    ("Is this on Starter and Studio?", "Is this on Starter or Studio?"),
)

SAME = (
    ("Can I export my data after I cancel my plan?", "After I cancel my plan, can I export my data?"),
    ("Can I export my data after I cancel my plan?", "Could I export my data after cancelling my plan?"),
    (
        "Can I export my data after I cancel my plan?",
        "Can I still export our data once the plan is cancelled?",
    ),
    ("How do I turn on dark mode?", "How can I turn dark mode on?"),
    ("How do I turn on dark mode?", "How do I switch on dark mode?"),
    ("What does LK-504 mean?", "What is the meaning of LK-504?"),
    ("What does LK-504 mean?", "what does lk-504 mean"),
    ("How many guests may a Starter workspace have?", "How many guests can a Starter workspace have?"),
    (
        "How many guests may a Starter workspace have?",
        "What is the number of guests allowed in a Starter workspace?",
    ),
    ("Who is not allowed to export anything?", "Who isn't allowed to export anything?"),
    ("How long can a deleted task be restored?", "For how long can deleted tasks be restored?"),
    ("How do I add a seat?", "How can I add seats?"),
    ("How do I invite a member?", "How do I invite members?"),
    ("How do I invite a member?", "How can I invite a new member?"),
    ("When does an invitation of a guest expire?", "When do invitations of guests expire?"),
    ("How do I hand over ownership of a workspace?", "How do I transfer ownership of a workspace?"),
    (
        "For how long can a deleted workspace be recovered?",
        "How long can a deleted workspace be recovered?",
    ),
    ("Can guests use the API?", "Are guests able to use the API?"),
    ("Is there a discount for charities and schools?", "Is there a discount for schools and charities?"),
    (
        "Which header tells me how long to wait after LK-429?",
        "After LK-429, which header tells me how long to wait?",
    ),
    ("How many rows may a spreadsheet have?", "How many rows can a spreadsheet have?"),
    ("Where do I find the audit log?", "Where can I find the audit log?"),
    ("Where do I find the audit log?", "Where is the audit log?"),
    ("How do I cancel my plan?", "How do I cancel my subscription?"),
    ("How do I cancel my plan?", "How can I cancel my plan?"),
    ("What happens if a payment fails?", "If a payment fails, what happens?"),
)
