"""What intervals of nominal 90 % hold, family by family, and settings that are chosen without a family.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_intervals.py [coverage|settings|beginnings|weights|constants]

Nine families of runs, real curves and small networks, each fitted to some of its runs and judged on the others:
``coverage`` prints the table of docs/methods.md, beside two simple rivals. ``settings``: which of :data:`SETTINGS` has
the least interval score of mean final losses and of rows over the other families, among those whose intervals hold the
nominal share of their final losses on average; printed is what it gives on the family left out. ``beginnings``: from
.3, .5 and .75 of every run its end is predicted with several shares of the planned steps weighing less (EARLY in
fsl_num/curves/forecast.py; 0: as in fits of whole runs), chosen likewise. ``weights``: errors of final losses, shares
held and interval scores of the default law and of fsl-weights, after fits to two or three runs and to one.
``constants``: errors of fsl-weights after fits to two or three like runs, under those of :data:`CONSTANTS` that are
best for the other families, beside its own and the default law.
"""

import sys
from contextlib import ExitStack, contextmanager

import numpy as np
from curves_evidence import LEVEL, end, families, folder, interval_score
from curves_networks import KINDS, SETS, networks, summary

from fsl_num.curves import misfit, posterior, search
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import noise_chart, weights_chart
from fsl_num.curves.laws import weights as weights_law

WIDER = {"s": 0.7, "gamma": 0.8, "c": 2.0}
SETTINGS = (
    {}, {"HIDDEN": 1.6}, {"HIDDEN": 2.0}, {"HIDDEN": 3.2}, {"OWN": 1e-6}, {"OWN": 4e-6}, {"UNSURE": 0.8},
    {"FOLLOWED": 0.0}, {"FOLLOWED": 2e-6}, WIDER, {**WIDER, "HIDDEN": 3.2}, {"B": 1.0}, {"p": 0.35}, {"P_c": 0.5},
    {"P_c": 1.2}, {"E": 5.0},
)  # fmt: skip
"""Constants of fsl_num/curves/misfit.py and search.py, and widths of what is expected of parameters of the default law
(fsl_num/curves/laws/noise_chart.py), that differ from those of the package."""
ROOMS = (misfit, posterior, search)
CONSTANTS = (
    {}, {"AT_FIRST": 0.25}, {"AT_FIRST": 1.0}, {"LARGE": 1.2}, {"LARGE": 2.5}, {"FOLLOWED": (0.0, 1.0)},
    {"FOLLOWED": (np.log(4.0), 1.0)}, {"FOLLOWED": (np.log(2.0), 2.0)}, {"FED": (0.0, 0.75)}, {"FED": (0.0, 3.0)},
)  # fmt: skip
"""Constants of fsl-weights that differ from those of the package."""
BEGINNINGS = (0.15, 0.0, 0.1, 0.12, 0.2, 0.25)
PARTS = (0.3, 0.5, 0.75)


def cases():
    """Family -> the pairs of what is fitted and what is predicted; runs of one model at two peak rates are one."""
    found = {}
    for name, pairs in families().items():
        found.setdefault(name.split("_peak_")[0], []).extend(pairs)
    for kind in KINDS:
        known = networks(kind)
        found[kind] = [([known[n] for n in names], [c for n, c in known.items() if n not in names]) for names in SETS]
    return found


def conformal(training, _):
    """The half-width, of log loss, that splits of the training runs give: fitted to 70 % of each, tried on the rest."""
    cuts = [int(np.quantile(curve.step, 0.7)) for curve in training]
    first = fit([curve.between_steps(0, cut) for curve, cut in zip(training, cuts, strict=True)], intervals=False)
    remainders = [curve.between_steps(cut + 1, curve.step[-1]) for curve, cut in zip(training, cuts, strict=True)]
    errors = np.concatenate([np.log(first.predict(curve, None).loss / curve.observed) for curve in remainders])
    half = np.quantile(np.abs(errors), min(1.0, LEVEL * (1 + 1 / errors.size)))
    return lambda curve: np.full(curve.observed.size, half)


