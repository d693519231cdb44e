"""The tables of scores on real loss curves, from the folder that FSL_LOSS_CURVES names.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_evidence.py [sizes|laws|published|single]

The folder holds 25M and 100M, each with cosine_24000.csv, constant_24000.csv, wsdcon_9.csv (fitted) and the others
(predicted), columns step, lr, loss, warmup of 2,160 updates not in the files; and 124M, whose runs under two peak rates
are fitted and predicted by the protocols P1 to P3 of its README.
"""

import os
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
from curves_published import PRINTED
from curves_published import published as compare_published

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.score import mean_score, table
from fsl_num.curves.transfer import transfer

TRAINING = ("cosine_24000", "constant_24000", "wsdcon_9")
WARMUP = 2160
LAWS = (
    "fsl", "fsl-full", "fsl-weights", "fsl-simplified", "fsl-convolution", "fsl-ansatz", "multi-power", "momentum",
)  # fmt: skip
PUBLISHED = {"25M": (0.9988, 0.00376, 0.00465, 0.00110, 0.00409), "100M": (0.9983, 0.00435, 0.00592, 0.00142, 0.00583)}


def folder():
    """The folder with the curves, None where the environment names none."""
    named = os.environ.get("FSL_LOSS_CURVES")
    return Path(named) if named else None


@cache
def curves(size):
    """All curves of one model size, by name."""
    found = {}
    for path in sorted((folder() / size).glob("*.csv")):
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        found[path.stem] = LossCurve(rows[:, 0], rows[:, 2], lr=rows[:, 1], warmup=WARMUP, name=path.stem)
    return found


def sizes():
    return sorted(PUBLISHED)


@cache
def branches(first=2000):
    """The runs of 124M from step ``first`` on: those that branch from a constant run have its rows before."""
    rows = {
        path.stem: np.loadtxt(path, delimiter=",", skiprows=1) for path in sorted((folder() / "124M").glob("*.csv"))
    }
    found = {}
    for name, own in rows.items():
        parent = rows[f"constant_peak_{name.split('_peak_')[1]}"]
        whole = np.concatenate([parent[parent[:, 0] < own[0, 0]], own])
        curve = LossCurve(whole[:, 0], whole[:, 2], lr=whole[:, 1], warmup=300, name=name)
        found[name] = curve.between_steps(first, whole[-1, 0])
    return found


def protocols():
    """The curves that each protocol fits, and those that it predicts, by its name."""
    known = branches()
    high, low = "_peak_0.001", "_peak_0.0005"
    p1 = [f"constant{high}", f"linear_0.2{high}"]
    p2 = [*p1, f"cosine_to_0{high}"]
    p3 = [f"constant{low}", f"linear_0.2{low}", *p2]
    found = {size: split(size) for size in sizes()}
    for name, fitted, also_unseen in (("P1", p1, []), ("P2", p2, []), ("P3", p3, [f"linear_0.4{low}"])):
        tests = [*also_unseen, *(name for name in known if name.endswith(high) and name not in fitted)]
        found[name] = [known[name] for name in fitted], [known[name] for name in tests]
    return found


def split(size):
    """The curves that are fitted, and those that are predicted."""
    known = curves(size)
    return [known[name] for name in TRAINING], [curve for name, curve in known.items() if name not in TRAINING]


def own_rows(curve):
    """The rows of a curve of 124M that its file holds, without those of the run from which it branched."""
    first = np.loadtxt(folder() / "124M" / f"{curve.name}.csv", delimiter=",", skiprows=1, max_rows=1)[0]
    return curve.between_steps(first, curve.step[-1])


def default_law():
    """The table of the protocols under the default law; of P1 to P3 also without what runs share before they branch."""
    rows = {}
    for name, (training, tests) in protocols().items():
        start = time.perf_counter()
        result = fit(training)
        rows[f"{name} ({time.perf_counter() - start:.2f} s)"] = mean_score(result.scores(tests).values())
        if name not in sizes():
            own = [own_rows(curve) for curve in tests]
            rows[f"{name}, own rows"] = mean_score(result.scores(own).values())
    print(table(rows))


def laws():
    for size, (training, tests) in protocols().items():
        rows = {}
        for name in LAWS:
            start = time.perf_counter()
            result = fit(training, name, intervals=False)
            taken = time.perf_counter() - start
            rows[f"{name} ({taken:.2f} s)"] = mean_score(result.scores(tests).values())
        print(f"\n{size}, mean of the test curves")
        print(table(rows))


def published():
    """The authors' table against their law with the parameters that their article prints, rounded to two decimals."""
    for size in PRINTED:
        compare_published(size, *split(size), PUBLISHED[size])


LEVEL = 0.9
SETS = (
    ("constant_24000", "cosine_24000"), ("constant_24000", "wsd_20000_24000"), TRAINING, ("wsd_20000_24000",),
    ("cosine_24000",), ("constant_24000",), ("wsdcon_9",),
)  # fmt: skip
BRANCHED = (
    ("constant", "linear_0.2"), ("constant", "cosine_to_0"), ("constant", "linear_0.2", "cosine_to_0"),
    ("linear_0.2",), ("cosine_to_0",), ("constant",), ("linear_0.9",),
)  # fmt: skip


def families():
    """Family -> the pairs of what is fitted and what is predicted."""
    found = {}
    for size in sizes():
        known = curves(size)
        found[size] = [([known[n] for n in names], [c for n, c in known.items() if n not in names]) for names in SETS]
    known = branches()
    for peak in ("_peak_0.001", "_peak_0.0005"):
        own = {name.removesuffix(peak): curve for name, curve in known.items() if name.endswith(peak)}
        found[f"124M{peak}"] = [
            ([own[n] for n in names], [c for n, c in own.items() if n not in names]) for names in BRANCHED
        ]
    return found


def end(losses, curve):
    """Mean logarithm of the last twentieth of losses that stand at a curve's rows."""
    return float(np.log(losses[-max(3, curve.observed.size // 20) :]).mean())


def interval_score(error, half):
    """The interval score of errors under intervals of nominal LEVEL, of log loss, in thousandths."""
    return 1e3 * (2 * half + 2 / (1 - LEVEL) * np.maximum(np.abs(error) - half, 0.0))


def single():
    """Each curve alone: what it predicts of all the others of its size, and whether the fit warns that it may not."""
    for size in sizes():
        known = curves(size)
        rows, told = {}, {}
        for name, curve in known.items():
            result = fit(curve)
            scores = result.scores([run for key, run in known.items() if key != name])
            rows[f"{name}: {result.law.name}"] = mean_score(scores.values())
            widths = transfer(result.law, result.curves, result.theta, result.posterior)
            worst = max(score.worst_relative_error for score in scores.values())
            warned = any("do not determine the final loss" in note for note in result.notes)
            told[name] = f"{worst:.4f} {max(widths.values()):.4f} {'warned' if warned else 'not warned'}"
        print(f"\n{size}, fitted to one curve, mean over the eight others")
        print(table(rows))
        print("worst relative error of all rows, widest interval of the usual schedules, whether that is warned of")
        print("\n".join(f"{name:<20}{line}" for name, line in told.items()))


if __name__ == "__main__":
    if folder() is None:
        sys.exit("FSL_LOSS_CURVES must name the folder with the curves")
    modes_asked = sys.argv[1:] or ["sizes", "laws", "published", "single"]
    modes = {"sizes": default_law, "laws": laws, "published": published, "single": single}
    for mode in modes_asked:
        modes[mode]()
