"""Where a claim stands in the sources: every place is a line of a file that says what is claimed to stand there."""

from functools import cache, partial

import pytest

from fsl_num.claims.registry import all_claims, claim
from fsl_num.claims.sources import HOME
from fsl_num.report.places import generic_test_place, places, source_place


@cache
def found_places():
    return {claim.id: places(claim) for claim in all_claims()}


def at(place):
    """The line of a place, and the two after it."""
    lines = (HOME / place["file"]).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[place["line"] - 1 : place["line"] + 2])


def test_a_claim_is_stated_where_it_is_made():
    lines = {claim_id: at(found["stated"]) for claim_id, found in found_places().items()}
    assert [claim_id for claim_id, text in lines.items() if "(" not in text or "import" in text] == []
    # the id as it is, or made of the name of a section and the rest
    assert [name for name, text in lines.items() if name not in text and name.rpartition("/")[2] not in text] == []


def test_all_that_a_claim_is_made_of_stands_in_the_packages():
    """None where arguments are bound, or what puts something around a function, as functools does."""
    files = {place["file"] for found in found_places().values() for place in found.values() if place}
    assert {file.partition("/")[0] for file in files} == {"fsl_num", "fsl_sym", "tests"}


def test_a_named_formula_measurement_or_proof_stands_in_its_line():
    for claim_id, found in found_places().items():
        for place in (found["formula"], found["measured"], found["proof"]):
            if place and place["name"] != claim_id:
                assert place["name"].rpartition(".")[2] in at(place), (claim_id, place)


def test_what_is_derived_has_its_proof_among_the_derivations():
    proofs = {name: found["proof"] for name, found in found_places().items()}
    assert {name for name, proof in proofs.items() if proof} == {claim.id for claim in all_claims() if claim.derive}
    here = {name for name, proof in proofs.items() if proof and not proof["file"].startswith("fsl_sym/")}
    assert here == {"lemma:convolution-kernel/beyond", "exp-decay/I2/integral"}, "one step each, beside their claims"
    assert not [name for name, proof in proofs.items() if proof and proof["file"].startswith("fsl_sym/proof/")]


def test_the_proof_of_an_allocation_is_not_its_schedule():
    """It is made by a part of the statement, a value that holds it, or by a method."""
    expected = {
        "eqn: data-optim-scaling-const-lrs": "near_optimal",
        "thm: wsd/data-derived": "near_optimal",
        "sec: effect-lrs/hard-gain": "least_of_task",
        "optimal-schedule/data-easy": "samples_spent",
    }
    assert {name: found_places()[name]["proof"]["name"] for name in expected} == expected


@pytest.mark.parametrize(
    ("claim_id", "theorem", "proof"),
    [
        ("thm: wsd", "scaling_laws/wsd_law.py", "allocation_derivation.py"),
        ("thm: fsl-hard-regime", "functional/hard_tasks.py", None),
        ("lemma:ke-power/signal-window", "kernel/signal_and_kernel_powers.py", "spectrum.py"),
        ("thm:chinchilla", "scaling_laws/constant_law.py", "allocation_derivation.py"),
    ],
)
def test_the_file_of_a_theorem_holds_formula_and_measurement(claim_id, theorem, proof):
    found = {name: place and place["file"] for name, place in places(claim(claim_id)).items()}
    assert found["stated"] == found["formula"] == found["measured"] == f"fsl_num/paper/{theorem}"
    assert found["proof"] == (proof and f"fsl_sym/{proof}")
    assert found["test"] == "tests/test_theorems.py"


FURTHER = {
    "fsl_num/paper/allocation/forms.py": "one search by brute force measures every allocation",
    "fsl_num/paper/model/gradients.py": "one step of SGD, with its moments, is held against several equations of it",
}
"""The files that a claim with a proof may lead to besides its theorem's, the proof's and the test's, and why."""


def test_a_claim_leads_to_three_files():
    """Where it is stated, with formula and measurement; the proof; the test."""
    for claim_id, found in found_places().items():
        files = {place["file"] for name, place in found.items() if place and name != "judged"}
        assert found["stated"]["file"] == found["formula"]["file"], claim_id
        assert len(files - FURTHER.keys()) <= 3, f"{claim_id}: {sorted(files)}"
    used = {place["file"] for found in found_places().values() for place in found.values() if place}
    assert used >= FURTHER.keys(), "an exception that nothing needs"


def test_the_place_of_a_function_is_found_through_wrappers():
    assert source_place(None) is None
    assert source_place(partial(at, 1)) == source_place(at)
    assert source_place(at)["name"] == "at"


def test_the_generic_test_is_found_where_the_tests_are(tmp_path):
    nowhere = {"name": None, "file": "tests/test_theorems.py", "line": None}
    assert generic_test_place((tmp_path,)) == nowhere
    (tmp_path / "tests").mkdir()
    source = "def test_other(): ...\n\n\n\n@pytest.mark.parametrize('one', all_claims())\ndef test_claim(one): ...\n"
    (tmp_path / "tests" / "test_theorems.py").write_text(source, encoding="utf-8")
    assert generic_test_place((tmp_path / "missing", tmp_path)) == nowhere | {"name": "test_claim", "line": 6}
