"""Formulas in signs of one line: nothing lost, nothing ambiguous, and never an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.report.plain import plain


@pytest.mark.parametrize(
    ("latex", "signs"),
    [
        (r"M^{-s\beta}", "M^(−sβ)"),
        (r"\sigma^2", "σ²"),
        (r"10^{-12}", "10⁻¹²"),
        (r"\tilde e_M(t)", "ẽ_M(t)"),
        (r"\theta_j^2 = j^{-1}\lambda_j^{s-1}", "θ_j² = j⁻¹λ_j^(s−1)"),
        (r"\lambda_M t", "λ_M t"),  # and not the index Mt
        (r"\nu_{Kh}", "ν_(Kh)"),
        (r"M^\beta B", "M^β B"),
        (r"\rho_- \mathrm{tr}(\mathbf H)", "ρ_− tr(H)"),
        (r"\mathbf W_{0:k}^\top", "W_(0:k)ᵀ"),
        (r"\frac{a+b}{2T}\sum_{j=1}^M j", "((a+b)/(2T)) ∑_(j=1)^M j"),
        (r"1-\frac{\beta}{1+s\beta}", "1 − β/(1+sβ)"),
        (r"\int_0^3 f", "∫_0^3 f"),
        (r"-s \le (-1, +1]", "−s ≤ (−1, +1]"),
        (r"(D/\log D)^{1/2}", "(D/log D)^(1/2)"),
        (r"\sqrt{\gamma\Sigma}d\tilde{\mathbf B}", "√(γΣ)dB̃"),
        (r"S_i := 1, \ldots, k", "S_i := 1, …, k"),
        (r"\kappa'' = f^\ast", "κ″ = f*"),
        (r"\mu_{\frac{M}{2}}(A)", "μ_(M/2)(A)"),
        (r"\phi \varphi", "ϕφ"),  # the features and the schedule stay two letters
    ],
)
def test_a_formula_is_written_in_signs(latex, signs):
    assert plain(f"so ${latex}$.") == f"so {signs}."


def test_what_is_no_formula_stays():
    assert plain("`thm: x` costs 5 $ and `a`") == "thm: x costs 5 $ and a"


def test_what_cannot_be_typeset_stays_in_its_source():
    assert plain(r"by $\nosuch{x}$") == r"by $\nosuch{x}$"


@given(st.text(st.sampled_from("ab Me_^-+(){}[]<>=~*'12.,:/&\"$`\\β"), max_size=40))
def test_any_text_is_shown(text):
    assert isinstance(plain(text), str)
    if "$" not in text and "`" not in text:
        assert plain(text) == text
