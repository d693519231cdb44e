"""Predictions and their intervals."""

import numpy as np
import pytest
from curves_runs import NOISY, PEAK, noisy_fit, run

from fsl_num.curves.predict import predict
from fsl_num.schedules import schedule


def test_intervals_cover_what_was_not_fitted():
    found = noisy_fit()
    shares = [found.predict(run(kind, noise=5e-4, seed=9)).score(run(kind, noise=5e-4, seed=9)).coverage
              for kind in ("wsd", "cosine", "drop")]  # fmt: skip
    # nominal 90 % of rows whose noise is shared by five neighbours: a wide margin on either side, and not all wide
    assert 0.7 <= np.mean(shares) <= 1.0
    wide = found.predict(run("wsd"), level=0.9)
    narrow = found.predict(run("wsd"), level=0.5)
    assert (narrow.upper < wide.upper).all() and (narrow.lower > wide.lower).all()
    far = found.predict(run("wsd", size=4500))
    assert far.beyond > 2.5
    assert (far.upper / far.loss)[-1] > (wide.upper / wide.loss)[-1]
    assert np.median(wide.upper / wide.loss - 1) < 0.01
    with pytest.raises(ValueError, match="other steps"):
        wide.score(NOISY[0].thinned(3))


def test_any_schedule_is_predicted():
    found = noisy_fit("momentum", intervals=False)
    plan = schedule("linear", peak=PEAK, steps=1000)
    whole = predict(found, plan, None)
    assert whole.step.tolist() == list(range(1, 1001))
    assert whole.final == whole.loss[-1]
    last = found.predict(plan.learning_rate(np.arange(1000.0)), None, recorded=[1000])
    assert last.final == pytest.approx(whole.final, rel=1e-12)
    assert last.as_rows() == [{"step": 1000, "loss": last.final}]


def test_what_a_prediction_does_not_take_is_refused_by_its_name():
    with pytest.raises(TypeError, match="no option 'peak' of a prediction; there are recorded, warmup, model_size"):
        noisy_fit().predict([0.1] * 900, peak=0.1)
