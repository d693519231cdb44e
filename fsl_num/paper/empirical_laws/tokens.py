"""Steps, batches and tokens of the paper's language models."""

from __future__ import annotations

from typing import Any, Final

from sympy import Integer, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Sharp
from fsl_num.paper.empirical_laws.formulas import Stated
from fsl_sym.proof import AllOf, equals, within
from fsl_sym.symbols import B, D, K

_length = Symbol("L", positive=True)
TOKENS: Final[Stated] = (
    within(D, K * B * _length, 2 * B * _length),
    (equals(D, 2 * 10**10), equals(K, 33907), equals(B, 288), equals(_length, 2048)),
)
STEPS, BATCH, LENGTH = 33907, 288, 2048
"""Steps and sequences a step as printed; tokens a sequence, which is not printed: the power of 2 that fits."""


def token_steps(last: int) -> AllOf:
    """Steps of 10B, 20B, 40B and 80B tokens, to 500 steps."""
    pairs = ((10, 17000), (20, 34000), (40, 68000), (80, last))
    return AllOf(
        tuple(within(Integer(tokens) * 10**9 / (B * _length), Integer(steps), Integer(500)) for tokens, steps in pairs)
    )


def _tokens_statement(sample: Sample) -> Sharp:
    wrong = {
        "sequences of 1024": lambda point: point[1] * 2,
        "sequences of 4096": lambda point: point[1] / 2,
        "ten steps more": lambda point: point[1] * (1 + 10 / 33907),
    }
    # a step is 590k tokens: the last one may be incomplete, and one is left for where counting begins
    return Sharp(lambda point: point[1], lambda point: 2.0 / 33907, wrong)


def _steps(last: float) -> Located:
    measured = [(tokens, steps) for tokens, steps in ((10e9, 17e3), (20e9, 34e3), (40e9, 68e3), (80e9, last))]
    return Located(measured, {"B": BATCH, "L": LENGTH})


def _steps_statement(sample: Sample) -> Sharp:
    def steps(tokens: float) -> float:
        return tokens / (BATCH * LENGTH)

    wrong = {"batches of 256": lambda tokens: tokens / (256 * LENGTH), "of 320": lambda tokens: tokens / (320 * LENGTH)}
    return Sharp(steps, lambda tokens: 500.0 / steps(tokens), wrong)


def _batches(sample: Sample) -> list[dict[Any, Any]]:
    return [{B: BATCH, _length: LENGTH}]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "appendix:llm_pre-training/tokens", "appendix:llm_pre-training", 1568, "steps, batch and tokens",
        TOKENS[0], TOKENS[1],
        lambda sample: Located([(("33,907 steps", 20e9), float(STEPS * BATCH * LENGTH))],
                               {"D": 20e9, "K": STEPS, "B": BATCH, "L": LENGTH}), _tokens_statement,
        regimes=("easy",), family="tokens",
        instances=lambda sample: [{D: 20e9, K: STEPS, B: BATCH, _length: LENGTH}],
        quoted="over a total step of $K = 33907$",
        remark="The length of a sequence is not printed.",
    ),
    Claim(
        "fig:different-step-fit-lrs", "fig:different-step-fit-lrs", 1699, "steps of 10B to 80B tokens, as printed",
        token_steps(134000), (equals(B, 288), equals(_length, 2048)),
        lambda sample: _steps(134e3), _steps_statement, regimes=("easy",), instances=_batches,
        mends={Integer(134000): Integer(136000)}, corrected_by="fig:different-step-fit-lrs/corrected", family="tokens",
        quoted="17k, 34k, 68k and 134k (corresponding to 10B, 20B, 40B and 80B tokens respectively)",
    ),
    Claim(
        "fig:different-step-fit-lrs/corrected", "fig:different-step-fit-lrs", 1699, "steps of 10B to 80B tokens",
        token_steps(136000),
        (equals(B, 288), equals(_length, 2048)),
        lambda sample: _steps(136e3), _steps_statement, regimes=("easy",),
        instances=_batches, role="corrected", family="tokens",
    ),
)  # fmt: skip
