"""Which wrong versions of a source there are, and a random sample of them: places by operators of cosmic-ray.

Only replacements that a person could have typed are drawn (a + b becomes a - b, not a << b), each place counts once,
and what no test could ever see, or should, is left out: annotations, caches, slots, blocks for type checkers, the -1 of
a reshape, and the numbers inside of messages.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators import (
    binary_operator_replacement,
    boolean_replacer,
    break_continue,
    comparison_operator_replacement,
    number_replacer,
    remove_decorator,
    unary_operator_replacement,
    zero_iteration_for_loop,
)
from parso import parse

TARGETS = (
    "fsl_sym",
    "fsl_num/volterra",
    "fsl_num/schedules",
    "fsl_num/spectrum.py",
    "fsl_num/exponential_sums.py",
    "fsl_num/exponential_sums_digits.py",
    "fsl_num/compression.py",
    "fsl_num/mode_errors.py",
    "fsl_num/functional.py",
    "fsl_num/evolution.py",
    "fsl_num/growth.py",
    "fsl_num/gauss_rules.py",
)
"""The symbolic layer, and the solvers, spectra, schedules and functionals."""

_BINARY = {
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Pow_Mul", "FloorDiv_Mul", "Mod_Mul", "BitOr_BitAnd", "BitAnd_BitOr",
    "LShift_RShift", "RShift_LShift",
}  # fmt: skip
_COMPARISON = {
    "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq",
    "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In",
}  # fmt: skip
_UNSEEN_DECORATORS = ("cache", "lru_cache", "functools.cache", "functools.lru_cache", "overload", "runtime_checkable")


def _named(operators, names):
    return tuple(operator for operator in operators if operator.__name__.split("_", 1)[-1] in names)


FAMILIES = {
    "arithmetic": _named(binary_operator_replacement.operators(), _BINARY),
    "comparison": _named(comparison_operator_replacement.operators(), _COMPARISON),
    "sign or not": tuple(
        operator for operator in unary_operator_replacement.operators() if "Invert" not in operator.__name__
    ),
    "number": (number_replacer.NumberReplacer,),
    "truth": (
        boolean_replacer.ReplaceTrueWithFalse,
        boolean_replacer.ReplaceFalseWithTrue,
        boolean_replacer.ReplaceAndWithOr,
        boolean_replacer.ReplaceOrWithAnd,
        boolean_replacer.AddNot,
    ),
    "loop": (
        break_continue.ReplaceBreakWithContinue,
        break_continue.ReplaceContinueWithBreak,
        zero_iteration_for_loop.ZeroIterationForLoop,
    ),
    "decorator": (remove_decorator.RemoveDecorator,),
}
"""Kinds of mistakes, and the operators of each."""


@dataclass(frozen=True)
class Mutant:
    """One wrong version: the file, the line, what kind of mistake, the operator and which of its occurrences."""

    path: str
    line: int
    kind: str
    operator: type
    occurrence: int

    def source(self, original):
        """The whole wrong source, None where it does not compile or changes nothing that runs."""
        changed = mutate_code(original, self.operator(), self.occurrence)
        try:
            same = changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(original))
        except SyntaxError:
            return None
        return None if same else changed


def files(root):
    """The sources to mutate, as paths seen from ``root``."""
    found = []
    for target in TARGETS:
        place = Path(root) / target
        found += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [path.relative_to(root).as_posix() for path in found]


def places(path, source):
    """Every place of a source where a mistake can stand: {(kind, position): mutants at that place}."""
    unseen = _unseen_lines(source)
    found = {}
    tree = parse(source)
    for kind, operators in FAMILIES.items():
        for operator in operators:
            for occurrence, (start, end, marker) in enumerate(_positions(tree, operator())):
                if marker or any(_within(start, end, span) for span in unseen):
                    continue
                mutant = Mutant(path, start[0], kind, operator, occurrence)
                found.setdefault((kind, start), []).append(mutant)
    return found


def draw(root, count, seed, only=None):
    """``count`` mutants of the sources under ``root``: places uniformly, then one mistake for each place.

    Those that do not compile are drawn again. ``only``: files or folders to draw from, all targets by default.
    """
    generator = random.Random(seed)
    chosen = [path for path in files(root) if only is None or any(Path(path).is_relative_to(folder) for folder in only)]
    sources = {path: (Path(root) / path).read_text(encoding="utf-8") for path in chosen}
    candidates = [group for path, source in sources.items() for group in places(path, source).values()]
    generator.shuffle(candidates)
    drawn = []
    for group in candidates:
        mutant = generator.choice(group)
        if mutant.source(sources[mutant.path]) is not None:
            drawn.append(mutant)
        if len(drawn) == count:
            break
    return drawn, len(candidates)


def _positions(node, operator):
    """The positions of one operator in the order in which cosmic-ray counts them; and whether each is the marker of
    keyword-only arguments, which is no product."""
    marker = getattr(node.parent, "type", "") == "parameters"
    for start, end in operator.mutation_positions(node):
        yield start, end, marker
    for child in getattr(node, "children", ()):
        yield from _positions(child, operator)


def _unseen_lines(source):
    """Spans ((line, column), (line, column)) where no mistake can be seen by a test."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            spans.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            spans += [node.returns] if node.returns is not None else []
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            spans.append(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            spans += [over for over in node.decorator_list if ast.unparse(over).split("(")[0] in _UNSEEN_DECORATORS]
        if isinstance(node, ast.keyword) and node.arg in ("strict", "slots"):
            spans.append(node)  # zip(..., strict=True) asserts what holds; slots save memory alone
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
            # any negative size means the rest
            spans += [argument for argument in node.args if isinstance(argument, ast.UnaryOp)]
        if isinstance(node, ast.Raise):  # how many digits a message shows
            spans += [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
        if isinstance(node, ast.Assign) and any(_is_alias(target, node.value) for target in node.targets):
            spans.append(node)
    return [((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in spans]


def _is_alias(target, value):
    """Whether an assignment only names a type: A = B | None, or A = NDArray[...]."""
    text = ast.unparse(value)
    return isinstance(target, ast.Name) and target.id[:1].isupper() and (" | " in text or text.startswith("NDArray["))


def _within(start, end, span):
    # A decorator's span in the syntax tree begins behind its @.
    return (span[0][0], span[0][1] - 1) <= start and end <= (span[1][0] + 1, 0) and start <= span[1]
