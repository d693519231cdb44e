"""Cells gathered piece by piece: numbers as arrays, the rest as it stands."""

import numpy as np

from fsl_num.curves.gathered import Gathered


def test_columns_of_numbers_are_arrays_and_mixed_ones_lists():
    found = Gathered(["step", "loss"])
    found.add({0: ["1", "2"], 1: ["3,5", "3.25"]}, [2, 3])
    found.add({0: ["3"], 1: ["2.5"]}, [5])
    table = found.table("run", 2, comma=True)
    assert isinstance(table.columns["step"], np.ndarray) and table.columns["step"].tolist() == [1.0, 2.0, 3.0]
    assert table.columns["loss"] == ["3,5", "3.25", 2.5]
    assert table.rows.tolist() == [2, 3, 5] and table.decimal_comma and table.name == "run"


def test_a_column_that_comes_late_or_stays_away_is_filled():
    found = Gathered([])
    found.add({found.place("a"): [1]}, [1])
    found.add({found.place("b"): [2]}, [2])
    found.add({found.place("a"): [3]}, [3])
    assert found.table("run", 2, comma=False).columns == {"a": [1.0, None, 3.0], "b": [None, 2.0, None]}
    assert found.names == ["a", "b"]


def test_no_rows_at_all():
    table = Gathered(["step"]).table("run", 1, comma=False)
    assert table.columns == {"step": []} and table.rows.size == 0


def test_truth_values_are_no_numbers():
    found = Gathered(["loss"])
    found.add({0: [True, 2.0]}, [1, 2])
    assert found.table("run", 1, comma=False).columns == {"loss": [True, 2.0]}
