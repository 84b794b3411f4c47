"""``thrifty sweep``: run every combination that a TOML file lists, or go on with it."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thrifty.cli.shared import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thrifty.sweeps.grid import Case


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "sweep",
        help="run every combination that a TOML file lists; goes on where it was cut off",
        description="Run every combination that a TOML file lists. What is finished is kept: the same "
        "command goes on where it was cut off, with the same numbers.",
        epilog="""\
a sweep is a spec (see thrifty simulate --help) in which these may be lists:
  horizon = [1000, 10000]
  [[problem]]                    # several of them
  [[policies]]
  name = "TSMA"
  alpha = [0.0, 0.5, 1.0]        # any parameter of a policy

examples:
  thrifty sweep experiments/sweep.toml --out night --dry-run
  thrifty sweep experiments/sweep.toml --out night
  thrifty sweep experiments/sweep.toml --out night --scheduler tcp://10.0.0.1:8786

Each case, a problem with a horizon, gets its result in DIR: for thrifty plot, export and compare.""",
    )
    parser.add_argument("spec", metavar="SPEC.toml", type=Path, help="the sweep")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="its folder, new or its own")
    parser.add_argument("--workers", type=whole(1), metavar="N", help="processes; default: one for each core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that does the work instead")
    parser.add_argument(
        "--chunk",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="of work that go together; default: %(default)s",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan and how long it will take")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty import checks
    from thrifty.errors import InvalidValue
    from thrifty.simulation.run import cores
    from thrifty.sweeps import grid
    from thrifty.sweeps import run as runner

    checks.positive("chunk", arguments.chunk)
    cases = grid.load(arguments.spec)
    runner.check(arguments.out, cases)
    plan, work = _plan(cases, arguments.out)
    if arguments.scheduler and arguments.workers:
        raise InvalidValue(
            f"--workers is for this machine, and --scheduler has its own, got {arguments.workers}"
        )
    workers = arguments.workers or cores()
    share = "" if arguments.scheduler else f", {_duration(work / workers)} on {workers} processes"
    plan += f"\n\nin all about {_duration(work)} of computing{share}"
    if arguments.dry_run:
        print(plan)
        return
    print(f"{plan}\n", file=sys.stderr)
    backend = "dask" if arguments.scheduler else "local"
    with runner.open_pool(workers, backend, arguments.scheduler) as pool:
        results = runner.run(cases, arguments.out, pool, arguments.chunk, progress=sys.stderr.isatty())
        summaries = {name: result.summary() for name, result in results}
    for case in cases:
        print(f"{case.name}\n\n{summaries[case.name]}\n")
    print(f"wrote {len(cases)} results to {arguments.out}")


def _plan(cases: "Sequence[Case]", folder: Path) -> tuple[str, float]:
    """What there is to do, as a table, and about how many seconds of computing are left."""
    from thrifty.sweeps import estimate
    from thrifty.sweeps.run import unfinished
    from thrifty.table import aligned

    todo = unfinished(folder, cases)
    rows, total = [], 0.0
    for c, case in enumerate(cases):
        spec, mine = case.spec, [chunk for chunk in todo if chunk.case == c]
        needed = estimate.seconds(spec) if mine else ()
        seconds = sum(needed[chunk.policy] * len(chunk.runs) / spec.runs for chunk in mine)
        count, left = len(spec.policies) * spec.runs, sum(len(chunk.runs) for chunk in mine)
        settings = (spec.problem.size, len(spec.policies), spec.runs)
        done = f"{count - left:,} of {count:,}"
        rows.append((case.name, *(f"{value:,}" for value in settings), done, _duration(seconds)))
        total += seconds
    heading = ("case", "arms", "policies", "runs of each", "runs done", "computing left")
    return aligned(heading, rows), total


def _duration(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    if seconds < 6000.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"
