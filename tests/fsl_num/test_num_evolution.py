"""The covariance-adapting search against the published strategy, written for one search in plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field

import numpy as np
import pytest

from fsl_num.evolution import Found, Rows, search
from fsl_num.validation import Array


@dataclass
class Published:
    """One search by the strategy of Hansen and Ostermeier with the default parameters of Hansen's tutorial.

    ``seen``: which of its rare events have happened.
    """

    law: Callable[[Array], float]
    mean: Array
    lower: Array
    upper: Array
    sigma: float
    offspring: int
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        n = self.n = len(self.mean)
        half = self.offspring // 2
        raw = [math.log((2 * half + 1) / 2) - math.log(i + 1) for i in range(half)]
        self.w = [weight / sum(raw) for weight in raw]
        mu = self.mu = 1.0 / sum(weight * weight for weight in self.w)
        self.c_sigma = (mu + 2.0) / (n + mu + 5.0)
        self.d_sigma = 1.0 + 2.0 * max(0.0, math.sqrt((mu - 1.0) / (n + 1.0)) - 1.0) + self.c_sigma
        self.c_c = (4.0 + mu / n) / (n + 4.0 + 2.0 * mu / n)
        self.c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu)
        self.c_mu = min(1.0 - self.c_1, 2.0 * (mu - 2.0 + 1.0 / mu) / ((n + 2.0) * (n + 2.0) + mu))
        self.normal = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        self.c, self.p_sigma, self.p_c = np.eye(n), np.zeros(n), np.zeros(n)
        self.best, self.least = self.mean, self.law(self.mean)

    def step(self, generation: int, normals: Array) -> list[Array]:
        """One generation from its normal numbers: the points that it asks for."""
        scale, basis = np.linalg.eigh(self.c)
        points = []
        for z in normals:
            point = self.mean + self.sigma * (basis @ (np.sqrt(scale) * (basis.T @ z)))  # whichever axis comes first
            points.append(np.minimum(np.maximum(point, self.lower), self.upper))
            if (points[-1] != point).any():
                self.seen.add("a point at the wall")
        ranked = sorted(points, key=self.law)[: len(self.w)]
        if self.law(ranked[0]) < self.least:
            self.best, self.least = ranked[0], self.law(ranked[0])
        steps = [(point - self.mean) / self.sigma for point in ranked]
        shift = sum(w * y for w, y in zip(self.w, steps, strict=True))
        self.mean = self.mean + self.sigma * shift
        inverse_root = basis @ np.diag(1.0 / np.sqrt(scale)) @ basis.T
        gain = math.sqrt(self.c_sigma * (2.0 - self.c_sigma) * self.mu)
        self.p_sigma = (1.0 - self.c_sigma) * self.p_sigma + gain * inverse_root @ shift
        length = float(np.sqrt((self.p_sigma**2).sum()))
        stationary = math.sqrt(1.0 - (1.0 - self.c_sigma) ** (2 * (generation + 1)))
        stalled = length / stationary >= (1.4 + 2.0 / (self.n + 1.0)) * self.normal
        self.seen.add("a long path" if stalled else "a short path")
        self.p_c = (1.0 - self.c_c) * self.p_c
        lost = self.c_c * (2.0 - self.c_c) if stalled else 0.0
        if not stalled:
            self.p_c = self.p_c + math.sqrt(self.c_c * (2.0 - self.c_c) * self.mu) * shift
        rank_mu = sum(w * np.outer(y, y) for w, y in zip(self.w, steps, strict=True))
        kept = 1.0 - self.c_1 - self.c_mu + self.c_1 * lost
        self.c = kept * self.c + self.c_1 * np.outer(self.p_c, self.p_c) + self.c_mu * rank_mu
        # not in the strategy: a step grows by a factor e at most, and no step is longer than the box
        growth = self.c_sigma / self.d_sigma * (length / self.normal - 1.0)
        wide = max(self.upper - self.lower) / math.sqrt(sum(self.c[i, i] for i in range(self.n)))
        if growth > 1.0:
            self.seen.add("fast growth")
        self.sigma *= math.exp(min(growth, 1.0))
        if self.sigma > wide:
            self.sigma = wide
            self.seen.add("a step as long as the box")
        return points


def bowl(x: Array) -> Array:
    """A skewed bowl, steep along one diagonal."""
    first, last = x[..., 0], x[..., -1]
    return np.asarray((first - 0.3) ** 2 + 40.0 * (last + first - 0.5) ** 2 + 3.0 * ((x - 0.1) ** 2).sum(axis=-1))


def slope(x: Array) -> Array:
    """A slope without an end."""
    return np.asarray(x[..., 0] + 0.1 * x[..., -1])


@pytest.mark.parametrize(
    ("law", "n", "offspring", "box", "step", "events"),
    [
        (bowl, 1, 12, 4.0, 0.2, {"a short path"}),
        (bowl, 2, 28, 4.0, 0.2, {"a short path"}),
        (bowl, 3, 11, 0.6, 0.5, {"a point at the wall"}),
        (slope, 1, 60, 1e9, 1e-3, {"fast growth", "a long path"}),
        (slope, 2, 200, 1e9, 1e-3, {"fast growth", "a long path"}),
        (slope, 4, 28, 1e9, 1e-3, {"a long path"}),
        (slope, 2, 28, 3.0, 50.0, {"a step as long as the box", "a point at the wall"}),
    ],
)
def test_every_point_is_that_of_the_published_strategy(
    law: Callable[[Array], Array], n: int, offspring: int, box: float, step: float, events: set[str]
) -> None:
    searches, generations = 3, 12
    start = np.random.default_rng(3).uniform(-0.2, 0.2, (searches, n))
    lower = np.broadcast_to(-box * np.linspace(1.0, 0.5, n), (searches, n))
    upper = np.broadcast_to(box * np.linspace(0.7, 1.0, n), (searches, n))
    steps = step * np.array([1.0, 0.5, 2.0])
    asked: list[Array] = []

    def value(points: Array, rows: Rows) -> Array:
        asked.append(points)
        assert rows.tolist() == [0, 1, 2]
        return law(points)

    found = search(
        value, start, lower, upper, steps, generator=np.random.default_rng(8), tolerance=-1.0,
        generations=generations, offspring=offspring,
    )  # fmt: skip
    assert len(asked) == 1 + generations and (asked[0][:, 0] == start).all() and asked[0].shape == (searches, 1, n)
    assert found.evaluations == searches * (1 + generations * offspring)
    generator = np.random.default_rng(8)
    alone = [
        Published(lambda x: float(law(x)), start[i], lower[i], upper[i], steps[i], offspring) for i in range(searches)
    ]
    for generation in range(generations):
        normals = generator.standard_normal((searches, offspring, n))
        for i, search_alone in enumerate(alone):
            size = max(search_alone.sigma, float(np.abs(search_alone.mean).max()))
            expected = np.array(search_alone.step(generation, normals[i]))
            # rounding, carried through a dozen covariance matrices; a wrong rate moves the points by parts of a step
            assert np.abs(asked[1 + generation][i] - expected).max() <= 1e-9 * size
    for i, search_alone in enumerate(alone):
        assert found.values[i] == pytest.approx(search_alone.least, rel=1e-7, abs=1e-12)
        assert found.points[i] == pytest.approx(search_alone.best, rel=1e-7, abs=1e-9)
    assert events <= set.union(*(search_alone.seen for search_alone in alone))


def ranks(better_half: list[float]) -> Callable[[Array, Rows], Array]:
    """Values that do not depend on the points: those of the better half are given, the others are higher."""

    def value(points: Array, rows: Rows) -> Array:
        if points.shape[1] == 1:
            return np.full((len(rows), 1), 5.0)
        values = np.array(better_half + [max(1e6, *better_half)] * (points.shape[1] - len(better_half)))
        return np.broadcast_to(values[::-1], points.shape[:2]).copy()

    return value


@pytest.mark.parametrize(
    ("better_half", "tolerance", "generations"),
    [
        ([1.0, 2.0, 3.0, 4.0], 3.0, 1),
        ([1.0, 2.0, 3.0, 4.0], 2.999, 250),
        ([1.0, 1.0, 1.0, math.inf], 3.0, 250),
        ([math.inf] * 4, 3.0, 250),
        ([-4.0, -4.0, -4.0, -4.0], 0.0, 1),
    ],
)
@pytest.mark.parametrize("searches", [1, 2])
def test_a_search_ends_when_its_better_half_agrees(
    better_half: list[float], tolerance: float, generations: int, searches: int
) -> None:
    box = np.ones((searches, 1))
    found = search(
        ranks(better_half), 0.5 * box, 0.0 * box, box, np.full(searches, 0.1),
        generator=np.random.default_rng(1), tolerance=tolerance, offspring=8,
    )  # fmt: skip
    assert found.evaluations == searches * (1 + 8 * generations)
    assert found.values.tolist() == [min(5.0, *better_half)] * searches


def test_searches_that_have_ended_are_asked_no_more_and_keep_their_points() -> None:
    """The search numbered 1 sees a constant, 0 and 2 go on."""
    box = np.ones((3, 2))
    start = np.array([[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]])
    asked: list[list[int]] = []

    def value(points: Array, rows: Rows) -> Array:
        asked.append(rows.tolist())
        return np.where(rows[:, None] == 1, 7.0, ((points - 0.4) ** 2).sum(axis=-1))

    found = search(value, start, 0.0 * box, box, np.full(3, 0.1), generator=np.random.default_rng(4), tolerance=1e-12)
    assert isinstance(found, Found) and asked[:2] == [[0, 1, 2]] * 2
    assert asked[2:20] == [[0, 2]] * 18 and len(asked) < 251
    # 28 points for each search of each generation
    assert found.evaluations == 3 + 28 * sum(len(rows) for rows in asked[1:])
    # equal values are no better: the first point is kept
    assert found.points[1].tolist() == [0.25, 0.75] and found.values[1] == 7.0
    assert np.abs(found.points[[0, 2]] - 0.4).max() < 1e-5 and (found.values[[0, 2]] < 1e-11).all()
    with pytest.raises(FrozenInstanceError):
        found.evaluations = 0  # type: ignore[misc]
