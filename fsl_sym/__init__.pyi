"""The public names of fsl_sym with their types; at run time each is imported when it is first used."""

from fsl_sym.allocation import Allocation as Allocation
from fsl_sym.allocation import AllocationRegime as AllocationRegime
from fsl_sym.allocation import optimal_allocation as optimal_allocation
from fsl_sym.allocation import table as table
from fsl_sym.asymptotics.mellin import Expansion as Expansion
from fsl_sym.asymptotics.mellin import harmonic_sum_asymptotics as harmonic_sum_asymptotics
from fsl_sym.domain import REGIMES as REGIMES
from fsl_sym.domain import Domain as Domain
from fsl_sym.domain import Regime as Regime
from fsl_sym.domain import decide as decide
from fsl_sym.domain import regime_of as regime_of
from fsl_sym.exponents.certificate import Certificate as Certificate
from fsl_sym.exponents.certificate import check as check
from fsl_sym.exponents.clock import Progress as Progress
from fsl_sym.exponents.solve import ExponentSolution as ExponentSolution
from fsl_sym.exponents.solve import Region as Region
from fsl_sym.exponents.solve import optimal_exponents as optimal_exponents
from fsl_sym.exponents.solve import optimal_exponents_at as optimal_exponents_at
from fsl_sym.functional import FunctionalScalingLaw as FunctionalScalingLaw
from fsl_sym.functional import change_of_time as change_of_time
from fsl_sym.functional import functional_scaling_law as functional_scaling_law
from fsl_sym.functional import physical_noise as physical_noise
from fsl_sym.integrals import I1 as I1
from fsl_sym.integrals import I2 as I2
from fsl_sym.integrals import ClosedForm as ClosedForm
from fsl_sym.integrals import noise_integral as noise_integral
from fsl_sym.integrals import stable_phase_noise as stable_phase_noise
from fsl_sym.laws import ScalingLaw as ScalingLaw
from fsl_sym.laws import scaling_law as scaling_law
from fsl_sym.order import Order as Order
from fsl_sym.order import OrderRange as OrderRange
from fsl_sym.order import dominant as dominant
from fsl_sym.proof import Derivation as Derivation
from fsl_sym.proof import Formula as Formula
from fsl_sym.proof import Step as Step
from fsl_sym.proof import Theorem as Theorem
from fsl_sym.schedules import Schedule as Schedule
from fsl_sym.schedules import schedule as schedule
from fsl_sym.spectrum import approximation_error_asymptotics as approximation_error_asymptotics
from fsl_sym.spectrum import kernel_asymptotics as kernel_asymptotics
from fsl_sym.spectrum import signal_asymptotics as signal_asymptotics

__all__: list[str]
