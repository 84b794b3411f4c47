"""How kernels call the functions of a policy or an engine: by address, each kind with its signature."""

from numba import types

from thrifty.jit import caller, hot
from thrifty.state.header import STATE

float64, int64, void = types.float64, types.int64, types.void

EVENTS = (
    "renewed", "replace", "returned", "left", "entered", "rank",  # of a policy
    "place", "join", "handed", "begin", "enter", "leave", "shrink", "seat", "control", "settle",
    "end", "retire", "front",  # engines
    "fade", "renewal",  # of all engines
)  # fmt: skip

# What the functions in ``engines.memory.Hooks`` and ``Engine`` are given, and what they return.
SIGNATURES = {
    "index": float64(STATE, int64, int64),  # arm, t
    "compare": void(STATE, int64),  # t
    "refresh": float64(STATE, int64),  # t; the largest index
    "choose": int64(STATE, int64),  # t; the arm
    "order": void(STATE, int64),  # t
    "pick": int64(STATE, int64),  # t; how many were found
    "spare": int64(STATE, int64),  # t; the arm
    "share": int64(STATE, int64),  # t; the arm
    "fallback": int64(STATE, int64, float64, float64),  # arm, its draw, a level; the arm
    "commit": int64(STATE, int64, float64, float64),
    "parameters": void(STATE, int64, float64, float64),  # arm, n, S
    "draw": float64(STATE, float64, float64),  # the law's two parameters
    "sf": float64(STATE, float64, float64, float64),  # the law's two parameters, c
    "isf": float64(STATE, float64, float64, float64),  # the law's two parameters, p
    "draw_spread": float64(STATE, float64, float64),
    "sf_spread": float64(STATE, float64, float64, float64),
    "isf_spread": float64(STATE, float64, float64, float64),
    "keep": void(STATE, int64, float64, float64),  # arm, reward, how often
    "observed": void(STATE, int64, float64, int64),  # arm, reward, t
    "late": void(STATE, int64, float64, int64),  # arm, reward, t
    "pull": float64(STATE, int64),  # arm; its reward
    "needed": float64(STATE, int64),  # how many arms; a sum
    "spends": int64(STATE, int64),  # arm; 0 or 1
    "moved": void(STATE, int64, int64),  # arm, its new number
    "move": void(STATE, int64, int64),
    **dict.fromkeys(EVENTS, void(STATE, int64)),  # arm
}

index = caller(SIGNATURES["index"])
ask = choose = caller(SIGNATURES["spends"])
fallback = commit = caller(SIGNATURES["fallback"])
parameters = keep = caller(SIGNATURES["keep"])
draw = caller(SIGNATURES["draw"])
sf = isf = caller(SIGNATURES["sf"])
observed = caller(SIGNATURES["observed"])
pull = needed = caller(SIGNATURES["pull"])
refresh = caller(SIGNATURES["refresh"])
event = order = compare = caller(SIGNATURES["begin"])
moved = caller(SIGNATURES["moved"])


@hot
def tell(address, state, i):
    """Something happened to arm i, if anybody has to know."""
    if address != 0:
        event(address, (state, i))
