"""Aggregate: the maximum of phi draws, kept until the arm is pulled. TS-MA-alpha.

"maximum" draws it in one draw from the law of the maximum; "batch" makes the phi draws, as the algorithm is
first written down. They have the same law. Hu, Huang, Zhang, Lécuyer and Hegde, "Efficient and Adaptive
Posterior Sampling Algorithms for Bandits", UAI 2024.
"""

from thrifty import laws
from thrifty.jit import kernel


@kernel
def renew(rule, state, i):
    """Arm i was pulled: commit it to the best of a new batch."""
    a, b = state.params[i, 0], state.params[i, 1]
    if rule.batch:
        size = int(rule.phi)
        best = laws.draw(rule.law, a, b, state.rng)
        for _ in range(size - 1):
            best = max(best, laws.draw(rule.law, a, b, state.rng))
        state.index[i] = best
    else:
        size = 1
        state.index[i] = laws.draw_maximum(rule.law, a, b, rule.phi, state.rng)
    state.draws[i] += size
    state.evaluations[0] += size
