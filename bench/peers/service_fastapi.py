# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "fastapi==0.121.2", "httptools==0.9.0", "numpy==2.4.6", "pandas==3.1.1", "river==0.26.1",
#     "scipy==1.17.1", "uvicorn==0.54.0", "uvloop==0.23.0",
# ]
# ///
"""What one writes in an afternoon: FastAPI, pydantic, a bandit of river's or of NumPy's, and a commit for
each request. Prints its address. Arguments: river or numpy, the number of arms, and the file of the store."""

import socket
import sqlite3
import sys
import uuid
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

kind, arms, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Ask(BaseModel):
    count: int = 1
    key: str | None = None


class Reward(BaseModel):
    decision: str
    reward: float


class Rewards(BaseModel):
    rewards: list[Reward]


class Made(BaseModel):
    id: str
    arm: str


class Answer(BaseModel):
    decisions: list[Made]


class ByNumPy:
    """Thompson sampling with Beta posteriors."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng()
        self.a, self.b = np.ones(arms), np.ones(arms)

    def pull(self) -> int:
        return int(self.rng.beta(self.a, self.b).argmax())

    def update(self, arm: int, reward: float) -> None:
        self.a[arm] += reward
        self.b[arm] += 1.0 - reward


class ByRiver:
    def __init__(self) -> None:
        from river import bandit, proba

        self.policy = bandit.ThompsonSampling(reward_obj=proba.Beta(1, 1), seed=0)
        self.arms = range(arms)

    def pull(self) -> Any:
        return self.policy.pull(self.arms)

    def update(self, arm: int, reward: float) -> None:
        self.policy.update(arm, reward)


policy: Any = ByRiver() if kind == "river" else ByNumPy()
store = sqlite3.connect(file, check_same_thread=False)
store.execute("pragma journal_mode = wal")
store.execute("pragma synchronous = full")
store.execute("create table decisions (id text primary key, arm integer, reward real)")
app = FastAPI()


@app.post("/v1/experiments/{name}/decisions")
async def decide(name: str, ask: Ask) -> Answer:
    made = [(uuid.uuid4().hex, policy.pull()) for _ in range(ask.count)]
    store.executemany("insert into decisions values (?, ?, null)", made)
    store.commit()
    return Answer(decisions=[Made(id=key, arm=str(arm)) for key, arm in made])


@app.post("/v1/rewards")
async def reward(rewards: Rewards) -> dict[str, Any]:
    for one in rewards.rewards:
        query = "update decisions set reward = ? where id = ? and reward is null returning arm"
        found = store.execute(query, (one.reward, one.decision)).fetchone()
        if found is not None:
            policy.update(found[0], one.reward)
    store.commit()
    return {"results": [{"status": "counted"} for _ in rewards.rewards]}


with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
    print(f"at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])
