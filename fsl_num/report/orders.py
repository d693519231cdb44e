"""How the order of one quantity, or the range of its orders, is written as text and as JSON."""

from __future__ import annotations

from typing import Any

from sympy import And, Eq

from fsl_sym.exponents.solve import OrderRange


def order_range_json(each: OrderRange) -> dict[str, Any]:
    """An order as ``{"power", "log_power"}``, a range as ``{"lower", "upper"}``, None where nothing bounds it.

    Powers are strings that sympy parses.

    >>> from fsl_sym.order import Order
    >>> order_range_json(OrderRange(None, Order(1)))
    {'lower': None, 'upper': {'power': '1', 'log_power': '0'}}
    """
    lower, upper = (
        None if end is None else {"power": str(end.power), "log_power": str(end.log_power)}
        for end in (each.lower, each.upper)
    )
    return lower if each.is_point and lower is not None else {"lower": lower, "upper": upper}


def condition_text(condition: Any) -> str:
    """A condition on the parameters as a person writes it.

    >>> from fsl_sym.symbols import beta, s
    >>> condition_text(Eq(s, 1 - 1 / beta)), condition_text(And(s > 1, beta < 3))
    ('s = 1 - 1/beta', 'beta < 3 and s > 1')
    """
    if isinstance(condition, And):
        return " and ".join(sorted(condition_text(part) for part in condition.args))
    if isinstance(condition, Eq):
        return f"{condition.lhs} = {condition.rhs}"
    return str(condition)
