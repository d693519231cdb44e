"""The tables of scores on real loss curves, from the folder that FSL_LOSS_CURVES names.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_evidence.py [sizes|laws|published|single]

The folder holds one folder a model size, each with cosine_24000.csv, constant_24000.csv, wsdcon_9.csv (fitted) and the
other curves (predicted), columns step, lr, loss, warmup of 2,160 updates not in the files.
"""

import os
import sys
import time
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
LAWS = ("fsl", "fsl-full", "fsl-simplified", "fsl-convolution", "fsl-ansatz", "multi-power", "momentum")
PUBLISHED = {"25M": (0.9988, 0.00376, 0.00465, 0.00110, 0.00409), "100M": (0.9983, 0.00435, 0.00592, 0.00142, 0.00583)}


def folder():
    """The folder with the curves, None where the environment names none."""
    named = os.environ.get("FSL_LOSS_CURVES")
    return Path(named) if named else None


def curves(size):
    """All curves of one model size, by name."""
    found = {}
    for path in sorted((folder() / size).glob("*.csv")):
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        found[path.stem] = LossCurve(rows[:, 0], rows[:, 2], lr=rows[:, 1], warmup=WARMUP, name=path.stem)
    return found


def sizes():
    return sorted(path.name for path in folder().iterdir() if path.is_dir())


def split(size):
    """The curves that are fitted, and those that are predicted."""
    known = curves(size)
    return [known[name] for name in TRAINING], [curve for name, curve in known.items() if name not in TRAINING]


def default_law():
    for size in sizes():
        training, tests = split(size)
        start = time.perf_counter()
        result = fit(training)
        print(f"\n{size}: law {result.law.name}, {time.perf_counter() - start:.2f} s")
        print(result.summary())
        scores = result.scores(tests)
        print(table({**scores, "mean of tests": mean_score(scores.values())}))
        if size in PUBLISHED:
            print("published Multi-Power Law: r2 mae rmse mean_rel worst_rel", *PUBLISHED[size])


def laws():
    for size in sizes():
        training, tests = split(size)
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


def single():
    """Each curve alone: what it predicts of all the others of its size, and whether the fit warns that it may not."""
    for size in sizes():
        known = curves(size)
        rows, told = {}, {}
        for name, curve in known.items():
            result = fit(curve)
            others = result.scores([other for key, other in known.items() if key != name])
            rows[f"{name}: {result.law.name}"] = mean_score(others.values())
            widths = transfer(result.law, result.curves, result.theta, result.uncertainty)
            worst = max(one.worst_relative_error for one in others.values())
            warned = any("do not determine the final loss" in note for note in result.notes)
            told[name] = f"{worst:.4f} {max(widths.values()):.4f} {'warned' if warned else 'not warned'}"
        print(f"\n{size}, fitted to one curve, mean over the eight others")
        print(table(rows))
        print("worst relative error of all rows, widest interval of the usual schedules, whether that is warned of")
        print("\n".join(f"{name:<20}{line}" for name, line in told.items()))


if __name__ == "__main__":
    if folder() is None:
        sys.exit("FSL_LOSS_CURVES must name the folder with the curves")
    wanted = sys.argv[1:] or ["sizes", "laws", "published", "single"]
    for one in wanted:
        {"sizes": default_law, "laws": laws, "published": published, "single": single}[one]()
