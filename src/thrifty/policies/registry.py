"""Every policy: a new one is its file, and its line here. All else follows from it: the public name, the name
in TOML files, ``thrifty policies``, docs/policies.md, the tests that every policy has to pass, snapshots.

The order is that of the tables; ``group`` in each file says under which heading.
"""
# ruff: noqa: I001

from thrifty.policies.thompson_sampling import ThompsonSampling as ThompsonSampling
from thrifty.policies.epsilon_ts import EpsilonTS as EpsilonTS
from thrifty.policies.exp_ts import ExpTS as ExpTS
from thrifty.policies.exp_ts_plus import ExpTSPlus as ExpTSPlus
from thrifty.policies.ts_ma import TSMA as TSMA
from thrifty.policies.ts_td import TSTD as TSTD
from thrifty.policies.mots import MOTS as MOTS
from thrifty.policies.mots import MOTSJ as MOTSJ
from thrifty.policies.discounted_ts import DiscountedTS as DiscountedTS
from thrifty.policies.sliding_window_ts import SlidingWindowTS as SlidingWindowTS
from thrifty.policies.npts import NPTS as NPTS
from thrifty.policies.multinomial_ts import MultinomialTS as MultinomialTS
from thrifty.policies.ucb1 import UCB1 as UCB1
from thrifty.policies.ucb1_tuned import UCB1Tuned as UCB1Tuned
from thrifty.policies.ucb_v import UCBV as UCBV
from thrifty.policies.kl_ucb import KLUCB as KLUCB
from thrifty.policies.kl_ucb_plus_plus import KLUCBPlusPlus as KLUCBPlusPlus
from thrifty.policies.moss import MOSS as MOSS
from thrifty.policies.bayes_ucb import BayesUCB as BayesUCB
from thrifty.policies.ada_ucb import AdaUCB as AdaUCB
from thrifty.policies.imed import IMED as IMED
from thrifty.policies.discounted_ucb import DiscountedUCB as DiscountedUCB
from thrifty.policies.sliding_window_ucb import SlidingWindowUCB as SlidingWindowUCB
from thrifty.policies.maillard import MaillardSampling as MaillardSampling
from thrifty.policies.maillard import KLMS as KLMS
from thrifty.policies.dmed import DMED as DMED
from thrifty.policies.ucb_improved import UCBImproved as UCBImproved
from thrifty.policies.dirichlet_sampling import DirichletSampling as DirichletSampling
from thrifty.policies.uniform import Uniform as Uniform
from thrifty.policies.fixed_arm import FixedArm as FixedArm
from thrifty.policies.oracle import Oracle as Oracle
from thrifty.policies.greedy import Greedy as Greedy
from thrifty.policies.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from thrifty.policies.epsilon_decreasing import EpsilonDecreasing as EpsilonDecreasing
from thrifty.policies.explore_then_commit import ExploreThenCommit as ExploreThenCommit
from thrifty.policies.softmax import Softmax as Softmax
from thrifty.policies.binarised import Binarised as Binarised
from thrifty.policies.forgetting import Forgetting as Forgetting
