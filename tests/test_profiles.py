"""The hypothesis profiles: which is chosen, and that the one of CI draws the same examples every time."""

import os

import pytest
from conftest import chosen_profile
from hypothesis import settings


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "dev"),
        ({"CI": "true"}, "ci"),
        ({"CI": ""}, "dev"),
        ({"HYPOTHESIS_PROFILE": "nightly"}, "nightly"),
        ({"HYPOTHESIS_PROFILE": "dev", "CI": "true"}, "dev"),
    ],
)
def test_the_environment_chooses_the_profile(environment, name):
    assert chosen_profile(environment) == name


def test_the_profiles_are_what_their_names_say():
    dev, ci, nightly = (settings.get_profile(name) for name in ("dev", "ci", "nightly"))
    assert (dev.derandomize, ci.derandomize, nightly.derandomize) == (False, True, False)
    assert ci.database is None
    assert nightly.max_examples > 10 * dev.max_examples
    assert {profile.deadline for profile in (dev, ci, nightly)} == {None}


def test_the_profile_in_force_is_the_chosen_one():
    assert settings().derandomize == settings.get_profile(chosen_profile(os.environ)).derandomize
