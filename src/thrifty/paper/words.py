"""What was found, in plain words: sentences that follow from the claims and the results, never from hope."""

from collections.abc import Callable, Mapping, Sequence

from thrifty.paper.claim import (
    DIRECTION,
    FAILS,
    HOLDS,
    VERDICTS,
    Claim,
    Results,
    draws,
    regret,
    seconds_per_round,
    short,
)
from thrifty.paper.experiments import ARMS
from thrifty.policies import TSMA, TSTD, EpsilonTS, KLUCBPlusPlus, Policy, ThompsonSampling
from thrifty.simulation.result import Result

Claims = Mapping[str, Claim]


def tally(claims: Sequence[Claim]) -> dict[str, int]:
    """How many claims have each verdict."""
    return {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}


def findings(claims: Sequence[Claim]) -> list[str]:
    """The main findings, one sentence or two each; a finding whose claims were not decided is left out."""
    by_id = {claim.id: claim for claim in claims}
    found = []
    for needed, say in FINDINGS:
        if by_id.keys() >= set(needed):
            found.append(say(by_id))
    return found


def _theorems(claims: Claims) -> str:
    constants = "are" if claims["theorem1-constants"].verdict == HOLDS else "are not"
    proof = "stands" if claims["ts-td-proof"].verdict == HOLDS else "has a gap, which can be repaired"
    return (
        f"The constants of Theorem 1 {constants} what its proof gives, and a closer count brings its 1270 "
        f"down to 18. The proof for TS-TD {proof}."
    )


def _figure1(claims: Claims) -> str:
    kept = claims["order-of-figure-1"].verdict == claims["ts-td-0-is-vanilla"].verdict == HOLDS
    return (
        "The order of Figure 1, in which the two algorithms of the paper do not beat the asymptotically "
        f"optimal ones and TS-TD with α = 0 is Vanilla TS, is {'' if kept else 'not '}reproduced."
    )


def _figure2(claims: Claims) -> str:
    one, ten = claims["ts-td-0.8-draws-m1"], claims["ts-td-0.8-draws-m10"]
    kept = one.verdict == ten.verdict == HOLDS
    negligible = claims["ts-td-suboptimal-draws-negligible"].verdict
    few = {
        HOLDS: "negligible",
        DIRECTION: "not negligible at this T, but their share falls as T grows",
        FAILS: "not negligible",
    }
    return (
        f"The savings of Figure 2 are {'' if kept else 'not '}reproduced by the algorithm as stated: "
        f"TS-TD-0.8 draws {_number(one)} samples with one optimal arm and {_number(ten)} with ten, where the "
        f"paper prints 0.25e7 and 1.0e7. Those for sub-optimal arms are {few[negligible]}."
    )


def _figure3(claims: Claims) -> str:
    most, one, ten = (
        claims[name] for name in ("ts-ma-over-90-percent", "ts-ma-0.8-share-m1", "ts-ma-0.8-share-m10")
    )
    kept = "holds" if most.verdict == HOLDS else "does not hold everywhere"
    return (
        f"That over 90 % of TS-MA's draws go to optimal arms (Figure 3) {kept}; the printed 94 % and 97 % "
        f"come out as {_number(one)} and {_number(ten)} at T = 10^6; the paper does not state its T for them."
    )


def _number(claim: Claim) -> str:
    """What was measured for a published number, without what stands beside it."""
    return claim.measured.split(";")[0]


def _scalable(claims: Claims) -> str:
    kept = claims["ts-ma-draws"].verdict == claims["ts-ma-draws-free-of-arms"].verdict == HOLDS
    return (
        "TS-MA does what it promises: one draw a round, whatever the number of arms."
        if kept
        else "TS-MA does not keep to one draw a round."
    )


FINDINGS: tuple[tuple[tuple[str, ...], Callable[[Claims], str]], ...] = (
    (("theorem1-constants", "ts-td-proof"), _theorems),
    (("ts-ma-draws", "ts-ma-draws-free-of-arms"), _scalable),
    (("order-of-figure-1", "ts-td-0-is-vanilla"), _figure1),
    (("ts-td-0.8-draws-m1", "ts-td-0.8-draws-m10", "ts-td-suboptimal-draws-negligible"), _figure2),
    (("ts-ma-over-90-percent", "ts-ma-0.8-share-m1", "ts-ma-0.8-share-m10"), _figure3),
)


