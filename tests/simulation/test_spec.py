"""Specs: what a file says is what is simulated, and every mistake is named by file and key."""

import sys
from pathlib import Path

import numpy as np
import pytest

import thrifty
from thrifty.policies import POLICIES
from thrifty.simulation.named import policy_class
from thrifty.simulation.spec import Spec
from thrifty.sweeps import grid

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

HORIZON = "horizon = 100\n"
PROBLEM = '[problem]\nkind = "bernoulli"\nmeans = [0.9, 0.8]\n'
POLICY = '[[policies]]\nname = "TSMA"\n'
BINARISED = '[[policies]]\nname = "Binarised"\n'
NAMES = ", ".join(POLICIES)
KINDS = "bernoulli, gaussian, beta, clipped-gaussian, discrete, poisson, exponential, empirical, changing, "
KINDS += "changing-along, changing-of"


def load(folder, text):
    path = folder / "x.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Spec.load(path)


def test_every_key_is_read(tmp_path):
    spec = load(
        tmp_path,
        """
        horizon = 1000
        runs = 7
        seed = 3
        prior = [0.5, 2]
        engine = "scan"
        checkpoints = [10, 100]
        delay = 25
        control = 0.05
        control_arm = 1
        floor = 0.1
        burn_in = 2e0

        [problem]
        kind = "gaussian"
        means = [0.5, 1]
        sd = 2

        [[policies]]
        name = "TSMA"
        alpha = 0.8
        phi = 100
        sampling = "batch"

        [[policies]]
        name = "EpsilonTS"
        epsilon = 0.25
        """,
    )
    assert spec == Spec(
        horizon=1000,
        problem=thrifty.Gaussian([0.5, 1.0], sd=2.0),
        policies=(
            thrifty.TSMA(alpha=0.8, phi=100, sampling="batch"),
            thrifty.EpsilonTS(epsilon=0.25),
        ),
        runs=7,
        seed=3,
        prior=(0.5, 2.0),
        engine="scan",
        checkpoints=(10, 100),
        delay=thrifty.ConstantDelay(25),
        control=0.05,
        control_arm=1,
        floor=0.1,
        burn_in=2,
    )


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("delay = 1e3", thrifty.ConstantDelay(1000)),
        ('delay = {kind = "constant", rounds = 3}', thrifty.ConstantDelay(3)),
        ('delay = {kind = "uniform", low = 2, high = 5}', thrifty.UniformDelay(2, 5)),
        ('delay = {kind = "geometric", mean = 10}', thrifty.GeometricDelay(10)),
    ],
)
def test_delays(tmp_path, text, delay):
    assert load(tmp_path, text + "\n" + HORIZON + PROBLEM + POLICY).delay == delay


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ('name = "KLUCB"\nc = 3\nfamily = "poisson"', thrifty.KLUCB(3.0, "poisson")),
        ('name = "MultinomialTS"', thrifty.MultinomialTS(10)),
        ('name = "MultinomialTS"\nlevels = 4', thrifty.MultinomialTS(4)),
        ('name = "MaillardSampling"\nvariance = 1\nplus = true', thrifty.MaillardSampling(1.0, True)),
        ('name = "DirichletSampling"\nvariant = "robust"', thrifty.DirichletSampling("robust")),
        (
            'name = "ThompsonSampling"\nlaw = "inverse-gamma-flat"',
            thrifty.ThompsonSampling("inverse-gamma-flat"),
        ),
        ('name = "Binarised"', thrifty.Binarised(thrifty.ThompsonSampling("beta"))),
        (
            'name = "Binarised"\npolicy = {name = "ThompsonSampling", law = "beta"}',
            thrifty.Binarised(thrifty.ThompsonSampling("beta")),
        ),
        (
            'name = "Binarised"\npolicy = {name = "TSMA", law = "beta", alpha = 0.5, anytime = true}',
            thrifty.Binarised(thrifty.TSMA(0.5, "beta", anytime=True)),
        ),
        (
            'name = "Binarised"\n[policies.policy]\nname = "KLUCBPlusPlus"',
            thrifty.Binarised(thrifty.KLUCBPlusPlus()),
        ),
    ],
)
def test_policies(tmp_path, text, policy):
    assert load(tmp_path, HORIZON + PROBLEM + "[[policies]]\n" + text).policies == (policy,)


def test_what_may_be_left_out(tmp_path):
    spec = load(tmp_path, HORIZON + PROBLEM + POLICY)
    assert spec == Spec(100, thrifty.Bernoulli([0.9, 0.8]), (thrifty.TSMA(),), runs=20, seed=0)


