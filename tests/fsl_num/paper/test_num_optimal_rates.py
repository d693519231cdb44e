"""The best schedule in the theory: claimed allocations are those of the exponent engine, near the edge too."""

import pytest
from sympy import simplify

from fsl_num.claims.registry import claim
from fsl_num.claims.verification import verify_at
from fsl_num.design.exponents import optimal_exponents
from fsl_num.paper.scaling_laws.optimal_rates import COMPUTE_EASY, COMPUTE_HARD, DATA_EASY, DATA_HARD
from fsl_sym.domain import EASY, HARD
from fsl_sym.optimal_rates import DECAY, LAWS, best_choices, least_orders
from fsl_sym.symbols import C, D, M, T, beta, s

CLAIMED = {("data", "easy"): DATA_EASY, ("data", "hard"): DATA_HARD,
           ("compute", "easy"): COMPUTE_EASY, ("compute", "hard"): COMPUTE_HARD}  # fmt: skip
GROWN = {"data": D, "compute": C}
REGIMES = {"easy": EASY, "hard": HARD}


def power_of(order, grown):
    return simplify(grown * order.diff(grown) / order)


@pytest.mark.parametrize(("budget", "regime"), CLAIMED)
def test_claimed_orders_are_the_ones_derived(budget, regime):
    claimed, grown = CLAIMED[budget, regime], GROWN[budget]
    powers = {name: power_of(formula.right, grown) for name, formula in claimed.items()}
    choices = best_choices(LAWS[budget], REGIMES[regime])
    losses = {derivation.conclusion.where: derivation.conclusion.right for derivation in least_orders(budget)}
    # Beyond M^beta more time changes the law by constants alone: the designs are at the lower end.
    derived = {"loss": power_of(losses[REGIMES[regime].condition], grown), "horizon": choices[T].lower.power}
    data = choices[D].power if budget == "compute" else 1
    if budget == "compute":
        derived["size"] = choices[M].power
    if regime == "easy":
        derived["peak"] = derived["horizon"] - data  # 2 beta T/D
        if budget == "compute":
            derived["samples"] = data
    else:
        left = best_choices(DECAY, HARD)[next(iter(DECAY[1]))].power
        derived["decay"] = data * (left - 1)
    if "end" in powers:  # the rate is in proportion to 1/sqrt(K), from T or from R on
        start = (0, left) if regime == "hard" else (derived["peak"], derived["horizon"])
        derived["end"] = start[0] - start[1] * (1 - 1 / (2 * beta))
    assert set(derived) == set(powers)
    assert {name: simplify(derived[name] - power) for name, power in powers.items()} == dict.fromkeys(powers, 0)


@pytest.mark.parametrize(("budget", "regime"), CLAIMED)
def test_the_planners_exponents_are_the_claimed_ones(budget, regime):
    names = {"loss": "excess_risk", "horizon": "horizon", "peak": "peak_gamma", "decay": "decay_share",
             "size": "model_size"}  # fmt: skip
    point = {s: 1.25, beta: 2.0} if regime == "easy" else {s: 0.25, beta: 3.0}
    found = optimal_exponents(point[s], point[beta], budget)
    for name, formula in CLAIMED[budget, regime].items():
        if name in names:
            claimed = float(power_of(formula.right, GROWN[budget]).subs(point))
            assert found[names[name]] == pytest.approx(claimed, abs=1e-12), name


@pytest.mark.parametrize("name", ["compute", "compute-hard", "data-hard", "decay", "constants-hard"])
@pytest.mark.parametrize("point", [("10/17", "7/2"), ("59/852", "71/12")])
def test_designs_are_settled_near_the_edge_and_far_from_it(name, point):
    checked = verify_at(claim(f"optimal-schedule/{name}"), *point)
    assert checked.holds
    assert all(mutant.refuted for mutant in checked.mutants)


@pytest.mark.parametrize("claim_id", ["optimal-schedule/shape", "optimal-schedule/constants-easy"])
def test_constants_have_values_where_those_of_the_spectrum_are_known_exactly(claim_id):
    """Powers of products of exact and of rounded numbers had no end in sympy."""
    assert verify_at(claim(claim_id), 2, 2).holds
