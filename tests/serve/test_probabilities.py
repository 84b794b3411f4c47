"""How likely a decision was: in the answer, the id, the log, and the export that ``thrifty replay`` reads."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import polars
import pytest

import thrifty
from tests.support.served import COLOURS, check_memory, decide, play, reward, url_of
from thrifty.cli import main
from thrifty.serve.app import App
from thrifty.serve.events import DECISION, read_decided
from thrifty.serve.export import parts

URL = "/v1/experiments/colours"
BETA: dict[str, Any] = {
    "policy": {"name": "ThompsonSampling", "law": "beta"},
    "arms": ["red", "green", "blue"],
    "prior": [0.5, 2.0],
}


def test_a_decision_says_how_likely_it_was_as_a_bandit_does(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=BETA)
        bandit = thrifty.Bandit(thrifty.ThompsonSampling("beta"), BETA["arms"], seed=1, prior=(0.5, 2.0))
        for i in range(60):
            ask: dict[str, Any] = [{}, {"exclude": ["red"]}, {"among": ["red", "blue"]}][i % 3]
            made = (await decide(client, probability=True, **ask))[0]
            assert made["probability"] == pytest.approx(bandit.probability(made["arm"], **ask), abs=1e-6)
            value = float(i % 5 < {"red": 1, "green": 2, "blue": 4}[made["arm"]])
            assert await reward(client, {"decision": made["id"], "reward": value}) == ["counted"]
            bandit.update(made["arm"], value)
        check_memory(app)

    play(tmp_path, scenario)


def test_it_is_in_the_id_the_log_and_the_answer(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=BETA)
        several = await decide(client, count=4, probability=True)
        slate = await decide(client, rank=3, probability=True)
        unasked = await decide(client)
        assert [made["probability"] for made in several] == pytest.approx([1 / 3] * 4, abs=1e-3)
        assert slate[0]["probability"] == pytest.approx(1 / 3, abs=1e-3)
        assert [made["probability"] for made in (*slate[1:], *unasked)] == [None] * 3
        check_memory(app)
        logged = [
            read_decided(row.body).probability for row in app.service.store.log() if row.kind == DECISION
        ]
        answers = [[made["probability"] for made in some] for some in (several, slate)]
        assert logged == [*answers, None]
        tokens = [app.service._signer.read(made["id"]) for made in (*several, *slate, *unasked)]
        found = [token.probability for token in tokens if token is not None]
        assert found == [*answers[0], *answers[1], None]
        lines = (await client.get(f"{URL}/events")).text.splitlines()
        assert len(lines) == 4

    play(tmp_path, scenario)


@pytest.mark.parametrize("policy", ["TSMA", "UCB1"])
def test_what_is_no_matter_of_chance_has_one_with_control_or_a_floor(tmp_path: Path, policy: str) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json={**COLOURS, "policy": {"name": policy}})
        answer = await client.post(f"{URL}/decisions", json={"probability": True})
        assert answer.status_code == 400
        assert "it has probabilities with control or a floor alone" in answer.json()["detail"]
        assert (await client.get(URL)).json()["decisions"] == 0
        await client.patch(URL, json={"control": 0.2, "floor": 0.1})
        made = await decide(client, count=50, probability=True)
        # control / 2 + (1 - control) (floor + (1 - 2 floor) p), with p = 0, 1 or, of two that tie, 1/2
        likely = {0.18, 0.5, 0.82}
        assert {round(one["probability"], 9) for one in made} <= likely
        await reward(client, *({"decision": one["id"], "reward": float(one["arm"] == "red")} for one in made))
        check_memory(app)

    play(tmp_path, scenario)


def test_a_policy_without_a_law_has_none(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json={**COLOURS, "policy": {"name": "TSTD"}, "control": 0.5})
        answer = await client.post(f"{URL}/decisions", json={"probability": True})
        assert answer.status_code == 400
        assert "nobody can tell how likely a decision of" in answer.json()["detail"]

    play(tmp_path, scenario)


def test_replay_reads_what_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the propensities of the decisions."""
    store, target = ["--store", url_of(tmp_path)], tmp_path / "colours.parquet"
    pay = {"red": 0.0, "green": 0.0, "blue": 1.0}

    async def scenario(client: httpx.AsyncClient, app: App) -> dict[str, Any]:
        await client.put(URL, json={**BETA, "floor": 0.1})
        told = [(await decide(client, probability=True))[0] for _ in range(200)]
        sent = [{"decision": made["id"], "reward": pay[made["arm"]]} for made in told]
        assert await reward(client, *sent) == ["counted"] * 200
        check_memory(app)
        return {made["id"]: made for made in told}

    told = play(tmp_path, scenario)
    assert main(["export", "colours", "--parquet", str(target), *store]) == 0
    table = polars.read_parquet(target)
    wanted = [(made["arm"], pay[made["arm"]], made["probability"]) for made in told.values()]
    assert list(table.select("arm", "reward", "propensity").iter_rows()) == wanted
    capsys.readouterr()
    assert main(["replay", str(target), "--policy", "UCB1()", "--method", "ips", "--strict"]) == 0
    assert "UCB1" in capsys.readouterr().out


def test_a_decision_that_was_lost_brings_its_probability_back(tmp_path: Path) -> None:
    """It is in the id, as all is that a store of yesterday does not know."""
    folder, kept = tmp_path / "live", tmp_path / "kept"
    folder.mkdir()

    async def before(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=BETA)

    async def lost(client: httpx.AsyncClient, app: App) -> Any:
        return (await decide(client, probability=True, exclude=["red"]))[0]

    async def after(client: httpx.AsyncClient, app: App) -> None:
        assert await reward(client, {"decision": made["id"], "reward": 1.0}) == ["counted"]
        check_memory(app)
        (part,) = parts(app.service.store, "colours")
        assert (part["arm"], part["propensity"]) == ([made["arm"]], [made["probability"]])

    play(folder, before)
    shutil.copytree(folder, kept)
    made = play(folder, lost)
    assert made["probability"] == pytest.approx(0.5, abs=1e-3)
    play(kept, after)
