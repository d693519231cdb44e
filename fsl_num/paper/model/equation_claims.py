"""The claims about risk, gradient and noise, about the equations of SGD in both times, and about their moments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.model import formulas as said
from fsl_num.paper.model import gradients, moments
from fsl_num.paper.model.claims import KURTOSIS, best_constants
from fsl_num.paper.model.measurements import gradient_noises
from fsl_num.paper.model.statements import Bracket, Operator, noise_bound
from fsl_num.paper.model.tables import Interval, table
from fsl_sym import model_identities as identities
from fsl_sym import stochastic_identities as stochastic

EXACT = 1e-10
"""Sums of at most 6e3 terms of order 1, with eigenvalues of at least 4^-6 in the smallest of them."""
SOLVED = 1e-6
"""What the integrator leaves between its steps (some 1e-8) and the quadrature of 30 nodes (less)."""
ANY = ("any W of shape (M, N)", "lambda_j = j^-beta, beta > 1", "epsilon independent of phi, of variance sigma^2")
MEANS = ("rho_-, rho_+ the constants of the features", "E the excess risk at v, 2E = |u|_H^2")
CASES = (*ANY, "normal, uniform and sign features", "N = 3 and 4, M = 2 and 3")
SOLUTIONS = (*ANY, "phi and b of physical time, phi > 0", "N = 4, M = 2, normal and uniform features")


@dataclass(frozen=True)
class OneFunction:
    """Means of one function, under weights whose ratio varies by exp(2 lambda_1 length), lie within that factor."""

    factor: float = 1.0

    def judge(self, measured: tuple[Sequence[float], float]) -> Judgement:
        """The largest mean over the least."""
        means, length = measured
        ratio, allowed = max(means) / min(means), self.factor * math.exp(2.0 * length)
        note = f"means {', '.join(f'{each:.4g}' for each in means)}: ratio {ratio:.4g}, allowed {allowed:.4g}"
        return Judgement(ratio <= allowed, ratio / allowed, (min(means), max(means)), None, note)

    def mutants(self) -> Mapping[str, OneFunction]:
        """Half of the factor."""
        return {"half the factor": OneFunction(0.5 * self.factor)}

    def neighbours(self, kind: str, size: float) -> Sequence[OneFunction]:
        """None: there are no exponents here."""
        return ()


def _noise_family(sample: Sample) -> Joint:
    return Joint({name: Bracket(*best_constants(KURTOSIS[name]), noise_bound) for name in ("gaussian", "rademacher")})


def _energies(family: str, sample: Sample) -> Sequence[Operator]:
    """Sigma against R W H W', with labels as given and without noise, and with noise alone."""
    found = []
    for each in gradient_noises(family, sample):
        found.append(Operator(each.value, each.base, 0.5 * (each.size + each.noise)))
        found.append(Operator(each.value - each.noise * each.base, each.base, 0.5 * each.size))
        found.append(Operator(each.noise * each.base, each.base, 0.5 * each.noise))
    return found


def _energy_statement(sample: Sample) -> Joint:
    parts: dict[str, Statement] = {}
    for family in ("gaussian", "uniform"):
        low, high = best_constants(KURTOSIS[family])
        parts[family] = Bracket(min(2.0, 2.0 * low), max(2.0, 2.0 * high))
    return Joint(parts)


