"""Every number in docs/theory.md: each stands in a fragment that is recomputed here, and none is left over.

A number is a decimal, a power of ten as in 1.33e34, or an integer of three digits or more. It must agree with
the computed value to the last digit printed.
"""

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom

from thrifty.policies.base import first_guess
from thrifty.state.stale import AT_ONCE
from thrifty.theory import (
    C0,
    H_INTEGRAL,
    audit,
    best_split,
    epsilon_ts_sharp,
    excess,
    excess_limit,
    first_order,
    h,
    h_integral,
    lower_bound,
    nonvacuous_from,
    phase_two,
    phi,
    refined,
    refined_worst_case,
    sharp,
    sleepers_draws,
    table,
    theorem1,
    theorem1_worst_case,
    ts_ma,
    ts_ma_anytime,
    ts_ma_beta_exponent,
    ts_ma_sharp,
    ts_td_anytime,
    ts_td_as_written,
    ts_td_refined,
    ts_td_repaired,
    ts_td_sharp,
)
from thrifty.theory.anytime import LOW
from thrifty.theory.lemma import h_parts

TEXT = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")
FLAT = " ".join(TEXT.split())  # where a line breaks does not matter
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:e-?\d+)?|(?<![\w.])\d[\d,]*\d\d(?!\w)|(?<![\w.])\d+e\d+")

GAP = 0.1
BAD_ARM = [0.5, 0.4]  # gap 0.1, to the last bit but one: printed digits do not see it


def starts(bound, gap):
    return nonvacuous_from(lambda horizon: bound(gap, horizon).regret, gap)


def additive(bound, alpha=0.0):
    """What is left of the pulls without the leading power of ln T."""
    bound = bound(1.0, 1e6, alpha)
    return bound.pulls - bound.coefficient * math.log(1e6) ** (1 + alpha)


def bracket(limit):
    return (limit(20, 1e5) - 20) / math.sqrt(20 * 1e5 * math.log(20))


def spared_from(alpha, share):
    """The horizon from which phi times Theorem D is below this share of T."""
    return nonvacuous_from(lambda t: math.ceil(phi(t, alpha)) * ts_td_sharp(GAP, t, alpha).pulls, share)


def step(name):
    return next(step for step in audit() if step.name.startswith(name))


def g1_until(alpha):
    """The last horizon at which the term of G1 exceeds 1, between one where it does and one where not."""
    low = {0.3: 1e7, 0.99: 1e20}.get(alpha, 163.0)

    def logarithm(t):
        return math.log(phase_two(math.exp(t), alpha, width=2.0) + 1e-300)

    return math.exp(brentq(logarithm, math.log(low), math.log(1e40)))


def second_case():
    """The largest x h(a) at s = L_1i, and where."""

    def scaled(x):
        return x * h((math.sqrt(2) + math.sqrt(3.5)) * math.sqrt(math.log(x + 100 ** (1 / 3))))

    found = minimize_scalar(lambda x: -scaled(x), bounds=(1.0, 10.0), method="bounded")
    return -found.fun, found.x


@cache
def rows():
    return {row.name: row for row in table(BAD_ARM, 1e6)}


def no_good_sample(horizon):
    """T times the chance that all samples of an arm of mean 0.9 are below 0.8, summed over its pulls."""
    batch, total = phi(horizon, 0.0), 0.0
    for s in range(1, 400):
        k = np.arange(s + 1)
        above = np.minimum(binom.cdf(k, s + 1, 0.8), 0.999)  # beyond that a batch never fails
        total += binom.pmf(k, s, 0.9) @ np.exp(batch * np.log1p(-above))
    return horizon * total


PAPER = [0.9] + [0.8] * 19
KAPPA = math.log(13) / (math.log(13) + 2)
REMAINDER = refined(1.0, 1.0).pulls - 1.0  # 4 H + 2.5

