"""The empirical laws, the steps that lead to the ansatz, and the schedules that it calls optimal.

>>> from fsl_num.paper.empirical_laws.claims import CLAIMS
>>> len({each.id for each in CLAIMS}) == len(CLAIMS)
True
"""

from __future__ import annotations

from fsl_num.claims.claim import Claim
from fsl_num.paper.empirical_laws import accuracy, ansatz_claims, law_claims, schedule_claims

CLAIMS: tuple[Claim, ...] = (
    *law_claims.CLAIMS,
    *schedule_claims.CLAIMS,
    *ansatz_claims.CLAIMS,
    *accuracy.CLAIMS,
)
