"""Printed minus signs become those of the keyboard; nothing else changes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.minus import with_plain_minus

PRINTED = ["HYPHEN", "NON-BREAKING HYPHEN", "FIGURE DASH", "EN DASH", "EM DASH", "MINUS SIGN"]


@pytest.mark.parametrize("name", PRINTED)
def test_each_printed_sign_becomes_that_of_the_keyboard(name):
    assert with_plain_minus(f"1e{unicodedata.lookup(name)}3") == "1e-3"


@given(st.text(st.characters(exclude_characters=[unicodedata.lookup(name) for name in PRINTED])))
def test_all_else_stays(text):
    assert with_plain_minus(text) == text
