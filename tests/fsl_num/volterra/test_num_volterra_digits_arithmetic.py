"""Matrices at many digits in both libraries."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.digits.arithmetic import arithmetic

MP = private_context(40)


@pytest.mark.parametrize("name", ["flint", "mpmath"])
def test_matrices_of_both_libraries(name: str) -> None:
    if name == "flint":
        pytest.importorskip("flint")
    kind = arithmetic(MP, name)
    assert kind.name == name
    with kind.working():
        rows = [[MP.mpf(2), MP.mpf(1)], [MP.mpf(1), MP.mpf(3)]]
        matrix = kind.real(rows)
        solved = kind.solve(matrix, kind.real([[MP.mpf(1)], [MP.mpf(2)]]))
        inverse = kind.inverse(matrix)
        turned = kind.real_part(kind.complex([[MP.mpc(1, 2)]]) * kind.complex([[MP.mpc(3, 4)]]))
        third = kind.number(MP.mpf(1) / 3)
        trimmed = kind.trim(matrix)
        found = [kind.back(x) for x in (solved[0, 0], solved[1, 0], inverse[0, 1], inverse[1, 1], turned[0, 0], third)]
        assert kind.back(trimmed[1, 1]) == 3
    for value, exact in zip(found, (0.2, 0.6, -0.2, 0.4, -5.0, 1.0 / 3.0), strict=True):
        assert abs(float(value) - exact) < 1e-15
    assert abs(found[0] * 5 - 1) < MP.mpf(10) ** -37 and abs(found[5] * 3 - 1) < MP.mpf(10) ** -37
    with pytest.raises(FrozenInstanceError):
        kind.name = "other"  # type: ignore[misc]


def test_without_a_name_the_faster_library_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    pytest.importorskip("flint")
    assert arithmetic(MP).name == "flint"
    monkeypatch.setitem(sys.modules, "flint", None)
    assert arithmetic(MP).name == "mpmath"
    with pytest.raises(ImportError):
        arithmetic(MP, "flint")
