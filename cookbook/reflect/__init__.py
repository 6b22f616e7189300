"""The four decisions of self-reflective retrieval, and the steps that act on them.

One module per decision (gate, relevance, support, usefulness; ``one_check`` is the last two at once) and per
action (generate, revise, rewrite, refuse), each a narrow protocol with one or more judges behind it; systems
are built from these alone. What judges share: ``binary`` for one yes or no, ``calibrate`` from scores to
probabilities, ``encoders`` and ``entailment`` for models that read two texts, ``claims``, ``numbers``,
``quotes`` and ``terms`` for what code can check by itself. ``gold`` are stand-ins that know the answers.
"""