EQUATION_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:diagonal", "ass:diagonal", 291, "SGD under rotations of the features",
        "SGD on the features Q phi with target Q theta* and projection W Q' has the weights and the risks of SGD on "
        "phi, theta* and W, sample by sample, for every orthogonal Q; with all features and W = I the weights turn "
        "with Q. A diagonal H is thus the general case with W turned along.",
        said.ROTATED[0],
        (*ANY, "Q'Q = I", "30 steps on one stream of samples, batches of two", *said.ROTATED[1]),
        gradients.rotated_paths,
        table(gradients.diagonal_paths, EXACT, {
            "W not turned": {"projection": "turned"}, "Q for Q'": {"projection": "turned back"},
            "theta* not turned": {"aim": "turned back"}}),
        derive=identities.rotation_derivation, family="gradients",
    ),
    Claim(
        "ass:diagonal/first-coordinates", "ass:diagonal", 296, "rotations with W kept, as printed",
        "The analysis for diagonal H is equivalent to the general case with the same W, the first M coordinates. It is "
        "not: the first M coordinates of rotated features are other features.",
        said.FIRST_KEPT, (*ANY, "Q'Q = I"), partial(gradients.rotated_paths, kept=True),
        table(gradients.diagonal_paths, EXACT, {}), corrected_by="ass:diagonal", family="gradients",
    ),
    Claim(
        "eqn: pop-risk", "eqn: pop-risk", 390, "the population risk",
        "The mean loss is R(v) = ||W'v - theta*||_H^2/2 + sigma^2/2.",
        said.PROJECTED_RISK[0],
        (*CASES, *said.PROJECTED_RISK[1]), gradients.mean_losses,
        table(gradients.risk_formula, EXACT, {
            "without the factor 1/2": {"half": 1.0}, "sigma^2 for sigma^2/2": {"label": 1.0},
            "the Euclidean norm": {"power": 0.0}, "without the labels' noise": {"label": 0.0}}),
        derive=identities.risk_derivation, family="gradients",
    ),
    Claim(
        "eqn: pop-risk-top-M", "eqn: pop-risk-top-M", 679, "the risk of the first M features",
        "2E(v) = sum_{j<=M} lambda_j (v_j - theta_j)^2 + sum_{M<j<=N} lambda_j theta_j^2.",
        said.FIRST_FEATURES_RISK[0],
        (*ANY, "W the first M features", *said.FIRST_FEATURES_RISK[1]), gradients.excess_losses,
        table(gradients.top_risk_formula, EXACT, {
            "the features beyond M dropped": {"tail": 0.0}, "the index shifted": {"shift": 1},
            "lambda_j^2": {"power": 2.0}, "half of the rest": {"tail": 0.5}}),
        derive=identities.top_risk_derivation, family="gradients",
    ),
    Claim(
        "eqn: sgd", "eqn: sgd", 398, "the gradients of loss and risk",
        "The gradient of the loss of one sample is W phi (phi'(W'v - theta*) - epsilon), its mean and the gradient of "
        "the risk W H (W'v - theta*), and the second derivative of the risk W H W'.",
        said.GRADIENTS[0],
        (*CASES, *said.GRADIENTS[1]), gradients.differences,
        table(gradients.gradient_formula, EXACT, {
            "the sign of the mean": {"sign": -1.0}, "the sign of epsilon": {"label": -1.0},
            "H^2 for H": {"power": 2.0}, "twice the mean": {"sign": 2.0}}),
        derive=identities.gradient_derivation, family="gradients",
    ),
    Claim(
        "eqn: sgd2", "eqn: sgd2", 412, "the gradient noise of a batch",
        "SGD is v - eta (grad R + xi) with E xi = 0 and E xi xi' = Sigma(v)/B, Sigma the covariance at batch size 1.",
        said.BATCHES,
        (*ANY, "xi is the noise of the gradient of a batch", "independent samples",
         "all batches of one, two and three samples"), gradients.batch_moments,
        table(gradients.batch_formula, EXACT, {
            "Sigma without 1/B": {"power": 0.0}, "Sigma/B^2": {"power": 2.0},
            "the second moment of the gradient": {"second": True}}),
        derive=identities.minibatch_derivation, family="gradients",
    ),
    Claim(
        "lemma: noise-covariance", "lemma: noise-covariance", 1816, "the noise structure, as the appendix restates it",
        "(2 rho_- E + sigma^2) W H W' <= Sigma(v) <= (2 rho_+ E + sigma^2) W H W', with 2E = ||u||_H^2.",
        said.NOISE_BOUNDS, (*ANY, *MEANS, "normal and sign features"),
        lambda sample: {name: gradient_noises(name, sample) for name in ("gaussian", "rademacher")}, _noise_family,
        depends=("assumption: hypercontractivity/corrected", "lemma: noise-covariance/formula"),
        family="gradient-noise",
    ),
    Claim(
        "lemma: noise-covariance/formula", "lemma: noise-covariance", 1832, "the covariance of the gradient, exactly",
        "Sigma(v) = W (E[phi phi'u u'phi phi'] - H u u'H) W' + sigma^2 W H W' with u = W'v - theta*; for normal "
        "features F = E[phi phi'u u'phi phi'] is tr(Huu') H + 2 Huu'H.",
        said.COVARIANCE_OF_NOISE[0],
        (*CASES, *said.COVARIANCE_OF_NOISE[1]), gradients.noise_covariances,
        table(gradients.noise_formula, EXACT, {
            "H u u'H not subtracted": {"mean": 1.0}, "subtracted twice": {"mean": -1.0},
            "without the labels' noise": {"label": 0.0}, "sigma for sigma^2": {"label": 1 / 0.7},
            "E for 2E": {"fourth": 0.5}}),
        derive=identities.noise_derivation, family="gradients",
    ),
    Claim(
        "sec: proof_sketch/noise-energy", "sec: proof_sketch", 669, "the noise in a direction: risk times curvature",
        "n'Sigma(v)n lies between min(2, 2 rho_-) and max(2, 2 rho_+) times R(v) n'W H W'n, for all v, n and sigma, "
        "and reaches both; so does q_j against lambda_j R (706). For normal features the range is [2, 4].",
        said.NOISE_ENERGY,
        (*ANY, *MEANS, "normal and uniform features", "sigma = 0 and E = 0 included"),
        lambda sample: {family: _energies(family, sample) for family in ("gaussian", "uniform")}, _energy_statement,
        depends=("lemma: noise-covariance-main",), family="gradient-noise",
    ),
    Claim(
        "sec: proof_sketch/single-noise", "sec: proof_sketch", 688, "the variance of the noise of one coordinate",
        "q_j = sum_k |sqrt(Sigma)_jk|^2 = e_j'Sigma e_j.",
        said.ROW[0],
        (*CASES, *said.ROW[1]), gradients.row_sums,
        table(gradients.row_formula, 1e-7, {
            "the diagonal of the root alone": {"diagonal": True}, "the square of Sigma_jj": {"power": 2.0}}),
        derive=stochastic.row_derivation, family="gradients",
    ),
    Claim(
        "eqn: sde", "eqn: sde", 432, "one step of the equation in physical time",
        "A step h of Euler and Maruyama for dv = -phi grad R dtau + phi sqrt((h/b) Sigma) dB has the mean and the "
        "covariance of a step of SGD with eta = h phi and batch b.",
        said.PHYSICAL_SCHEME[0],
        (*CASES, *said.PHYSICAL_SCHEME[1]), gradients.weight_moments,
        table(gradients.physical_formula, EXACT, {
            "phi for phi^2 in the noise": {"rate": 1.0}, "h missing": {"step": 0.0}, "b missing": {"batch": 0.0},
            "the sign of the drift": {"sign": 1.0}, "phi twice in the drift": {"sign": -gradients.PHI}}),
        derive=stochastic.physical_scheme_derivation, family="gradients",
    ),
    Claim(
        "sub:the_sde_modeling/physical-drift", "sub:the_sde_modeling", 1342, "the drift in physical time, as printed",
        "The drift is -phi grad R dt, with t the intrinsic time, dt = phi dtau: phi enters twice.",
        said.PRINTED_DRIFT, (*CASES, "m is the mean of v, g that of the gradient of the risk"),
        gradients.weight_moments,
        table(partial(gradients.physical_formula, sign=-gradients.PHI), EXACT, {}), corrected_by="eqn: sde",
        family="gradients",
    ),
    Claim(
        "eq:sde_raw", "eq:sde_raw", 1753, "one step of the equation in intrinsic time",
        "A step eta of the scheme for dnu = -grad R dt + sqrt(gamma Sigma) dB, gamma = eta/B, has the mean and the "
        "covariance of a step of SGD; grad R = W H (W'v - theta*).",
        said.INTRINSIC_SCHEME[0],
        (*CASES, *said.INTRINSIC_SCHEME[1]), gradients.weight_moments,
        table(gradients.intrinsic_formula, EXACT, {
            "gamma/2 for gamma": {"gamma": 0.5}, "gamma^2 for gamma": {"gamma": gradients.STEP * gradients.PHI},
            "the sign of the drift": {"sign": 1.0}, "half the step": {"length": 0.5}}),
        derive=stochastic.intrinsic_scheme_derivation, family="gradients",
    ),
    Claim(
        "eq:sde_u", "eq:sde_u", 1769, "the equation of the residual",
        "u = W'nu - theta* obeys du = -W'WH u dt + noise of covariance gamma W'Sigma W, as N noises through its root "
        "or as M noises through W' sqrt(gamma Sigma).",
        said.RESIDUAL_EQUATION[0],
        (*CASES, *said.RESIDUAL_EQUATION[1]), gradients.residual_moments,
        table(gradients.residual_formula, 1e-7, {
            "HW'W for W'WH": {"swapped": True}, "the sign of the drift": {"sign": 1.0},
            "Sigma for its root": {"rooted": False}}),
        derive=stochastic.residual_derivation, depends=("eq:sde_raw",), family="gradients",
    ),
    Claim(
        "eqn: sde-instrinc", "eqn: sde-instrinc", 456, "the change of time",
        "nu_t = v at T^-1(t) obeys the equation with drift -grad R and noise gamma(t) = h phi/b taken at T^-1(t): the "
        "risk at physical time tau is that at intrinsic time T(tau).",
        said.CLOCK[0],
        (*SOLUTIONS, *said.CLOCK[1]), moments.physical_risks,
        table(moments.intrinsic_risks, SOLVED, {
            "t for T^-1(t) in gamma": {"own_time": False}, "gamma/2": {"factor": 0.5}, "h missing": {"step": 0.0},
            "phi^2 for phi": {"power": 2.0}, "b missing": {"size": 0.0}, "read at tau": {"clocked": False}}),
        derive=stochastic.change_of_clock_derivation, depends=("eqn: sde",), family="moments",
    ),
    Claim(
        "sec: effect-lrs/after-k-steps", "sec: effect-lrs", 890, "the risk after K steps, as printed",
        "The risk after K steps, at physical time Kh, is that of nu at the intrinsic time Kh.",
        said.AFTER_K_STEPS,
        (*SOLUTIONS, "E is the excess risk after K steps, R the mean risk of nu at an intrinsic time"),
        moments.physical_risks, table(partial(moments.intrinsic_risks, clocked=False), SOLVED, {}),
        corrected_by="eqn: sde-instrinc", family="moments",
    ),
    Claim(
        "sub:the_sde_modeling/grid", "sub:the_sde_modeling", 1351, "SGD as a scheme in intrinsic time, as printed",
        "SGD is the scheme of Euler and Maruyama on the grid t_k = sum_{j=0}^k eta_j.",
        said.PRINTED_GRID,
        (*ANY,  "learning rates that fall, eight steps"), moments.grid_risks,
        table(partial(moments.scheme_formula, shift=1), EXACT, {}),
        corrected_by="sub:the_sde_modeling/grid-corrected", family="moments",
    ),
    Claim(
        "sub:the_sde_modeling/grid-corrected", "sub:the_sde_modeling", 1351, "SGD as a scheme in intrinsic time",
        "The scheme on t_k = sum_{j=0}^{k-1} eta_j, with noise of covariance (eta_k/B_k) Sigma in a step eta_k, has "
        "the risks of SGD, step by step.",
        said.GRID[0],
        (*ANY, "normal features", "learning rates that fall, eight steps", *said.GRID[1]), moments.grid_risks,
        table(moments.scheme_formula, EXACT, {"the index shifted": {"shift": 1}}),
        derive=lambda: (stochastic.grid_derivation(), *stochastic.intrinsic_scheme_derivation()),
        family="moments", role="corrected",
    ),
    Claim(
        "sec: proof_sketch/coordinate", "sec: proof_sketch", 696, "the second moment of one coordinate",
        "E(nu_j - theta_j)^2 = theta_j^2 exp(-2 lambda_j t) + int_0^t exp(-2 lambda_j (t-z)) gamma(z) E q_j(z) dz.",
        said.COORDINATE[0],
        (*SOLUTIONS, "m(t) is the mean of (nu_j - theta_j)^2 and q(t) that of q_j", "W the first M features",
         "nu(0) = 0",
         "the mean of the first formula is the rate of m", *said.COORDINATE[1]), moments.coordinate_moments,
        table(moments.coordinate_formula, SOLVED, {
            "lambda_j for 2 lambda_j": {"rate": 1.0}, "z for t - z": {"lag": False},
            "gamma/2": {"noise": 0.5}, "the start dropped": {"start": 0.0}, "the index of q shifted": {"shift": 1}}),
        derive=stochastic.coordinate_derivation, family="moments",
    ),
    Claim(
        "eqn: 123", "eqn: 123", 700, "the expected risk of the first M features",
        "2E[E_t] = sum lambda_j theta_j^2 exp(-2 lambda_j t) + sum lambda_j int exp(-2 lambda_j (t-z)) gamma E q_j dz "
        "+ sum_{j>M} lambda_j theta_j^2.",
        said.FIRST_FEATURES_EVOLUTION,
        (*SOLUTIONS, "q(j, z) is the mean of q_j at z", "W the first M features", "nu(0) = 0"), moments.first_risks,
        table(moments.risk_sum, SOLVED, {
            "E for 2E": {"half": 0.5}, "delta_M dropped": {"tail": 0.0}, "lambda_j for 2 lambda_j": {"rate": 1.0},
            "lambda_j^2 outside": {"power": 2.0}, "the noise dropped": {"noise": 0.0}}),
        derive=lambda: (*stochastic.coordinate_derivation(), identities.top_risk_derivation()),
        depends=("sec: proof_sketch/coordinate", "eqn: pop-risk-top-M"), family="moments",
    ),
    Claim(
        "eq:risk-recursion", "eq:risk-recursion", 1865, "the expected risk under any projection, exactly",
        "2E[E_t] = u_0'A_t'HA_t u_0 + int_0^t gamma E tr(A_{t-z}'HA_{t-z} W'Sigma W) dz with A_t = exp(-W'WH t).",
        said.EVOLUTION, (*SOLUTIONS, *said.EVOLUTION_LETTERS), moments.evolution_risks,
        table(moments.evolution_formula, SOLVED, {
            "HW'W for W'WH": {"swapped": True}, "A H A' for A'HA": {"inside": False}, "E for 2E": {"half": 0.5},
            "gamma/2": {"noise": 0.5}, "the sign of the noise": {"noise": -1.0}}),
        derive=stochastic.evolution_derivation, depends=("eq:sde_u",), family="moments",
    ),
    Claim(
        "pro:evolution-pro", "pro:evolution-pro", 1862, "the evolution of the risk with one c_tau, as printed",
        "In the equation of the risk the noise is (c_tau E[E_tau] + sigma^2) tr(S A'HA S) with c_tau in [2 rho_-, 2 "
        "rho_+] that depends on tau alone. After a short burst of noise no such function exists: each mode wants "
        "another mean of it.",
        said.PRINTED_EVOLUTION,
        (*ANY, said.EVOLUTION_LETTERS[0], "normal features, the first M", "gamma = 1/2 up to t = 0.02, 0 after it"),
        moments.burst_constants,
        lambda sample: OneFunction(), corrected_by="pro:evolution-pro/corrected", family="moments",
    ),
    Claim(
        "pro:evolution-pro/corrected", "pro:evolution-pro", 1862, "the evolution of the risk with c of both times",
        "E tr(A_{t-tau}'HA_{t-tau} W'Sigma W) = (c E[E_tau] + sigma^2) tr(S A_{t-tau}'HA_{t-tau} S) with c = c(t, tau) "
        "in [2 rho_-, 2 rho_+]: the two bounds of the equation hold. For normal features c fills [2, 4].",
        said.EVOLUTION_BOUNDS, (*ANY, *said.EVOLUTION_LETTERS, "normal features"),
        moments.all_noise_ratios, lambda sample: Interval(2.0, 4.0, 1e-8),
        derive=stochastic.evolution_derivation, depends=("eq:risk-recursion", "lemma: noise-covariance"),
        family="moments", role="corrected",
    ),
)  # fmt: skip
