"""Verdicts follow from the evidence about a claim, the gravest first, then from what the claim rests on."""

from dataclasses import fields
from itertools import combinations

import pytest

from fsl_num.claims import registry
from fsl_num.claims.records import Outcome, Verdict
from fsl_num.claims.runner import settle
from fsl_num.claims.verdict import STRENGTH, Evidence, verdict_of

TEXTS = [field.name for field in fields(Evidence) if field.name not in ("unproved", "rigorous")]
"""What counts against a claim or its check, the gravest first."""


@pytest.mark.parametrize("others", [{}, {"rigorous": True}])
def test_of_two_objections_the_graver_decides(others):
    alone = {name: verdict_of(Evidence(**{name: name}, **others)) for name in TEXTS}
    assert all(not verdict.passes and reason == name for name, (verdict, reason) in alone.items())
    for graver, lesser in combinations(TEXTS, 2):
        assert verdict_of(Evidence(**{graver: graver, lesser: lesser}, **others)) == alone[graver]


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "unvaried"])
def test_a_proof_outweighs_no_objection_but_that_a_letter_does_not_vary(name):
    assert not verdict_of(Evidence(**{name: "why"}, unproved=""))[0].passes
    assert verdict_of(Evidence(unvaried="why", unproved="")) == (Verdict.PROVED, "")


def settled(**verdicts):
    """What three claims of the paper come to, the first resting on the second, which the third corrects, where each by
    itself came out as said."""
    ids = dict(zip(("strong", "weak", "right"), CHAIN, strict=True))
    alone = {
        ids[name]: Outcome(
            ids[name], "", verdict, verdict in STRENGTH, (), (), 0.0,
            corrected_by=registry.claim(ids[name]).corrected_by,
        )
        for name, verdict in verdicts.items()
    }  # fmt: skip
    return [settle(alone)[ids[name]] for name in verdicts]


CHAIN = ("thm: fsl-random", "prop:volterra-random", "prop:volterra-random/corrected")


def test_the_chain_is_one():
    strong, weak, right = map(registry.claim, CHAIN)
    assert weak.id in strong.depends and weak.corrected_by == right.id not in strong.depends


@pytest.mark.parametrize(("right", "passes"), [(Verdict.SUPPORTED, True), (Verdict.REFUTED, False)])
def test_a_refuted_claim_passes_with_its_correction_only(right, passes):
    found = settled(weak=Verdict.REFUTED, right=right)
    assert [(outcome.verdict, outcome.passes) for outcome in found] == [(Verdict.REFUTED, passes), (right, passes)]
    assert not settled(weak=Verdict.REFUTED)[0].passes


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"weak": Verdict.SUPPORTED}, (Verdict.SUPPORTED, f"PROVED under {CHAIN[1]}, on which it depends and which")),
        ({"weak": Verdict.REFUTED}, (Verdict.UNKNOWN, f"it depends on {CHAIN[1]}, which is REFUTED")),
        ({"weak": Verdict.REFUTED, "right": Verdict.SUPPORTED}, (Verdict.SUPPORTED, f"PROVED under {CHAIN[2]}")),
        ({"weak": Verdict.REFUTED, "right": Verdict.REFUTED}, (Verdict.UNKNOWN, f"it depends on {CHAIN[1]}")),
        ({"weak": Verdict.PROVED}, (Verdict.PROVED, "")),
        ({}, (Verdict.PROVED, "")),
    ],
)
def test_a_claim_is_as_strong_as_what_it_depends_on(others, expected):
    outcome = settled(strong=Verdict.PROVED, **others)[0]
    assert (outcome.verdict, outcome.passes) == (expected[0], expected[0] is not Verdict.UNKNOWN)
    assert outcome.message.startswith(expected[1])