def advice(results: Results) -> list[str]:
    """What a practitioner should take from it, with the numbers of these results."""
    said = []
    if "draws-m1" in results:
        said.append(_alpha(results["draws-m1"]))
    if "figure1" in results:
        said += [_one_draw(results["figure1"]), _law(results["figure1"])]
    if "bounded-beta" in results:
        said.append(_other_rewards(results["bounded-beta"]))
    timed = {name: one for name, one in results.items() if one.provenance}
    dense = [one for name, one in timed.items() if name.startswith("cost-dense-")]
    committed = [one for name, one in timed.items() if name.startswith("cost-committed-")]
    if dense and committed:
        said.append(_many_arms(max(dense, key=_arms), max(committed, key=_arms)))
    return said


def _alpha(result: Result) -> str:
    base = _regret(result, TSTD(0.0))
    costs = ", ".join(
        f"{100.0 * (1.0 - _draws(result, TSTD(alpha)) / _draws(result, TSTD(0.0))):.0f} % fewer draws for "
        f"{_regret(result, TSTD(alpha)) / base:.1f} times the regret at α = {alpha:g}"
        for alpha in (0.8, 0.9, 1.0)
    )
    return (
        "Leave α at 0, unless your horizon is far beyond a million. For TS-TD this means: use Vanilla TS, "
        f"which it then is but for the name. With {ARMS} arms and T = {short(result.settings.horizon)}, a "
        f"larger α buys TS-TD {costs}."
    )


def _one_draw(result: Result) -> str:
    return (
        "Use the efficient form of TS-MA: it draws once a round, for any number of arms and any α, so α > "
        f"0 saves it nothing. At T = {short(result.settings.horizon)} its regret is "
        f"{_regret(result, TSMA(0.0)):,.0f} at α = 0 and {_regret(result, TSMA(0.8)):,.0f} at 0.8; Vanilla "
        f"TS, with {ARMS} draws a round, has {_regret(result, ThompsonSampling()):,.0f}. ε-TS with ε = 1/K "
        f"also draws about once a round, and has {_regret(result, EpsilonTS()):,.0f}."
    )


def _law(result: Result) -> str:
    gaussian, beta = (_regret(result, ThompsonSampling(law)) for law in ("gaussian", "beta"))
    ours = TSMA(0.0, "beta", phi=1000.0)
    return (
        "For rewards of 0 or 1 the law mostly matters more than the schedule: a Beta law in place of a "
        f"Gaussian one divides the regret of Thompson sampling by {gaussian / beta:.1f}, and that of "
        f"TS-MA-0 by {_regret(result, TSMA(0.0)) / _regret(result, TSMA(0.0, 'beta')):.1f}. TS-MA-0 with "
        f"a Beta law and φ = 1000 has {_regret(result, ours):,.0f} at one draw a round; this is measured, "
        "and no theorem says anything at that φ."
    )


def _other_rewards(result: Result) -> str:
    return (
        "For other rewards in [0, 1] the Gaussian law is safe and loose: on Beta rewards Vanilla TS has "
        f"{_regret(result, ThompsonSampling()):,.0f}, TS-MA-0 {_regret(result, TSMA(0.0)):,.0f}, and "
        f"KL-UCB++, which draws nothing, {_regret(result, KLUCBPlusPlus()):,.0f}."
    )


def _many_arms(dense: Result, committed: Result) -> str:
    vanilla = 1e6 * seconds_per_round(dense, ThompsonSampling())
    aggregate = 1e6 * seconds_per_round(committed, TSMA(0.8))
    return (
        f"With many arms the cost of a round is the argument for TS-MA: at K = {_arms(dense):,}, "
        f"{aggregate:,.1f} µs against {vanilla:,.0f} µs for Vanilla TS as it is written, with a draw for "
        "every arm. TS-TD visits every arm too. (On sleepers, thrifty's engine for both, neither does.)"
    )


def _regret(result: Result, policy: Policy) -> float:
    return float(regret(result, policy).mean())


def _draws(result: Result, policy: Policy) -> float:
    return float(draws(result, policy).mean())


def _arms(result: Result) -> int:
    return int(result.settings.problem.gaps.size)
