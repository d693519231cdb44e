"""Predictions of small networks of six kinds, whose curves lie in examples: errors and what intervals hold.

    python tests/fsl_num/curves_networks.py [KIND|peaks|batches|continuations]

fits one to five runs of each kind and predicts its others: other schedules, three times the steps, other peak rates.
Then what other laws say after fits to pairs of runs, and the plain guess that all runs end as the fitted ones did.
``peaks``: fits to pairs of runs of one peak predict those of others, with and without steps that shorten with the peak,
and all runs of a kind say how much they do; of 124M too where FSL_LOSS_CURVES names a folder.
``batches``: fits to two or three runs of usual and other batch sizes (examples/batches) predict the others.
``continuations``: a run with restarts, decayed once or twice and taken up again, beside a constant rate and a cosine.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from curves_evidence import LEVEL, branches, end, folder, interval_score

from fsl_num.curves.fit import fit
from fsl_num.curves.forecast import EARLY
from fsl_num.curves.reading import read_curve

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
LANGUAGE = ("language", "code", "small-language")
"""Kinds with a folder of their own."""
KINDS = ("convolutions", "perceptron", "transformer", *LANGUAGE)
SETS = (
    ("constant",), ("cosine",), ("wsd",), ("linear",), ("constant", "wsd"), ("constant", "cosine"), ("cosine", "wsd"),
    ("constant", "cosine", "drop"), ("constant", "cosine", "linear", "8-1-1", "cyclic"),
)  # fmt: skip
"""Schedules that are fitted, at the usual peak rate and the shorter length."""
USUAL = {"convolutions": 32, "perceptron": 32, "transformer": 8}
"""Batch sizes, which the files of examples/networks do not say."""
APART = ("sizes", "design", "fourfold")
"""What else the names of files of language models hold: other batch sizes, designs, a table of final losses."""
BATCHED = (
    ("constant", "wsd"), ("constant", "cosine"), ("constant", "wsd", "constant_quarter"),
    ("constant", "wsd", "constant_fourfold"), ("constant", "constant_later-fourfold"),
    ("constant", "constant_later-fourfold", "wsd"), ("wsd", "wsd_fourfold"), ("cosine", "cosine_fourfold", "constant"),
)  # fmt: skip
"""Runs that are fitted to predict those with other batch sizes."""
PAIRS = (("constant", "wsd"), ("constant", "cosine"), ("cosine", "wsd"))
LAWS = ("multi-power", "momentum", "fsl-ansatz")


@cache
def networks(kind):
    """The curves of one kind by name; those of the usual peak rate and the shorter length by their schedule alone."""
    paths = sorted(FOLDER.glob(f"{kind}_*.csv"))
    if kind in LANGUAGE:
        paths = [
            path
            for path in sorted((FOLDER.parent / kind).glob("*.csv"))
            if not any(word in path.stem for word in APART)
        ]
    found = {path.stem.removeprefix(f"{kind}_"): read_curve(path) for path in paths}
    short = min(int(name.split("_")[1]) for name in found)
    return {name.replace(f"_{short}_1", ""): curve for name, curve in found.items()}


def of_batches(kind):
    """The curves of one kind that say their batch sizes, by schedule and batches; the usual ones by schedule alone."""
    found = {}
    for name, curve in networks(kind).items():
        if name in ("constant", "cosine", "wsd", "linear"):
            found[name] = read_curve(FOLDER / f"{curve.name}.csv", batch_size=USUAL[kind])
    for path in sorted((FOLDER.parent / "batches").glob(f"{kind}_*.csv")):
        found[path.stem.removeprefix(f"{kind}_")] = read_curve(path)
    return found


def judged(known, names, law="auto", intervals=True):
    """Of every run not fitted: its name, the error of its mean final loss, and the half-width, of log loss.

    A law that gives no positive loss of a run errs there without bound; without ``intervals`` half-widths are nan.
    """
    result = fit([known[name] for name in names], law, intervals=intervals)
    found = []
    for name, curve in known.items():
        if name not in names:
            try:
                prediction = result.predict(curve, LEVEL if intervals else None)
            except ValueError:
                found.append((name, np.inf, np.nan))
            else:
                error = end(curve.observed, curve) - end(prediction.loss, curve)
                found.append((name, error, float(np.log1p(prediction.mean_half_width or np.nan))))
    return found


def guessed(known, names):
    """The same of the guess that every run ends as those fitted did, on average."""
    guess = np.mean([end(known[name].observed, known[name]) for name in names])
    return [(name, end(curve.observed, curve) - guess, np.nan) for name, curve in known.items() if name not in names]


def summary(rows):
    """Root mean square of the errors, share of them that the intervals hold, interval score in thousandths."""
    errors, halves = np.abs([error for _, error, _ in rows]), np.array([half for *_, half in rows])
    scores = interval_score(errors, halves)
    return float(np.sqrt(np.square(errors).mean())), float((errors <= halves).mean()), float(scores.mean())


def over_pairs(kind, say=judged, *options):
    known = networks(kind)
    return [row for names in PAIRS for row in say(known, names, *options)]


def printed(kind, label, rows):
    error, held, score = summary(rows)
    print(f"{kind:<14} {label:<40} {error:7.2%} {held:6.0%} {score:6.0f}", flush=True)


def over_peaks(known, pairs, law="auto"):
    """What is judged of the runs at other peaks than those fitted, after fits to pairs of one peak."""
    found = []
    for names in pairs:
        peak = known[names[0]].plan.peak
        unseen = {name: run for name, run in known.items() if abs(np.log(run.plan.peak / peak)) > 0.1}
        found += judged(unseen | {name: known[name] for name in names}, names, law)
    return found


def of_peaks():
    """Kind -> its runs and the pairs that are fitted, of one peak each."""
    found = {kind: (networks(kind), PAIRS) for kind in KINDS}
    if folder() is not None:
        ends = ("_peak_0.001", "_peak_0.0005")
        pairs = [(f"constant{end}", f"{decayed}{end}") for end in ends for decayed in ("linear_0.2", "cosine_to_0")]
        found["124M"] = branches(), pairs
    return found


def over_batches(kind, law="auto"):
    known = of_batches(kind)
    return [row for names in BATCHED for row in judged(known, names, law)]


def continuations(kind):
    """Of the last loss after one and two cycles of three, with no other runs and with two: error, half-width."""
    known = networks(kind)
    whole = known["restarts"]
    for cycles in (1, 2):
        run = whole.between_steps(0, whole.plan.warmup + cycles / 3 * (whole.step[-1] - whole.plan.warmup))
        for companions in ((), ("constant", "cosine")):
            result = fit([run, *(known[name] for name in companions)], early=min(3 * EARLY / cycles, 0.5))
            prediction = result.predict(whole, LEVEL, after=run)
            error = end(whole.observed, whole) - end(prediction.loss, whole)
            half = np.log1p(prediction.mean_half_width)
            yield cycles, companions, error * whole.observed[-1], half * whole.observed[-1]


if __name__ == "__main__":
    for kind in KINDS if "continuations" in sys.argv else ():
        for cycles, companions, error, half in continuations(kind):
            print(f"{kind:<14} after {cycles} of 3, {len(companions)} others: {error:+.4f} +- {half:.4f}", flush=True)
    for kind, (known, pairs) in of_peaks().items() if "peaks" in sys.argv else ():
        low, high = fit(list(known.values())).report.intervals["P_c"]
        usual = known[pairs[0][0]].plan.peak
        print(f"{kind:<14} P_c of all runs, over the usual peak: {low / usual:.2f} .. {high / usual:.2f}", flush=True)
        for law in ("auto", "fsl-full"):
            printed(kind, f"other peaks, {law}", over_peaks(known, pairs, law))
    for kind in USUAL if "batches" in sys.argv else ():
        for law in ("auto", "fsl-sgd", "fsl-full"):
            printed(kind, f"other batch sizes, {law}", over_batches(kind, law))
    for kind in [argument for argument in sys.argv[1:] if argument in KINDS] or (KINDS if len(sys.argv) == 1 else ()):
        known, everything = networks(kind), []
        for names in SETS:
            rows = judged(known, names)
            everything += rows
            printed(kind, "+".join(names), rows)
        printed(kind, "all", everything)
        printed(kind, "pairs", over_pairs(kind))
        for law in LAWS:
            printed(kind, f"pairs, {law}", over_pairs(kind, judged, law))
        printed(kind, "pairs, as those fitted", over_pairs(kind, guessed))
