"""What a lab is written with: its facts, its verdicts, the guard around its check, its runs and their bill."""

from cookbook.labs.kit.guarding import guard
from cookbook.labs.kit.lab import Lab
from cookbook.labs.kit.price import Bill, bill
from cookbook.labs.kit.running import counts_outside, supersteps, times, unfit
from cookbook.labs.kit.verdict import LabVerdict, failed, passed

__all__ = [
    "Bill",
    "Lab",
    "LabVerdict",
    "bill",
    "counts_outside",
    "failed",
    "guard",
    "passed",
    "supersteps",
    "times",
    "unfit",
]
