"""What the symbols promise to the simplifier."""

from __future__ import annotations

import pytest
from sympy import Symbol

from fsl_sym import symbols
from fsl_sym.symbols import MEANINGS

MAY_VANISH = {"tau", "sigma"}
WHOLE = {"j"}


@pytest.mark.parametrize("symbol", MEANINGS, ids=str)
def test_every_symbol_is_positive_but_those_that_may_be_zero(symbol):
    assert symbol.is_nonnegative is True
    assert symbol.is_positive is (None if symbol.name in MAY_VANISH else True)
    assert symbol.is_integer is (True if symbol.name in WHOLE else None)


def test_every_symbol_has_a_meaning_and_a_name_of_its_own():
    ours = [value for value in vars(symbols).values() if isinstance(value, Symbol)]
    assert set(ours) == set(MEANINGS)
    assert len({symbol.name for symbol in ours}) == len(ours)
