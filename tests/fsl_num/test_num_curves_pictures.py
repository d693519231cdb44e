"""Pictures of curves and fits."""

import pytest
from curves_runs import NOISY

from fsl_num.curves.fit import fit
from fsl_num.curves.pictures import draw_curve


def test_a_fit_is_drawn():
    pytest.importorskip("matplotlib")
    above, below = fit(NOISY, "momentum", starts=1, intervals=False).plot()
    assert above.get_ylabel() == "loss"
    assert len(below.lines) == 4  # three curves and the line at 0


def test_a_curve_is_drawn_with_its_rates():
    pytest.importorskip("matplotlib")
    axes = draw_curve(NOISY[0])
    assert len(axes.lines[0].get_xdata()) == len(NOISY[0])
