"""The page on adding a policy is followed to the letter: its code runs, and what it adds is UCB1."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding-a-policy.md").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the code of the page defines, and under "printed" the lines that it prints."""
    printed: list[str] = []
    names: dict[str, Any] = {"__name__": "page", "print": printed.append}
    exec(compile(block("python"), "docs/adding-a-policy.md", "exec"), names)
    return names | {"printed": printed}


def test_the_page_shows_what_its_code_prints(page: dict[str, Any]) -> None:
    assert "\n".join(page["printed"]) + "\n" == block("text")


def test_the_policy_of_the_page_has_the_regret_of_ucb1(page: dict[str, Any]) -> None:
    """592.9 (standard error 2.0) by independent code: K = 10, T = 10^4, one arm of 0.9, the others 0.8."""
    result: thrifty.Result = page["result"]
    assert result.settings.problem == thrifty.Bernoulli([0.9] + 9 * [0.8])
    assert (result.settings.horizon, result.settings.policies[0]) == (10**4, {"name": "UCB1", "width": 2.0})
    regret = result.regret[0, :, -1]
    error = regret.std(ddof=1) / math.sqrt(regret.size)
    assert abs(regret.mean() - 592.9) < 4.0 * math.hypot(error, 2.0)


def test_the_policy_of_the_page_is_a_policy_like_any_other(page: dict[str, Any], tmp_path: Path) -> None:
    make = page["UCB1"]
    assert eval(repr(make(0.25)), page) == make(width=0.25) != make()
    problem, settings = thrifty.Bernoulli([0.3, 0.6]), {"horizon": 300, "runs": 3, "seed": 2}
    alone = thrifty.simulate(make(), problem, workers=1, **settings)
    company = thrifty.simulate([thrifty.TSMA(), make()], problem, workers=2, **settings)
    assert np.array_equal(alone.pulls[0], company.pulls[1])
    assert np.array_equal(alone.regret[0], company.regret[1])
    with pytest.raises(thrifty.InvalidValue, match=r"engine must be one of scan for UCB1\(width=2\.0\)"):
        thrifty.simulate(make(), problem, 300, engine="tournament")
    started = thrifty.simulate(make(), problem, prior=(0.5, 1.0), **settings)
    assert started.pulls.sum() == 3 * 300
    loaded = thrifty.Result.load(alone.save(tmp_path / "ucb1.npz"))
    assert loaded.labels == ("UCB1(width=2.0)",)
    assert np.array_equal(loaded.regret, alone.regret)


def test_the_page_names_files_and_names_that_exist() -> None:
    source = ROOT / "src" / "thrifty"
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", PAGE)
    assert len(paths) >= 10
    for path in paths:
        assert (source / path).exists() or (ROOT / path).exists(), path
    for folder in re.findall(r"`(\w+)/<name>\.py`", PAGE):
        assert (source / folder).is_dir()
    for path, name in [
        ("laws/__init__.py", "CODES"),
        ("policies/thompson.py", "LAWS"),
        ("policies/thompson.py", "REWARDS"),
        ("policies/__init__.py", "GROUPS"),
        ("policies/thompson.py", "TEMPERED_LAWS"),
        ("engines/state.py", "SCHEDULES"),
    ]:
        assert f"`{name}`" in PAGE
        assert re.search(rf"^{name}\b.* = ", (source / path).read_text(), re.MULTILINE)
