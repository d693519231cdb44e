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
    Integer,
    Integral,
    MatrixSymbol,
    Sum,
    Symbol,
    Trace,
    exp,
)

from fsl_sym.model_identities import COVARIANCE, FEATURES, PROJECTION, RESIDUAL, SIGMA, THETA, WEIGHTS
from fsl_sym.proof import (
    Antiderivative,
    Defined,
    Derivation,
    Evaluated,
    Induction,
    MatrixIdentity,
    Mean,
    Rate,
    Rewrite,
    Step,
    Turned,
    chains,
)
from fsl_sym.symbols import B, lam, sigma, t, tau, z

STEP: Final = Symbol("h", positive=True)
ETA: Final = Symbol("eta", positive=True)
NU, TARGET = Symbol("nu", real=True), Symbol("theta", real=True)
GAMMA: Final = Symbol("gamma", positive=True)
PHI, BATCH, SIZE, SLOPE = Symbol("phi"), Symbol("b", positive=True), Symbol("Sigma"), Symbol("dR")
"""Learning rate and batch size of physical time, and one entry of the covariance and of the gradient of the risk."""
ROOT: Final = MatrixSymbol("S", SIGMA.shape[0], SIGMA.shape[0])
"""A square root of gamma Sigma."""
HALF: Final = MatrixSymbol(r"\sqrt{\Sigma}", SIGMA.shape[0], SIGMA.shape[0])
ALONG: Final = MatrixSymbol("e_j", SIGMA.shape[0], 1)
_phi, _gamma, _g, _q, _F = (Function(name) for name in ("phi", "gamma", "g", "q", "F"))
_b, _m = Function("b", positive=True), Function("m", real=True)
_eta, _at = Function("eta"), Function("t")
_R = Symbol("r", positive=True)


def change_of_clock_derivation() -> tuple[Derivation, ...]:
    """Drift and covariance that gather until T(tau) in intrinsic time are those that gather until tau in physical time.

    >>> all(derivation.verify().holds for derivation in change_of_clock_derivation())
    True
    """
    clock = Integral(_phi(_R), (_R, 0, tau))
    # of phi no sign is known, nor therefore of the time that T(tau) is an end of
    time = Symbol("z", real=True)
    drift = Integral(_g(time), (time, 0, clock))
    noise = Integral(_gamma(time), (time, 0, clock))
    strength = Defined(((_gamma(clock), STEP * _phi(tau) / _b(tau)),))
    steps = (
        Step(Derivative(drift, tau), _phi(tau) * _g(clock), Evaluated(), "the drift, dt = phi dtau"),
        Step(Derivative(noise, tau), _gamma(clock) * _phi(tau), Evaluated(), "the covariance, dt = phi dtau"),
        Step(_gamma(clock) * _phi(tau), _phi(tau) ** 2 * STEP / _b(tau), strength, "gamma at T(tau) is h phi/b at tau"),
    )
    return chains("change of clock", "The equation in intrinsic time", steps, "eqn: sde-instrinc")


def physical_scheme_derivation() -> tuple[Derivation, ...]:
    """One step h of Euler and Maruyama in physical time has the mean and the covariance of one step of SGD."""
    steps = (
        Step(PHI * STEP * SLOPE, ETA * SLOPE, Defined(((PHI, ETA / STEP),)), "the mean"),
        Step(
            PHI**2 * (STEP / BATCH) * SIZE * STEP,
            ETA**2 * SIZE / B,
            Defined(((PHI, ETA / STEP), (BATCH, B))),
            "the covariance",
        ),
    )
    return chains("physical scheme", "SGD as a scheme in physical time", steps, "eqn: sde")


def intrinsic_scheme_derivation() -> tuple[Derivation, ...]:
    """One step eta of Euler and Maruyama in intrinsic time has the mean and the covariance of one step of SGD."""
    steps = (
        Step(SLOPE * t, ETA * SLOPE, Defined(((t, ETA),)), "the mean"),
        Step(GAMMA * SIZE * t, ETA**2 * SIZE / B, Defined(((GAMMA, ETA / B), (t, ETA))), "the covariance"),
    )
    return chains("intrinsic scheme", "SGD as a scheme in intrinsic time", steps, "eq:sde_raw")


