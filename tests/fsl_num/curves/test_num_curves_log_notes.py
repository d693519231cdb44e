"""What is said of the loss and the rate that were taken from a log."""

import numpy as np
import pytest

from fsl_num.curves.curve import CurveError
from fsl_num.curves.logs import curve_from

STEPS = np.arange(1, 40)
RATE = 1e-3 * np.minimum(1.0, (40 - STEPS) / 8)
RUN = {"step": STEPS, "loss": 2.0 + 1.0 / STEPS}


def notes(**columns):
    return " ".join(curve_from(RUN | columns).notes)


def test_of_groups_of_rates_the_one_that_was_taken_is_named_with_the_share_of_each_other():
    said = notes(**{"lr/pg1": RATE, "lr/pg2": 0.1 * RATE, "lr/pg3": RATE})
    assert "the rate is 'lr/pg1'; that of 'lr/pg2' is 0.1 of it: peaks are meant in its unit" in said
    assert "pg3" not in said  # the same in both
    many = notes(**{f"lr/pg{number}": RATE / number for number in range(1, 7)})
    assert "'lr/pg4' is 0.25 of it and 2 more" in many
    assert "peaks are meant" not in notes(lr=RATE)


@pytest.mark.parametrize(
    ("name", "scale", "words"),
    [("lrm", 1e3, "is a multiplier"), ("lr", 1e6, "in units of its own"), ("lr", 1.0, "")],
)
def test_the_unit_of_a_rate_is_said(name, scale, words):
    said = notes(**{name: scale * RATE})
    assert words in said and bool(words) is ("predict" in said)


def test_other_losses_and_noise_scales_are_named():
    said = notes(**{"lr": RATE, "val/loss": RUN["loss"] + 0.1, "gradient_noise_scale": STEPS * 1.0})
    assert "the loss is 'val/loss', of validation, 39 rows; there too: 'loss'" in said
    assert "the noise scale 'gradient_noise_scale' is not used" in said


def test_a_table_of_several_runs_says_how_to_give_one():
    """What reads files is no remedy for what is in memory."""
    both = {name: np.tile(column, 2) for name, column in (RUN | {"lr": RATE}).items()}
    table = both | {"run": np.repeat(["a", "b"], len(STEPS))}
    with pytest.raises(CurveError, match=r"the table holds 2 runs \(table: a, table: b\); give the rows of one alone"):
        curve_from(table)
