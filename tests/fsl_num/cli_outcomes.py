"""Outcomes of claims that nothing was measured for, and what stands in for verifying."""

from fsl_num.claims.records import MutantOutcome, Outcome, RegimeOutcome, Verdict
from fsl_num.claims.registry import all_claims

ONE, TWO = "approximation-error", "thm: wsd"


def record(claim_id, verdict=Verdict.SUPPORTED, passes=True, refuted=True):
    mutants = (MutantOutcome("exponent + 0.05", refuted), MutantOutcome("log power + 0.25", True))
    regime = RegimeOutcome("easy", 5, passes, (0.5, 1.5), 0.01, mutants, {"power": 0.02})
    return Outcome(claim_id, "A title", verdict, passes, (regime,), (), 1.25, message="it was measured")


class Run:
    """Replaces the work of verifying: ``outcome`` is what it finds, ``asked`` what it was asked for."""

    def __init__(self, monkeypatch):
        self.outcome, self.asked = {claim.id: record(claim.id) for claim in all_claims()}, []
        monkeypatch.setattr("fsl_num.claims.runner.verify_all", self.verify_all)

    def verify_all(self, ids, *, progress=None, cache=None, **options):
        self.asked.append({"ids": tuple(ids), **options})
        return tuple(self.outcome[claim_id] for claim_id in ids if claim_id in self.outcome)