def bootstrap(training, result, refits=12, blocks=8):
    """The half-width, of log loss, from refits to the fitted losses with residuals resampled in blocks."""
    stream = np.random.default_rng(0)
    residuals = [np.log(curve.observed / result.predict(curve, None).loss) for curve in training]
    drawn = []
    for _ in range(refits):
        again = []
        for curve, residual in zip(training, residuals, strict=True):
            length = -(-residual.size // blocks)
            starts = stream.integers(0, residual.size, blocks)
            index = ((starts[:, None] + np.arange(length)).ravel() % residual.size)[: residual.size]
            used = curve.keep(curve.used)
            again.append(used.replaced(used.step, result.predict(curve, None).loss * np.exp(residual[index])))
        drawn.append(fit(again, intervals=False, starts=1))
    noise = np.std(np.concatenate(residuals))

    def width(curve):
        centre = result.predict(curve, None).loss
        moved = np.stack([np.log(result.predict(curve, None).loss / centre) for result in drawn])
        return 1.645 * np.sqrt((moved**2).mean(axis=0) + noise**2)

    return width


def drawn(_, result):
    """The half-width, of log loss, that the package itself says."""

    def width(curve):
        prediction = result.predict(curve, LEVEL)
        return np.log(prediction.upper / prediction.loss)

    return width


RIVALS = {"rows": drawn, "split conformal": conformal, "block bootstrap": bootstrap}


def coverage():
    """Share held by intervals of nominal 90 % and interval score (of log loss, in thousandths); runs count alike."""
    print(f"| family | predicted | mean final losses | {' | '.join(RIVALS)} |\n| --- | --: |{' --: |' * 4}")
    for family, pairs in cases().items():
        found = {name: [] for name in ("final", *RIVALS)}
        for training, tests in pairs:
            result = fit(training)
            widths = {name: rival(training, result) for name, rival in RIVALS.items()}
            for curve in tests:
                prediction = result.predict(curve, LEVEL)
                error = abs(end(curve.observed, curve) - end(prediction.loss, curve))
                half = np.log1p(prediction.mean_half_width)
                found["final"].append((error <= half, interval_score(error, half)))
                errors = np.abs(np.log(prediction.loss / curve.observed))
                for name, width in widths.items():
                    half = width(curve)
                    found[name].append(((errors <= half).mean(), interval_score(errors, half).mean()))
        cells = [f"{held:.0%}, {score:.3g}" for held, score in (np.mean(values, axis=0) for values in found.values())]
        print(f"| {family} | {len(found['final'])} | {' | '.join(cells)} |", flush=True)


@contextmanager
def under(setting, rooms=ROOMS):
    """The package with other constants for a while."""
    expected = dict(noise_chart.EXPECTED)
    widths = {name: (expected[name][0], width) for name, width in setting.items() if name in expected}
    changes = [(noise_chart, "EXPECTED", expected | widths)]
    changes += [(room, name, value) for name, value in setting.items() for room in rooms if hasattr(room, name)]
    with ExitStack() as stack:
        for room, name, value in changes:
            stack.callback(setattr, room, name, getattr(room, name))
            setattr(room, name, value)
        yield


def judged(pairs):
    """The shares that intervals of final losses and of rows hold, and their scores."""
    rows = []
    for training, tests in pairs:
        result = fit(training)
        for curve in tests:
            prediction = result.predict(curve, LEVEL)
            errors = np.abs(np.log(prediction.loss / curve.observed))
            error, half = abs(end(curve.observed, curve) - end(prediction.loss, curve)), drawn(None, result)(curve)
            mean = np.log1p(prediction.mean_half_width)
            scores = interval_score(error, mean), interval_score(errors, half).mean()
            rows.append((error <= mean, (errors <= half).mean(), *scores))
    return np.mean(rows, axis=0)


def settings():
    known = cases()
    found = {family: [] for family in known}
    for setting in SETTINGS:
        with under(setting):
            for family, pairs in known.items():
                found[family].append(judged(pairs))
        held, scores = (
            np.array([values[-1] for values in found.values()])[:, part] for part in (slice(2), slice(2, 4))
        )
        print(setting, "held", (100 * held).round().astype(int).tolist(), "scores", np.exp(np.log(scores).mean(axis=0)))
    print("left out      chosen: final losses held, rows held, scores")
    for out in [*found, "none"]:
        families_left = np.array([values for family, values in found.items() if family != out])
        cost = np.log(families_left[..., 2:]).sum(axis=(0, 2)) + 1e3 * (families_left[..., 0].mean(axis=0) < LEVEL)
        shown = found[out][np.argmin(cost)] if out in found else families_left.mean(axis=0)[np.argmin(cost)]
        print("{:<12} {}: {:.0%}, {:.0%}, {:.3g}, {:.3g}".format(out, SETTINGS[np.argmin(cost)], *shown), flush=True)


def left_out(held, scores, options):
    """Print what is best for all families but one, and what it gives on that one; the first option is the usual one."""
    print("left out      best  held as usual, with it  score as usual, with it")
    for out in [*held, "none"]:
        best = np.argmin(sum(np.log(values / values[0]) for family, values in scores.items() if family != out))
        shown = [out] if out in held else list(held)
        numbers = [np.mean([table[family][at] for family in shown]) for table in (held, scores) for at in (0, best)]
        print("{:<12} {:5} {:14.0%} {:8.0%} {:15.0f} {:8.0f}".format(out, options[best], *numbers))


def beginnings():
    """Predictions of final losses from the beginnings of runs, under their own schedules."""
    held, scores = {}, {}
    for family, pairs in cases().items():
        curves = {id(curve): curve for pair in pairs for part in pair for curve in part}.values()
        rows = np.array([[summary(begun(curves, done, share)) for share in BEGINNINGS] for done in PARTS])
        for done, row in zip(PARTS, rows, strict=True):
            cells = ["{:.2%}, {:.0%}, {:.0f}".format(*cell) for cell in row]
            print(f"| {family} | {done:g} | {' | '.join(cells)} |", flush=True)
        held[family], scores[family] = rows[..., 1].mean(axis=0), np.exp(np.log(rows[..., 2]).mean(axis=0))
    left_out(held, scores, BEGINNINGS)


def begun(curves, done, share):
    """Of every run its name, the error of the final loss that its beginning predicts, and the half-width."""
    rows = []
    for curve in curves:
        run = curve.between_steps(0, done * float(curve.step[-1]))
        early = min(share / done, 0.5)
        prediction = fit([run], early=early).predict(curve, LEVEL, after=run)
        error = end(curve.observed, curve) - end(prediction.loss, curve)
        rows.append((curve.name, error, float(np.log1p(prediction.mean_half_width))))
    return rows


def alike(curve, training):
    """Whether a run has the peak and the length of those fitted."""
    usual = training[0].plan
    return abs(np.log(curve.plan.peak / usual.peak)) < 0.1 and curve.step[-1] < 1.5 * usual.rates.size


def errors(pairs, law):
    """The root mean square of the errors of final losses of like runs, after fits to two or three."""
    missed = []
    for training, tests in pairs:
        result = fit(training, law, intervals=False)
        likes = [curve for curve in tests if alike(curve, training)]
        missed += [end(curve.observed, curve) - end(result.predict(curve, None).loss, curve) for curve in likes]
    return float(np.sqrt(np.mean(np.square(missed))))


def constants():
    """Errors under constants that are chosen without a family."""
    table = {}
    for family, pairs in cases().items():
        few = [pair for pair in pairs if 2 <= len(pair[0]) <= 3]
        table[family] = [errors(few, "auto")]
        for setting in CONSTANTS:
            with under(setting, (weights_law, weights_chart)):
                table[family].append(errors(few, "fsl-weights"))
        print(family, *(f"{error:.2%}" for error in table[family]), flush=True)
    for out in table:
        costs = np.log([values[1:] for family, values in table.items() if family != out]).mean(axis=0)
        best = np.argmin(costs)
        print("| {} | {} | {:.2%} | {:.2%} | {:.2%} |".format(
            out, CONSTANTS[best] or "its own", table[out][0], table[out][1 + best], table[out][1]))  # fmt: skip


def weights():
    """Final losses of runs of the peak and length fitted, of all others, and after one run, under two laws."""
    groups = "two or three runs, alike", "two or three runs", "one run"
    for family, pairs in cases().items():
        found = {(group, law): [] for group in groups for law in ("auto", "fsl-weights")}
        for training, tests in (pair for pair in pairs if len(pair[0]) <= 3):
            for law in ("auto", "fsl-weights"):
                result = fit(training, law)
                for curve in tests:
                    prediction = result.predict(curve, LEVEL)
                    error = end(curve.observed, curve) - end(prediction.loss, curve)
                    row = curve.name, error, float(np.log1p(prediction.mean_half_width))
                    for group in groups[2:] if len(training) == 1 else groups[not alike(curve, training) : 2]:
                        found[group, law].append(row)
        for (group, law), rows in found.items():
            if rows:
                print(
                    "| {} | {} | {} | {:.2%}, {:.0%}, {:.0f} |".format(family, group, law, *summary(rows)), flush=True
                )


if __name__ == "__main__":
    if folder() is None:
        sys.exit("FSL_LOSS_CURVES must name the folder with the curves")
    for mode in sys.argv[1:] or ["coverage", "settings", "beginnings"]:
        modes = (coverage, settings, beginnings, weights, constants)
        next(known for known in modes if known.__name__ == mode)()