# (fragment, its numbers in order)
CHECKS = [
    ("UAI 2024", [2024]),
    ("reads 492.64", [lower_bound(PAPER) * math.log(1e5)]),
    ("(one arm 0.9, nineteen 0.8)", [0.9, 0.8]),
    ("from 1.8·10³⁰ to 1270", [288 * math.exp(64) / 1e30, theorem1(GAP, 1e6).coefficient]),
    (
        "T Δ² ≈ 12,125: for a gap of 0.1, from T = 1,212,482",
        [starts(theorem1, 1e-3) * 1e-6, GAP, starts(theorem1, GAP)],
    ),
    ("18 in place of 1270 and 11.69 in place of 182.5", [1270, 11.69, 182.5]),
    ("from T Δ² ≈ 93.3 on", [starts(refined, 1e-3) * 1e-6]),
    ("c₀ = 1/(2√(2eπ)) = 0.120985362,   1/c₀ = 8.265462708", [C0, 1 / C0]),
    ("(0.9 against 0.8: 2.25210 per arm, 42.7899", [0.9, 0.8, lower_bound([0.9, 0.8]), lower_bound(PAPER)]),
    ("H = 2.29668 is defined", [h_integral()]),
    ("288(e⁶⁴ + 6) ln(x + e³²)/Δ² + O(1/Δ²), 288 e⁶⁴ = 1.79572·10³⁰", [288, 288, 288 * math.exp(64) / 1e30]),
    ("1270 ln(x + 100^{1/3})/Δ² + 182.5/Δ² + 1 |", [1270, 100, 182.5]),
    ("4.5 ln(x)/(bΔ)² + 1 + (H/(1−b)² + 2.5)/Δ², any", [(math.sqrt(0.5) + math.sqrt(2)) ** 2, 2.5]),
    (
        "are 14.2655 for TS-MA, 13.27 for TS-TD as written, 14.27",
        [additive(ts_ma), additive(ts_td_as_written), additive(ts_td_repaired)],
    ),
    *[
        (
            f"| {alpha:g} | ",
            [
                *([alpha] if alpha % 1 else []),
                ts_ma(GAP, 1e6, alpha).coefficient,
                ts_td_refined(GAP, 1e6, alpha).coefficient,
                ts_td_repaired(GAP, 1e6, alpha).coefficient,
            ],
        )
        for alpha in (0.0, 0.8, 0.9, 1.0)
    ],
    ("One bad arm, Δ = 0.1.", [GAP]),
    (
        "| h(a) | 3.4056 | 1.4472 | 0.63927 | 0.112609 | 0.0128406 |",
        [h(0.0), h(0.5), h(1.0), h(2.0), h(3.0)],
    ),
    ("| a | 0 | 0.5 | 1 | 2 | 3 |", [0.5]),
    ("H = 2.29668, hence 4H = 9.187,", [h_integral(), 4 * h_integral()]),
    ("2.2964 < H < 2.2969", [2.2964, 2.2969]),  # test_lemma.py encloses it
    ("rounded up, 2.2966823.", [H_INTEGRAL]),
    ("gives 4H + 2.5 < 11.69", [2.5, REMAINDER]),
    ("with h(0) = 3.4056 in the place of 29", [h(0.0)]),
    ("29·L_{1,i} + 180/Δ²", [180]),
    ("E[n_i(T)] ≤ 4.5 ln(x)/(bΔ)² + 1 + (H/(1−b)² + 2.5)/Δ²;", [4.5, 2.5]),
    ("18 ln(TΔ²)/Δ² + 1 + 11.69/Δ².*", [REMAINDER]),
    ("L = ⌈4.5 ln(x)/(bΔ)²⌉", [4.5]),
    ("L ≤ 4.5 ln(x)/(bΔ)² + 1", [4.5]),
    ("bΔ ≥ √(4.5 ln(x)/n_i)", [4.5]),
    ("4H + 2 + ½ < 11.69", [REMAINDER]),
    ("one-sided, 11.69 becomes 10.69", [REMAINDER, REMAINDER - 1]),
    ("ρ = (4.5 ln(x)/H)^{1/3}", [4.5]),
    ("+ 1/c₀ + 6 = 14.2655 in all", [1 / C0 + 6]),
    ("ln^{1.5}(T)/T ≤ 0.41", [1.5, 1.5**1.5 * math.exp(-1.5)]),
    ("at most 1.138", [1 / (1 - C0)]),
    ("as close to 5.95 as", [(math.sqrt(0.5) + math.sqrt(3)) ** 2]),
    (
        "it is T^0.65: the power is T^−1.35",
        [2 + 2 / C0 * math.log(ndtr(math.sqrt(2))), -2 / C0 * math.log(ndtr(2**0.5))],
    ),
    (
        "T = 1.07e4 at α = 0.5, 7.10e3 at 0.8, 4.62e5 at 0.9, 4.96e10 at 0.3, and 2.24e37 at 0.99",
        [number for alpha in (0.5, 0.8, 0.9, 0.3, 0.99) for number in (g1_until(alpha), alpha)],
    ),
    ("4(1+√2)² = 23.31", [4 * (1 + math.sqrt(2)) ** 2]),
    ("1/c₀ + 6 = 14.27, with L_i rounded up, instead of 13.27", [1 / C0 + 6, 1 / C0 + 5]),
    ("4HV/Δ² = 9.187 ln^α(T)/Δ²", [4 * H_INTEGRAL]),
    (
        "53.298 at α = 0 instead of 981.30",
        [ts_td_refined(GAP, 1e6, 0.0).coefficient, ts_td_repaired(GAP, 1e6, 0.0).coefficient],
    ),
    ("(1270 ln(e²K ln K + 4.642) + 182.5)/(e ln K)", [1270, 100 ** (1 / 3), 182.5]),
    ("977.0; with Theorem A's 18 ln(e²K ln K) + 11.69", [bracket(theorem1_worst_case), REMAINDER]),
    ("it is 17.62.", [bracket(refined_worst_case)]),
    ("R ≤ 9.67 √(KT", [1 + ts_ma(GAP, 1e6, 0.0).coefficient + 0.005]),
    ("+ 14.27 K at α = 0 (the constant is 1 + 8.66228)", [1 / C0 + 6, ts_ma(GAP, 1e6, 0.0).coefficient]),
    ("2√8.66228 = 5.89", [ts_ma(GAP, 1e6, 0.0).coefficient, 2 * math.sqrt(ts_ma(GAP, 1e6, 0.0).coefficient)]),
    (
        "√8.66228 = 2.94 in place of 9.67",
        [ts_ma(GAP, 1e6, 0.0).coefficient, math.sqrt(ts_ma(GAP, 1e6, 0.0).coefficient), 9.67],
    ),
    ("e^1250, with a weight of e^−6931", [50**2 / 2, 1e4 * math.log(2)]),
    ("its own sums and integrals | 28.295 |", [step("first case: the sum").computed]),
    ("best z for each r | 11.40 |", [11.40]),  # test_lemma.py sums it
    ("Lemma 1, h(0) | 3.4056 |", [h(0.0)]),
    ("Bernoulli means 0.01 to 0.99, s ≤ 400 | 1.4138 |", [0.01, 0.99, 400, excess(0.51, 400, 0.0)]),
    ("E[1/Q(Z/2)] − 1 | 1.41390 |", [excess_limit(0.5)]),
    ("180/(TΔ²); h times TΔ² is at most 2.7e-4 there, near TΔ² = 1.4.", [180, *second_case()]),
    ('"For α > 0.5 the samples', [0.5]),
    (
        "For α = 0.8 and Δ = 0.1, φ times Theorem D falls below T, the trivial bound, at T = 2.385e8, "
        "and below one per cent of it at T = 7.212e10 (at α = 1: 2.932e7 and 4.970e9)",
        [
            0.8,
            GAP,
            spared_from(0.8, 1.0),
            spared_from(0.8, 0.01),
            spared_from(1.0, 1.0),
            spared_from(1.0, 0.01),
        ],
    ),
    ("from r = 100 on | 4.6416 against 4.6052 |", [100, 100 ** (1 / 3), math.log(100)]),
    (
        "= 0.561879 | 10.44 | 10.43979 |",
        [KAPPA, step("first case: int_12^100 exp").stated, step("first case: int_12^100 exp").computed],
    ),
    (
        "| 2.13 | 2.12026 |",
        [step("first case: int_12^100 dr/r").stated, step("first case: int_12^100 dr/r").computed],
    ),
    (
        "| 3.1 | 3.08881 |",
        [step("first case: int_100^inf exp").stated, step("first case: int_100^inf exp").computed],
    ),
    (
        "| 0.65 | 0.64633 |",
        [step("first case: int_100^inf r").stated, step("first case: int_100^inf r").computed],
    ),
    # the sums: test_vanilla.py
    (
        "| 29 | 28.295 (with the sums instead of integrals 28.094) |",
        [step("first case: the sum").computed, 28.094],
    ),
    ("| 180 | 179.603 |", [180, step("second case: the sum").computed]),
    ("29·4(√2 + √3.5)² | | 1251.8143 |", [3.5, step("29 L_1i").computed]),
    ("| 1270 | 1269.8143 |", [1270, step("the leading coefficient").computed]),
    ("remainder 180 + 0.5 + 2 | 182.5 | 182.5 |", [180, 0.5, 182.5, 182.5]),
    ("is at most 0.5/x only", [0.5]),
    ("T of these make 0.5/Δ²", [0.5]),
    ("without its + 100^{1/3}", [100]),
    ("e^{−0.5·2TΔ²} should be e^{−0.5·2 ln(TΔ²)}", [0.5, 0.5]),
    (
        "is 1.976 at T = 1e6, 1.563 at 1e12 and 1.095 at 1e100",
        [
            number
            for horizon in (1e6, 1e12, 1e100)
            for number in (first_order(1.0, horizon, 0.0) / math.log(horizon), horizon)
        ],
    ),
    ("Up to T = 6.6e5 φ exceeds T", [brentq(lambda t: phi(t, 0.0) - t, 1e5, 1e6)]),
    ("up to 16,384 arms", [AT_ONCE]),
    ("T₀ = max(1024, 2K) and", [first_guess(2)]),
    ("TS-MA: U = min(2 + J, 0.0223/(qΔ)²)", [LOW]),
    ("TS-TD: U = min(2 + J, 0.0223/(qΔ)²)", [LOW]),
    (
        "≤ 0.0222/c² for T₀ ≥ 1024",
        [(3 * math.log(1024) + (3 + math.log(2)) / 2) / 1024 + 5e-5, first_guess(2)],
    ),
    ("H₋ = 1.86095 and H₊ = 0.43573", h_parts()),
    ("One arm, Δ = 0.1, T = 10⁶, regret with T known", [GAP]),
    *[
        (
            f"| {name}-{alpha:g} | {pair[0]:.1f} | {pair[1]:.1f} |",
            [*([alpha] if alpha % 1 else []), *pair],
        )
        for name, known, free in (
            ("TS-MA", ts_ma_sharp, ts_ma_anytime),
            ("TS-TD", ts_td_sharp, ts_td_anytime),
        )
        for alpha in (0.0, 0.5, 1.0)
        for pair in [(known(GAP, 1e6, alpha).regret, free(GAP, 1e6, alpha).regret)]
    ],
    ("fewer than 58.3 draws", [sleepers_draws(10**6)]),
    ("about 1.436/(ε(qΔ)²)", [h_parts()[1] + 1]),
    (
        "One arm, Δ = 0.1, T = 10⁵, bound on the regret (at most 10,000 in any case): 924.0 for ε = 1, "
        "953.7 for ½, 1180.6 for 0.2 and 1982.3 for 0.05.",
        [
            GAP,
            GAP * 1e5,
            *[epsilon_ts_sharp(GAP, 1e5, epsilon).regret for epsilon in (1.0, 0.5)],
            *[n for epsilon in (0.2, 0.05) for n in (epsilon_ts_sharp(GAP, 1e5, epsilon).regret, epsilon)],
        ],
    ),
    ("(Kaas and Buhrman 1980)", [1980]),
    (
        "the paper's φ has T/N = 1.18, so that the theorem covers it there, at 1e8 it has 7.65 and at 1e12 "
        "416.5",
        [1e6 / phi(1e6, 0.0), *[n for t in (1e8, 1e12) for n in (t, t / phi(t, 0.0))]],
    ),
    ("e^{−c₀/2} = 0.9413", [math.exp(-C0 / 2)]),
    ("only 16.5 ln T samples", [2 / C0]),
    (  # measured: test_ts_ma_beta.py runs it with fewer
        "with coins 1.0 and 0.98 at T = 10⁴ arm 1 is pulled once and never again in 6.1 % of 1000 runs "
        "(section 19's command; the first factor of the proof is 3.2 %)",
        [1.0, 0.98, 6.1, 1000, 100 * 0.98 ** (153 * (1 + 1 / math.log(1e4)))],
    ),
    ("For coins 0.9 and 0.8 the exponent is 0.285", [0.9, 0.8, ts_ma_beta_exponent([0.9, 0.8])]),
    ("(Knuth and Yao 1976)", [1976]),
    ("(Han and Hoshi 1997)", [1997]),
    # measured, by docs/pictures/floor.py and limits.py
    ("(2026-11-17; best mean 0.9, the others spread over [0, 0.85];", [2026, 0.9, 0.85]),
    *[
        (line, [*([1000] if arms == "1,000" else []), *values, *([1000] if arms == "1,000" else [])])
        for arms, values, line in (
            ("20", (2000, 2.01, 5.6), "| 20 | 2,000 | 2.01 | 5.6 | 20 |"),
            ("20", (10_000, 0.76, 4.3), "| 20 | 10,000 | 0.76 | 4.3 | 20 |"),
            ("20", (100_000, 0.11, 4.0), "| 20 | 100,000 | 0.11 | 4.0 | 20 |"),
            ("1,000", (2000, 9.14, 18.7), "| 1,000 | 2,000 | 9.14 | 18.7 | 1,000 |"),
            ("1,000", (10_000, 9.44, 15.2), "| 1,000 | 10,000 | 9.44 | 15.2 | 1,000 |"),
            ("1,000", (100_000, 8.08, 13.4), "| 1,000 | 100,000 | 8.08 | 13.4 | 1,000 |"),
        )
    ],
    (
        "(2026-11-17, 2 cores, some 20 minutes of processor time; with `--horizon 1e6` one). "
        "Coins 0.95 and 0.45",
        [2026, 1e6, 0.95, 0.45],
    ),
    *[
        (f"| {name} | " + " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in pairs), [*also, *sum(pairs, ())])
        for name, also, pairs in (
            ("Vanilla TS, E[n]Δ²/ln T (E)", (), ((1.30, 0.09), (1.37, 0.08), (1.47, 0.08))),
            ("ε-TS, ε = 0.5 (I)", (0.5,), ((1.39, 0.05), (1.51, 0.05), (1.57, 0.06))),
            ("ε-TS, ε = 0.1 (I)", (0.1,), ((1.16, 0.10), (1.24, 0.10), (1.35, 0.10))),
            ("TS-TD-0 (G)", (), ((1.30, 0.09), (1.37, 0.08), (1.41, 0.08))),
            ("TS-MA-0, E[n] over the first order (F)", (), ((0.82, 0.05), (0.80, 0.05), (0.87, 0.05))),
            ("TS-MA-1 (F)", (), ((0.45, 0.02), (0.45, 0.02), (0.46, 0.01))),
            ("TS-MA-0, T not known over known (H)", (), ((0.93, 0.11), (1.00, 0.12), (0.95, 0.07))),
            ("TS-MA-1 (H)", (), ((1.06, 0.06), (1.12, 0.06), (1.09, 0.04))),
            ("TS-TD-0 (H)", (), ((1.00, 0.00), (1.00, 0.00), (1.02, 0.04))),
            ("TS-TD-1 (H)", (), ((0.88, 0.05), (0.77, 0.04), (0.79, 0.04))),
            (
                "TS-MA-0 with Beta samples, φ = T, E[n] over the optimum (K)",
                (),
                ((0.87, 0.14), (0.71, 0.14), (0.81, 0.10)),
            ),
            ("TS with Beta samples", (), ((0.75, 0.12), (0.86, 0.14), (0.87, 0.14))),
        )
    ],
    ("With the paper's φ it is 0.067 rounds at T = 10⁸", [no_good_sample(1e8)]),
    ("the exact sum in section 19, 0.067 rounds at T = 10⁸", [no_good_sample(1e8)]),
    ("where the second best mean is above 0.9413", [math.exp(-C0 / 2)]),
    (
        "than T ≤ 288e⁶⁴: until TΔ² = 1.328e32",
        [rows()["Vanilla TS, Agrawal-Goyal"].nonvacuous_from * GAP**2],
    ),
]


def value(token):
    return float(token.replace(",", ""))


def unit(token):
    """Half a unit of the last printed digit, and a little."""
    mantissa, _, exponent = token.replace(",", "").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.501 * 10.0 ** (int(exponent or 0) - decimals)


def line_or(fragment):
    """A table row is named by its beginning; anything else is meant literally, up to white space."""
    if fragment.startswith("| ") and fragment.count("|") == 2:
        fragment = next(line for line in TEXT.splitlines() if line.startswith(fragment))
    return " ".join(fragment.split())


@pytest.mark.parametrize(("fragment", "expected"), CHECKS, ids=[fragment[:40] for fragment, _ in CHECKS])
def test_numbers(fragment, expected):
    fragment = line_or(fragment)
    assert fragment in FLAT
    tokens = NUMBER.findall(fragment)
    assert len(tokens) == len(expected), tokens
    for token, wanted in zip(tokens, expected, strict=True):
        assert abs(value(token) - wanted) <= unit(token), (token, wanted)


def example_rows():
    start = TEXT.index("| bound | regret at T = 10⁶ |")
    lines = TEXT[start : TEXT.index("\n\n", start)].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("row", example_rows(), ids=lambda row: row[0])
def test_the_example(row):
    name, regret, start = row
    # BAD_ARM's gap is a rounding error away from 0.1, which could move an integer horizon by one.
    assert abs(value(regret) - rows()[name].regret) <= unit(regret)
    assert abs(value(start) - rows()[name].nonvacuous_from) <= max(1.0, unit(start))


def test_no_number_is_left_unchecked():
    rest = FLAT
    for fragment, _ in sorted(CHECKS, key=lambda check: -len(check[0])):
        rest = rest.replace(line_or(fragment), " ")
    for row in example_rows():
        rest = rest.replace(" | ".join(row), " ")
    assert NUMBER.findall(rest) == []


def test_the_closed_forms_of_the_text():
    """The best split and the minimum of Theorem B, as printed."""
    x = 1e4
    ratio = math.cbrt(4.5 * math.log(x) / H_INTEGRAL)
    assert best_split(GAP, x / GAP**2) == pytest.approx(ratio / (1 + ratio), rel=1e-9)
    closed = (math.cbrt(2 * math.log(x)) + math.cbrt(H_INTEGRAL) + math.cbrt(0.5)) ** 3 + 0.5 + GAP**2
    assert sharp(GAP, x / GAP**2).pulls * GAP**2 == pytest.approx(closed, rel=1e-9)
