"""The hypothesis profiles: which is chosen, and that the one of CI draws the same examples every time."""

import os
from pathlib import Path

import pytest
from conftest import chosen_profile, examples
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
    assert nightly.max_examples > 10 * ci.max_examples > 10 * dev.max_examples
    assert {profile.deadline for profile in (dev, ci, nightly)} == {None}


def test_the_profile_in_force_is_the_chosen_one():
    assert settings().derandomize == settings.get_profile(chosen_profile(os.environ)).derandomize


@pytest.mark.parametrize(("profile", "more"), [("dev", 1 / 3), ("ci", 1), ("nightly", 2000 / 30)])
def test_every_property_test_tries_more_under_ci_and_by_night(profile, more):
    settings.load_profile(profile)
    try:
        found = [examples(number) for number in (1, 8, 60)]
    finally:
        settings.load_profile(chosen_profile(os.environ))
    assert [trial.max_examples for trial in found] == [max(1, int(number * more)) for number in (1, 8, 60)]
    assert {trial.deadline for trial in found} == {None}


@pytest.mark.slow
def test_what_is_slow_is_left_out_on_a_desk_alone():
    assert chosen_profile(os.environ) != "dev"


def test_no_property_test_has_a_number_of_its_own_by_night():
    tests = Path(__file__).resolve().parent
    fixed = [path.name for path in tests.rglob("*.py") if "max_examples=" in path.read_text(encoding="utf-8")]
    assert sorted(fixed) == ["conftest.py", Path(__file__).name]
