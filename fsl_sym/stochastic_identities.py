r"""The exact identities of the stochastic equations: their change of time, their scheme, and their second moments.

An equation dx = drift dt + sqrt(S) dB enters by its drift and its covariance S per unit of time, which decide the law
of x, and by the mean rate of x x', which is drift x' + x drift' + S (the product rule of Ito).
"""

from __future__ import annotations

from typing import Final

from sympy import (
    Derivative,
    Expr,
    Function,
    Identity,
    Integral,
    MatrixSymbol,
    Symbol,
    Trace,
    exp,
    expand,
)

from fsl_sym.derivation import Derivation, Step
from fsl_sym.justifications import Antiderivative, StepVerdict, refuse
from fsl_sym.justifications import Identity as Same
from fsl_sym.matrix_words import MatrixIdentity, Mean, Rate
from fsl_sym.model_identities import COVARIANCE, FEATURES, PROJECTION, RESIDUAL, SIGMA, THETA, WEIGHTS
from fsl_sym.symbols import B, lam, sigma, t, tau, z

STEP: Final = Symbol("h", positive=True)
ETA: Final = Symbol("eta", positive=True)
NU, TARGET = Symbol("nu", real=True), Symbol("theta", real=True)
GAMMA: Final = Symbol("gamma", positive=True)
_phi, _gamma, _g, _q, _F = (Function(name) for name in ("phi", "gamma", "g", "q", "F"))
_R = Symbol("r", positive=True)


