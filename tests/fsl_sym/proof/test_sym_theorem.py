"""A theorem is made by a checked derivation and by nothing else; names of bound letters do not count."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

import pytest
from notebook_views import as_latex
from sympy import Expr, Integer, Integral, Rational, Sum, Symbol, exp

from fsl_sym.proof import (
    AllOf,
    Antiderivative,
    Assumed,
    Derivation,
    Formula,
    Identity,
    Instance,
    ProofError,
    Smaller,
    Step,
    StepVerdict,
    Theorem,
    Turned,
    all_of,
    at_least,
    at_most,
    equals,
    less,
    order_at_most,
    same_order,
    tends,
    within,
)
from fsl_sym.proof.bound_letters import canonical, put
from fsl_sym.proof.formulas import RELATIONS, joined
from fsl_sym.proof.kernel import chains, together
from fsl_sym.proof.letters import declared
from fsl_sym.proof.rendering import as_text
from fsl_sym.symbols import M, T, a, b, j, t, z

SQUARE = Step((a + b) ** 2, a**2 + 2 * a * b + b**2, Identity(), "expand")
BACK = Step(SQUARE.after, SQUARE.before, Identity(), "collect")
RIGHT = Derivation("square", "A square", (SQUARE, BACK))
WRONG = Derivation("wrong", "Two is one", (Step(Integer(2), Integer(1), Smaller(), "it is not"),))


@dataclass(frozen=True)
class Believe:
    """A rule of one's own, which accepts everything."""

    relation = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        return StepVerdict(True, "exact", "believe me")


