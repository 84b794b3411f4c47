"""Decisions are those that were recorded, bit for bit."""

import json
from collections.abc import Callable

import pytest

from tests.trajectories.record import FILE, VARIANTS, cases
from thrifty.policies import POLICIES

RECORDED = json.loads(FILE.read_text())


@pytest.mark.parametrize(("name", "make"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_the_same_decisions(name: str, make: Callable[[], str]) -> None:
    assert make() == RECORDED[name]


def test_every_policy_is_recorded_and_nothing_else() -> None:
    assert {type(policy) for policy in VARIANTS} == set(POLICIES.values())
    assert [name for name, _ in cases()] == list(RECORDED)
