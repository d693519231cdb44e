"""A short run of the search at random: no outcome is a defect (a long one: tests/fuzz/fuzz.py)."""

import inspect
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import fsl_num

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))

import fuzz_public  # noqa: E402
from fuzz import ANSWERED, REFUSED, outcome_of_call, search  # noqa: E402

CHEAP = """
fsl_num.Discrete fsl_num.LossCurve fsl_num.LossCurve.between_steps fsl_num.LossCurve.branched fsl_num.LossCurve.keep
fsl_num.Model fsl_num.MultiStep fsl_num.Plan fsl_num.Plan.at fsl_num.Plan.first fsl_num.Problem fsl_num.Spectrum
fsl_num.Regression fsl_num.Regression.excess_risk fsl_num.claim fsl_num.growth_exponents fsl_num.noise_covariance
fsl_num.schedule fsl_num.signal fsl_num.step_rates fsl_num.with_floor fsl_num.with_warmup fsl_sym.after_stable_phase
fsl_sym.change_of_time fsl_sym.convert fsl_sym.dominant fsl_sym.regime_of fsl_sym.schedule
""".split()
COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 40


def test_nothing_typed_or_called_at_random_is_a_defect(tmp_path, capsys):
    """Seed 36: forty commands of sixteen kinds, half of them answered, without a fit that takes seconds."""
    words = ["--commands", str(COUNT), "--calls", str(COUNT), "--public", "0", "--jobs", "1", "--seed", "36"]
    status = search([*words, "--table", str(tmp_path / "table.md")])
    assert status == 0, capsys.readouterr().err
    assert "answered" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_every_public_callable_has_a_call_in_an_example_or_a_reason():
    """Functions and classes by their own examples or those of others; methods where their class shows them."""
    exported = {name: place for name, place in fuzz_public.PLACES.items() if name.count(".") == 1}
    missing = {name for name, place in exported.items() if place is None}
    assert missing == set(fuzz_public.NOT_CALLED)
    assert len(exported) - len(missing) > 100


def test_an_error_of_a_library_is_told_from_one_of_the_packages():
    """The judge refuses what it is there to refuse: numpy's text, an operation of Python, a nan, a changed file."""
    outside = "raised outside the packages"
    assert outcome_of_call(lambda: np.zeros(2) + np.zeros(3))[0] == outside
    assert outcome_of_call(lambda: float("abc"))[0] == outside
    assert outcome_of_call(lambda: float("nan"))[0] == "no finite number, and no word of it"
    assert outcome_of_call(lambda: fsl_num.Model(s=-1, beta=2.0))[0] == REFUSED


@pytest.mark.parametrize("argument", ["ax", "digits", "executor", "falling", "intervals", "rtol", "seed"])
def test_an_argument_of_one_name_is_checked_by_all_that_take_it(argument):
    """Every hostile value in the place of it, in every public callable but verify_all, which would verify all."""
    takers = [
        name
        for name, place in fuzz_public.PLACES.items()
        if place
        and name not in {*fuzz_public.NOT_CALLED, "fsl_num.verify_all"}
        and argument in inspect.signature(fuzz_public.PUBLIC[name]).parameters
    ]
    assert takers
    for name in takers:
        function, positional, named = fuzz_public.valid_calls(name)[0]
        for value in fuzz_public.HOSTILE:
            call = inspect.signature(function).bind(*positional, **named)
            call.arguments[argument] = value
            outcome, said = outcome_of_call(lambda function=function, call=call: function(*call.args, **call.kwargs))
            assert outcome in (ANSWERED, REFUSED), (name, value, outcome, said)


def test_hostile_arguments_of_cheap_callables_are_refused_in_our_words():
    """Five replaced arguments each: these callables were mended where the search found them wanting."""
    draw = random.Random(20)
    for name in CHEAP:
        for _ in range(5):
            text, call = fuzz_public.hostile_call_of(name, draw)
            outcome, said = outcome_of_call(call)
            assert outcome in (ANSWERED, REFUSED), (text, outcome, said)
