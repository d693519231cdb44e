"""Made-up claims whose truth is known get the verdict that they deserve."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.claims import registry, runner
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.points import PAPER_POINT
from fsl_num.claims.proofs import unproved
from fsl_num.claims.records import Erratum, Judgement, Verdict
from fsl_num.claims.statements import POWER_DRIFT, SLOW_DRIFT, Equivalent, Joint, Ray, Sharp
from fsl_num.claims.verification import samples_of
from fsl_num.workers import Processes
from fsl_sym.proof import AllOf, Defined, Derivation, Identity, Step, equals
from fsl_sym.symbols import T, a, b


def law(exponents, logs):
    return exponents["N"] * logs["N"]


def along(power):
    """A measurement that is N^(power + s): it depends on the point at which the claim is checked."""

    def measure(sample):
        scale = np.linspace(1.0, 100.0, 20)
        return [Ray("ray", scale, {"N": scale}, (power + sample.point[0]) * scale)]

    return measure


def claimed(power):
    return lambda sample: Equivalent(law, {"N": power + sample.point[0]})


def made_up(**changes):
    settings = {
        "id": "made-up",
        "label": "made-up",
        "line": 1,
        "title": "a title",
        "stated": "x",
        "hypotheses": ("s > 0, beta > 1",),
        "measure": along(1.0),
        "statement": claimed(1.0),
        "quoted": "words of the paper",
    }
    return Claim(**{**settings, **changes})


DOUBLE = Derivation("double", "Twice", (Step(a * (b + T), a * b + a * T, Identity(), "multiplied out"),))
OTHER = Derivation("other", "A square", (Step((b + T) ** 2, b**2 + 2 * b * T + T**2, Identity(), "a square"),))
FALSE = Derivation("false", "A false step", (Step(a * (b + T), a * b - a * T, Identity(), "not so"),))
BROKEN = Derivation("broken", "Two steps that do not join", (*DOUBLE.steps, *OTHER.steps))
DEFINED = Derivation("defined", "By a definition", (Step(a * (b + T), 3 * a * T, Defined(((b, 2 * T),)), "b = 2 T"),))
PRODUCT = equals(a * (b + T), a * b + a * T)
TRIPLE = equals(a * (b + T), 3 * a * T)


# ---- verdicts --------------------------------------------------------------------------------------------------------


def test_a_true_claim_is_supported():
    outcome = runner.verify(made_up())
    assert outcome.verdict is Verdict.SUPPORTED
    assert outcome.passes
    assert [regime.regime for regime in outcome.regimes] == ["easy", "edge", "hard"]
    assert (outcome.mutants_refuted, outcome.mutants_total) == (12, 12)  # power and log, both ways, in 3 regimes


@pytest.mark.parametrize("off", [0.05, -0.05, 0.011])
def test_a_false_claim_is_refuted(off):
    outcome = runner.verify(made_up(statement=claimed(1.0 + off)))
    assert outcome.verdict is Verdict.REFUTED
    assert not outcome.passes
    assert "fails in easy, edge, hard" in outcome.message


def test_a_claim_that_is_false_in_one_regime_is_refuted_there():
    def statement(sample):
        return claimed(1.1 if sample.regime == "edge" else 1.0)(sample)

    outcome = runner.verify(made_up(statement=statement))
    assert outcome.verdict is Verdict.REFUTED
    assert "fails in edge:" in outcome.message
    assert [regime.holds for regime in outcome.regimes] == [True, False, True]


def test_a_claim_is_checked_only_in_its_regimes():
    outcome = runner.verify(made_up(regimes=("hard",)))
    assert [regime.regime for regime in outcome.regimes] == ["hard"]


def test_a_false_claim_is_refuted_even_where_its_derivation_does_not_verify():
    assert runner.verify(made_up(statement=claimed(1.1), derive=lambda: FALSE)).verdict is Verdict.REFUTED


def test_a_check_that_accepts_a_mutant_is_vacuous():
    outcome = runner.verify(made_up(mutants=lambda sample: {"the claim itself": claimed(1.0)(sample)}))
    assert outcome.verdict is Verdict.VACUOUS
    assert not outcome.passes
    assert "accepts its mutants: the claim itself" in outcome.message


def test_a_check_that_accepts_everything_is_vacuous():
    class Anything:
        def judge(self, measured):
            return Judgement(True, 0.0)

        def mutants(self):
            return {"wrong": self}

        def neighbours(self, kind, size):
            return []

    assert runner.verify(made_up(statement=lambda sample: Anything())).verdict is Verdict.VACUOUS


def test_a_check_without_mutants_is_vacuous():
    def statement(sample):
        return Equivalent(lambda powers, logs: (1.0 + sample.point[0]) * logs["N"], {})

    outcome = runner.verify(made_up(statement=statement))
    assert outcome.verdict is Verdict.VACUOUS
    assert "no mutant was made in easy" in outcome.message


@pytest.mark.parametrize(
    ("measured", "statement", "said"),
    [
        ([], claimed(1.0), "the measurement has no entries"),
        ({"one": along(1.0)(Sample("hard", 1, 4)), "two": []}, claimed(1.0), "the part 'two' of the measurement"),
        (np.array([]), lambda sample: Sharp(lambda x: x, 1.0), "no point was measured"),
        ({"one": None}, lambda sample: Joint({}), "the statement has no parts"),
    ],
)
def test_a_check_that_compares_nothing_is_vacuous(measured, statement, said):
    outcome = runner.verify(made_up(measure=lambda sample: measured, statement=statement))
    assert outcome.verdict is Verdict.VACUOUS
    assert not outcome.passes
    assert outcome.message.startswith("the check compared nothing: ")
    assert said in outcome.message


@pytest.mark.parametrize("part", ["measure", "statement", "derive"])
def test_a_check_that_breaks_is_unknown(part):
    def broken(*_):
        raise ArithmeticError("no digits left")

    outcome = runner.verify(made_up(**{part: broken}))
    assert outcome.verdict is Verdict.UNKNOWN
    assert not outcome.passes
    assert outcome.message == "ArithmeticError: no digits left"


@pytest.mark.parametrize(
    ("derive", "stated", "verdict", "why"),
    [
        (DOUBLE, PRODUCT, Verdict.PROVED, ""),
        ([DOUBLE, OTHER], AllOf((PRODUCT, OTHER.conclusion)), Verdict.PROVED, ""),
        (None, PRODUCT, Verdict.SUPPORTED, "no proof by machine"),
        (DOUBLE, r"a(b+T) = ab+aT", Verdict.SUPPORTED, "the claim has no symbolic formula"),
        # a theorem of something else proves nothing, however well it verifies
        (OTHER, PRODUCT, Verdict.SUPPORTED, "the proof ends in another formula"),
        (DOUBLE, equals(a * (b + T) / 2, (a * b + a * T) / 2), Verdict.SUPPORTED, "the proof ends in another formula"),
        # no identity, as numbers that are put in show
        (DOUBLE, equals(a * (b + T), a * T + 2 * a * b), Verdict.UNKNOWN, ""),
        ([DOUBLE, OTHER], PRODUCT, Verdict.SUPPORTED, "the proof ends in another formula"),
        # what the proof was told and the claim does not say
        (DEFINED, TRIPLE, Verdict.UNKNOWN, ""),
        # a broken proof beside a claim that holds: something is wrong, whatever was measured
        (FALSE, PRODUCT, Verdict.UNKNOWN, ""),
        (BROKEN, PRODUCT, Verdict.UNKNOWN, ""),
    ],
)
def test_a_claim_is_proved_by_the_theorem_that_it_is(derive, stated, verdict, why):
    outcome = runner.verify(made_up(derive=derive and (lambda: derive), stated=stated))
    assert (outcome.verdict, outcome.unproved) == (verdict, why)


def test_a_hypothesis_of_the_claim_is_one_that_its_proof_may_use():
    def at(**letters):
        return made_up(derive=lambda: DEFINED, stated=TRIPLE, hypotheses=(equals(b, 2 * T),),
                       measure=lambda sample: Located(along(1.0)(sample), letters))  # fmt: skip

    assert runner.verify(at(b=2.0, T=1.0)).verdict is Verdict.PROVED
    # measured elsewhere, or where nobody says
    assert runner.verify(at(b=3.0, T=1.0)).verdict is runner.verify(at(b=2.0)).verdict is Verdict.UNKNOWN


def test_a_formula_that_says_nothing_is_not_proved():
    empty = Derivation("empty", "Nothing", (Step(a, a, Identity(), "as it is"),))
    tautology = made_up(derive=lambda: empty, stated=equals(a, a))
    assert "says nothing" in unproved(tautology)
    assert runner.verify(tautology).verdict is Verdict.UNKNOWN


# ---- samples, resolution, records ------------------------------------------------------------------------------------


def test_the_paper_s_own_point_is_always_checked():
    checked = []

    def measure(sample):
        checked.append((sample.s, sample.beta))
        return along(1.0)(sample)

    runner.verify(made_up(measure=measure))
    assert PAPER_POINT in checked
    assert len(set(checked)) == len(checked) == 4


def test_the_full_profile_verifies_more_points_with_more_effort():
    quick, full = (samples_of(made_up(), name, 0)["easy"] for name in ("quick", "full"))
    assert (len(quick), len(full)) == (1, 6)
    assert {sample.effort for sample in quick} == {0}
    assert {sample.effort for sample in full} == {1}


def test_another_seed_verifies_other_points():
    first, second = (samples_of(made_up(), "full", seed)["easy"] for seed in (0, 1))
    assert {sample.point for sample in first} != {sample.point for sample in second}


def test_an_extra_point_is_checked_in_its_regime_only():
    extra = (1, 2)  # easy
    claim = made_up(extra_points={"easy": (extra,), "hard": (extra,)})
    easy, _, hard = samples_of(claim, "quick", 0).values()
    assert extra in [(sample.s, sample.beta) for sample in easy]
    assert extra not in [(sample.s, sample.beta) for sample in hard]


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="unknown profile 'slow'"):
        runner.verify(made_up(), "slow")


def test_the_resolution_is_the_tolerance_of_the_check():
    # A wrong power changes log(ratio) by error * scale: its slope is the error, and against log(scale) it is larger.
    judged = np.linspace(1.0, 100.0, 20)[10:]
    against_log = np.polynomial.Polynomial.fit(np.log(judged), judged, 1).convert().coef[1]
    expected = min(POWER_DRIFT, SLOW_DRIFT / against_log)
    resolution = runner.verify(made_up()).resolution
    assert resolution == {"power": pytest.approx(expected, rel=0.01)}  # 11 bisections of 8 decades


def test_a_check_says_which_errors_it_cannot_reject():
    scale = np.linspace(1.0, 2.0, 6)

    def blunt(exponents, logs):
        return 0.1 * exponents["N"] * logs["N"]  # only a tenth of an error shows

    def measure(sample):
        return [Ray("ray", scale, {"N": scale}, 0.1 * scale)]

    outcome = runner.verify(made_up(measure=measure, statement=lambda sample: Equivalent(blunt, {"N": 1.0})))
    assert outcome.verdict is Verdict.VACUOUS
    assert outcome.resolution["power"] == pytest.approx(10 * POWER_DRIFT, rel=0.01)


def test_a_record_holds_no_number_that_is_not_finite():
    def statement(sample):
        return Sharp(lambda x: x, 1e-300, {"wrong": lambda x: -x})

    outcome = runner.verify(made_up(measure=lambda sample: [(1.0, math.inf)], statement=statement))
    text = json.dumps(outcome.to_json(), allow_nan=False)
    assert json.loads(text)["verdict"] == "UNKNOWN"  # an infinite ratio is neither agreement nor refutation
    nan = replace(outcome, seconds=math.nan)
    assert json.loads(json.dumps(nan.to_json(), allow_nan=False))["seconds"] is None


def test_the_record_tells_the_whole_outcome():
    record = runner.verify(made_up(derive=lambda: DOUBLE)).to_json()
    assert record["mutants_total"] == record["mutants_refuted"] == 12
    assert record["constants"] == pytest.approx((1.0, 1.0))
    assert record["derivations"] == [{"name": "double", "steps": 1, "verified": 1, "detail": ""}]
    assert {regime["samples"] for regime in record["regimes"]} == {1, 2}


# ---- claims and all of them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regimes": ("odd",)}, "regimes must be among"),
        ({"regimes": ()}, "not empty"),
        ({"hypotheses": ()}, "no hypotheses"),
    ],
)
def test_a_claim_refuses_what_cannot_be_checked(changes, message):
    with pytest.raises(ValueError, match=message):
        made_up(**changes)


def test_a_sample_has_its_point_as_floats():
    assert Sample("easy", 0.5, 2).point == (0.5, 2.0)


PRINTED, CORRECTED, ALONE = "exp-decay/I2/printed-integral", "exp-decay/I2/integral", "approximation-error"


def test_a_claim_comes_with_its_correction():
    found = runner.verify_all([PRINTED])
    assert {outcome.claim_id: (outcome.verdict, outcome.passes) for outcome in found} == {
        PRINTED: (Verdict.REFUTED, True),
        CORRECTED: (Verdict.PROVED, True),
    }
    assert [outcome.claim_id for outcome in runner.verify_all([CORRECTED])] == [CORRECTED]


def test_an_executor_changes_nothing_but_the_time():
    seen = []
    with ThreadPoolExecutor(2) as executor:
        found = runner.verify_all([PRINTED, ALONE], executor=executor, progress=seen.append)
    alone = runner.verify_all([PRINTED, ALONE])
    assert [replace(outcome, seconds=0.0) for outcome in found] == [replace(outcome, seconds=0.0) for outcome in alone]
    assert {outcome.claim_id for outcome in seen} == {PRINTED, CORRECTED, ALONE}


def test_what_a_worker_has_derived_is_not_derived_again():
    subject = registry.claim("lemma: N-exp-decay")
    before = subject.derivations()
    with Processes(1) as executor:
        runner.verify_all([subject.id], executor=executor)
    assert subject.derivations() == before and subject.derivations() is not before
    assert unproved(subject) == ""  # what came over still proves it


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{}, {}], "more than one claim: made-up"),
        ([{"depends": ("nothing",)}], "refers to 'nothing'"),
        ([{"corrected_by": "nothing"}], "refers to 'nothing'"),
        ([{"id": "one", "depends": ("two",)}, {"id": "two", "corrected_by": "one"}], "rest on each other: "),
    ],
)
def test_the_registry_refuses_claims_that_do_not_fit_together(changes, said):
    with pytest.raises(ValueError, match=said):
        registry.consistent(made_up(**change) for change in changes)


def test_a_mistyped_id_gets_a_hint():
    assert registry.claim("thm:wsd").id == "thm: wsd"
    with pytest.raises(ValueError, match="did you mean"):
        registry.claim("thm:geometrik")


@pytest.mark.parametrize(
    ("kind", "wrong", "corrected", "evidence", "said"),
    [
        ("opinion", "no", "b", "number", "kind"), ("typo", "no", "a", "number", "evidence"),
        ("typo", "no", "b", "", "evidence"), ("typo", "", "b", "number", "what is wrong"),
    ],
)  # fmt: skip
def test_an_erratum_has_a_kind_a_correction_and_evidence(kind, wrong, corrected, evidence, said):
    with pytest.raises(ValueError, match=said):
        Erratum("made", "thm:made", 1, kind, "a", wrong, corrected, evidence)
