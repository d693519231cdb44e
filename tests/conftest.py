"""Hypothesis profiles: HYPOTHESIS_PROFILE chooses one; else `ci` where CI is set, and `dev` on a desk.

No profile has a deadline: the machines are slow and shared, and a slow example is no wrong example.
"""

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# Said for each: where CI is set, hypothesis would derandomise every profile that does not say.
settings.register_profile("dev", max_examples=30, derandomize=False, **_COMMON)
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, print_blob=True, **_COMMON)
settings.register_profile("nightly", max_examples=2000, derandomize=False, print_blob=True, **_COMMON)


def chosen_profile(environment):
    """The name of the profile that the environment asks for."""
    return environment.get("HYPOTHESIS_PROFILE") or ("ci" if environment.get("CI") else "dev")


settings.load_profile(chosen_profile(os.environ))
