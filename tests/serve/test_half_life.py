"""Rewards that fade by the clock: a reward weighs half after a half-life, by its logged time."""

from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward
from thrifty.serve.app import App
from thrifty.serve.clock import SECOND, Clock

URL = "/v1/experiments/colours"
FADING = COLOURS | {"policy": {"name": "ThompsonSampling", "law": "beta"}, "half_life": 100.0}


def test_what_is_left_follows_from_the_times_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Clock().now()
    now = [begun]
    monkeypatch.setattr(Clock, "now", lambda _: now[0])

    async def first(client: httpx.AsyncClient, app: App) -> None:
        assert (await client.put(URL, json=FADING)).status_code == 201
        for value in (1.0, 0.0, 1.0):
            (made,) = await decide(client, among=["red"])
            await reward(client, {"decision": made["id"], "reward": value})
            now[0] += 100 * SECOND
        (made,) = await decide(client, among=["green"])
        await reward(client, {"decision": made["id"], "reward": 1.0})
        experiment = app.service.experiments["colours"]
        for step in experiment.fade(now[0]):
            step()
        assert experiment.arms is not None
        core = experiment.arms._core
        np.testing.assert_allclose(core.weight, [0.5 + 0.25 + 0.125, 1.0], rtol=1e-12)
        np.testing.assert_allclose(core.sums, [0.5 + 0.125, 1.0], rtol=1e-12)
        assert core.pulls.tolist() == [3, 1]
        assert list(experiment.fade(now[0] + SECOND)) == []  # not yet
        check_memory(app)

    async def second(client: httpx.AsyncClient, app: App) -> None:
        experiment = app.service.experiments["colours"]
        assert experiment.arms is not None
        np.testing.assert_allclose(experiment.arms._core.weight, [0.875, 1.0], rtol=1e-12)
        np.testing.assert_allclose(experiment.arms._core.sums, [0.625, 1.0], rtol=1e-12)
        check_memory(app)

    play(tmp_path, first)
    play(tmp_path, second)


def test_who_cannot_forget_is_refused(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        answer = await client.put(URL, json=COLOURS | {"half_life": 60})
        assert (answer.status_code, "cannot forget" in answer.json()["detail"]) == (422, True)
        gaussian = COLOURS | {"policy": {"name": "ThompsonSampling"}, "half_life": 60}
        assert "prior must be" in (await client.put(URL, json=gaussian)).json()["detail"]
        assert (await client.put(URL, json=FADING)).status_code == 201
        changed = await client.patch(URL, json={"policy": {"name": "TSMA"}})
        assert (changed.status_code, "cannot forget" in changed.json()["detail"]) == (422, True)
        assert (await client.get(URL)).json()["policy"]["name"] == "ThompsonSampling"

    play(tmp_path, scenario)
