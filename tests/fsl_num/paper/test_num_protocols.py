"""What the claims about the protocols of the experiments rest on."""

import math

import numpy as np
import pytest

from fsl_num.claims.claim import Sample
from fsl_num.claims.registry import theorem_files
from fsl_num.experiments.final_loss import PEAK
from fsl_num.experiments.loss_dynamics import GRID
from fsl_num.paper.experiments.final_losses import peak_rate, wsd_over_cosine
from fsl_num.paper.experiments.kernel_regression_fits import SHOWN, average, fits, grid_points
from fsl_num.paper.experiments.shared import POINT
from fsl_sym.domain import REGIMES

CLAIMS = [claim for file, claims in theorem_files().items() if ".experiments." in file for claim in claims]


def test_every_point_of_the_grid_is_checked_in_one_regime():
    found = [point for regime in REGIMES for point in grid_points(Sample(regime.name, 1, 2, 1))]
    assert sorted(found) == sorted((POINT, *GRID))
    assert grid_points(Sample("edge", 1, 2, 1)) == ((0.5, 2.0),)
    assert grid_points(Sample("hard", 1, 2, 0)) == (POINT,)


def test_the_peak_rates_are_those_of_the_appendix():
    assert peak_rate("wsd", 1e6) == PEAK == 0.05
    assert math.isclose(peak_rate("constant", 1e6), 0.05 * 1e-2)


def test_the_average_is_the_same_for_the_same_seed():
    first = dict(average(1).values)
    average.cache_clear()
    assert dict(average(1).values) == first != dict(average(2).values)


def test_the_ratio_of_wsd_to_cosine_grows_with_the_peak():
    numbers = dict(wsd_over_cosine(0.01, 0.05).values)
    assert numbers["peak 0.01: E_wsd over E_cosine"] < 1.0 < numbers["peak 0.05: E_wsd over E_cosine"]
    # both beginnings of the last fifth: WSD still has its peak rate there
    assert min(value for name, value in numbers.items() if name.endswith("before the decay")) > 1.5


def test_no_number_of_a_fit_is_missing():
    numbers = dict(fits(Sample("edge", 1, 2, 1)).values)
    assert len(numbers) == len(SHOWN) * (2 * 5 + 2) and np.isfinite(list(numbers.values())).all()
    for form in ("printed", "modes"):
        worst, mean = (
            [value for name, value in numbers.items() if name.endswith(f"{form}: {kind} error")]
            for kind in ("worst", "mean")
        )
        assert len(worst) == 3 and all(high > low > 0 for high, low in zip(worst, mean, strict=True))


@pytest.mark.parametrize(
    "claim",
    [claim for file, claims in theorem_files().items() if ".experiments." in file for claim in claims],
    ids=lambda claim: claim.id,
)
def test_a_claim_names_its_line(claim):
    assert 1072 <= claim.line <= 1440 and claim.wording and claim.formula
