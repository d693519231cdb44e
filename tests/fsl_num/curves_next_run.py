"""What a proposed next run is worth on real curves, from the folder that FSL_LOSS_CURVES names.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_next_run.py [--all]

One run of a family is fitted; the others are what might be trained next, and what is to be predicted. Each of them is
then fitted together with the first one, and scored on the rest. Without --all the first run is one of constant rate,
which is what there is before anybody has decayed.
"""

import sys
from dataclasses import dataclass

import numpy as np
from curves_evidence import branches, curves, sizes

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
        return 1 + sum(each < self.proposed for each in self.after.values())


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
    others = {name: run for name, run in family.items() if name != start}
    first = fit(family[start])
    plans = {name: run.plan for name, run in others.items()}
    found = next_run(first, plans, plans)
    order = sorted(found.candidates, key=lambda each: -each.gain(found.before))
    alone = np.mean([each.rmse for each in first.scores(list(others.values())).values()])
    after = {}
    for candidate in order:
        both = fit([family[start], others[candidate.name]], intervals=False)
        rest = [run for name, run in others.items() if name != candidate.name]
        after[candidate.name] = float(np.mean([each.rmse for each in both.scores(rest).values()]))
    return Worth(float(alone), after)


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
    main()
