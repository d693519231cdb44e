"""The claims that are PROVED: the theorem of their derivations is their whole formula, under hypotheses that they have.

Derivations of all other claims prove steps or parts of what these state.
"""

PROVED = frozenset(
    """
ass:diagonal
sec:intro/capacity-never-worse
ass:source
assump:source-kernel
eqn: pop-risk
eqn: pop-risk-top-M
eqn: sgd
eqn: sde
sub:the_sde_modeling/grid-corrected
eq:sde_raw
eq:sde_u
eqn: sde-instrinc
lemma: noise-covariance/formula
sec: proof_sketch/single-noise
sec: proof_sketch/coordinate
appendix_rkhs/kernel
lemma:ke-power/signal-sharp
lemma:ke-power/kernel-sharp
lemma:ke-power/crossover
lemma:convolution-kernel/beyond
lemma:convolution-kernel/mass
approximation-error/sharp
lem: wsd-stable-noise/identity
lem: wsd-stable-noise/sharp
eq:Ksigma-gap/exact
feature-phases/Ia
feature-phases/III
lem:T_estimate/first-columns
batch-switch/memory
batch-switch/forgotten
vanishing-end/sharp
multi-step/allocation
cyclic/allocation
inverse-sqrt/allocation
vanishing-end/saturation
vanishing-end/data
vanishing-end/compute
optimal-schedule/data
optimal-schedule/data-easy
optimal-schedule/data-hard
optimal-schedule/compute
exp-decay/intrinsic-time
lemma: N-exp-decay
lemma: N-exp-decay/third-line-corrected
exp-decay/I1-sharp
exp-decay/I2
exp-decay/I2-sharp
exp-decay/I2-crossover
exp-decay/I2/integral
tab: optimal-scaling
thm:chinchilla/data-derived
thm:chinchilla/compute
thm:chinchilla/compute-derived
eqn: data-optim-scaling-const-lrs
thm:geometric/data
thm:geometric/data-derived
thm:geometric/steps
thm:geometric/compute-derived
thm:geometric/final-rate-data
thm:geometric/final-rate-compute
thm: wsd/data-appendix
thm: wsd/data-derived
thm: wsd/compute-derived
sec: effect-lrs/data-over-model-derived
sec: effect-lrs/smallest-peak-rate-and-capacity
sec: effect-lrs/constant-rate-capacity
sec: effect-lrs/easy-no-gain
sec: effect-lrs/hard-gain
sec: effect-lrs/decay-beats-constant
sec: effect-lrs/wsd-beats-decay
sec: effect-lrs/vanishing-decay-phase
sub:empirical_fitting_of_llm_pre_training_loss_trajectory/momentum-drops
sub:empirical_fitting_of_llm_pre_training_loss_trajectory/multi-power/corrected
sub:the_kernel_teacher_student_setup/physical-time
eq:numerical_LRD_form/corrected
eq:numerical_const_term/corrected
appendix:llm_pre-training/parts
appendix:llm_pre-training/discretisation-exact
appendix:llm_pre-training/kernel-integral/corrected
""".strip().split("\n")
)
