"""``fsl exponents``: the optimal exponents of one schedule under one budget, with their log powers and regimes."""

from __future__ import annotations

from fsl_num.cli.inputs import InputError, exact_rational, parameter_point
from fsl_num.cli.options import Arguments, Command, Names, Option, ScheduleNames, flag, json_option
from fsl_num.cli.output import show, show_json


def run(arguments: Arguments) -> int:
    """Derive and print."""
    point = parameter_point(arguments.s, arguments.beta)
    power = None if arguments.power is None else exact_rational(arguments.power, "--power")
    with_power = arguments.schedule == "power-decay"
    if power is not None and not with_power:
        raise InputError(f"--power goes with --schedule power-decay; {arguments.schedule} has no power")
    if power is not None and power <= 0:
        raise InputError(f"--power must be greater than 0, not {power} (--schedule constant is that of power 0)")
    if with_power and power is None and point is not None:
        raise InputError("--power is needed: at one point --s, --beta the power of power-decay decides the regime")
    from fsl_num.report import allocations as report
    from fsl_sym.allocation import optimal_allocation
    from fsl_sym.laws import WITH_LAST_RATE
    from fsl_sym.schedules import schedule
    from fsl_sym.symbols import p
    from fsl_sym.values import exact

    plan = schedule(arguments.schedule) if power is None else schedule("power-decay").at({p: exact(power)})
    if arguments.free_final and arguments.schedule not in WITH_LAST_RATE:
        raise InputError(f"--free-final is for {' and '.join(WITH_LAST_RATE)}, whose last rate is a/K without it")
    allocation = optimal_allocation(plan, arguments.budget, free_final=arguments.free_final)
    regimes = allocation.regimes if point is None else (allocation.at(*point),)
    derivations = allocation.derivations if arguments.derive else ()
    if arguments.json:
        record = report.allocation_json(allocation, regimes)
        show_json(
            record
            | (
                {"derivations": [report.derivation_json(derivation) for derivation in derivations]}
                if derivations
                else {}
            )
        )
        return 0
    if arguments.latex:
        parts = [report.allocation_latex(allocation, regimes)]
        parts += [part for derivation in derivations for part in ("", derivation._repr_latex_())]
    else:
        parts = report.allocation_text(allocation, regimes)
        parts += [part for derivation in derivations for part in ("", report.derivation_text(derivation))]
    show(*parts)
    return 0


COMMANDS = {
    "exponents": Command(
        "exponents",
        run,
        [
            Option("--schedule", required=True, type=ScheduleNames("fsl_num.schedules:SCHEDULES", derived=True),
                   help="the learning-rate schedule (in Python also one of your own: fsl_sym.own_schedule)"),
            Option("--budget", required=True, type=Names("fsl_sym.laws:BUDGETS"), help="what is fixed: D, or C = M D"),
            Option("--s", metavar="P/Q", help="relative task difficulty s > 0, as typed; with --beta, one regime"),
            Option("--beta", metavar="P/Q", help="capacity exponent beta > 1, as typed; with --s, one regime"),
            Option("--power", metavar="P/Q", help="p of power-decay, as typed (default: a symbol)"),
            flag("--free-final", "the last rate of exp-decay or wsd is a choice, too, and not the peak over K"),
            json_option(choice="form"),
            flag("--latex", "as LaTeX", choice="form"),
            flag("--derive", "show the derivation, step by step"),
        ],
        "Derive how excess risk, peak learning rate, model size, data size and decay fraction grow with the budget "
        "when they are chosen best.",
    )
}  # fmt: skip
