r"""The exact identities of the model: rotations, risk, gradient, noise of the gradient, and its average over a batch.

Every step is an identity between matrices of all sizes (:mod:`fsl_sym.proof`): H is any symmetric matrix, W any
matrix of shape (M, N). The residual is u = W'v - theta*, one sample has features phi and label noise epsilon.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sympy import Identity, Integer, MatrixSymbol, Symbol, Trace, ZeroMatrix

from fsl_sym.proof import Derivation, MatrixIdentity, Mean, Rate, Step, chains
from fsl_sym.symbols import sigma

SIZE: Final = Symbol("M", integer=True, positive=True)
FEATURES: Final = Symbol("N", integer=True, positive=True)
ROTATION, COVARIANCE, CURVED = (MatrixSymbol(name, FEATURES, FEATURES) for name in ("Q", "H", "F"))
PROJECTION: Final = MatrixSymbol("W", SIZE, FEATURES)
PHI, THETA, RESIDUAL = (MatrixSymbol(name, FEATURES, 1) for name in (r"\phi", r"\theta", "u"))
WEIGHTS, DIRECTION, NOISE = (MatrixSymbol(name, SIZE, 1) for name in ("v", "d", r"\xi"))
SIGMA: Final = MatrixSymbol(r"\Sigma", SIZE, SIZE)
EPSILON: Final = Symbol("epsilon", real=True)
RATE: Final = Symbol("eta", positive=True)

_Q, _H, _W, _U = ROTATION, COVARIANCE, PROJECTION, RESIDUAL
_ONE = Identity(1)
_ERROR = _W.T * WEIGHTS - THETA
_ROTATED = MatrixIdentity(
    symmetric=(_H,), relations=(((_Q.T, _Q), Identity(FEATURES)), ((_Q, _Q.T), Identity(FEATURES)))
)
_SECOND, _LABELS = ((PHI, PHI.T), _H), ((EPSILON**2, sigma**2), (EPSILON, Integer(0)))
_OVER_SAMPLES = MatrixIdentity(symmetric=(_H,), random=(PHI,), moments=(_SECOND,), scalar_moments=_LABELS)
_ALONG = MatrixIdentity(symmetric=(_H,), derivatives=((WEIGHTS, DIRECTION),))


def rotation_derivation() -> tuple[Derivation, ...]:
    """SGD, and the risk, with features Q phi, target Q theta and projection W Q' are those without Q.

    >>> all(derivation.verify().holds for derivation in rotation_derivation())
    True
    """
    projection, phi, theta = _W * _Q.T, _Q * PHI, _Q * THETA
    gradient = projection * phi * (phi.T * (projection.T * WEIGHTS - theta) - EPSILON * _ONE)
    own = _W * PHI * (PHI.T * _ERROR - EPSILON * _ONE)
    error = projection.T * WEIGHTS - theta
    risk = Trace(error.T * (_Q * _H * _Q.T) * error) / 2
    v = MatrixSymbol("v", FEATURES, 1)
    step = _Q * v - RATE * phi * (phi.T * (_Q * v - theta) - EPSILON * _ONE)
    steps = (
        Step(gradient, own, _ROTATED, "the gradient of one sample: Q'Q = I"),
        Step(risk, Trace(_ERROR.T * _H * _ERROR) / 2, _ROTATED, "the excess risk"),
        Step(
            step,
            _Q * (v - RATE * PHI * (PHI.T * (v - THETA) - EPSILON * _ONE)),
            _ROTATED,
            "all features, W = I: the weights turn with them",
        ),
    )
    return chains("rotation", "SGD under rotations of the features", steps, "ass:diagonal")


def risk_derivation() -> Derivation:
    """The mean loss is half of u'Hu, plus half of sigma^2."""
    residual = PHI.T * _ERROR - EPSILON * _ONE
    steps = (
        Step(
            Trace(Mean(residual.T * residual)) / 2,
            Trace(_ERROR.T * _H * _ERROR) / 2 + sigma**2 / 2,
            _OVER_SAMPLES,
            "E phi phi' = H and E epsilon phi = 0",
        ),
    )
    return Derivation("population risk", "The population risk", steps, "eqn: pop-risk")


