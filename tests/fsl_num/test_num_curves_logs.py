"""Logs as the frameworks write them: the loss, the rate of every update and the batch size come out as they were."""

import numpy as np
import pytest

from fsl_num import read_curves
from tests.fsl_num.log_shapes import LAST, SHAPES, WARMUP, rate


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_log_of_this_shape_is_read_unaided(shape, tmp_path):
    if shape.__name__ == "wandb_parquet":
        pytest.importorskip("pyarrow")
    said = shape(tmp_path)
    curve = read_curves(said.paths, **said.options)[0]
    half = 10 if "mean" in " ".join(curve.notes) else 0
    assert curve.step.tolist() == (said.steps - half).tolist()
    np.testing.assert_allclose(curve.loss, said.loss(said.steps), rtol=2 * said.digits)
    # the rate between two rows is that of a straight line, which a cosine leaves by its curvature at most
    rates, steps = curve.plan.rates, np.arange(curve.plan.rates.size)
    later = steps >= WARMUP + 100
    bend = 0.45 * (np.pi / (LAST - WARMUP)) ** 2 * 100**2 / 8
    np.testing.assert_allclose(rates[later], said.scale * rate(steps)[later], rtol=0, atol=said.scale * 6e-4 * bend)
    assert said.batch is None or np.median(curve.batch_size) == pytest.approx(said.batch)
