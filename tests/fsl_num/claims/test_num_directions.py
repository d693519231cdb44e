"""What a check resolves: exponents that are wrong together, sharp constants, numbers and ranges."""

import math

import numpy as np
import pytest

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Verdict
from fsl_num.claims.statements import Equivalent, Joint, Ray, Sharp
from fsl_num.claims.verification import verify
from fsl_num.paper.functional.law_below_risk import NotBelow, Quotient
from fsl_num.paper.model.statements import Bracket, FailureRate, Operator, Trend
from fsl_num.paper.model.tables import Interval, Table
from fsl_num.paper.random_features.statements import FINITE_SIZE, DrawnRay, OverDraws, Within
from fsl_num.paper.statements import Between, Ranges

U = np.linspace(0.0, 10.0, 5)
SIZES = (8, 16, 32, 64)
DRAWN = DrawnRay(
    "M", SIZES, tuple(np.full(3, math.log(size)) for size in SIZES), {"M": tuple(math.log(size) for size in SIZES)}
)
"""A quantity that is M, without any spread."""


def two_letters(*shares):
    """A claim that a quantity is u v, measured on rays along which log v is a share of log u."""
    scale = np.linspace(1.0, 100.0, 20)

    def product(powers, logs):
        return powers["u"] * logs["u"] + powers["v"] * logs["v"]

    def measure(sample):
        return [Ray(f"v = u^{share}", scale, {"u": scale, "v": share * scale}, (1.0 + share) * scale)
                for share in shares]  # fmt: skip

    return Claim(
        "made-up", "made-up", 1, "a title", "x", ("s > 0, beta > 1",), measure,
        lambda sample: Equivalent(product, {"u": 1.0, "v": 1.0}), role="own",
    )  # fmt: skip


def test_exponents_that_are_wrong_together_count():
    """Along u = v alone each exponent is resolved, but not their difference: the claim is not supported."""
    blind = verify(two_letters(1.0))
    assert blind.verdict is Verdict.VACUOUS and "least resolved exponents together" in blind.message
    assert {regime.combinations for regime in blind.regimes} == {(1, 2)}
    assert blind.resolution["power"] < 0.02 and blind.resolution["combination"] >= 4.0
    nearly = verify(two_letters(1.0, 0.6))
    assert nearly.verdict is Verdict.SUPPORTED
    assert {regime.combinations for regime in nearly.regimes} == {(2, 2)}
    # one exponent up, the other down drift by at most 0.25 a unit, where u alone drifts by 1
    assert 2 * nearly.resolution["power"] < nearly.resolution["combination"] < 0.05


@pytest.mark.parametrize("part", ["alone", "in a part"])
def test_the_resolution_of_a_sharp_constant_is_its_remainder(part):
    sharp = Sharp(lambda point: float(point), lambda point: 1e-3 / point)
    measured, statement = [(1, 1.0), (4, 4.0)], sharp
    if part == "in a part":
        measured, statement = {"one": measured, "two": [(2, 2.0)]}, Joint({"one": sharp, "two": sharp})
    made = Claim(
        "made-up", "made-up", 1, "a title", "x", ("s > 0, beta > 1",), lambda sample: measured,
        lambda sample: statement, role="own",
    )  # fmt: skip
    worst = 1e-3 / 4 if part == "alone" else 1e-3 / 2  # the part of which less is known
    assert verify(made).resolution == {"constant": pytest.approx(worst, rel=0.02)}


# ---- numbers and ranges ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "measured", "kind", "least"),
    [
        (Table({"x": [1.0, -2.0]}, 1e-3), {"x": [1.0, -2.0]}, "constant", 1e-3),
        (Interval(0.0, 2.0, 1e-3, attained=False), [0.1, 1.9], "bound", 0.05 + 5e-4),
        (Ranges({"x": (0.0, 2.0)}), [("x", 0.2), ("x", 1.9)], "bound", 0.1),
        (Ranges({"x": (-math.inf, 2.0)}), [("x", 1.5)], "bound", 0.25),
        (Between({"x": (1.0, 2.0)}, 1e-3), [("x", "", 1.1), ("x", "", 1.9)], "bound", 0.1011),
        (Within(-math.inf, 1.0), [("x", 0.9), ("y", 0.0)], "bound", 0.1),
        (FailureRate(0.01), [(100, 0, 1000)], "bound", math.log(1000.0 / 7.6) - 1.0),
        (NotBelow(1.0), (Quotient("", 1.25, 1.5, True),), "bound", 0.25),
        (Trend(1.0, 0.2, "upper"), Ray("M", U, {}, 0.9 * U), "power", 0.3),
        (Bracket(1.0, 2.0), [Operator(np.diag([1.0, 2.0]), np.eye(2), 1.0)], "bound", 5e-10),
        (OverDraws(lambda powers, logs: logs["M"], {}), [DRAWN], "power", FINITE_SIZE),
    ],
    ids=lambda statement: type(statement).__name__,
)  # fmt: skip
def test_what_has_no_exponents_is_resolved_by_its_numbers(statement, measured, kind, least):
    """The smallest error refused, and half of it is not; Joint passes on what its parts say."""
    whole = Joint({"part": statement})
    assert whole.judge({"part": measured}).holds
    for size, refused in ((1.02 * least, True), (0.5 * least, False)):
        versions = whole.neighbours(kind, size)
        judged = [version.judge({"part": measured}).holds for version in versions]
        assert versions and (not any(judged) if refused else any(judged)), (size, judged)
    kinds = {"power", "log_power", "constant", "bound"} - {kind}
    assert [neighbour for kind_kept in kinds for neighbour in whole.neighbours(kind_kept, 0.1)] == []
