"""A bandit that forgets, if it can."""

from thrifty.errors import InvalidValue
from thrifty.online.core import Core
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import Forgetting, Policy


def check(policy: Policy, core: Core | PosteriorCore) -> None:
    """Raises an error that says why it cannot."""
    itself = policy if isinstance(policy, Forgetting) else Forgetting(policy)
    prior = isinstance(core, Core) and (core.has_priors or core.memory.state.rule.prior_weight > 0.0)
    if itself.needs_prior and not prior:
        raise InvalidValue(
            f"prior must be (mean, weight) for {policy!r} to forget, as its law has none, got None"
        )


def forget(policy: Policy, core: Core | PosteriorCore, keep: float) -> None:
    """All but this share of what the arms gave."""
    check(policy, core)
    if isinstance(core, Core) and keep < 1.0:
        core.forget(keep)