def grid_derivation() -> Derivation:
    """Steps of the lengths eta_k, one after the other, reach t_(k+1) = sum_{j<=k} eta_j.

    >>> str(grid_derivation().conclusion.left)
    't(k + 1)'
    """
    index, last = (Symbol(name, integer=True, nonnegative=True) for name in ("i", "k"))
    lengths = Sum(_eta(index), (index, 0, last))
    increments = Sum(_at(index + 1) - _at(index), (index, 0, last))
    by_length = Defined(((_eta(index), _at(index + 1) - _at(index)),))
    steps = (
        Step(lengths, increments, by_length, "step j has the length eta_j"),
        Step(increments, _at(last + 1) - _at(0), Induction(last), "induction over the steps"),
        Step(_at(last + 1) - _at(0), _at(last + 1), Defined(((_at(0), Integer(0)),)), "the grid begins at 0"),
    )
    summed = Derivation("lengths", "The lengths of the steps add up", steps)
    step = Step(_at(last + 1), lengths, Turned(summed), "read from its other end")
    return Derivation("grid", "The grid of intrinsic time", (step,), "sub:the_sde_modeling")


def coordinate_derivation() -> tuple[Derivation, ...]:
    """The second moment m of one coordinate from its rate, which Ito's formula gives: m' = -2 lambda m + gamma q.

    The first derivation is that formula, for one value of the coordinate; the second has its mean as a hypothesis,
    and integrates the derivative of exp(-2 lambda (t-z)) m.

    >>> [derivation.verify().holds for derivation in coordinate_derivation()]
    [True, True]
    """
    square = (NU - TARGET) ** 2
    generator = -lam * (NU - TARGET) * Derivative(square, NU) + _gamma(t) * _q(t) * Derivative(square, NU, NU) / 2
    formula = Step(generator, -2 * lam * square + _gamma(t) * _q(t), Evaluated(), "Ito's formula")
    left = exp(-2 * lam * (t - z))
    gathered = Integral(left * _gamma(z) * _q(z), (z, 0, t))
    grown = Integral(left * (Derivative(_m(z), z) + 2 * lam * _m(z)), (z, 0, t))
    by_rate = Defined(((_q(z), (Derivative(_m(z), z) + 2 * lam * _m(z)) / _gamma(z)),))
    ends = _m(t) - exp(-2 * lam * t) * _m(0)
    steps = (
        Step(gathered, grown, by_rate, "the mean of Ito's formula, solved for q"),
        Step(grown, ends, Antiderivative(left * _m(z)), "the derivative of exp(-2 lambda (t-z)) m"),
    )
    gained = Derivation("gathered", "What noise gathers", steps)
    moment, begun = (exp(-2 * lam * t) * start + gathered for start in (TARGET**2, _m(0)))
    steps = (
        Step(moment, begun, Defined(((_m(0), TARGET**2),)), "m begins at theta^2"),
        Step(begun, _m(t), Rewrite(gained), "what noise gathers"),
    )
    whole = Step(_m(t), moment, Turned(Derivation("solution", "The solution", steps)), "the moment at time t")
    return chains("coordinate", "The second moment of a coordinate", (formula, whole), "sec: proof_sketch")


def row_derivation() -> Derivation:
    """The squares of a row of the root S of Sigma add up to a diagonal entry: |S e|^2 = e'Sigma e."""
    rooted = MatrixIdentity(symmetric=(HALF,), relations=(((HALF, HALF), SIGMA),))
    row = HALF * ALONG
    step = Step(Trace(row.T * row), Trace(ALONG.T * SIGMA * ALONG), rooted, "the root is symmetric")
    return Derivation("row", "The variance of the noise of one coordinate", (step,), "sec: proof_sketch")


def residual_derivation() -> tuple[Derivation, ...]:
    """The equation of u = W'nu - theta*: its drift, and the covariance of its noise W' S dB with S S' = gamma Sigma."""
    w, h = PROJECTION, COVARIANCE
    residual = w.T * WEIGHTS - THETA
    along = MatrixIdentity(derivatives=((WEIGHTS, -w * h * residual),), symmetric=(h,))
    rooted = MatrixIdentity(relations=(((ROOT, ROOT.T), GAMMA * SIGMA),))
    steps = (
        Step(Rate(residual), -w.T * w * h * residual, along, "W' times the drift of nu"),
        Step((w.T * ROOT) * (w.T * ROOT).T, GAMMA * w.T * SIGMA * w, rooted, "W' times the noise of nu"),
    )
    return chains("residual", "The equation of the residual", steps, "eq:sde_u")


def evolution_derivation() -> tuple[Derivation, ...]:
    """2E at time t: what is left of u_0, and the noise of every time before, seen through A = exp(-W'WH (t-z)).

    >>> all(derivation.verify().holds for derivation in evolution_derivation())
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
    u, turned = RESIDUAL, -pull * RESIDUAL
    over = MatrixIdentity(symmetric=(h, SIGMA, second), random=(u,), moments=(((u, u.T), second),))
    steps = (
        Step(
            Mean(turned * u.T + u * turned.T) + noise,
            -pull * second - second * pull.T + noise,
            over,
            "the rate of P = E[u u'] by the product rule of Ito",
        ),
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
