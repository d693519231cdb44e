"""Derivations as text and as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsl_sym.algebra.printing import latex
from fsl_sym.proof.formulas import RELATIONS

if TYPE_CHECKING:
    from fsl_sym.proof.kernel import Derivation


def as_text(derivation: Derivation) -> str:
    """The chain line by line, with its hypotheses."""
    lines = [f"{derivation.title} ({derivation.name})"]
    lines += [f"  given {item}" for item in derivation.hypotheses]
    lines.append(f"  {derivation.steps[0].before}")
    lines += [f"    {step.relation} {step.after}    [{step.why}]" for step in derivation]
    return "\n".join(lines)


def as_latex(derivation: Derivation) -> str:
    """The chain as aligned equations, reasons beside them."""
    body = rf"& \textbf{{{_escaped(derivation.title)}}}"
    if derivation.hypotheses:
        body += " \\\\\n& \\text{given }" + r",\ ".join(item.latex() for item in derivation.hypotheses)
    body += f" \\\\[6pt]\n& {latex(derivation.steps[0].before)}"
    for step in derivation:
        relation = RELATIONS[step.relation][0]
        body += (
            f" \\\\[2pt]\n& \\quad {relation} {latex(step.after)} \\qquad {{\\small \\text{{{_escaped(step.why)}}}}}"
        )
    return f"$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$"


def _escaped(text: str) -> str:
    for sign in "{}_#&%$":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("^", r"\textasciicircum{}")
