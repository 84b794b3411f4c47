"""How long a sweep will take: each policy plays a little, and the rest is extrapolated."""

import dataclasses
import math
import time
from functools import cache

from thrifty.simulation.run import compile_for, play_run
from thrifty.simulation.spec import Spec

SHORT, LONG = 500, 2000  # rounds after the initial pulls


@cache
def seconds(spec: Spec) -> tuple[float, ...]:
    """Processor time of all runs of each policy, if a run of T rounds takes a T^b, with b between 1 and 2, as
    measured for two small T."""
    arms = spec.problem.gaps.size
    horizons = [min(spec.horizon, arms + rounds) for rounds in (SHORT, LONG)]
    found = []
    for p in range(len(spec.policies)):
        pilots = [_pilot(spec, p, horizon) for horizon in horizons]
        power = 1.0
        if horizons[0] < horizons[1] and min(pilots) > 0.0:
            power = math.log(pilots[1] / pilots[0]) / math.log(horizons[1] / horizons[0])
        power = min(max(power, 1.0), 2.0)
        found.append(spec.runs * pilots[1] * (spec.horizon / horizons[1]) ** power)
    return tuple(found)


def _pilot(spec: Spec, p: int, horizon: int) -> float:
    one = dataclasses.replace(
        spec, horizon=horizon, runs=1, policies=(spec.policies[p],), checkpoints=None
    ).plan()
    kernel = spec.problem.kernel()
    compile_for(one)
    began = time.process_time()
    play_run(one, kernel, 0, 0)
    return time.process_time() - began
