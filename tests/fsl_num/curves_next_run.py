"""What a proposed next run is worth on real curves, from the folder that FSL_LOSS_CURVES names.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_next_run.py [--all|--targets]

One run of a family is fitted; the others are what might be trained next, and what is to be predicted. Each of them is
then fitted together with the first one, and scored on the rest. Without --all the first run is one of constant rate,
which is what there is before anybody has decayed. ``--targets``: the final loss of one other run is asked for at a
time, small networks are families too, and the width that was said to be left is compared with that which is.
"""

import sys
from dataclasses import dataclass

import numpy as np
from curves_evidence import branches, curves, end, sizes
from curves_networks import KINDS, networks

from fsl_num.curves.fit import fit
from fsl_num.curves.next_run import next_run


@dataclass(frozen=True)
class Worth:
    """The mean RMSE on the rest after one run (``alone``), and after each second one in the order of the proposal."""

    alone: float
    after: dict

    @property
    def proposed(self):
        return next(iter(self.after.values()))

    @property
    def factor(self):
        """By how much lower the error is than after the median of the other candidates."""
        return float(np.median(list(self.after.values())[1:])) / self.proposed

    @property
    def rank(self):
        """The rank of the proposed run among the candidates, 1 for the best."""
        return 1 + sum(error < self.proposed for error in self.after.values())


def families():
    """The runs of one model, and of 124M of one peak rate, by name."""
    known = branches()
    found = {size: curves(size) for size in sizes()}
    for peak in ("0.0005", "0.001"):
        found[f"124M at {peak}"] = {name: run for name, run in known.items() if name.endswith(f"_peak_{peak}")}
    return found


def starts(family, everything=False):
    return [name for name in family if everything or name.startswith("constant")]


def worth(family, start):
    """What the proposal from one run is worth in a family."""
    runs_left = {name: run for name, run in family.items() if name != start}
    first = fit(family[start])
    plans = {name: run.plan for name, run in runs_left.items()}
    found = next_run(first, plans, plans)
    order = sorted(found.candidates, key=lambda candidate: -candidate.gain(found.before))
    alone = np.mean([score.rmse for score in first.scores(list(runs_left.values())).values()])
    after = {}
    for candidate in order:
        pair = fit([family[start], runs_left[candidate.name]], intervals=False)
        unseen = [run for name, run in runs_left.items() if name != candidate.name]
        after[candidate.name] = float(np.mean([score.rmse for score in pair.scores(unseen).values()]))
    return Worth(float(alone), after)


def towards(family, start):
    """Of every run at the peak of the first one: errors of its final loss after the first alone, after the proposed run
    too, and after each candidate; the half-widths that were said to be left by the proposed run, and are."""
    first, runs_left = fit(family[start]), {name: run for name, run in family.items() if name != start}
    fits = {name: fit([family[start], run]) for name, run in runs_left.items()}

    def judged(result, run):
        prediction = result.predict(run)
        return end(run.observed, run) - end(prediction.loss, run), prediction.mean_half_width

    for name, run in runs_left.items():
        if abs(run.plan.peak / family[start].plan.peak - 1.0) < 0.01:
            candidates = {rival: run.plan for rival, run in runs_left.items() if rival != name}
            proposed = next_run(first, run.plan, candidates).proposed
            after = {rival: judged(fits[rival], run) for rival in candidates}
            every = [error for error, _ in after.values()]
            yield judged(first, run)[0], *after[proposed.name], proposed.half_width, every


def targets():
    """The table of docs/methods.md."""
    found = {"25M": curves("25M"), "100M": curves("100M")}
    found |= {f"124M at {peak}": families()[f"124M at {peak}"] for peak in ("0.0005", "0.001")}
    found |= {kind: networks(kind) for kind in KINDS}
    print("| family | predicted | one run | and any other | and the one proposed | within what was said | width |")
    print("| --- |" + " --: |" * 6)
    for name, family in found.items():
        firsts = [run for run in family if run.startswith(("constant", "cosine", "wsd", "linear_0.2"))]
        firsts = [run for run in firsts if "_" not in run or run.endswith("24000") or "_peak_" in run]
        rows = [row for start in firsts for row in towards(family, start)]
        alone, proposed, width, said = (np.array(column) for column in list(zip(*rows, strict=True))[:4])
        any_other = np.concatenate([row[4] for row in rows])
        errors = [float(np.sqrt(np.mean(np.square(errors_of)))) for errors_of in (alone, any_other, proposed)]
        cells = "{:.2%} | {:.2%} | {:.2%}".format(*errors)
        within, ratio = np.mean(np.abs(proposed) <= said), np.exp(np.mean(np.log(width / said)))
        print(f"| {name} | {len(rows)} | {cells} | {within:.0%} | {ratio:.2f} |", flush=True)


def main():
    everything, rows = "--all" in sys.argv[1:], []
    for name, family in families().items():
        for start in starts(family, everything):
            row = worth(family, start)
            rows.append(row)
            print(
                f"{name:<15}{start:<28}alone {row.alone:.4f}, then {next(iter(row.after)):<28}{row.proposed:.4f}:"
                f" {row.factor:.2f} times below the median, rank {row.rank} of {len(row.after)}",
                flush=True,
            )
    factor = np.exp(np.mean([np.log(row.factor) for row in rows]))
    fall = np.exp(np.mean([np.log(row.alone / row.proposed) for row in rows]))
    rank = np.mean([row.rank for row in rows])
    print(f"geometric means: {factor:.2f} below the median candidate, {fall:.2f} below the first run; rank {rank:.2f}")


if __name__ == "__main__":
    targets() if "--targets" in sys.argv[1:] else main()
