"""ISSUP: is the answer supported by the passages it was written from?

``whole`` judges the answer in one token, ``by_claims`` sentence by sentence through an EntailmentJudge,
``evidence`` asks for quotes and looks them up, ``details`` lists what is wrong once another said no; all of
them are a SupportGrader.
"""

from cookbook.reflect.support.base import SupportGrader
from cookbook.reflect.support.by_claims import ClaimSupport
from cookbook.reflect.support.details import DetailedSupport
from cookbook.reflect.support.evidence import EvidenceSupport
from cookbook.reflect.support.whole import GradedSupport, LLMSupport

__all__ = [
    "ClaimSupport",
    "DetailedSupport",
    "EvidenceSupport",
    "GradedSupport",
    "LLMSupport",
    "SupportGrader",
]