def top_risk_derivation() -> Derivation:
    """With the first M features the risk splits into those that are learned and those that are not."""
    size_beyond = FEATURES - SIZE
    first, last = MatrixSymbol("E_1", FEATURES, SIZE), MatrixSymbol("E_2", FEATURES, size_beyond)
    head, tail = MatrixSymbol("H_1", SIZE, SIZE), MatrixSymbol("H_2", size_beyond, size_beyond)
    theta, left = MatrixSymbol(r"\theta_1", SIZE, 1), MatrixSymbol(r"\theta_2", size_beyond, 1)
    blocks = MatrixIdentity(
        symmetric=(_H, head, tail),
        relations=(
            ((first.T, _H, first), head),
            ((last.T, _H, last), tail),
            ((first.T, _H, last), ZeroMatrix(SIZE, size_beyond)),
            ((last.T, _H, first), ZeroMatrix(size_beyond, SIZE)),
        ),
    )
    error = first * WEIGHTS - first * theta - last * left
    steps = (
        Step(
            Trace(error.T * _H * error),
            Trace((WEIGHTS - theta).T * head * (WEIGHTS - theta)) + Trace(left.T * tail * left),
            blocks,
            "H is diagonal: its blocks do not mix",
        ),
    )
    title = "Twice the excess risk of the first M features"
    return Derivation("population risk, first features", title, steps, "eqn: pop-risk-top-M")


def gradient_derivation() -> tuple[Derivation, ...]:
    """The gradients of loss and risk, and the second derivative of the risk, along any direction d."""
    residual = PHI.T * _ERROR - EPSILON * _ONE
    gradient = _W * PHI * PHI.T * _ERROR - EPSILON * _W * PHI
    over_samples = replace(_OVER_SAMPLES, scalar_moments=_LABELS[1:])
    steps = (
        Step(
            Trace(Rate(residual.T * residual)) / 2,
            Trace(DIRECTION.T * gradient),
            _ALONG,
            "the gradient of the loss of one sample",
        ),
        Step(Mean(gradient), _W * _H * _ERROR, over_samples, "its mean"),
        Step(
            Trace(Rate(_ERROR.T * _H * _ERROR)) / 2,
            Trace(DIRECTION.T * _W * _H * _ERROR),
            _ALONG,
            "the gradient of the risk is that mean",
        ),
        Step(Rate(_W * _H * _ERROR), _W * _H * _W.T * DIRECTION, _ALONG, "the second derivative of the risk"),
    )
    return chains("gradient", "Gradients of loss and risk", steps, "eqn: sgd")


def noise_derivation() -> Derivation:
    """The covariance of xi, the gradient of one sample less its mean, with F = E[phi phi'u u'phi phi'].

    >>> noise_derivation().verify().holds
    True
    """
    noise = _W * PHI * PHI.T * _U - EPSILON * _W * PHI - _W * _H * _U
    covariance = _W * (CURVED - _H * _U * _U.T * _H) * _W.T + sigma**2 * _W * _H * _W.T
    fourth = ((PHI, PHI.T, _U, _U.T, PHI, PHI.T), CURVED)
    drawn = MatrixIdentity(symmetric=(_H, CURVED), random=(PHI,), moments=(_SECOND, fourth), scalar_moments=_LABELS)
    step = Step(Mean(noise * noise.T), covariance, drawn, "terms odd in epsilon have mean 0")
    return Derivation("gradient noise", "The covariance of the gradient", (step,), "lemma: noise-covariance")


def minibatch_derivation() -> tuple[Derivation, ...]:
    """The noise of a batch has mean 0 and covariance Sigma/B: one sample, and from a batch of B to one of B + 1.

    The induction over B that joins them is this text.
    """
    batch = Symbol("B", positive=True)
    sample, mean = NOISE, MatrixSymbol(r"\bar\xi", SIZE, 1)
    none = ZeroMatrix(SIZE, SIZE)
    drawn = MatrixIdentity(
        symmetric=(SIGMA,),
        random=(sample, mean),
        moments=(
            ((sample, sample.T), SIGMA),
            ((mean, mean.T), SIGMA / batch),
            ((sample, mean.T), none),
            ((mean, sample.T), none),
            ((sample,), ZeroMatrix(SIZE, 1)),
            ((mean,), ZeroMatrix(SIZE, 1)),
        ),
    )
    longer = (batch * mean + sample) / (batch + 1)
    steps = (
        Step(Mean(sample * sample.T), SIGMA, drawn, "a batch of one"),
        Step(Mean(longer), ZeroMatrix(SIZE, 1), drawn, "one sample more: the mean"),
        Step(Mean(longer * longer.T), SIGMA / (batch + 1), drawn, "one sample more: the covariance"),
    )
    return chains("batches", "The gradient noise of a batch", steps, "eqn: sgd2")
