"""The least that a service can be: Starlette and msgspec read a question and write an answer, and nothing is
decided or kept. Prints its address; the file of the store and the number of arms do not matter."""

import socket

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from thrifty.serve.messages import Ask, Decisions, Made, Rewards

encode = msgspec.json.Encoder().encode
read_ask = msgspec.json.Decoder(Ask).decode
read_rewards = msgspec.json.Decoder(Rewards).decode
ONE = [Made("A" * 100, "7", False, None)]


async def decide(request: Request) -> Response:
    ask = read_ask(await request.body())
    answer = Decisions(ONE * (ask.count or 1), "1-1", False)
    return Response(encode(answer), media_type="application/json")


async def reward(request: Request) -> Response:
    rewards = read_rewards(await request.body()).rewards
    answer = {"results": [{"status": "counted", "detail": ""} for _ in rewards]}
    return Response(encode(answer), media_type="application/json")


app = Starlette(
    routes=[
        Route("/v1/experiments/{name}/decisions", decide, methods=["POST"]),
        Route("/v1/rewards", reward, methods=["POST"]),
    ]
)

with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
    print(f"at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
