"""The loops as they were published, faults included: where labs start and where figures are measured.

Nothing but ``cookbook/labs``, the figures, their tests and the notebooks about them imports this package. The
mended systems are in ``cookbook/systems``.
"""
