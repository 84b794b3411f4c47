"""Regret bounds with every constant: the asymptotic lower bound, the paper's theorems, tighter ones of ours.

``docs/theory.md`` explains them and proves ours.
"""

from thrifty.schedules.batch import C0, phi
from thrifty.theory.anytime import (
    ts_ma_anytime,
    ts_ma_anytime_draws,
    ts_td_anytime,
    ts_td_anytime_draws,
)
from thrifty.theory.audit import Step, audit
from thrifty.theory.bound import Bound, nonvacuous_from, positive_gaps, total_regret
from thrifty.theory.constants import H_INTEGRAL
from thrifty.theory.draws import (
    ts_ma_draws,
    ts_td_draws,
    vanilla_draws,
)
from thrifty.theory.epsilon_ts import epsilon_ts_sharp, epsilon_wait
from thrifty.theory.evaluate import Row, remarks, table
from thrifty.theory.lemma import excess, excess_grid, excess_limit, h, h_integral
from thrifty.theory.limits import first_order, vanilla_limit
from thrifty.theory.lower import lower_bound, lower_bound_bounded
from thrifty.theory.sleepers import sleepers_draws, sleepers_evaluations, tosses
from thrifty.theory.ts_ma import ts_ma, ts_ma_sharp
from thrifty.theory.ts_ma_beta import ts_ma_beta_exponent, ts_ma_beta_sharp
from thrifty.theory.ts_td import (
    phase_two,
    ts_td_as_written,
    ts_td_refined,
    ts_td_repaired,
    ts_td_sharp,
)
from thrifty.theory.vanilla import agrawal_goyal, best_split, refined, sharp, theorem1
from thrifty.theory.worst_case import (
    refined_worst_case,
    theorem1_worst_case,
    ts_ma_worst_case,
    ts_td_worst_case,
    worst_case,
)

__all__ = [
    "C0",
    "H_INTEGRAL",
    "Bound",
    "Row",
    "Step",
    "agrawal_goyal",
    "audit",
    "best_split",
    "epsilon_ts_sharp",
    "epsilon_wait",
    "excess",
    "excess_grid",
    "excess_limit",
    "first_order",
    "h",
    "h_integral",
    "lower_bound",
    "lower_bound_bounded",
    "nonvacuous_from",
    "phase_two",
    "phi",
    "positive_gaps",
    "refined",
    "refined_worst_case",
    "remarks",
    "sharp",
    "sleepers_draws",
    "sleepers_evaluations",
    "table",
    "theorem1",
    "theorem1_worst_case",
    "tosses",
    "total_regret",
    "ts_ma",
    "ts_ma_anytime",
    "ts_ma_anytime_draws",
    "ts_ma_beta_exponent",
    "ts_ma_beta_sharp",
    "ts_ma_draws",
    "ts_ma_sharp",
    "ts_ma_worst_case",
    "ts_td_anytime",
    "ts_td_anytime_draws",
    "ts_td_as_written",
    "ts_td_draws",
    "ts_td_refined",
    "ts_td_repaired",
    "ts_td_sharp",
    "ts_td_worst_case",
    "vanilla_draws",
    "vanilla_limit",
    "worst_case",
]
