"""What the secular equation claims to lose, term by term, against what small changes of its numbers do."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum, secular
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.secular import _evaluate, _evaluate_blocks, _raised, _Terms, _terms, secular_zeros, solve_secular

EPS = 2.0**-52
MP = private_context(40)
MANY = np.linspace(0.05, 2.0, 40)


@pytest.mark.parametrize("gamma", [0.05, 0.7, 1.9])
@pytest.mark.parametrize(
    ("rates", "weights"),
    [([2.0], [4.0]), ([0.1, 0.11, 2.0], [0.3, 1e-4, 1.0]), (MANY.tolist(), (MANY**2 / 99.0).tolist())],
)
def test_an_error_of_a_zero_is_what_roundings_of_its_terms_do(rates, weights, gamma):
    rates, weights = np.array(rates), np.array(weights)
    x, error = secular_zeros(rates, weights, gamma)
    for k in range(rates.size):
        distances = x[k] + (rates - rates[k])
        distances[k] = x[k]
        # 1 - gamma sum_j w_j/d_j = 0 is a sum of numbers of which each is rounded; its slope is gamma sum_j w_j/d_j^2
        moved = (1.0 + gamma * np.abs(weights / distances).sum()) / (gamma * (weights / distances**2).sum())
        # four roundings of each, one for each doubling of their number, and four of the zero itself
        times = 4.0 + math.log2(rates.size + 1.0)
        assert error[k] == pytest.approx(EPS * (times * moved + 4.0 * x[k]), rel=1e-6, abs=0.0)


def changed(monkeypatch, share, claimed):
    """Zeros that are moved by a share of themselves, and what is claimed for them."""

    def moved(rates, weights, gamma):
        x, _ = secular_zeros(rates, weights, gamma)
        return x * (1.0 + share), np.full_like(x, claimed) * x

    monkeypatch.setattr(secular, "secular_zeros", moved)


SYSTEM = LinearModes(np.zeros(1), np.zeros(1), np.zeros(1), 0.2, 0.6, 0.0)
RATES, WEIGHTS, GAMMA = np.array([0.1, 0.5, 2.0, 0.7]), np.array([0.02, 0.2, 1.0, 0.0]), 0.6
DRIVEN = WEIGHTS > 0.0


@pytest.mark.parametrize(
    ("signals", "rates", "most"),
    [
        ([0.0, 0.0, 0.0, 1.0], RATES, 4.0),  # a signal without weight
        ([1.0, 0.0, 0.0, 0.0], RATES, 5.0),
        ([0.0, 0.0, 3.0, 0.0], RATES, 5.0),
        ([0.0, 0.0, 0.0, 1.0], np.array([0.1, 0.5, 2.0, 0.5 - 0.11]), 4.0),
    ],
)
@pytest.mark.parametrize("share", [1e-6, -1e-6])
def test_a_zero_that_is_moved_moves_its_term_within_the_claim(monkeypatch, signals, rates, most, share):
    order = np.argsort(rates)
    given = rates[order], WEIGHTS[order], np.array(signals)[order], DRIVEN[order], GAMMA, SYSTEM
    exact = _terms(*given)
    changed(monkeypatch, share, abs(share))
    found = _terms(*given)
    one = slice(0, 3)  # those of the zeros
    apart = np.abs(found.leading - exact.leading)[one]
    assert (apart <= found.leading_error[one]).all()
    # the quotient moves by at most one error over the distance, the slope by two over the least one
    assert (found.leading_error[one] <= most * np.maximum(apart, 1e-8 * apart.max())).any()
    noise = np.abs(found.noise - exact.noise)[one]
    assert (noise <= found.noise_error[one]).all() and (found.noise_error[one] <= 1.6 * noise).any()
    assert (
        found.noise[:3] == pytest.approx(0.8 * (found.noise / 0.8)[:3], rel=1e-6, abs=0.0)
        and (found.noise[3:] == 0.0).all()
    )
    x = secular_zeros(rates[order][DRIVEN[order]], WEIGHTS[order][DRIVEN[order]], GAMMA)[0]
    wrong = np.abs(found.p - exact.p)
    assert (wrong[:3] <= found.p_error[:3]).all()
    assert found.p_error[:3] == pytest.approx(abs(share) * x, rel=1e-8, abs=0.0) and found.p_error[3] <= 4.0 * EPS


def test_terms_are_the_residues_of_the_transform():
    """Residues at the zeros, and at the poles without weight, by means over small circles."""
    order = np.argsort(RATES)
    signals = np.array([0.3, 0.1, 0.4, 0.25])
    given = RATES[order], WEIGHTS[order], signals[order]
    found = _terms(*given, DRIVEN[order], GAMMA, SYSTEM)
    rates, weights, starts = ([MP.mpf(float(x)) for x in row] for row in given)

    def transform(p, delta, noise):
        kernel = MP.mpf(GAMMA) * MP.fsum(w / (p + r) for w, r in zip(weights, rates, strict=True))
        signal = MP.fsum(v / (p + r) for v, r in zip(starts, rates, strict=True)) if not delta else 0
        return (signal + (delta + noise) * kernel / p) / (1 - kernel)

    for k, p in enumerate(found.p.tolist()):
        step = MP.mpf(10) ** -4
        circle = [step * MP.expjpi(MP.mpf(2 * i) / 16) for i in range(16)]
        leading, driven = (
            MP.fsum(z * transform(p + z, *part) for z in circle).real / 16 for part in ((0, 0), (MP.mpf(0.8), 0))
        )
        assert float(leading) == pytest.approx(found.leading[k], rel=1e-11, abs=1e-13)
        # (exp(p t) - 1)/p has the residue 1/p there
        assert float(driven * p) == pytest.approx(found.noise[k], rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("count", [3, 63, 255])
def test_terms_of_exact_zeros_are_rounded_as_often_as_they_are_added(monkeypatch, count):
    rates = np.linspace(0.1, 2.0, count)
    weights, signals = rates**2 / count, np.full(count, 0.5)
    changed(monkeypatch, 0.0, 0.0)
    found = _terms(rates, weights, signals, np.ones(count, dtype=bool), 0.5, SYSTEM)
    # six roundings of each term, and one for each doubling of their number
    times = 6.0 + math.log2(count + 1.0)
    assert found.noise_error == pytest.approx(times * EPS * found.noise, rel=1e-9, abs=0.0)
    # all signals are positive and each zero has its mode at the left: the first share is positive, others not
    assert (found.leading_error >= times * EPS * np.abs(found.leading) * (1.0 - 1e-9)).all()
    assert found.p_error == pytest.approx(2.0 * EPS * rates, rel=1e-9, abs=0.0)
    assert found.leading_error[0] == pytest.approx(times * EPS * found.leading[0], rel=1e-9, abs=0.0)


def test_a_pole_beside_a_zero_costs_the_rounding_of_its_own_rate(monkeypatch):
    own, weights = np.array([2.0]), np.array([1.0])
    p = 0.6 - 2.0
    changed(monkeypatch, 0.0, 0.0)
    for apart in (1e-4, 1e-7):
        alone = -p + apart
        found = _terms(
            np.array([alone, 2.0]),
            np.array([0.0, *weights]),
            np.array([0.7, 0.0]),
            np.array([False, True]),
            0.6,
            SYSTEM,
        )
        slope = 0.6 / 0.6**2
        # v/(p + r) moves by v eps r/(p + r)^2
        assert found.leading_error[0] == pytest.approx(0.7 * alone * EPS / apart**2 / slope, rel=1e-2, abs=0.0)
        # the term of the pole: 1 - gamma w/(own - r) = (0.6 - own + r ... )/(own - r)
        between = own[0] - alone
        divisor = 1.0 - 0.6 / between
        free = 0.7 / divisor
        assert found.leading[1] == pytest.approx(free, rel=1e-6, abs=0.0)
        coupling = 0.6 / between
        known = abs(free / divisor) * EPS
        # gamma, w and the quotient are rounded, and each of the two rates moves their difference
        least = known * coupling * (2.0 + (own[0] + alone) / between)
        assert least <= found.leading_error[1] * (1.0 + 1e-6) <= least + 4.0001 * known
        assert (
            found.p_error[1] == pytest.approx(2.0 * EPS * alone, rel=1e-6, abs=0.0)
            and found.noise[1] == found.noise_error[1] == 0.0
        )


def test_the_signals_of_both_kinds_of_modes_are_rounded(monkeypatch):
    changed(monkeypatch, 0.0, 0.0)
    rates, weights, signals = np.array([0.5, 2.0]), np.array([0.0, 1.0]), np.array([0.7, 0.25])
    found = _terms(rates, weights, signals, np.array([False, True]), 0.6, SYSTEM)
    # the zero at 0.6 - 2 is at the distances 0.6 and -0.9; two terms, so 6 + log2(3) roundings of each size
    slope, own, apart = 1.0 / 0.6, 0.25 / 0.6, 0.7 / 0.9
    assert found.leading[0] == pytest.approx((own - apart) / slope, rel=1e-9)
    claimed = (own + apart) * (6.0 + math.log2(3.0)) + 0.7 / 0.9**2 * 0.5
    assert found.leading_error[0] == pytest.approx(claimed * EPS / slope, rel=1e-9, abs=0.0)


def terms_of(p, leading, noise, **errors):
    none = np.zeros_like(p)
    return _Terms(p, leading, noise, *(errors.get(x, none) for x in ("leading_error", "noise_error", "p_error")))


P = np.array([-3.0, -0.4, -1e-5, 0.02])
LEADING, NOISE = np.array([0.7, -0.3, 0.2, 0.4]), np.array([0.5, 0.1, 2.0, 0.3])


def exact_sum(p, leading, noise, t):
    total = MP.mpf(0)
    for a, c, s in zip(p, leading, noise, strict=True):
        a, time = MP.mpf(float(a)), MP.mpf(float(t))
        total += MP.mpf(float(c)) * MP.exp(a * time) + MP.mpf(float(s)) * (MP.expm1(a * time) / a if a else time)
    return total


TIMES = {"few": np.array([0.0, 1e-7, 0.3, 2.0, 9.0, 90.0]), "early": np.array([1e-7, 1e-5]), "late": np.array([40.0])}


@pytest.mark.parametrize("times", sorted(TIMES))
@pytest.mark.parametrize("noisy", [True, False])
def test_values_are_the_sums_within_four_roundings_of_each_term(times, noisy):
    t, noise = TIMES[times], NOISE if noisy else np.zeros(4)
    found, lost = _evaluate(terms_of(P, LEADING, noise), t)
    turn = np.multiply.outer(t, P)
    sizes, pushes = np.exp(turn) @ np.abs(LEADING), (np.expm1(turn) / P) @ noise
    assert lost == pytest.approx(4.0 * EPS * sizes + 8.0 * EPS * pushes, rel=1e-9, abs=0.0)
    for value, claim, time, size in zip(found, lost, t, np.abs(turn).max(axis=1), strict=True):
        # the error of p t, which is that of p, comes on top
        assert abs(value - float(exact_sum(P, LEADING, noise, time))) <= claim * (1.0 + size)


@pytest.mark.parametrize("which", ["leading_error", "noise_error", "p_error"])
@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("blocks", [False, True])
def test_an_uncertain_number_is_claimed_as_much_as_it_does(which, k, blocks):
    t = np.linspace(0.0, 90.0, 12) if blocks else TIMES["few"]
    moved, name = {"p": P, "leading": LEADING, "noise": NOISE}, which.removesuffix("_error")
    change = np.zeros(4)
    change[k] = 1e-7 * abs(moved[name][k])
    given = terms_of(P, LEADING, NOISE, **{which: change})
    none = terms_of(P, LEADING, NOISE)
    lost = [(_evaluate_blocks(x, t, 4) if blocks else _evaluate(x, t))[1] for x in (given, none)]
    for time, claim in zip(t, lost[0] - lost[1], strict=True):
        effects = [
            abs(
                float(exact_sum(**{**moved, name: moved[name] + sign * change}, t=time) - exact_sum(**moved, t=time))
                if name != "p" or part is None
                else float(
                    exact_sum(**{**moved, part: np.zeros(4), name: P + sign * change}, t=time)
                    - exact_sum(**{**moved, part: np.zeros(4)}, t=time)
                )
            )
            for sign in (1.0, -1.0)
            for part in (("leading", "noise") if name == "p" else (None,))
        ]
        # both terms of a zero, each by itself: they may be of two signs
        effect = max(effects[::2]) + max(effects[1::2]) if name == "p" else max(effects)
        rounding = 1e-9 * float(lost[1].max())
        assert effect <= claim * (1.0 + 1e-5) + rounding
        # (exp(p t) - 1)/p moves by half of t^2 early and by 1/p^2 late: twice that is claimed, more where it grows
        assert claim <= (4.0 if P[k] > 0.0 else 2.6) * effect + rounding


def test_blocks_lose_two_roundings_of_the_times_more():
    t = np.linspace(0.0, 90.0, 10)
    given = terms_of(P, LEADING, NOISE)
    single, lost = _evaluate(given, t)
    values, more = _evaluate_blocks(given, t, 4)
    assert values.shape == more.shape == (10,)
    assert (np.abs(values - single) <= more + lost).all()
    turn = np.multiply.outer(t, P)
    grown, pushed = np.exp(turn), np.expm1(turn) / P
    late = np.minimum(t * (pushed @ (NOISE * np.abs(P))), pushed @ (2.0 * NOISE))
    expected = 8.0 * (grown @ np.abs(LEADING)) + 4.0 * t * (grown @ np.abs(LEADING * P))
    expected += 16.0 * (pushed @ NOISE) + 4.0 * late
    assert more == pytest.approx(EPS * expected, rel=1e-9, abs=0.0)


def test_a_zero_at_nothing_grows_like_the_time():
    t = np.array([0.0, 0.5, 300.0])
    for p in (0.0, 1e-300, -1e-300):
        one = np.array([p])
        assert _raised(one, t)[0] == pytest.approx(t, rel=1e-15, abs=0.0)
        found, _ = _evaluate(terms_of(one, np.zeros(1), np.ones(1)), t)
        assert found == pytest.approx(t, rel=1e-15, abs=0.0)
    # and where p t is small the difference of two numbers near 1 is not taken
    for p in (-1e-9, 1e-9, -1e-3):
        exact = [float(exact_sum([p], [0.0], [1.0], time)) for time in t]
        assert _raised(np.array([p]), t)[0] == pytest.approx(exact, rel=1e-15, abs=0.0)
        for some in (t, t[1:], t[:2]):
            found, _ = _evaluate(terms_of(np.array([p]), np.zeros(1), np.ones(1)), some)
            assert found == pytest.approx(
                [x for x, time in zip(exact, t, strict=True) if time in some], rel=1e-15, abs=0.0
            )


def test_as_many_modes_as_are_allowed(monkeypatch):
    monkeypatch.setattr(secular, "MOST_MODES", 3)
    allowed, beyond = (
        Problem(Model(noise=1.0, spectrum=Spectrum(rates, [0.1] * len(rates))), gamma=0.2, horizon=9.0)
        for rates in ([1.0, 0.5, 0.25], [1.0, 0.5, 0.25, 0.2])
    )
    values, _, facts = solve_secular(allowed, np.array([1.0]), 1e-9)
    assert values[0] > 0.0 and facts == {"modes": 3, "evaluations": 3}
    with pytest.raises(ValueError, match="at most 3 modes, got 4"):
        solve_secular(beyond, np.array([1.0]), 1e-9)


def test_times_are_taken_in_parts_that_stay_in_the_cache(monkeypatch):
    problem = Problem(Model(noise=1.0, spectrum=Spectrum([1.0, 0.5, 0.25], [0.3, 0.2, 0.1])), gamma=0.2, horizon=9.0)
    t = np.array([0.0, 0.3, 0.5, 1.0, 2.5, 4.0, 7.0, 9.0])
    whole = solve_secular(problem, t, 1e-9)
    sizes = []
    exact = secular._evaluate
    monkeypatch.setattr(secular, "_evaluate", lambda terms, part: sizes.append(part.size) or exact(terms, part))
    for chunk, expected in ((1, [1] * 8), (10, [3, 3, 2]), (12, [4, 4]), (10**6, [8])):
        sizes.clear()
        monkeypatch.setattr(secular, "_CHUNK", chunk)
        found = solve_secular(problem, t, 1e-9)
        assert sizes == expected
        assert found[0] == pytest.approx(whole[0], rel=1e-15, abs=0.0) and found[1] == pytest.approx(
            whole[1], rel=1e-9, abs=0.0
        )
    # equal distances are summed in blocks, and only there
    sizes.clear()
    solve_secular(problem, np.linspace(0.0, 9.0, 400), 1e-9)
    assert sizes == []


@pytest.mark.parametrize(("gamma", "rest"), [(0.2, 0.9), (1.0, 0.5), (1.9999, 1e-3), (3.0, 1e-3)])
def test_what_is_rounded_everywhere_grows_towards_the_edge_of_stability(monkeypatch, gamma, rest):
    problem = Problem(Model(noise=1.0, spectrum=Spectrum([1.0], [0.3], tail=0.5)), gamma=gamma, horizon=9.0)
    monkeypatch.setattr(secular, "_evaluate", lambda terms, t: (np.full(t.size, -2.5), np.full(t.size, 1e-3)))
    system = replace(secular.linear_modes(problem, 9.0), error=1e-6)
    monkeypatch.setattr(secular, "linear_modes", lambda *_: system)
    values, error, _ = solve_secular(problem, np.array([1.0]), 1e-9)
    assert values[0] == -2.0
    # a relative change of the kernel changes the loss by at most that over what stability leaves, a thousandth at least
    assert error[0] == pytest.approx(1e-3 + 2.0 * (1e-6 + 8.0 * EPS) / rest, rel=1e-12, abs=0.0)
