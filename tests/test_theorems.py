"""Every claim of the registry is checked; there is one body for all of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from html_reading import SIGNS, Reader, letters, seen
from proved_claims import PROVED
from sympy import Expr, Max, Min, Rational

from fsl_num.claims import runner
from fsl_num.claims.agreement import agreement
from fsl_num.claims.cache import Cache, default_folder
from fsl_num.claims.errata import check_claims, errata
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.label_table import PLACES
from fsl_num.claims.labels import open_places, orphans
from fsl_num.claims.points import points
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim, file_of
from fsl_num.claims.texts import relations_of
from fsl_num.claims.verification import samples_of
from fsl_num.report.html.texts import Texts
from fsl_num.report.mathml import display, paper_words
from fsl_num.report.plain import plain
from fsl_sym.domain import REGIMES
from fsl_sym.symbols import beta, s

IDS = [claim.id for claim in all_claims()]
KEPT = default_folder()
"""Read while tests are collected, before they get a folder of their own: what `fsl verify` found with the same sources,
libraries and seed is not measured again. FSL_CACHE naming an empty folder measures everything."""


UNRESOLVED = {"eq:Ke-gap": "a bound by a power larger than what it bounds: with a smaller power it stays true"}
"""Claims that pass and say of no error how small it may be to be refused: why."""


NEVER_LEFT_OUT = {
    "lem: wsd-stable-noise": "an upper bound, weaker and true without a member of its minimum",
    "thm:geometric/restated": "it fails as printed: no wrong version is tried",
    "vanishing-end/resonance": "each logarithm alone is a wrong version of its own",
    "vanishing-end/named-shapes": "the members are exponents: their sides have points of their own",
    "vanishing-end/saturation": "the members are exponents, and the powers of a point lie on both sides",
}
"""Claims with a minimum none of whose wrong versions leaves out a member: why."""


def parameters_of(claims):
    """The ids without spaces, so that `pytest -k thm:wsd` runs one claim; claims that share a measurement together."""
    chosen = list(claims)
    families = list(dict.fromkeys(claim.family or claim.id for claim in chosen))
    together = sorted(chosen, key=lambda claim: families.index(claim.family or claim.id))
    return [pytest.param(claim.id, id="".join(claim.id.split())) for claim in together]


@pytest.fixture(scope="session")
def outcome_of(cache_of_the_session):
    """Claim id -> its outcome, each claim checked once, also where several workers share the tests."""
    cache, found = Cache(cache_of_the_session), {}
    caches = [Cache(KEPT, make=False), cache] if KEPT.exists() else [cache]

    def verify(claim_id):
        if claim_id not in found:
            subject = claim(claim_id)
            checked = next(filter(None, (folder.get(subject, "quick", 0) for folder in caches)), None)
            if checked is None:
                checked = runner.verify(subject)
                cache.put(subject, "quick", 0, checked)
            found[claim_id] = checked
        return found[claim_id]

    return verify


@pytest.mark.parametrize("claim_id", parameters_of(all_claims()))
def test_a_claim_is_checked(claim_id, outcome_of):
    checked, subject = outcome_of(claim_id), claim(claim_id)
    if checked.verdict is Verdict.REFUTED and subject.corrected_by:
        assert outcome_of(subject.corrected_by).passes, outcome_of(subject.corrected_by).message
    else:
        assert checked.passes, f"{checked.verdict}: {checked.message}"
        assert all(regime.mutants for regime in checked.regimes)
        assert [m.name for regime in checked.regimes for m in regime.mutants if not m.refuted] == []
        assert (checked.resolution == {}) == (claim_id in UNRESOLVED), "the smallest error that the check refuses"
        # A claim with a correction beside it is one that fails as printed.
        assert subject.corrected_by is None
    assert [regime.regime for regime in checked.regimes] == [regime.name for regime in subject.regime_objects()]
    assert [record.name for record in checked.derivations if not record.holds] == []
    assert (checked.verdict is Verdict.PROVED) == (claim_id in PROVED)
    refused = [mutant.name for regime in checked.regimes for mutant in regime.mutants if mutant.refuted]
    members = members_of_minima(subject)
    undecided = {member for member in members if not any(f"without {member}" in name for name in refused)}
    assert bool(undecided) == (claim_id in NEVER_LEFT_OUT), f"these members of a minimum decide nowhere: {undecided}"
    for regime, outcome_there in zip(subject.regime_objects(), checked.regimes, strict=True):
        # No regime is empty: each has its witnesses, exact points that lie in it.
        assert outcome_there.samples == len(outcome_there.points) >= 1
        assert all(regime.contains(Rational(point.s), Rational(point.beta)) for point in outcome_there.points)
    assert json.loads(json.dumps(checked.to_json(), allow_nan=False))["claim_id"] == claim_id


@pytest.mark.parametrize("claim_id", parameters_of(claim for claim in all_claims() if claim.judged_by))
def test_no_claim_is_judged_by_another_law_without_need(claim_id):
    subject = claim(claim_id)
    drawn = (sample for samples in samples_of(subject, "quick", 0).values() for sample in samples)
    assert any(agreement(subject, sample, subject.says(sample)).other for sample in drawn)


def members_of_minima(subject):
    """The members of every minimum and maximum in the order that a claim states, as its wrong versions name them."""
    orders = [
        part.right
        for part in parts_of(subject.formula)
        if part.relation in ("~", "<~", "optimum") and isinstance(part.right, Expr)
    ]
    chosen = [minimum for order in orders for minimum in order.atoms(Min, Max) if minimum.free_symbols - {s, beta}]
    return {str(member).replace("**", "^") for minimum in chosen for member in minimum.args}


@pytest.mark.parametrize("claim_id", parameters_of(all_claims()))
def test_a_claim_is_checked_where_its_hypotheses_hold(claim_id):
    subject = claim(claim_id)
    drawn = samples_of(subject, "full", 1)
    for regime in subject.regime_objects():
        for sample in drawn[regime.name]:
            assert regime.contains(sample.s, sample.beta)
            assert sample.s > 0 and sample.beta > 1
    sides = subject.sides
    if sides.conditions or sides.borders:
        # every side on which the formula has a form of its own has a point, also where there are few
        quick, full, many = (measured_points(subject, count) for count in (1, 6, 24))
        expected = sides_of(subject, many)
        assert expected - sides_of(subject, quick) == expected - sides_of(subject, full) == set()
        for condition in sides.conditions:
            assert any(condition.subs({s: point[0], beta: point[1]}) for point in full), condition


def measured_points(subject, count):
    """The points that a profile of so many draws a regime measures."""
    return [own for drawn in points(subject, count, 0).values() for point in drawn for own in subject.own(*point)]


def sides_of(subject, measured):
    """The sides of the formula on which points lie, those on a line between two left out."""
    sides = subject.sides
    return {sides.at(point) for point in measured if not (sides.between(point) or sides.silent(point))}


@pytest.mark.parametrize("claim_id", parameters_of(all_claims()))
def test_a_claim_is_shown_whole(claim_id):
    """Its formula is typeset and keeps its source; its words lose no letter; only sets of its theorems keep braces."""
    subject = claim(claim_id)
    shown = display(subject.latex)
    (node,) = Reader(shown).root.children
    assert 'class="formula source"' not in shown and node.attributes["data-tex"] == subject.latex
    for text in (subject.wording, subject.title, *subject.where, *subject.assumptions):
        if not re.search(r"\$[^$]+\$|`[^`]+`", text):
            words = seen(Texts()(text))
            assert letters(words, {"infinity": "∞", "sum": "∑"}) == letters(text, SIGNS)
            assert seen(Texts().sentence(text)).lower() == words.lower()
    theorems = [plain(f"${theorem.conclusion.latex()}$") for theorem in subject.derivations()]
    for signs in (plain(paper_words(subject.quoted)), *theorems):
        assert not re.search(r"[\\$`]", signs)


def test_pytest_runs_one_claim_by_its_id():
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", "-p", "no:cacheprovider", __file__]
    result = subprocess.run(
        [*command, "-k", "lem:half-scale/"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    checked = [line for line in result.stdout.splitlines() if "test_a_claim_is_checked[" in line]
    assert [line.partition("[")[2].rstrip("]") for line in checked] == ["lem:half-scale/beyond"]


# ---- the registry ----------------------------------------------------------------------------------------------------


def test_the_proved_claims_are_claims():
    assert PROVED <= set(IDS)


@pytest.mark.parametrize("claim_id", parameters_of(all_claims()))
def test_a_claim_stands_in_its_role(claim_id):
    subject = claim(claim_id)
    if subject.corrected_by is not None:
        correction = claim(subject.corrected_by)
        assert correction.id != claim_id and correction.corrected_by is None
        assert subject.role in ("printed", "argument"), "only what the paper says is corrected"
        # What corrects may stand elsewhere in the paper itself; a step of a proof or a by-product corrects nothing.
        assert correction.role in ("printed", "corrected", "stronger", "own")
    if subject.role == "corrected":
        assert claim_id in {known.corrected_by for known in all_claims()}, "it corrects no claim"
    if subject.strengthens is not None:
        assert claim(subject.strengthens).role in ("printed", "corrected")
    assert claim_id not in subject.depends


def test_no_id_stands_for_two_claims():
    assert len(set(IDS)) == len(IDS)
    assert len({"".join(claim_id.split()) for claim_id in IDS}) == len(IDS)


def test_every_regime_is_checked():
    assert {name for known in all_claims() for name in known.regimes} == {regime.name for regime in REGIMES}


def test_no_claim_rests_on_itself():
    resting = {known.id: set(known.depends) for known in all_claims()}
    while resting:
        free = {name for name, depends in resting.items() if not depends & set(resting)}
        assert free, f"these rest on each other: {sorted(resting)}"
        resting = {name: depends for name, depends in resting.items() if name not in free}


def assumed(subject):
    """What a claim assumes: relations, and the other texts."""
    relations = {relation for hypothesis in subject.hypotheses for relation in relations_of(hypothesis)}
    prose = {str(hypothesis) for hypothesis in subject.hypotheses if not relations_of(hypothesis)}
    return relations | prose


def test_what_fails_under_more_hypotheses_holds_under_no_fewer():
    # A claim that is wider than one of the same formula that fails, or as wide, contradicts it.
    # Formulas of optimal allocations take a second each to derive, and no two of them are alike.
    compared = [known for known in all_claims() if not file_of(known.id).startswith("fsl_num.paper.allocation")]
    failing = [known for known in compared if known.corrected_by is not None]
    holding = [known for known in compared if known.corrected_by is None]
    pairs = [(wide.id, narrow.id) for narrow in failing for wide in holding
             if wide.formula == narrow.formula and set(wide.regimes) >= set(narrow.regimes)
             and assumed(wide) <= assumed(narrow)]  # fmt: skip
    assert pairs == []


# ---- the account of the paper ----------------------------------------------------------------------------------------


def test_every_place_of_the_paper_is_checked_or_excused():
    assert [(place.label, place.line) for place in open_places(all_claims(), PLACES)] == []


def test_every_claim_verifies_a_place_of_the_paper():
    assert orphans(all_claims(), PLACES) == ()


def test_the_account_names_only_claims():
    assert {name for place in PLACES for name in place.also} <= set(IDS)


# ---- errata ----------------------------------------------------------------------------------------------------------


def test_an_erratum_points_to_claims_and_gives_evidence():
    check_claims(errata(), IDS)
    for erratum in errata():
        assert erratum.evidence and erratum.as_printed != erratum.corrected
        json.dumps(erratum.to_json(), allow_nan=False)


UNCHECKED = {
    "fsl-simplified-early-times": "the law without t >~ 1, which fails as its restatements for the schedules do",
    "fourth-moment-trace-inequality": "an inequality of matrices with a counterexample written down in full",
}
"""Errata about false statements that no claim verifies as printed: why."""


def about(erratum):
    """The claims that an erratum names."""
    return [known for known in all_claims() if known.id in erratum.depends]


def test_what_fails_as_printed_is_in_the_errata():
    told = {subject.id for erratum in errata() for subject in about(erratum)}
    assert [known.id for known in all_claims() if known.corrected_by and known.id not in told] == []


def test_what_is_false_as_stated_is_a_claim_that_fails():
    # Slips of the pen, steps that do not follow, and places that contradict each other need not be claims.
    false = [erratum for erratum in errata() if erratum.kind == "false as stated"]
    unchecked = {erratum.id for erratum in false if not any(subject.corrected_by for subject in about(erratum))}
    assert unchecked == set(UNCHECKED), "no claim that these errata are about fails as printed"
