"""A bandit that forgets, if it can."""

from thrifty.online.core import Core
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import Forgetting, Policy


def check(policy: Policy, core: Core | PosteriorCore) -> None:
    """Raises an error that says why it cannot."""
    itself = policy if isinstance(policy, Forgetting) else Forgetting(policy)
    prior = isinstance(core, Core) and (core.has_priors or core.memory.state.rule.prior_weight > 0.0)
    itself.check_prior(given=prior)


def forget(policy: Policy, core: Core | PosteriorCore, keep: float) -> None:
    """All but this share of what the arms gave."""
    check(policy, core)
    if isinstance(core, Core) and keep < 1.0:
        core.forget(keep)