def test_whole_floats_are_integers(tmp_path):
    spec = load(tmp_path, "horizon = 1e5\nruns = 2e1\ncheckpoints = [1e3]\n" + PROBLEM + POLICY)
    assert (spec.horizon, spec.runs, spec.checkpoints) == (100_000, 20, (1000,))
    assert all(isinstance(n, int) for n in (spec.horizon, spec.runs, *spec.checkpoints))


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    assert load(tmp_path, "\ufeff" + HORIZON + PROBLEM + POLICY).horizon == 100


def test_simulates_like_simulate(tmp_path):
    spec = load(tmp_path, "runs = 3\nseed = 5\n" + HORIZON + PROBLEM + POLICY)
    result = spec.simulate(workers=1)
    same = thrifty.simulate(thrifty.TSMA(), thrifty.Bernoulli([0.9, 0.8]), 100, runs=3, seed=5)
    other = thrifty.simulate(thrifty.TSMA(), thrifty.Bernoulli([0.9, 0.8]), 100, runs=3, seed=6)
    assert np.array_equal(result.regret, same.regret)
    assert not np.array_equal(result.regret, other.regret)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # keys
        ("horizn = 3\n", "horizn is unknown; allowed: horizon, problem, policies, runs, seed, prior, engine, "
                         "checkpoints, delay, control, control_arm, floor, burn_in (did you mean horizon?)"),
        (PROBLEM + POLICY, "horizon is missing"),
        (HORIZON + POLICY, "problem is missing"),
        (HORIZON + PROBLEM, "policies is missing"),
        ("", "horizon is missing"),
        # numbers
        ('horizon = "abc"\n' + PROBLEM + POLICY, "horizon must be an integer, got 'abc'"),
        ("horizon = 10.5\n" + PROBLEM + POLICY, "horizon must be an integer, got 10.5"),
        ("horizon = inf\n" + PROBLEM + POLICY, "horizon must be an integer, got inf"),
        ("horizon = true\n" + PROBLEM + POLICY, "horizon must be an integer, got True"),
        ("horizon = 0\n" + PROBLEM + POLICY, "horizon must be at least 1, got 0"),
        ("runs = 0\n" + HORIZON + PROBLEM + POLICY, "runs must be at least 1, got 0"),
        ("seed = -1\n" + HORIZON + PROBLEM + POLICY, "seed must be at least 0, got -1"),
        ("prior = 3\n" + HORIZON + PROBLEM + POLICY, "prior must be a pair (mean, weight), got 3"),
        ("prior = [1]\n" + HORIZON + PROBLEM + POLICY, "prior must be a pair (mean, weight), got [1]"),
        ("prior = [0, 0]\n" + HORIZON + PROBLEM + POLICY, "prior weight must be above 0, got 0"),
        ("checkpoints = 3\n" + HORIZON + PROBLEM + POLICY, "checkpoints must be a list of rounds, got 3"),
        ("checkpoints = [5, 6.5]\n" + HORIZON + PROBLEM + POLICY,
         "checkpoints[1] must be an integer, got 6.5"),
        ('engine = "scna"\n' + HORIZON + PROBLEM + POLICY,
         "engine must be one of auto, scan, tournament, sleepers, kinetic, got 'scna'"),
        # the problem
        ("problem = 3\n" + HORIZON + POLICY, "problem must be a table, got 3"),
        (HORIZON + '[[problem]]\nkind = "bernoulli"\n' + POLICY,
         "problem must be a table, got [{'kind': 'bernoulli'}]"),
        (HORIZON + "[problem]\nmeans = [0.1]\n" + POLICY, f"problem.kind is missing; allowed: {KINDS}"),
        (HORIZON + '[problem]\nkind = "bernouli"\n' + POLICY,
         f"problem.kind must be one of {KINDS}, got 'bernouli' (did you mean bernoulli?)"),
        (HORIZON + '[problem]\nkind = "bernoulli"\n' + POLICY, "problem.means is missing"),
        (HORIZON + PROBLEM + "sd = 1\n" + POLICY, "problem.sd is unknown; allowed: kind, means"),
        (HORIZON + '[problem]\nkind = "bernoulli"\nmeans = "x"\n' + POLICY,
         "problem.means must be a sequence of numbers, got 'x'"),
        (HORIZON + '[problem]\nkind = "bernoulli"\nmeans = [0.3, 2]\n' + POLICY,
         "problem.means[1] of a Bernoulli problem must be in [0, 1], got 2.0"),
        # the policies
        ("policies = 3\n" + HORIZON + PROBLEM, "policies must be tables headed [[policies]], got 3"),
        ("policies = [3]\n" + HORIZON + PROBLEM, "policies[0] must be a table, got 3"),
        ("policies = []\n" + HORIZON + PROBLEM, "policies must have at least one policy, got none"),
        (HORIZON + PROBLEM + '[policies]\nname = "TSMA"\n',
         "policies must be tables headed [[policies]], got {'name': 'TSMA'}"),
        (HORIZON + PROBLEM + "[[policies]]\nalpha = 1\n", f"policies[0].name is missing; allowed: {NAMES}"),
        (HORIZON + PROBLEM + POLICY + '[[policies]]\nname = "tsmaa"\n',
         f"policies[1].name must be one of {NAMES}, got 'tsmaa' (did you mean TSMA?)"),
        (HORIZON + PROBLEM + "[[policies]]\nname = [1]\n",
         f"policies[0].name must be one of {NAMES}, got [1]"),
        (HORIZON + PROBLEM + POLICY + "alpah = 1\n",
         "policies[0].alpah is unknown; allowed: name, alpha, law, phi, anytime, sampling "
         "(did you mean alpha?)"),
        (HORIZON + PROBLEM + POLICY + "alpha = 1.5\n", "policies[0].alpha must be in [0, 1], got 1.5"),
        (HORIZON + PROBLEM + POLICY + 'alpha = "x"\n', "policies[0].alpha must be a number, got 'x'"),
        (HORIZON + PROBLEM + POLICY + 'law = "cauchy"\n',
         "policies[0].law must be one of gaussian, beta, gamma, got 'cauchy'"),
        (HORIZON + PROBLEM + POLICY + POLICY + "alpha = 0\n",
         "policies[1] is the same as policies[0], "
         "TSMA(alpha=0.0, law='gaussian', phi=None, anytime=False, sampling='maximum')"),
        (HORIZON + PROBLEM + BINARISED + "policy = 3\n",
         "policies[0].policy must be a policy such as ThompsonSampling('beta'), got 3"),
        (HORIZON + PROBLEM + BINARISED + 'policy = {law = "beta"}\n',
         f"policies[0].policy.name is missing; allowed: {NAMES}"),
        (HORIZON + PROBLEM + BINARISED + 'policy = {name = "TSMA", law = "x"}\n',
         "policies[0].policy.law must be one of gaussian, beta, gamma, got 'x'"),
        (HORIZON + PROBLEM + BINARISED + 'policy = {name = "MOTS"}\n',
         "policies[0].policy must be one for rewards of 0 and 1 or in [0, 1], "
         "got MOTS(rho=0.9999, clip=4.0, variance=0.25, anytime=False)"),
        (HORIZON + PROBLEM + BINARISED + 'polcy = {name = "KLMS"}\n',
         "policies[0].polcy is unknown; allowed: name, policy (did you mean policy?)"),
        # the file
        ("horizon = \n", "must be a TOML file: Invalid value (at line 1, column 11)"),
        (b"\xff\xfe", "must be a TOML file, and this is not UTF-8 text"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_and_key(tmp_path, text, message):
    with pytest.raises(thrifty.ThriftyError) as caught:
        load(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'x.toml'}: {message}"
    assert isinstance(caught.value, ValueError | TypeError)


def test_keys_that_do_not_fit_together(tmp_path):
    engine = 'engine = "tournament"\n'
    spec = load(tmp_path, engine + HORIZON + PROBLEM + '[[policies]]\nname = "TSTD"\n')
    message = r"engine must be one of scan, sleepers for TSTD\(.*tournament"
    with pytest.raises(thrifty.InvalidValue, match=message):
        spec.plan()


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_experiments_are_ready_to_run(path):
    for case in grid.load(path):
        assert case.spec.plan().settings.runs >= 20


def test_the_papers_setting():
    spec = Spec.load(EXPERIMENTS / "paper.toml")
    assert spec.problem == thrifty.Bernoulli([0.9] + [0.8] * 19)
    assert spec.horizon == 100_000
    alphas = (0.0, 0.8, 1.0)
    assert set(spec.policies) == {
        *(thrifty.TSMA(alpha) for alpha in alphas),
        *(thrifty.TSTD(alpha) for alpha in alphas),
        *(thrifty.ThompsonSampling(law) for law in ("gaussian", "beta")),
        *(thrifty.EpsilonTS(law, eps) for law in ("gaussian", "beta") for eps in (None, 20**-0.5)),
        thrifty.ExpTSPlus(),
        thrifty.KLUCBPlusPlus(),
    }


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("1 / 0", "broken_0:A", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "broken_1:A", "SystemExit"),
        ("def (:", "broken_2:A", "SyntaxError"),
        ("", "..broken:A", "relative import"),
        ("", "thrifty:Policy", "that of a policy"),
    ],
)
def test_modules_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str, why: str
) -> None:
    (tmp_path / f"{name.strip('.').partition(':')[0]}.py").write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(thrifty.ThriftyError, match=f"name must be .*{why}"):
        policy_class(name)
