"""Losses on steps by ways that share nothing with the compiled march, and schedules to try them on."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np

KINDS = ("alternating", "cosine", "cyclic", "random", "spike", "rising", "pauses", "batches", "constant")


def schedule_of(kind: str, steps: int, seed: int) -> tuple[Any, Any]:
    """Learning rates up to 1 (a spike is 20 times as long) and batch sizes of a schedule of some kind."""
    generator, k = np.random.default_rng(seed), np.arange(steps)
    batches = np.ones(steps)
    if kind == "alternating":
        rates = np.where(k % 2, 1.0, 0.1)
    elif kind == "cosine":
        rates = 0.5 * (1.0 + np.cos(np.pi * k / max(steps - 1, 1)))
    elif kind == "cyclic":
        rates = np.abs(np.sin(0.3 * k + 0.1))
    elif kind == "random":
        rates, batches = generator.uniform(0.0, 1.0, steps), generator.uniform(1.0, 5.0, steps)
    elif kind == "spike":
        rates = np.full(steps, 1e-3)
        rates[steps // 2], batches[steps // 2] = 20.0, 60.0
    elif kind == "rising":
        rates = np.geomspace(1e-9, 1.0, steps) if steps > 1 else np.ones(1)
    elif kind == "pauses":
        rates = generator.uniform(0.0, 1.0, steps) * (generator.random(steps) < 0.3)
        rates[0] = 1.0
    else:
        rates, batches = np.ones(steps), np.where(k % 2, 1.0, 7.0) if kind == "batches" else batches
    return rates, batches


def in_long_doubles(
    lam: Any, signals: Any, delta: float, noise: float, rates: Any, batches: Any, gaussian: bool = False
) -> Any:
    """f before, between and after the steps: Taylor series of the state itself, every mode, in extended precision."""
    real = np.longdouble
    lam, x = np.asarray(lam, real), np.asarray(signals, real).copy()
    base, found = real(delta) + real(noise), [real(delta) + x.sum()]
    for length, batch in zip(np.asarray(rates, real), np.asarray(batches, real), strict=True):
        gamma = length / batch
        decay = 2.0 * lam - (gamma * lam**2 if gaussian else 0.0)
        push = gamma * lam**2
        parts = max(1, math.ceil(float(2.0 * length * (np.abs(decay).max() + push.sum())))) if length else 0
        for _ in range(parts):
            h, new, change, u = length / parts, x.copy(), x, base + x.sum()
            for m in range(1, 45):
                change = (push * u - decay * change) * (h / m)
                u = change.sum()
                new += change
                if np.abs(change).sum() < 1e-24 * np.abs(new).sum():
                    break
            x = new
        found.append(real(delta) + x.sum())
    return np.array(found)


def by_eigenvectors(
    lam: Any, signals: Any, delta: float, noise: float, rates: Any, batches: Any, gaussian: bool = False
) -> Any:
    """f after the steps to 40 digits: with sqrt(w) on both sides the system is symmetric, diagonal plus rank one."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    lam, base = [mp.mpf(float(eigenvalue)) for eigenvalue in lam], mp.mpf(delta) + mp.mpf(noise)
    size = len(lam)
    # y = x/lambda, since sqrt(w) = lambda
    y = mp.matrix([mp.mpf(float(signal)) / eigenvalue for signal, eigenvalue in zip(signals, lam, strict=True)])
    for length, batch in zip(rates.tolist(), batches.tolist(), strict=True):
        if not length:
            continue
        h = mp.mpf(length)
        gamma = h / mp.mpf(batch)
        matrix = mp.matrix(size, size)
        for i in range(size):
            for j in range(size):
                matrix[i, j] = gamma * lam[i] * lam[j]
            matrix[i, i] += (gamma * lam[i] ** 2 if gaussian else 0) - 2 * lam[i]
        values, vectors = mp.eigsy(matrix)
        state, input_ = vectors.T * y, vectors.T * mp.matrix([gamma * eigenvalue * base for eigenvalue in lam])
        columns = zip(values, state, input_, strict=True)
        grown = [mp.exp(value * h) * z + mp.expm1(value * h) / value * c for value, z, c in columns]
        y = vectors * mp.matrix(grown)
    return mp.mpf(delta) + sum(eigenvalue * component for eigenvalue, component in zip(lam, y, strict=True))
