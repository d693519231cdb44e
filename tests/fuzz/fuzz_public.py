"""Calls of every public function, class and method: those of the documentation, with one or two arguments replaced.

A call is taken from the examples: those of the callable itself, else of another that calls it. What can be called so is
found without running anything (``PLACES``); the example is run when its first case is drawn.
"""

import ast
import doctest
import inspect
import itertools
from functools import cache

import numpy as np

import fsl_num
import fsl_sym

HOSTILE = [
    *(np.nan, np.inf, -np.inf, -1, 0, 0.5, 1e300, 1e-300, 10**30, -(10**30), True, None, 1j),
    *("", "abc", "a\nb", "\x00", b"abc", [], {}, (), set(), object()),
    *([None], ["a\n"], [np.nan], [1.0, np.inf], [[1.0]]),
    *(np.zeros(0), np.zeros((2, 3, 1)), np.full(100_000, 0.1), np.array(["a"]), np.array(0.1), range(3), id),
]
_MADE_BY = {  # classes of results: nobody writes their many fields by hand
    "fsl_num": {
        "Design": "design_schedule",
        "FinalLossFit": "fit_final_losses",
        "FitResult": "fit",
        "RiskCurve": "exact_risk",
        "Schedule": "schedule",
        "Solution": "solve",
        "UnstableProblemError": "solve",
    },
    "fsl_sym": {
        "Allocation": "optimal_allocation",
        "AllocationRegime": "optimal_allocation",
        "Certificate": "optimal_exponents",
        "ClosedForm": "noise_integral",
        "Expansion": "harmonic_sum_asymptotics",
        "ExponentSolution": "optimal_exponents",
        "Formula": "Theorem.formula",
        "FunctionalScalingLaw": "functional_scaling_law",
        "Progress": "optimal_exponents",
        "Regime": "regime_of",
        "Region": "optimal_exponents",
        "ScalingLaw": "scaling_law",
        "Schedule": "schedule",
        "Theorem": "the modules of theorems",
    },
}
_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
NOT_CALLED = {
    f"{package}.{name}": f"made by {maker}" for package, names in _MADE_BY.items() for name, maker in names.items()
}
"""Public callable -> why no example can show its call."""


def _public():
    """(name, callable) of what the packages export, and of the public methods of the classes among it."""
    for package in (fsl_num, fsl_sym):
        for name in package.__all__:
            value = getattr(package, name)
            if not callable(value):
                continue
            yield f"{package.__name__}.{name}", value
            for method, member in vars(value).items() if inspect.isclass(value) else ():
                if not method.startswith("_") and (inspect.isfunction(member) or hasattr(member, "__func__")):
                    yield f"{package.__name__}.{name}.{method}", getattr(value, method)


class _Recorded(ast.NodeTransformer):
    """Calls of one name become calls of ``_record``, which keeps the arguments."""

    def __init__(self, name):
        self.name = name

    def visit_Call(self, node):
        self.generic_visit(node)
        if self.name == getattr(node.func, "id", getattr(node.func, "attr", None)):
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_record", ast.Load()), node)
        return node


@cache
def _examples(text):
    return tuple(example.source for example in doctest.DocTestParser().get_examples(text or ""))


def _places():
    """Public callable -> the object whose examples call it, or None."""
    public = dict(_public())
    parsed = {name: [ast.parse(example) for example in _examples(value.__doc__)] for name, value in public.items()}
    called = {
        name: {
            getattr(node.func, "id", getattr(node.func, "attr", None))
            for node in itertools.chain.from_iterable(map(ast.walk, trees))
            if isinstance(node, ast.Call)
        }
        for name, trees in parsed.items()
    }
    places = {}
    for name in public:
        package, short = name.split(".")[0], name.rsplit(".", 1)[-1]
        owner = name.rsplit(".", 1)[0]
        near = sorted(called, key=lambda caller: (caller != name, caller != owner, not caller.startswith(package)))
        # A method is looked for in the examples of its class alone: another class may have one of the same name.
        near = [caller for caller in near if name.count(".") == 1 or caller.startswith(owner)]
        places[name] = next((caller for caller in near if short in called[caller]), None)
    return public, places


PUBLIC, PLACES = _places()


@cache
def valid_calls(name):
    """The calls of a public callable in its example: (what is called, positional, named)."""
    calls, short = [], name.rsplit(".", 1)[-1]

    def record(function, *positional, **named):
        calls.append((function, positional, named))
        return function(*positional, **named)

    value = PUBLIC[PLACES[name]]
    home = inspect.getmodule(value)
    names = {**vars(home), "_record": record}
    for source in _examples(value.__doc__):
        with_record = ast.fix_missing_locations(_Recorded(short).visit(ast.parse(source)))
        try:
            exec(compile(with_record, name, "exec"), names)
        except (ValueError, TypeError):  # examples show refusals too
            continue
    return calls


def hostile_call(draw):
    """A call of the documentation with one or two arguments replaced: its name, its text, and what makes it."""
    name = draw.choice([place for place in PLACES if PLACES[place] and place not in NOT_CALLED])
    return (name, *hostile_call_of(name, draw))


def hostile_call_of(name, draw):
    """A call of one public callable with one or two arguments replaced: its text, and what makes it."""
    function, positional, named = draw.choice(valid_calls(name))
    arguments = {**dict(enumerate(positional)), **named}
    try:
        known = inspect.signature(function)
        bound = known.bind_partial(*positional, **named).arguments
        unsaid = [key for key, parameter in known.parameters.items() if key not in bound and parameter.kind in _BY_NAME]
    except (ValueError, TypeError):
        unsaid = []
    keys = list(dict.fromkeys([*arguments, *unsaid]))
    for key in draw.sample(keys, min(len(keys), draw.choice([1, 1, 2]))):
        before = arguments.get(key)
        if isinstance(before, list | tuple) and before and draw.random() < 0.3:  # one entry alone
            place = draw.randrange(len(before))
            arguments[key] = [*before[:place], draw.choice(HOSTILE), *before[place + 1 :]]
        else:
            arguments[key] = draw.choice(HOSTILE)
    positional = [arguments.pop(place) for place in range(len(positional))]
    shown = [*(repr(value)[:60] for value in positional), *(f"{key}={value!r:.60}" for key, value in arguments.items())]
    return f"{name}({', '.join(shown)})", lambda: function(*positional, **arguments)
