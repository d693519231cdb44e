"""Files that hold no text of a log: too large, or not there."""

import pytest

from fsl_num.curves.curve import CurveError
from fsl_num.curves.decoded import LARGEST
from fsl_num.curves.reading import read_curve


def test_a_file_beyond_the_limit_is_refused_before_it_is_read_on(tmp_path):
    with open(tmp_path / "run.csv", "wb") as sparse:
        sparse.truncate(LARGEST + 1)
    with pytest.raises(CurveError, match="MiB"):
        read_curve(tmp_path / "run.csv")


def test_a_link_to_nothing_is_said_to_be_one(tmp_path):
    (tmp_path / "gone.csv").symlink_to("moved.csv")
    with pytest.raises(CurveError, match=r"gone.csv is a link to moved.csv, and there is no such file$"):
        read_curve(tmp_path / "gone.csv")
