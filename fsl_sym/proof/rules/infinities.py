"""What may be infinite: endless sums and integrals, which are neither subtracted nor divided by one another."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Integral, Mul, Sum, oo

from fsl_sym.algebra.equality import sign
from fsl_sym.proof.rules.sums import continuous_up_to_the_ends


def infinity_fault(side: Add | Mul) -> str:
    """Why infinities may be subtracted from or divided by each other, which has no value; "" where none are.

    Of one infinity alone all rules hold: what is at most it, or equal to it, is so.
    """
    kinds: dict[int | None, dict[str, bool]] = {1: {"positive": True}, 0: {"nonnegative": True}, -1: {"negative": True}}
    signs: list[int | None] = []
    for term in side.args:
        infinite = [item for item in term.atoms(Sum, Integral) if may_be_infinite(item)]
        if infinite and isinstance(side, Mul):
            signs.append(1 if term.as_base_exp()[1].is_nonnegative else -1)
            continue
        if infinite:
            signs.append(sign(term.xreplace({item: Dummy(**kinds.get(sign(item.function), {})) for item in infinite})))
    if len(signs) > 1 and not (set(signs) <= {0, 1} or set(signs) <= {0, -1}):
        return f"{side} may be a difference or a quotient of infinities, which has no value"
    return ""


def holds_infinity(side: Expr) -> bool:
    """Whether an infinity, or what may be infinite, stands in an expression."""
    return side.has(oo, -oo) or any(may_be_infinite(item) for item in side.atoms(Sum, Integral))


def may_be_infinite(item: Sum | Integral) -> bool:
    """Whether a sum has no end, or an integral is not shown to be one of what is continuous on a finite range."""
    if isinstance(item, Sum):
        return any({oo, -oo} & {*limits[1:]} for limits in item.limits)
    # of finitely many terms each is looked at
    inside = item.function.replace(lambda part: isinstance(part, Sum) and not may_be_infinite(part),
                                 lambda total: total.function)  # fmt: skip
    return not all(continuous_up_to_the_ends(inside, *limits) for limits in item.limits)
