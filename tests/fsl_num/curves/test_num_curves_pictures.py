"""Pictures of curves and fits."""

import pytest
from curves_runs import NOISY, noisy_fit

from fsl_num.curves.compare import compare
from fsl_num.curves.pictures import draw_curve
from fsl_num.results import axes_to_draw_on


def test_a_fit_is_drawn():
    pytest.importorskip("matplotlib")
    found = noisy_fit("momentum", intervals=False)
    above = found.plot()
    assert above.get_ylabel() == "loss"
    assert len(above.figure.axes[1].lines) == 4  # residuals of three curves and the line at 0
    own = axes_to_draw_on()
    assert found.plot(ax=own) is own and own.figure.axes == [own] and own.get_xlabel() == "step"


def test_errors_of_laws_are_numbered_in_plain_decimals_that_do_not_overlap():
    pytest.importorskip("matplotlib")
    axes = compare(NOISY[:1], NOISY[1:], ["momentum", "chinchilla"], starts=1).plot()
    axes.set_xlim(0.013, 0.8)
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels(which="both") if label.get_text()]
    boxes = sorted((box for box in boxes if box.width), key=lambda box: box.x0)
    assert len(boxes) > 3 and all(one.x1 < other.x0 for one, other in zip(boxes, boxes[1:], strict=False))


def test_a_curve_is_drawn_with_its_rates():
    pytest.importorskip("matplotlib")
    axes = draw_curve(NOISY[0])
    assert len(axes.lines[0].get_xdata()) == len(NOISY[0])
