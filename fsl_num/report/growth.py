"""How one growth order, or a range of them, is written: as text, as LaTeX and as JSON.

A growth is any value with the exact attributes ``power`` and ``log_power``; a range has ``lower`` and ``upper``, each a
growth or None where nothing bounds it.
"""

from __future__ import annotations

from typing import Any

from sympy import latex


def growth_text(growth: Any, base: str) -> str:
    """One growth, or a range of them, as text.

    >>> from types import SimpleNamespace
    >>> from sympy.abc import s
    >>> growth_text(SimpleNamespace(power=-s, log_power=s), "D")
    'D^(-s) (log D)^s'
    >>> growth_text(SimpleNamespace(lower=SimpleNamespace(power=1, log_power=0), upper=None), "D")
    'at least D'
    """
    if _is_range(growth):
        lower, upper = (None if end is None else growth_text(end, base) for end in (growth.lower, growth.upper))
        return _range(lower, upper, "anything", "at least {}", "at most {}", "from {} to {}")
    factors = [_power_text(base, growth.power), _power_text(f"(log {base})", growth.log_power)]
    return " ".join(factor for factor in factors if factor) or "1"


def growth_latex(growth: Any, base: str) -> str:
    r"""One growth, or a range of them, as LaTeX (without dollars).

    >>> from types import SimpleNamespace
    >>> from sympy.abc import beta
    >>> growth_latex(SimpleNamespace(power=1 / beta, log_power=0), "C")
    'C^{\\frac{1}{\\beta}}'
    """
    if _is_range(growth):
        lower, upper = (None if end is None else growth_latex(end, base) for end in (growth.lower, growth.upper))
        return _range(lower, upper, r"\text{any}", r"\gtrsim {}", r"\lesssim {}", r"\text{{from }} {} \text{{ to }} {}")
    factors = [_power_latex(base, growth.power), _power_latex(rf"(\log {base})", growth.log_power)]
    return " ".join(factor for factor in factors if factor) or "1"


def growth_json(growth: Any) -> dict[str, Any]:
    """One growth as ``{"power", "log_power"}``, a range as ``{"lower", "upper"}``; powers are strings sympy parses."""
    if _is_range(growth):
        return {
            "lower": None if growth.lower is None else growth_json(growth.lower),
            "upper": None if growth.upper is None else growth_json(growth.upper),
        }
    return {"power": str(growth.power), "log_power": str(growth.log_power)}


def _is_range(growth: Any) -> bool:
    return hasattr(growth, "lower")


def _range(lower: str | None, upper: str | None, free: str, least: str, most: str, between: str) -> str:
    if lower is None:
        return free if upper is None else most.format(upper)
    return least.format(lower) if upper is None else between.format(lower, upper)


def _power_text(base: str, power: Any) -> str:
    if power == 0 or power == 1:
        return base if power == 1 else ""
    text = str(power)
    return f"{base}^{text}" if text.isalnum() else f"{base}^({text})"


def _power_latex(base: str, power: Any) -> str:
    if power == 0 or power == 1:
        return base if power == 1 else ""
    return f"{base}^{{{latex(power)}}}"
