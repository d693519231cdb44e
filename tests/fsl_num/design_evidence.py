"""What designs are worth on runs that were made: regret of what is chosen, its gains, what intervals hold.

    FSL_LOSS_CURVES=folder python tests/fsl_num/design_evidence.py [last] [designs] [PARTS OF NAMES]

Two or three runs of a family are fitted, by the default law and by fsl-weights; of the others that have their steps and
their peak rate the fit chooses one, whose measured final loss is compared with the least (means over the last twentieth
of the rows, chosen and measured). Its gains over the rest are predicted, with intervals of nominal 90 %, and measured.
Real curves are those of 124M, the others have no more than three such runs. ``last``: chosen and measured at the last
step alone. ``designs``: what the trained designs for code and language gain over usual schedules, by three laws: the
error (root mean square), and the share of pairs in the right order.
"""

import sys

import numpy as np
from curves_evidence import BRANCHED, LEVEL, branches, end, folder, interval_score
from curves_networks import FOLDER, KINDS, SETS, networks

from fsl_num.curves.fit import fit
from fsl_num.curves.reading import read_curve
from fsl_num.design.best import Past
from fsl_num.design.draws import final_loss_of, half_width_of_difference

LAWS = ("auto", "fsl-weights")
USUAL = ("cosine", "linear", "wsd", "wsd-sqrt", "decay-0.4")
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


def judged(known, names, law="auto", last=False):
    """The regret of the schedule chosen, of log loss; then of every other its gain, measured and predicted, and the
    half-width of the interval of that gain."""
    result, ends = fit([known[name] for name in names], law), {}
    rivals = {name: run for name, run in known.items() if name not in names}
    for name, run in rivals.items():
        warmup, rates = run.plan.warmup, run.plan.rates
        ends[name] = final_loss_of(result, Past(rates[:warmup], warmup), rates[warmup:])
    measured = {name: np.log(run.loss[-1]) if last else end(run.observed, run) for name, run in rivals.items()}
    predicted = {
        name: np.log(ends[name].loss) if last else end(result.predict(run, None).loss, run)
        for name, run in rivals.items()
    }
    chosen = min(predicted, key=predicted.get)
    gains = []
    for name in rivals:
        if name != chosen:
            half = half_width_of_difference(result, ends[name], ends[chosen], LEVEL) / ends[chosen].loss
            gains.append((name, measured[name] - measured[chosen], predicted[name] - predicted[chosen], half))
    return chosen, measured[chosen] - min(measured.values()), gains


def row(known, sets, law="auto", last=False):
    """Fits, mean and largest regret, gains, root mean squares of them and of their errors, share held, score."""
    outcomes = [judged(known, names, law, last) for names in sets]
    regrets = [regret for _, regret, _ in outcomes]
    gains = np.array([gain[1:] for *_, every in outcomes for gain in every])
    errors = np.abs(gains[:, 0] - gains[:, 1])
    spread = [float(np.sqrt(np.mean(values**2))) for values in (gains[:, 0], errors)]
    held, scores = (errors <= gains[:, 2]).mean(), interval_score(errors, gains[:, 2]).mean()
    return len(sets), np.mean(regrets), max(regrets), len(gains), *spread, held, scores


def of_designs(kind, law):
    """The error of the gains of trained designs, of the usual length and about the usual peak, over usual schedules;
    the share of pairs in the right order; after fits to two or three runs."""
    known, (_, sets) = networks(kind), cases()[kind]
    usual, gains = known["wsd"].plan, []
    paths = sorted((FOLDER.parent / kind).glob("design_*.csv"))
    runs = [run for run in map(read_curve, paths) if abs(run.plan.rates.size - usual.rates.size) < 10]
    designs = [run for run in runs if abs(run.plan.peak / usual.peak - 1.0) < 0.1]
    for names in sets:
        result = fit([known[name] for name in names], law, intervals=False)
        off = [end(result.predict(run, None).loss, run) for run in designs]
        seen = [end(run.observed, run) for run in designs]
        for rival in (known[name] for name in USUAL if name not in names):
            beside = end(result.predict(rival, None).loss, rival), end(rival.observed, rival)
            gains += [(a - beside[0], b - beside[1]) for a, b in zip(off, seen, strict=True)]
    predicted, measured = np.array(gains).T
    return np.sqrt(np.mean((predicted - measured) ** 2)), np.mean(predicted * measured > 0.0)


def designs():
    for kind in ("code", "language"):
        for law in (*LAWS, "multi-power"):
            print("{} {}: {:.2%}, {:.0%}".format(kind, law, *of_designs(kind, law)), flush=True)


if __name__ == "__main__":
    if "designs" in sys.argv:
        designs()
        sys.exit()
    last, parts = "last" in sys.argv, [word for word in sys.argv[1:] if word != "last"]
    print("| family | law | fits | regret, mean | largest | gains | rms gain | rms error | held | score |")
    print("| --- | --- |" + " --: |" * 8)
    for family, (known, sets) in cases().items():
        if not parts or any(part in family for part in parts):
            for law in LAWS:
                cells = "{} | {:.2%} | {:.2%} | {} | {:.1%} | {:.1%} | {:.0%} | {:.0f}".format(
                    *row(known, sets, law, last)
                )
                print(f"| {family} | {law} | {cells} |", flush=True)
