"""Design of schedules: the best rates under a law of the final loss, and the worst for the functional scaling law.

An objective (:mod:`~fsl_num.design.objectives`) gives the loss of rates that are constant on blocks of steps, and its
gradient; :mod:`~fsl_num.design.optimise` minimises it, :mod:`~fsl_num.design.closed_form` knows one minimiser exactly,
and :mod:`~fsl_num.design.worst` searches for schedules that are bad for the law.

From a fit to loss curves :mod:`~fsl_num.design.schedule` designs the schedule of a run, and from a model and a budget
of samples :mod:`~fsl_num.design.theory` does: both by :mod:`~fsl_num.design.water_filling`, which bounds every other
schedule from below; laws without such a bound are searched from several starts (:mod:`~fsl_num.design.best`).

>>> from fsl_num.design import best_rates, blocks, functional_objective
>>> best = best_rates(functional_objective(0.5, 2.0), blocks(1e4, 8))
>>> bool(best.rates[0] == 1.0 and best.rates[-1] < 0.1)
True
"""

from fsl_num.design.closed_form import ClosedForm, closed_form
from fsl_num.design.objectives import Objective, ansatz_objective, functional_objective
from fsl_num.design.optimise import BestSchedule, best_falling_rates, best_rates, blocks
from fsl_num.design.worst import WorstSchedule, worst_schedule

__all__ = [
    "BestSchedule",
    "ClosedForm",
    "Objective",
    "WorstSchedule",
    "ansatz_objective",
    "best_falling_rates",
    "best_rates",
    "blocks",
    "closed_form",
    "functional_objective",
    "worst_schedule",
]
