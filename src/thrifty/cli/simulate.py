"""``thrifty simulate``: run the experiment of a TOML file."""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from thrifty.cli.shared import draw, whole
from thrifty.engines import ENGINES


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "simulate",
        help="run the experiment of a TOML file",
        description="Run the experiment of a TOML file: print its summary, write its result and figure.",
        epilog="""\
a spec:
  horizon = 100000
  runs = 40
  seed = 1
  [problem]
  kind = "bernoulli"
  means = [0.9, 0.8, 0.8]
  [[policies]]
  name = "TSMA"
  alpha = 0.8
and if need be prior = [mean, weight], engine = "scan", checkpoints = [1000, 10000], and for rewards that come
late delay = 100 or delay = {kind = "geometric", mean = 100}; control = 0.05,
control_arm = 0, floor = 0.001 and burn_in = 100 as in Bandit

examples:
  thrifty simulate experiments/paper.toml
  thrifty simulate experiments/paper.toml --runs 4 --horizon 1e4 --out quick

The same spec and seed give the same numbers, however many workers there are.""",
    )
    parser.add_argument("spec", metavar="SPEC.toml", type=Path, help="the experiment")
    parser.add_argument("--runs", type=whole(1), metavar="N", help="instead of the spec's")
    parser.add_argument("--horizon", type=whole(1), metavar="T", help="instead of the spec's")
    parser.add_argument("--seed", type=whole(0), metavar="N", help="instead of the spec's")
    parser.add_argument("--engine", choices=("auto", *ENGINES), help="instead of the spec's")
    parser.add_argument("--workers", type=whole(1), metavar="N", help="default: one for each core")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="the folder for SPEC.npz (data), SPEC.json (provenance), SPEC.svg and SPEC.png; "
        "those of an earlier run are replaced; default: %(default)s",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty import storage
    from thrifty.simulation.spec import Spec, located

    spec = Spec.load(arguments.spec)
    given = {key: getattr(arguments, key) for key in ("runs", "horizon", "seed", "engine")}
    spec = dataclasses.replace(spec, **{key: it for key, it in given.items() if it is not None})
    with located(f"{arguments.spec}: "):
        spec.plan()
    storage.writable(arguments.out)
    from thrifty.report import figures  # before the work: it says so if matplotlib is missing

    result = spec.simulate(arguments.workers, progress=sys.stderr.isatty())
    data = result.save(arguments.out / f"{arguments.spec.stem}.npz")
    files = [data, data.with_suffix(".json"), *draw(result, data)]
    print(f"{figures.setting(result)}; seed {result.settings.seed}\n\n{result.summary()}\n")
    print(f"wrote {', '.join(map(str, files))}")
