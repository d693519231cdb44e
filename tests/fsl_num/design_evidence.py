"""What designs are worth on runs that were made: regret of what is chosen, its gains, what intervals hold.

    FSL_LOSS_CURVES=folder python tests/fsl_num/design_evidence.py [PARTS OF NAMES]

Two or three runs of a family are fitted, by the default law and by fsl-weights; of the others that have their steps and
their peak rate the fit chooses one, whose measured final loss is compared with the least (means over the last twentieth
of the rows, chosen and measured). Its gains over the rest are predicted, with intervals of nominal 90 %, and measured.
Real curves are those of 124M, the others have no more than three such runs.
"""

import sys

import numpy as np
from curves_evidence import BRANCHED, LEVEL, branches, end, folder, interval_score
from curves_networks import KINDS, SETS, networks

from fsl_num.curves.fit import fit
from fsl_num.design.best import Past
from fsl_num.design.draws import final_loss_of, half_width_of_difference

LAWS = ("auto", "fsl-weights")
UNUSUAL = ("rise", "restarts", "cyclic")
"""Schedules that are no design of anybody: a rate that rises again."""


def cases():
    """Family -> its runs of one length and peak rate by name, and the names of those fitted together."""
    found = {}
    for peak in ("_peak_0.001", "_peak_0.0005") if folder() else ():
        known = {name.removesuffix(peak): run for name, run in branches().items() if name.endswith(peak)}
        found[f"124M{peak}"] = known, [names for names in BRANCHED if len(names) > 1]
    for kind in KINDS:
        known = {name: run for name, run in networks(kind).items() if "_" not in name and name not in UNUSUAL}
        pairs = [tuple(name for name in names if name in known) for names in SETS if 2 <= len(names) <= 3]
        found[kind] = known, pairs
    return found


def judged(known, names, law="auto"):
    """The regret of the schedule chosen, of log loss; then of every other its gain, measured and predicted, and the
    half-width of the interval of that gain."""
    result, ends = fit([known[name] for name in names], law), {}
    rivals = {name: run for name, run in known.items() if name not in names}
    for name, run in rivals.items():
        warmup, rates = run.plan.warmup, run.plan.rates
        ends[name] = final_loss_of(result, Past(rates[:warmup], warmup), rates[warmup:])
    measured = {name: end(run.observed, run) for name, run in rivals.items()}
    predicted = {name: end(result.predict(run, None).loss, run) for name, run in rivals.items()}
    chosen = min(predicted, key=predicted.get)
    gains = []
    for name in rivals:
        if name != chosen:
            half = half_width_of_difference(result, ends[name], ends[chosen], LEVEL) / ends[chosen].loss
            gains.append((name, measured[name] - measured[chosen], predicted[name] - predicted[chosen], half))
    return chosen, measured[chosen] - min(measured.values()), gains


def row(known, sets, law="auto"):
    """Fits, mean and largest regret, gains, root mean squares of them and of their errors, share held, score."""
    outcomes = [judged(known, names, law) for names in sets]
    regrets = [regret for _, regret, _ in outcomes]
    gains = np.array([gain[1:] for *_, every in outcomes for gain in every])
    errors = np.abs(gains[:, 0] - gains[:, 1])
    spread = [float(np.sqrt(np.mean(values**2))) for values in (gains[:, 0], errors)]
    held, scores = (errors <= gains[:, 2]).mean(), interval_score(errors, gains[:, 2]).mean()
    return len(sets), np.mean(regrets), max(regrets), len(gains), *spread, held, scores


if __name__ == "__main__":
    print("| family | law | fits | regret, mean | largest | gains | rms gain | rms error | held | score |")
    print("| --- | --- |" + " --: |" * 8)
    for family, (known, sets) in cases().items():
        if not sys.argv[1:] or any(part in family for part in sys.argv[1:]):
            for law in LAWS:
                cells = "{} | {:.2%} | {:.2%} | {} | {:.1%} | {:.1%} | {:.0%} | {:.0f}".format(*row(known, sets, law))
                print(f"| {family} | {law} | {cells} |", flush=True)
