"""Both sums at ten thousand times: by few modes, as a multiple of the direct sum over all indices in the same run.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import time
from itertools import count

import numpy as np
import pytest

from fsl_num.compression import compress
from fsl_num.mode_errors import PowerLawSums

SIZE = 100_000
TIMES = np.geomspace(1e-2, 1e9, 10_000)
NEW = count(1)  # added to the last time: modes of another horizon are in no cache
SOME = 100  # times of the direct sum, whose cost is the same at each: all of them would take a minute


def by_modes(s, beta):
    """Kernel and signal at all times by modes, those not taken from the cache."""
    modes = compress(s, beta, SIZE, TIMES[-1] + next(NEW))
    return modes.kernel(TIMES), modes.signal(TIMES), modes


def directly(s, beta, t):
    """Kernel and signal by the sums as they are written."""
    j = np.arange(1.0, SIZE + 1.0)
    kernel, signal = j ** (-2.0 * beta), j ** (-1.0 - s * beta)
    factors = (np.exp(-2.0 * j**-beta * time) for time in t)
    return np.array([(kernel @ factor, signal @ factor) for factor in factors]).T


@pytest.mark.parametrize("beta", [1.2, 2.0, 4.0])
def test_both_sums_at_many_times(benchmark, beta):
    kernel, signal, modes = benchmark.pedantic(by_modes, (0.5, beta), rounds=3)
    step = len(TIMES) // SOME
    start = time.perf_counter()
    direct = directly(0.5, beta, TIMES[::step])
    full = (time.perf_counter() - start) * step
    # The direct sum rounds too: its terms by a few 2^-53, their sum in blocks as little; 2e-14 is a hundred of them.
    assert np.allclose(direct, [kernel[::step], signal[::step]], rtol=modes.error + 2e-14, atol=1e-300)
    if benchmark.enabled:
        ratio = full / benchmark.stats.stats.min
        benchmark.extra_info["direct sum over compression and evaluation"] = round(ratio, 1)
        print(
            f"beta = {beta}: {len(modes.rates)} modes, found and evaluated {ratio:.0f} times faster than the direct sum"
        )


def test_finding_the_modes(benchmark):
    """Modes with their proof, as a multiple of one evaluation of them at the same ten thousand times."""

    def fresh():
        return compress(0.5, 2.0, float("inf"), TIMES[-1] + next(NEW))

    modes = benchmark.pedantic(fresh, rounds=3)
    weights = np.stack([modes.kernel_weights, modes.signal_weights])
    assert PowerLawSums((4.0, 2.0), 2.0, float("inf"), modes.horizon).error(modes.rates, weights).max() == modes.error
    if benchmark.enabled:
        start = time.perf_counter()
        modes.kernel(TIMES), modes.signal(TIMES)
        ratio = benchmark.stats.stats.min / (time.perf_counter() - start)
        benchmark.extra_info["compression over one evaluation"] = round(ratio, 2)
        print(f"finding {len(modes.rates)} modes costs {ratio:.2f} times the two sums at {len(TIMES)} times")
