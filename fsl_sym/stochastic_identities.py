r"""The exact identities of the stochastic equations: their change of time, their scheme, and their second moments.

An equation dx = drift dt + sqrt(S) dB enters by its drift and its covariance S per unit of time, which decide the law
of x, and by the mean rate of x x', which is drift x' + x drift' + S (the product rule of Ito).
"""

from __future__ import annotations

from typing import Final

from sympy import (
    Derivative,
    Function,
    Identity,
    Integral,
    MatrixSymbol,
    Symbol,
    Trace,
    exp,
)

from fsl_sym.model_identities import COVARIANCE, FEATURES, PROJECTION, RESIDUAL, SIGMA, THETA, WEIGHTS
from fsl_sym.proof import Antiderivative, Defined, Derivation, Evaluated, MatrixIdentity, Mean, Rate, Step, chains
from fsl_sym.proof import Identity as Same
from fsl_sym.symbols import B, lam, sigma, t, tau, z

STEP: Final = Symbol("h", positive=True)
ETA: Final = Symbol("eta", positive=True)
NU, TARGET = Symbol("nu", real=True), Symbol("theta", real=True)
GAMMA: Final = Symbol("gamma", positive=True)
_phi, _gamma, _g, _q, _F = (Function(name) for name in ("phi", "gamma", "g", "q", "F"))
_R = Symbol("r", positive=True)


def change_of_clock_derivation() -> tuple[Derivation, ...]:
    """Drift and covariance that gather until T(tau) in intrinsic time are those that gather until tau in physical time.

    >>> all(each.verify().holds for each in change_of_clock_derivation())
    True
    """
    phi, batch = Symbol("phi", positive=True), Symbol("b", positive=True)
    clock = Integral(_phi(_R), (_R, 0, tau))
    drift = Integral(_g(z), (z, 0, clock))
    noise = Integral(_gamma(z), (z, 0, clock))
    strength = STEP * phi / batch
    defined = Defined(definitions=((GAMMA, strength),))
    on_steps = Defined(definitions=((phi, ETA / STEP), (batch, B)))
    steps = (
        Step(Derivative(drift, tau), _phi(tau) * _g(clock), Evaluated(), "the drift, dt = phi dtau"),
        Step(Derivative(noise, tau), _gamma(clock) * _phi(tau), Evaluated(), "the covariance"),
        Step(GAMMA * phi, phi**2 * (STEP / batch), defined, "gamma at T(tau) is h phi(tau)/b(tau)"),
        Step(strength, ETA / B, on_steps, "at a step phi = eta_k/h and b = B_k"),
    )
    return chains("change of clock", "The equation in intrinsic time", steps, "eqn: sde-instrinc")


def scheme_derivation() -> tuple[Derivation, ...]:
    """One step of Euler and Maruyama in either time has the mean and the covariance of one step of SGD."""
    phi, batch, size, slope = Symbol("phi"), Symbol("b"), Symbol("Sigma"), Symbol("dR")
    step_of_sgd = ETA**2 * size / B
    at_step = Defined(definitions=((phi, ETA / STEP),))
    physical = Defined(definitions=((phi, ETA / STEP), (batch, B)))
    intrinsic = Defined(definitions=((GAMMA, ETA / B), (t, ETA)))
    steps = (
        Step(phi * slope * STEP, ETA * slope, at_step, "physical time, a step h: the mean"),
        Step(phi**2 * (STEP / batch) * size * STEP, step_of_sgd, physical, "and the covariance"),
        Step(GAMMA * size * t, step_of_sgd, intrinsic, "intrinsic time, a step eta: the covariance"),
    )
    return chains("scheme", "SGD as a scheme of Euler and Maruyama", steps, "sub:the_sde_modeling")


def coordinate_derivation() -> tuple[Derivation, ...]:
    """The second moment of one coordinate: its rate by Ito's formula, and the solution with its initial value.

    >>> [each.verify().holds for each in coordinate_derivation()]
    [True, True, True]
    """
    square = (NU - TARGET) ** 2
    generator = -lam * (NU - TARGET) * Derivative(square, NU) + _gamma(t) * _q(t) * Derivative(square, NU, NU) / 2
    kept = TARGET**2 + Integral(exp(2 * lam * z) * _gamma(z) * _q(z), (z, 0, t))
    solution = exp(-2 * lam * t) * kept
    steps = (
        Step(generator, -2 * lam * square + _gamma(t) * _q(t), Evaluated(), "Ito's formula"),
        Step(
            Derivative(solution, t),
            -2 * lam * solution + _gamma(t) * _q(t),
            Evaluated(),
            "the printed moment has this rate",
        ),
        Step(kept.subs(t, 0).doit(), TARGET**2, Same(), "and begins at theta^2"),
    )
    return chains("coordinate", "The second moment of a coordinate", steps, "sec: proof_sketch")


def residual_derivation() -> tuple[Derivation, ...]:
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
        Step(Rate(w.T * WEIGHTS - THETA), turned, along, "W' times the drift of nu"),
        Step(w.T * covariance * w, noise, plain, "W' times the noise of nu"),
        Step(
            Mean(turned * u.T + u * turned.T) + noise,
            -pull * second - second * pull.T + noise,
            over,
            "the rate of P = E[u u'] by the product rule of Ito",
        ),
    )
    return chains("residual", "The equation of the residual", steps, "eq:sde_u")


def evolution_derivation() -> tuple[Derivation, ...]:
    """2E at time t: what is left of u_0, and the noise of every time before, seen through A = exp(-W'WH (t-z)).

    >>> all(each.verify().holds for each in evolution_derivation())
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
        Step(
            Rate(left * second * left.T),
            GAMMA * left * w.T * SIGMA * w * left.T,
            rules,
            "d A/dz = A W'WH: only the noise moves A P A'",
        ),
        Step(
            Trace(h * left * (GAMMA * w.T * SIGMA * w) * left.T),
            GAMMA * Trace(w.T * SIGMA * w * left.T * h * left),
            plain,
            "a trace is cyclic",
        ),
        Step(between, _F(t) - _F(0), Antiderivative(_F(z) - _F(0)), "from 0 to t, F = tr(H A P A')"),
        Step(Trace(h * left * second * left.T), Trace(h * second), ends, "at z = t: A = I"),
        Step(
            Trace(h * left * (start * start.T) * left.T),
            Trace(start.T * left.T * h * left * start),
            plain,
            "at z = 0: P = u_0 u_0'",
        ),
        Step(
            Trace(w.T * SIGMA * w * left.T * h * left),
            (Symbol("c") + sigma**2) * Trace(w.T * w * h * w.T * w * left.T * h * left),
            bounded,
            "where Sigma is c + sigma^2 times WHW', S S = W'WHW'W",
        ),
    )
    return chains("evolution", "The risk under any projection", steps, "eq:risk-recursion")
