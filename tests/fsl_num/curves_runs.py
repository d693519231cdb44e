"""Synthetic runs: curves that a law made, with noise that neighbouring rows share."""

from functools import cache

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan

WARMUP, PEAK = 100, 1e-3
TRUTH = {"L0": 2.6, "A": 2.5, "B": 0.2, "s": 0.5, "c": 60.0, "gamma": 0.6, "c_e": 40.0, "p": 0.7}


def rates(kind, size=1500):
    k = np.arange(size)
    shape = {
        "constant": np.ones(size),
        "cosine": 0.55 + 0.45 * np.cos(np.pi * k / size),
        "drop": np.where(k < 0.6 * size, 1.0, 0.3),
        "wsd": np.minimum(1.0, 0.1 + 0.9 * (size - k) / (0.2 * size)),
    }[kind]
    return PEAK * np.where(k < WARMUP, k / WARMUP, shape)


def run(kind, truth=TRUTH, name="fsl", noise=0.0, size=1500, every=25, seed=0):
    """A curve made by a law, with noise that neighbouring rows share."""
    plan = Plan(rates(kind, size), np.arange(WARMUP, size + 1, every), WARMUP)
    drawn = np.random.default_rng(seed).normal(size=plan.recorded.size + 4)
    shared = np.convolve(drawn, np.full(5, 0.2), mode="valid") * np.sqrt(5)
    loss = law(name).predict(plan, truth) * np.exp(noise * shared)
    return LossCurve(plan.recorded, loss, schedule=plan, warmup=WARMUP, name=kind)


TRAINING = [run("cosine"), run("constant"), run("drop")]
NOISY = [run(kind, noise=5e-4, seed=seed) for seed, kind in enumerate(("cosine", "constant", "drop"))]


@cache
def noisy_fit(name="fsl", count=3, intervals=True):
    """A law fitted to the first of the noisy runs: tests share it, for a result stays as it is whatever it is asked."""
    return fit(NOISY[:count], name, intervals=intervals)