def test_a_theorem_is_not_made_by_hand() -> None:
    theorem = RIGHT.prove()
    for seal in (None, object(), "seal"):
        with pytest.raises(TypeError, match="made by a derivation"):
            Theorem(seal, frozenset(), equals(1, 2), ())
    for name in ("conclusion", "hypotheses", "proof", "anything"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(theorem, name, equals(1, 2))
    with pytest.raises(AttributeError, match="cannot be changed"):
        del theorem.conclusion
    with pytest.raises(TypeError):
        replace(theorem, conclusion=equals(1, 2))  # type: ignore[type-var]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda theorem: pickle.loads(pickle.dumps(theorem))])
def test_a_copy_is_proved_anew(again: object) -> None:
    theorem = RIGHT.prove()
    twin = again(theorem)  # type: ignore[operator]
    assert twin == theorem and hash(twin) == hash(theorem) and twin is not theorem
    call, parts = theorem.__reduce__()
    assert call is together and parts == (RIGHT,)
    with pytest.raises(ProofError, match="proves nothing"):
        call(WRONG)


def test_a_changed_derivation_is_judged_anew() -> None:
    assert RIGHT.verify().holds
    changed = replace(RIGHT, steps=(replace(SQUARE, after=SQUARE.after + 1),))
    assert not changed.verify().holds and not again(changed).verify().holds
    with pytest.raises(ProofError, match="step 0"):
        changed.prove()


def again(derivation: Derivation) -> Derivation:
    return pickle.loads(pickle.dumps(derivation))


@pytest.mark.parametrize("closed", [Theorem, Derivation, Step])
def test_nothing_is_derived_from_what_the_kernel_believes(closed: type) -> None:
    with pytest.raises(TypeError, match="nothing may be derived from it"):
        type("Mine", (closed,), {})


def test_a_rule_of_ones_own_makes_no_theorem() -> None:
    mine = type("Mine", (Smaller,), {"check": Believe.check})
    for rule in (Believe(), mine()):
        verdict = Step(Integer(2), Integer(1), rule, "believe me").verify()
        assert not verdict.holds and "none of the rules" in verdict.detail


class Fake:
    """What looks like a lemma."""

    conclusion = at_most(Integer(2), Integer(1))
    hypotheses: frozenset[object] = frozenset()

    def prove(self) -> Fake:
        return self


def test_what_only_looks_like_a_lemma_or_a_derivation_proves_nothing() -> None:
    for rule in (Instance(Fake()), Turned(Fake())):
        verdict = Step(Integer(2), Integer(1), rule, "by a forged lemma").verify()
        assert not verdict.holds and "nothing that a rule may hold" in verdict.detail
    with pytest.raises(TypeError, match="only derivations"):
        together(Fake())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no Step"):
        Derivation("x", "X", (Fake(),))  # type: ignore[arg-type]


def test_a_chain_must_not_break() -> None:
    assert RIGHT.verify().holds
    broken = Derivation("x", "X", (SQUARE, SQUARE))
    assert "does not continue" in broken.verify().detail
    with pytest.raises(ProofError, match="does not continue"):
        broken.prove()
    with pytest.raises(ValueError, match="no steps"):
        Derivation("x", "X", ())
    assert [len(chain) for chain in chains("x", "X", (SQUARE, BACK, BACK))] == [2, 1]


def test_a_derivation_is_a_sequence_and_renders_itself() -> None:
    whole = Integral(exp(-2 * t), (t, 0, T))
    step = Step(whole, (1 - exp(-2 * T)) / 2, Antiderivative(-exp(-2 * t) / 2), "as usual")
    derivation = Derivation("x", "One_mode", (step,), "somewhere")
    assert len(derivation) == 1 and list(derivation)[0] is derivation[0] and derivation[0:1] == derivation.steps
    assert "given 0 < T" in str(derivation) and "[as usual]" in str(derivation)
    shown = as_latex(derivation)
    assert r"\begin{aligned}" in shown and r"One\_mode" in shown and shown.count(r"\int") == 1
    assert as_text(derivation) == str(derivation)
    theorem = derivation.prove()
    assert set(theorem.hypotheses) == declared(T)
    assert str(theorem).endswith("[0 < T]") and "0 < T" in as_latex(theorem) and "= " in repr(theorem)


def test_what_is_subtracted_in_an_error_stands_in_brackets_where_it_is_a_sum():
    assert within(T, b, a).latex() == r"\left|T - b\right| \le a"
    assert within(T, b + t, a).latex() == r"\left|T - \left(b + t\right)\right| \le a"
    assert within(T, -b, a).latex() == r"\left|T - \left(- b\right)\right| \le a"


def test_what_two_relations_say_together() -> None:
    x, y, w = (Symbol(name) for name in "xyw")

    def of(first: str, second: str) -> str | None:
        formula = joined(Formula(x, first, y), Formula(y, second, w))
        return None if formula is None else formula.relation

    plain = ("=", "<=", ">=", "<", "~", "<~", "!=")
    known = {(first, second): of(first, second) for first in plain for second in plain}
    assert all(known["=", relation] == known[relation, "="] == relation for relation in plain)
    assert {key for key, value in known.items() if value == "<~"} == {
        ("=", "<~"), ("<~", "="), ("<~", "<~"), ("<=", "~"), ("~", "<="), ("<=", "<~"), ("<~", "<="), ("~", "<~"),
        ("<~", "~"),
    }  # fmt: skip
    # what goes up and down, a difference, and strictness say nothing together
    for pair in ((">=", "<="), ("<=", ">="), ("!=", "!="), ("<", "<"), (">=", "~"), ("<", "<=")):
        assert known[pair] is None, pair
    assert joined(within(x, y, a), within(y, w, b)) == within(x, w, a + b)
    assert joined(within(x, y, a), at_most(y, w)) is None is joined(tends(x, t, T, y), tends(y, t, T, w))
    assert joined(equals(x, y), tends(y, t, T, w)) == tends(x, t, T, w)
    assert joined(equals(x, y), equals(x, y)) is None


def test_names_of_bound_letters_do_not_count_and_free_letters_are_not_captured() -> None:
    assert canonical(Integral(t, (t, 0, T))) == canonical(Integral(z, (z, 0, T)))
    assert canonical(Sum(j, (j, 1, M))) != canonical(Sum(j, (j, 1, T)))
    for name in ("x_0", "x_1", "j_0", "j_1"):
        free = Symbol(name, positive=True)
        whole = Integral(free * Integral(free * z * t, (z, 0, t)), (t, 0, 1))
        assert free in canonical(whole).free_symbols
        assert canonical(whole).doit() == whole.doit() == free**2 / 8
        index = Symbol(name, integer=True, positive=True)
        double = Sum(Sum(j * index, (index, 1, 3)), (j, 1, 4))
        assert canonical(double).doit() == double.doit() == 60
    step = Step(
        Integral(Symbol("x_0") * t, (t, 0, 1)), Symbol("x_0") / 2, Antiderivative(Symbol("x_0") * t**2 / 2), "x"
    )
    stated = Derivation("x", "X", (step,)).prove().conclusion
    assert stated.left.doit() == stated.right
    assert put(Integral(a * t, (t, 0, 1)), {a: t}).doit() == t / 2
    assert put(Sum(j * M, (j, 1, M)), {M: j}).free_symbols == {j}


def test_a_formula_needs_what_its_relation_needs() -> None:
    for relation, fields in (("->", {}), ("within", {}), ("=", {"error": a}), ("optimum", {}), ("about", {})):
        with pytest.raises(ValueError, match="needs|unknown relation"):
            Formula(a, relation, b, **fields)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is text"):
        Formula("a", "=", b)
    with pytest.raises(ValueError, match="at least two"):
        AllOf((equals(a, b),))
    assert all_of([equals(a, b)]) == equals(a, b) and len(all_of([equals(a, b), less(b, a)]).parts) == 2
    assert at_least(a, b) == at_most(b, a) and equals(a, a).is_true_by_notation


FORMULAS = [
    equals(a, b), at_most(a, b), less(a, b), same_order(a, b), order_at_most(a, b), within(a, b, t), tends(a, t, T, b),
    Formula(a, ">=", b), Formula(a, "!=", b), Formula(a, "expands", b, variable=t, point=T),
    Formula(a, "optimum", b, program=((a,),)),
    *(Formula(a, f"near-optimal {end}", b, program=(t, T, (a,), T, ())) for end in ("at", "from", "up to")),
]  # fmt: skip


def test_every_relation_is_written_in_its_own_words() -> None:
    assert {formula.relation for formula in FORMULAS} == set(RELATIONS)
    for shown in (str, Formula.words, Formula.latex, as_latex):
        assert len({shown(formula) for formula in FORMULAS}) >= len(FORMULAS) - (shown in (Formula.latex, as_latex))
    assert all(text in FORMULAS[5].words() for text in ("$a$ differs", "by at most $t$"))
    assert within(a, b, t).free_symbols == {a, b, t} and tends(a, t, T, b).free_symbols == {a, b}


def test_what_is_assumed_is_carried_to_the_theorem() -> None:
    assumed = at_most(T, M)
    lemma = Derivation("x", "X", (Step(T, M, Assumed(assumed), "assumed"),))
    theorem = Derivation("y", "Y", (Step(2 * T, 2 * M, Instance(lemma, factor=Integer(2)), "twice"),)).prove()
    assert assumed in theorem.hypotheses
    assert together(lemma, RIGHT).hypotheses == theorem.hypotheses | RIGHT.prove().hypotheses
    assert Rational(1, 2) not in theorem.hypotheses
