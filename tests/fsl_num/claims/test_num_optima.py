"""Tables of optima say what the formulas say: each value in its regime, joined only where all is the same."""

from itertools import product

import pytest
from sympy import And, Eq, Gt, Integer, Lt, oo

from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.optima import optima
from fsl_num.claims.registry import all_claims
from fsl_sym.algebra.printing import latex
from fsl_sym.proof import Formula, all_of, same_order
from fsl_sym.symbols import D, M, beta, gamma, s

PROGRAM = ((gamma, M), D, (gamma <= 1,))
LAW = gamma + 1 / M


def least(where, order, law=LAW):
    return Formula(law, "optimum", order, program=PROGRAM, where=where)


def near(where, left, relation, order, lowest, law=LAW):
    return Formula(left, f"near-optimal {relation}", order, program=(law, lowest, *PROGRAM), where=where)


def statement(orders, condition=None):
    """Three regimes with these least values, and these orders of gamma in them."""
    wheres = [relation(s, 1) if condition is None else And(relation(s, 1), condition) for relation in (Gt, Eq, Lt)]
    parts = [
        (least(where, low), near(where, gamma, "at", rate, low))
        for where, (low, rate) in zip(wheres, orders, strict=True)
    ]
    return all_of(part for pair in parts for part in pair)


@pytest.mark.parametrize(
    ("rates", "wheres"),
    [
        ((1, 1, 1), ["everywhere"]),
        ((1, 1, D), [r"$s \geq 1$", "$s < 1$"]),
        ((1, D, D), ["$s > 1$", r"$s \leq 1$"]),
        ((1, D, 1), ["$s < 1$ or $s > 1$", "$s = 1$"]),
        ((1, D, M), ["$s > 1$", "$s = 1$", "$s < 1$"]),
    ],
)
def test_regimes_share_a_column_where_all_is_the_same(rates, wheres):
    [law], others = optima(statement([(1 / D, rate) for rate in rates]))
    assert [*law.wheres] == wheres and others == []
    assert [row[0] for row in law.rows] == ["least $L$", r"peak lr $\gamma$"]
    assert law.rows[1][1:] == tuple(f"${latex(Integer(1) * rate)}$" for rate in dict.fromkeys(rates))


def test_conditions_that_differ_in_two_relations_are_not_joined():
    steep, flat = (least(where, 1 / D) for where in (And(s > 1, beta > 2), And(Eq(s, 1), Eq(beta, 2))))
    [law], _ = optima(all_of([steep, flat, least(And(s < 1, beta > 2), 1)]))
    assert [*law.wheres] == [r"$\beta = 2$, $s = 1$ or $\beta > 2$, $s > 1$", r"$\beta > 2$, $s < 1$"]
    [law], _ = optima(statement([(1 / D, 1), (1 / D, 1), (1, 1)], beta > 2))
    assert [*law.wheres] == [r"$\beta > 2$, $s \geq 1$", r"$\beta > 2$, $s < 1$"]


@pytest.mark.parametrize(
    ("ends", "cell"),
    [
        ({"from": 1, "up to": D}, "from $1$ to $D$"),
        ({"from": D, "up to": oo}, "at least $D$"),
        ({"from": D}, "at least $D$"),
        ({"up to": D}, "at most $D$"),
    ],
)
def test_a_range_has_its_ends(ends, cell):
    parts = [near(None, M, end, order, 1 / D) for end, order in ends.items()]
    [law], _ = optima(all_of([least(None, 1 / D), near(None, gamma, "at", 1, 1 / D), *parts]))
    assert law.rows[2] == ("model size $M$", cell)


def test_no_table_where_the_least_value_of_a_choice_is_not_stated():
    parts = [least(None, 1 / D), near(None, gamma, "at", 1, 1 / D), near(None, M, "at", D, 1 / D)]
    assert optima(all_of(parts))[0]
    for incomplete in (parts[1:], [least(s > 1, 1 / D), *parts[1:]], [least(None, D), *parts[1:]], parts[:2]):
        assert optima(all_of(incomplete)) == ([], list(incomplete))


def test_what_is_said_besides_is_kept():
    parts = [least(None, 1 / D), near(None, gamma, "at", 1, 1 / D), near(None, M, "at", D, 1 / D)]
    aside = same_order(D, M)
    assert optima(all_of([*parts, aside]))[1] == [aside]


def test_every_value_of_a_claim_stands_in_its_table():
    tabled = {claim.id: claim.formula for claim in all_claims() if optima(claim.formula)[0]}
    assert len(tabled) >= 25 and {"thm: wsd/data", "vanishing-end/compute", "tab: optimal-scaling"} <= {*tabled}
    for name, formula in tabled.items():
        laws, others = optima(formula)
        parts = parts_of(formula)
        for law, (left, program) in zip(laws, filter(None, dict.fromkeys(map(about, parts))), strict=True):
            assert law.law.endswith(f"= {latex(left)}"), name
            own = [part for part in parts if about(part) == (left, program)]
            regimes = dict.fromkeys(part.where for part in own)
            assert 1 <= len(law.wheres) <= len(regimes) and {len(row) for row in law.rows} == {1 + len(law.wheres)}
            for part, row in product(own, law.rows):
                heading = "least" if part.relation == "optimum" else f"${latex(part.left)}$"
                if heading in row[0] and part.right != oo:
                    assert any(f"${latex(part.right)}$" in cell for cell in row[1:]), (name, row)
        assert others == [part for part in parts if not part.program], name


def about(part):
    return (part.left if part.relation == "optimum" else part.program[0], part.program[-3:]) if part.program else None
