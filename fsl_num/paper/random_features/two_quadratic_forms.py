"""lem:T_estimate: the two quadratic forms of the proof, and the inverse with the first columns split off."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Identity, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Sharp
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import SPECTRUM
from fsl_num.paper.model.formulas import symmetric
from fsl_num.paper.model.statements import FailureRate
from fsl_num.paper.random_features.draws import features, sizes_of, variance
from fsl_num.paper.random_features.formulas import EDGES, PROBABLE, RANDOM, RATE, SMALL, SPLIT, most, mu
from fsl_num.paper.random_features.identities import CASES, ROWS, Table, case, entry, of_cases, sharp_identity
from fsl_num.paper.random_features.laws import Exponents, Logs
from fsl_num.paper.random_features.statements import DrawnRay, OverDraws, Within
from fsl_num.paper.random_features.tail_eigenvalues import MU_TAIL, RUNS, SIZES, generators, tail_ratio
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array
from fsl_sym import random_features as derivations
from fsl_sym.proof import AllOf, Formula, Hypothesis, at_most, equals, less
from fsl_sym.random_features import (
    COLUMNS,
    HEAD,
    HEAD_INVERSE,
    MIDDLE,
    MIDDLE_INVERSE,
    ORDER,
    REST,
    REST_INVERSE,
    SIZE,
    WHOLE_INVERSE,
)
from fsl_sym.symbols import M, t

COLUMN_EIGENVALUE: Final = Symbol("mu_M", nonnegative=True)
_LAST_OF_COLUMNS: Final = Symbol("mu_k", nonnegative=True)
_first, _second, _norm, _rest = (Symbol(name, positive=True) for name in ("T_1", "T_2", "u_0", "u_1"))
_SECOND: Final = at_most(_second, _rest**2)
TWO_FORMS: Final = AllOf((at_most(_first, most * _norm**2 / t * (mu(M / 2, SPLIT) / mu(M, SPLIT)) ** 2), _SECOND))
SPAN = 1 / 2
"""T_1 is measured at t = (M/2)^beta, where the first M/3 columns have just been learned."""


def _split_off() -> tuple[Formula, tuple[Hypothesis, ...]]:
    """(WHW')^-1 W_0:k H_0:k = A_k^-1 W_0:k (H_0:k^-1 + W_0:k'A_k^-1 W_0:k)^-1."""
    identity, small = Identity(SIZE), Identity(ORDER)
    hypotheses = (
        equals(REST * REST_INVERSE, identity),
        equals(HEAD * HEAD_INVERSE, small),
        equals(MIDDLE * MIDDLE_INVERSE, small),
        equals(COLUMNS.T * REST_INVERSE * COLUMNS, MIDDLE - HEAD_INVERSE),
        equals(WHOLE_INVERSE * REST, identity - WHOLE_INVERSE * COLUMNS * HEAD * COLUMNS.T),
    )
    shapes = symmetric(REST, REST_INVERSE, HEAD, HEAD_INVERSE, MIDDLE, MIDDLE_INVERSE)
    return equals(WHOLE_INVERSE * COLUMNS * HEAD, REST_INVERSE * COLUMNS * MIDDLE_INVERSE), (*hypotheses, *shapes)


FIRST_COLUMNS: Final = _split_off()


@lru_cache(maxsize=64)
def column_bounds(sample: Sample, share: float = 1 / 3) -> dict[str, Any]:
    """The largest T_1 t/|u|^2, and the largest T_2/|u|_H^2, over all targets, with the ratio of A_k, k = M ``share``.

    T_1 and T_2 are quadratic forms of the first k and of the other coordinates of the target: the largest value over
    all targets is a norm. ``first`` is T_1 at t = (M/2)^beta, ``failures`` how many draws (M, failures, draws) have a
    T_1 t/(|u|^2 ratio^2) above all the draws at M = 12, and ``second`` pairs (name, norm of T_2) at three times.
    """
    _, beta = sample.point
    values: list[Array] = []
    logs: dict[str, list[Any]] = {"k": [], "t": [], "ratio": []}
    second: list[tuple[str, float]] = []
    for place, size in enumerate(SIZES):
        count = round(share * size)
        eigenvalues, _ = features(1.0, beta, size)
        time = (SPAN * size) ** beta
        log_pairs = []
        for generator in generators(sample.seed, size, RUNS[sample.effort][place], 12):
            weighted = random_projection(size, eigenvalues.size, generator) * np.sqrt(eigenvalues)
            _, singular, rows = np.linalg.svd(weighted, full_matrices=False)
            head = (rows / singular[:, None])[:, :count] * np.sqrt(eigenvalues[:count])
            shrunk = np.exp(-time * singular**2)[:, None]
            norm = np.linalg.norm(shrunk * singular[:, None] * head, 2) ** 2
            log_pairs.append((np.log(norm), np.log(tail_ratio(weighted, count))))
            if place < 2:
                for when in (0.0, 1.0, time):
                    damped = np.exp(-when * singular**2)[:, None] * rows[:, count:]
                    second.append((f"M = {size}, t = {when:.3g}", float(np.linalg.norm(damped, 2)) ** 2))
        table = np.array(log_pairs)
        values.append(table[:, 0])
        logs["k"].append(np.log(count))
        logs["t"].append(np.log(time))
        logs["ratio"].append(table[:, 1])
    ray = DrawnRay("T_1", SIZES, tuple(values), sizes_of(SIZES) | {name: tuple(parts) for name, parts in logs.items()})
    scaled = [part + time - 2.0 * ratio for part, time, ratio in zip(values, logs["t"], logs["ratio"], strict=True)]
    above = float(scaled[0].max())
    failures = [(size, int((part > above).sum()), part.size) for size, part in zip(SIZES[1:], scaled[1:], strict=True)]
    return {"first": [ray], "failures": failures, "second": second}


def _column_eigenvalues(sample: Sample) -> dict[int, Array]:
    """The eigenvalues of W_0:k H_0:k W_0:k' as printed, k = M/3, over the largest; by M."""
    eigenvalues = {}
    for size in SIZES[:2]:
        root = np.sqrt(features(1.0, sample.point[1], size)[0])[: size // 3]
        generator = next(generators(sample.seed, size, 1, 13))
        head = random_projection(size, 4 * size, generator)[:, : root.size] * root
        own = np.pad(np.linalg.svd(head, compute_uv=False) ** 2, (0, size - root.size))
        eigenvalues[size] = own / own[0]
    return eigenvalues


def column_ratio_rounding(sample: Sample) -> Located:
    """mu_M/mu_1 of them: what the printed bound divides by."""
    ratios = [(f"M = {size}", float(own[-1])) for size, own in _column_eigenvalues(sample).items()]
    sizes = np.array(SIZES[:2])
    return Located(ratios, {"M": sizes, "N": 4 * sizes, "k": sizes // 3, "v": np.array([*map(variance, SIZES[:2])])})


def first_columns(sample: Sample) -> Table:
    """(W H W')^-1 W_0:k H_0:k for k = 1, 2."""
    table: Table = []
    for number in range(CASES):
        projection, eigenvalues, _ = case(sample, number)
        gram = (projection * eigenvalues) @ projection.T
        for count in (1, 2):
            value = np.linalg.solve(gram, projection[:, :count] * eigenvalues[:count])
            table += [((number, count, i, j), float(value[i, j])) for i in range(ROWS) for j in range(count)]
    return table


def _middle(sample: Sample, number: int, count: int, inverse: float, tail: bool) -> tuple[Array, Array, Array]:
    """The bracket, A_k^-1 W_0:k, and A_k."""
    projection, eigenvalues, _ = case(sample, number)
    first = projection[:, :count]
    start = count if tail else 0
    beyond = (projection[:, start:] * eigenvalues[start:]) @ projection[:, start:].T
    solved = np.linalg.solve(beyond, first)
    middle = inverse * np.diag(1.0 / eigenvalues[:count]) + first.T @ solved
    return np.asarray(middle), np.asarray(solved), beyond


def _parts(sample: Sample) -> dict[str, Any]:
    """With two columns split off."""
    (projection, eigenvalues, _), (middle, _, beyond) = case(sample, 0), _middle(sample, 0, 2, 1.0, True)
    whole = np.linalg.inv((projection * eigenvalues) @ projection.T)
    first, own = projection[:, :2], np.diag(eigenvalues[:2])
    return {"(WHW')^{-1}": whole, "A_k": beyond, "D": middle, "W_0:k": first, "H_0:k": own}


SPLIT_OFF: Final = Where(
    "(WHW')^{-1} is the inverse of (A_k + U C U'); U = W_0:k; C = H_0:k; D = C^-1 + U' A_k^-1 U", _parts
)


def split_columns(sample: Sample, number: int, count: int, *, inverse: float = 1.0, tail: bool = True) -> Array:
    """A_k^-1 W_0:k [H_0:k^-1 + W_0:k'A_k^-1 W_0:k]^-1; ``inverse`` scales H^-1, A_k has all of W if not ``tail``."""
    middle, solved, _ = _middle(sample, number, count, inverse, tail)
    return np.asarray(np.linalg.solve(middle.T, solved.T).T)


def _columns(power: float, exponents: Exponents, logs: Logs) -> Any:
    return power * logs["t"] + 2.0 * logs["ratio"]


def _two_forms(sample: Sample) -> Joint:
    # The square of the ratio fluctuates so much that its slope is known to 0.06: M^-0.1 could not be seen.
    wrong = {"t^(-5/4)": partial(_columns, -1.25)}
    first = OverDraws(partial(_columns, -1.0), {}, "upper", wrong, finite_size=EDGES, shifts=(0.3,))
    return Joint(
        {
            "first": first,
            "failures": FailureRate(RATE),
            "second": Within(0.0, float(_SECOND.right / _rest**2), attained=0.99),
        }
    )


def _first_columns_law(sample: Sample) -> Sharp:
    columns = partial(split_columns, sample)
    wrong = {
        "without H^-1": entry(partial(columns, inverse=0.0)),
        "A_k with the first columns": entry(partial(columns, tail=False)),
    }
    return sharp_identity(entry(columns), wrong)


def _form_instances(sample: Sample) -> list[dict[Any, Any]]:
    """Of each size the draw with the largest T_1 t/ratio^2, for |u_0:k| = |u_k:oo|_H = 1; c is the largest of these."""
    bounds = column_bounds(sample)
    (ray,) = bounds["first"]
    draws = []
    for place, values in enumerate(ray.values):
        scaled = values + ray.logs["t"][place] - 2.0 * ray.logs["ratio"][place]
        worst = int(scaled.argmax())
        letters = [values[worst], ray.logs["t"][place], ray.logs["ratio"][place][worst], scaled[worst]]
        draws.append((ray.sizes[place], np.exp(letters)))
    constant, second = max(letters[3] for _, letters in draws), max(norm for _, norm in bounds["second"])
    return [{M: size, SPLIT: size / 3, _first: form, t: time, most: constant, _norm: 1.0, _rest: 1.0, _second: second,
             mu: lambda j, k, size=size, ratio=ratio: ratio if j == size / 2 else 1.0}
            for size, (form, time, ratio, _) in draws]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:T_estimate", "lem:T_estimate", 2855, "the quadratic form of the first k coordinates, as printed",
        less(0, COLUMN_EIGENVALUE),
        (SPECTRUM, *RANDOM, Where("mu_M is the least eigenvalue of W_0:k H_0:k W_0:k'"), equals(SPLIT, M / 3)),
        column_ratio_rounding, lambda sample: Within(1e-6, np.inf),
        corrected_by="lem:T_estimate/corrected", family="random-columns",
        instances=lambda sample: [{COLUMN_EIGENVALUE: own[-1], _LAST_OF_COLUMNS: own[size // 3 - 1]}
                                  for size, own in _column_eigenvalues(sample).items()],
        mends={COLUMN_EIGENVALUE: _LAST_OF_COLUMNS},
        probability="certain: the rank is k for every W",
        quoted=r"\left( \frac{\mu_{\frac{M}{2}}(\bW _{0:k}\bH _{0:k}\bW _{0:k}^\top)}"
               r"{\mu_M(\bW _{0:k}\bH _{0:k}\bW _{0:k}^\top)} \right) ^2",
        remark="The matrix has too small a rank, so that its least eigenvalue vanishes and the bound says nothing.",
    ),
    Claim(
        "lem:T_estimate/corrected", "lem:T_estimate", 2855, "the two quadratic forms, with the tail of W",
        TWO_FORMS,
        (SPECTRUM, *RANDOM, MU_TAIL, Where("u_0 and u_1 are |u_0:k| and |u_k:oo|_H of the worst target"),
         equals(SPLIT, M / 3), "t = (M/2)^beta"),
        column_bounds, _two_forms,
        depends=("lem:eig_ratio/corrected",), family="random-columns", role="corrected", instances=_form_instances,
        probability=f"{PROBABLE} for T_1, certain for T_2",
    ),
    Claim(
        "lem:T_estimate/first-columns", "lem:T_estimate", 2884, "the inverse with the first k columns split off",
        FIRST_COLUMNS[0],
        (SPLIT_OFF,
         *FIRST_COLUMNS[1], *SMALL),
        of_cases(first_columns), _first_columns_law, derive=derivations.woodbury_derivation,
        family="random-identities", role="argument",
        remark="The first line of the display has a factor too many.",
    ),
)  # fmt: skip
