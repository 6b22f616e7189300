"""The four decisions of self-reflective retrieval, and the steps that act on them.

One file per decision (gate, relevance, support, usefulness) and per action (generate, rewrite,
refuse), each a narrow protocol with an LLM behind it; systems are built from these alone. ``binary``,
``terms`` and ``calibrate`` are what several of them share. ``tokens`` reads the same decisions out of a
model that was trained to write them.
"""
