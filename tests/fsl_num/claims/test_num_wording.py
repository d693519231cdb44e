"""What a claim says in words and in LaTeX is made from its formula: nothing that is shown is typed beside it."""

from dataclasses import replace

import pytest
from sympy import Function, Symbol, oo

from fsl_num.claims.definitions import standard_letters
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.optima import in_words
from fsl_num.claims.registry import all_claims, claim
from fsl_sym.named_sums import definitions, named, written
from fsl_sym.notations import NOTATIONS, in_notation
from fsl_sym.proof import AllOf, Formula
from fsl_sym.proof.bound_letters import canonical
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import beta, j, s, z

SUMS = {
    Function("e_M"): signal(z), Function(r"e_\infty"): signal(z, oo),
    Function("K_M"): forgetting_kernel(z), Function(r"K_\infty"): forgetting_kernel(z, oo),
}  # fmt: skip


def test_a_wrong_version_of_any_formula_has_other_words_and_other_latex():
    for subject in all_claims():
        *others, last = parts_of(subject.formula)
        sides = ("right",) if last.right == oo else ("right", "left")  # of what has no end nothing is said
        for wrong in (replace(last, **{side: Symbol("wrong")}) for side in sides):
            changed = AllOf((*others, wrong)) if others else wrong
            said = replace(subject, stated=changed)
            assert said.wording != subject.wording and said.latex != subject.latex, subject.id


def test_the_names_in_the_words_put_back_are_the_formula():
    n = Symbol("n", integer=True, positive=True)  # not a letter that is bound around
    back = {name: lambda time, made=made: made.xreplace({j: n}).subs(z, time) for name, made in SUMS.items()}
    sides = [side for subject in all_claims() for part in parts_of(subject.formula) for side in (part.left, part.right)]
    read = [side for side in sides if definitions(side) and r"\delta_{M}" not in definitions(side)]
    assert len(read) > 40
    for side in read:
        whole = named(side)
        for name, made in back.items():
            whole = whole.replace(name, made)
        assert canonical(whole) == side


def test_each_name_of_a_sum_is_defined_where_it_stands():
    for subject in all_claims():
        for name in ("e_{M}", "K_{M}", r"e_{\infty}", r"K_{\infty}", r"\delta_{M}"):
            if name in subject.latex:
                said = [*subject.where, *standard_letters(subject)]
                assert any(text.startswith(f"${name}") for text in said), (subject.id, name)


def test_the_letters_of_the_paper_say_what_they_are():
    letters = dict(text.split("$, ", 1) for text in standard_letters(claim("thm:chinchilla")))
    assert letters["$M"] == "model size: number of features" and "$E" in letters and "$N" not in letters
    assert not any(text.startswith("$E$") for text in standard_letters(claim("horizon-free/best-power")))  # it says E


@pytest.mark.parametrize("name", NOTATIONS)
def test_a_formula_in_the_letters_of_others_has_the_same_values(name):
    known = NOTATIONS[name]
    point = {s: 0.7, beta: 2.5}
    letters = {letter: known.forward[letter].subs(point) for letter in known.letters}
    for subject in all_claims():
        if subject.also_in:
            for part in parts_of(subject.formula):
                number = in_notation(part.right, name).subs(letters) - part.right.subs(point)
                values = {letter: 1.5 for letter in number.free_symbols}
                assert abs(number.subs(values)) < 1e-12


def test_who_states_it_elsewhere_is_named_with_it_in_their_letters():
    ((whose, words),) = claim("feature-phases/Ia").elsewhere.items()
    assert "4+3 phases" in whose and r"\alpha" in words and words != claim("feature-phases/Ia").wording


@pytest.mark.parametrize("remark", ["at most 2", "t <= T", "of the order $T$", "E ~ T", "a^b", "x_1"])
def test_a_remark_that_could_be_measured_is_refused(remark):
    with pytest.raises(ValueError, match="nothing measured is compared with a remark"):
        replace(claim("thm:chinchilla"), remark=remark)


@pytest.mark.parametrize("title", ["s < 1", "the power t^-s", "M = oo", "half of $E$"])
def test_a_title_that_could_be_measured_is_refused(title):
    with pytest.raises(ValueError, match="nothing measured is compared with a title"):
        replace(claim("thm:chinchilla"), title=title)


def test_a_text_is_a_formula_where_there_is_no_value():
    assert in_words("x", written) == "$x$" and in_words(Formula(s, "=", beta), written) == r"$s$ equals $\beta$"