class Evaluated(Same):
    """Both sides are the same function once their derivatives are taken."""

    __slots__ = ()

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Take derivatives, compare."""
        sides = [side.replace(Derivative, lambda *parts: Derivative(*parts, evaluate=True)) for side in (before, after)]
        rest = expand(sides[0] - sides[1])
        if rest != 0:
            return refuse(f"the sides differ by {rest}")
        return StepVerdict(True, "exact", "derivatives taken; the difference expands to 0")


def change_of_clock_derivation() -> Derivation:
    """Drift and covariance that gather until T(tau) in intrinsic time are those that gather until tau in physical time.

    >>> change_of_clock_derivation().verify().holds
    True
    """
    phi, batch = Symbol("phi", positive=True), Symbol("b", positive=True)
    clock = Integral(_phi(_R), (_R, 0, tau))
    drift = Integral(_g(z), (z, 0, clock))
    noise = Integral(_gamma(z), (z, 0, clock))
    strength = STEP * phi / batch
    defined = Same(definitions=((GAMMA, strength),))
    on_steps = Same(definitions=((phi, ETA / STEP), (batch, B)))
    steps = (
        Step(Derivative(drift, tau), _phi(tau) * _g(clock), "identity", "the drift, dt = phi dtau", Evaluated()),
        Step(Derivative(noise, tau), _gamma(clock) * _phi(tau), "identity", "the covariance", Evaluated(), True),
        Step(GAMMA * phi, phi**2 * (STEP / batch), "identity", "gamma at T(tau) is h phi(tau)/b(tau)", defined, True),
        Step(strength, ETA / B, "identity", "at a step phi = eta_k/h and b = B_k", on_steps, True),
    )  # fmt: skip
    return Derivation("change of clock", "The equation in intrinsic time", steps, ("phi > 0",), "eqn: sde-instrinc")


def scheme_derivation() -> Derivation:
    """One step of Euler and Maruyama in either time has the mean and the covariance of one step of SGD."""
    phi, batch, size, slope = Symbol("phi"), Symbol("b"), Symbol("Sigma"), Symbol("dR")
    step_of_sgd = ETA**2 * size / B
    physical = Same(definitions=((phi, ETA / STEP), (batch, B)))
    intrinsic = Same(definitions=((GAMMA, ETA / B), (t, ETA)))
    steps = (
        Step(phi * slope * STEP, ETA * slope, "identity", "physical time, a step h: the mean", physical),
        Step(phi**2 * (STEP / batch) * size * STEP, step_of_sgd, "identity", "and the covariance", physical, True),
        Step(GAMMA * size * t, step_of_sgd, "identity", "intrinsic time, a step eta: the covariance", intrinsic, True),
    )  # fmt: skip
    return Derivation("scheme", "SGD as a scheme of Euler and Maruyama", steps, (), "sub:the_sde_modeling")


def coordinate_derivation() -> Derivation:
    """The second moment of one coordinate: its rate by Ito's formula, and the solution with its initial value.

    >>> coordinate_derivation().conclusion
    theta**2
    """
    square = (NU - TARGET) ** 2
    generator = -lam * (NU - TARGET) * Derivative(square, NU) + _gamma(t) * _q(t) * Derivative(square, NU, NU) / 2
    kept = TARGET**2 + Integral(exp(2 * lam * z) * _gamma(z) * _q(z), (z, 0, t))
    solution = exp(-2 * lam * t) * kept
    steps = (
        Step(generator, -2 * lam * square + _gamma(t) * _q(t), "identity", "Ito's formula", Evaluated()),
        Step(Derivative(solution, t), -2 * lam * solution + _gamma(t) * _q(t), "identity",
             "the printed moment has this rate", Evaluated(), True),
        Step(kept.subs(t, 0).doit(), TARGET**2, "identity", "and begins at theta^2", Same(), True),
    )  # fmt: skip
    return Derivation(
        "coordinate", "The second moment of a coordinate", steps, ("nu(0) = 0",), "sec: proof_sketch"
    )  # fmt: skip


def residual_derivation() -> Derivation:
    """The equation of u = W'nu - theta*: its drift, its covariance, and the mean rate of u u'."""
    w, h, u = PROJECTION, COVARIANCE, RESIDUAL
    pull = w.T * w * h
    second = MatrixSymbol("P", FEATURES, FEATURES)
    drift, covariance = -w * h * u, GAMMA * SIGMA
    plain = MatrixIdentity(symmetric=(h, SIGMA))
    over = MatrixIdentity(symmetric=(h, SIGMA, second), random=(u,), moments=(((u, u.T), second),))
    along = MatrixIdentity(derivatives=((WEIGHTS, drift),), symmetric=(h, SIGMA))
    turned = -pull * u
    noise = GAMMA * w.T * SIGMA * w
    steps = (
        Step(Rate(w.T * WEIGHTS - THETA), turned, "identity", "W' times the drift of nu", along),
        Step(w.T * covariance * w, noise, "identity", "W' times the noise of nu", plain, True),
        Step(Mean(turned * u.T + u * turned.T) + noise, -pull * second - second * pull.T + noise, "identity",
             "the rate of P = E[u u'] by the product rule of Ito", over, True),
    )  # fmt: skip
    return Derivation("residual", "The equation of the residual", steps, (), "eq:sde_u")


def evolution_derivation() -> Derivation:
    """2E at time t: what is left of u_0, and the noise of every time before, seen through A = exp(-W'WH (t-z)).

    >>> evolution_derivation().verify().holds
    True
    """
    w, h = PROJECTION, COVARIANCE
    pull = w.T * w * h
    left = MatrixSymbol("A", FEATURES, FEATURES)
    second = MatrixSymbol("P", FEATURES, FEATURES)
    start = MatrixSymbol("u_0", FEATURES, 1)
    noise = GAMMA * w.T * SIGMA * w
    rules = MatrixIdentity(
        symmetric=(h, SIGMA, second),
        derivatives=((left, left * pull), (second, -pull * second - second * pull.T + noise)),
    )
    ends = MatrixIdentity(symmetric=(h, SIGMA), relations=(((left,), Identity(FEATURES)),))
    plain = MatrixIdentity(symmetric=(h, SIGMA, second))
    between = Integral(Derivative(_F(z), z), (z, 0, t))
    curved = w * h * w.T
    bounded = MatrixIdentity(symmetric=(h, SIGMA), relations=(((SIGMA,), (Symbol("c") + sigma**2) * curved),))
    steps = (
        Step(Rate(left * second * left.T), GAMMA * left * w.T * SIGMA * w * left.T, "identity",
             "d A/dz = A W'WH: only the noise moves A P A'", rules),
        Step(Trace(h * left * (GAMMA * w.T * SIGMA * w) * left.T), GAMMA * Trace(w.T * SIGMA * w * left.T * h * left),
             "identity", "a trace is cyclic", plain, True),
        Step(between, _F(t) - _F(0), "integral", "from 0 to t, F = tr(H A P A')", Antiderivative(_F(z) - _F(0)), True),
        Step(Trace(h * left * second * left.T), Trace(h * second), "identity", "at z = t: A = I", ends, True),
        Step(Trace(h * left * (start * start.T) * left.T), Trace(start.T * left.T * h * left * start), "identity",
             "at z = 0: P = u_0 u_0'", plain, True),
        Step(Trace(w.T * SIGMA * w * left.T * h * left),
             (Symbol("c") + sigma**2) * Trace(w.T * w * h * w.T * w * left.T * h * left), "identity",
             "where Sigma is c + sigma^2 times WHW', S S = W'WHW'W", bounded, True),
    )  # fmt: skip
    return Derivation("evolution", "The risk under any projection", steps, ("u_0 is given",), "eq:risk-recursion")
