"""What a check resolves: exponents that are wrong together, and sharp constants."""

import numpy as np
import pytest

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Verdict
from fsl_num.claims.statements import Equivalent, Joint, Ray, Sharp
from fsl_num.claims.verification import verify


def two_letters(*shares):
    """A claim that a quantity is u v, measured on rays along which log v is a share of log u."""
    scale = np.linspace(1.0, 100.0, 20)

    def product(powers, logs):
        return powers["u"] * logs["u"] + powers["v"] * logs["v"]

    def measure(sample):
        return [Ray(f"v = u^{share}", scale, {"u": scale, "v": share * scale}, (1.0 + share) * scale)
                for share in shares]  # fmt: skip

    return Claim(
        "made-up", "made-up", 1, "a title", "a text", "x", ("s > 0, beta > 1",), measure,
        lambda sample: Equivalent(product, {"u": 1.0, "v": 1.0}), role="own",
    )  # fmt: skip


def test_exponents_that_are_wrong_together_count():
    """Along u = v alone each exponent is resolved, but not their difference: the claim is not supported."""
    blind = verify(two_letters(1.0))
    assert blind.verdict is Verdict.VACUOUS and "least resolved exponents together" in blind.message
    assert {each.combinations for each in blind.regimes} == {(1, 2)}
    assert blind.resolution["power"] < 0.02 and blind.resolution["combination"] >= 4.0
    nearly = verify(two_letters(1.0, 0.6))
    assert nearly.verdict is Verdict.SUPPORTED
    assert {each.combinations for each in nearly.regimes} == {(2, 2)}
    # one exponent up, the other down drift by at most 0.25 a unit, where u alone drifts by 1
    assert 2 * nearly.resolution["power"] < nearly.resolution["combination"] < 0.05


@pytest.mark.parametrize("part", ["alone", "in a part"])
def test_the_resolution_of_a_sharp_constant_is_its_remainder(part):
    sharp = Sharp(lambda point: float(point), lambda point: 1e-3 / point)
    measured, statement = [(1, 1.0), (4, 4.0)], sharp
    if part == "in a part":
        measured, statement = {"one": measured, "two": [(2, 2.0)]}, Joint({"one": sharp, "two": sharp})
    made = Claim(
        "made-up", "made-up", 1, "a title", "a text", "x", ("s > 0, beta > 1",), lambda sample: measured,
        lambda sample: statement, role="own",
    )  # fmt: skip
    worst = 1e-3 / 4 if part == "alone" else 1e-3 / 2  # the part of which less is known
    assert verify(made).resolution == {"constant": pytest.approx(worst, rel=0.02)}
