"""How the order of one quantity, or the range of its orders, is written as text and as JSON."""

from __future__ import annotations

from typing import Any

from sympy import And, Eq, Expr, Symbol

from fsl_sym.exponents.solve import OrderRange
from fsl_sym.order import Order


def order_range_text(each: OrderRange, base: Symbol) -> str:
    """An order, or a range of orders, as text.

    >>> from fsl_sym.symbols import D, s
    >>> order_range_text(OrderRange(Order(-s, s), Order(-s, s)), D)
    'D^(-s) (log D)^s'
    >>> order_range_text(OrderRange(Order(1), None), D)
    'at least D'
    """
    lower, upper = (None if end is None else order_text(end, base) for end in (each.lower, each.upper))
    if lower is None:
        return "anything" if upper is None else f"at most {upper}"
    if upper is None:
        return f"at least {lower}"
    return lower if each.is_point else f"from {lower} to {upper}"


def order_text(order: Order, base: Symbol) -> str:
    """One order as text: a power of the base and a power of its logarithm."""
    factors = [_power_text(str(base), order.power), _power_text(f"(log {base})", order.log_power)]
    return " ".join(factor for factor in factors if factor) or "1"


def order_range_json(each: OrderRange) -> dict[str, Any]:
    """An order as ``{"power", "log_power"}``, a range as ``{"lower", "upper"}``, None where nothing bounds it.

    Powers are strings that sympy parses.

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


def _power_text(base: str, power: Expr) -> str:
    if power == 0 or power == 1:
        return base if power == 1 else ""
    text = str(power).replace("**", "^")
    return f"{base}^{text}" if text.isalnum() else f"{base}^({text})"
