"""``thrifty evaluate``: what a fixed arm, a table or a policy learnt before would earn, from a log."""

import argparse
from typing import Any

from thrifty.cli import logs
from thrifty.cli.replay import policy
from thrifty.errors import InvalidValue

ESTIMATORS = ("dr", "ips", "snips", "clipped", "direct")


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="estimate what a fixed arm, a table or a learnt policy would earn, from logged decisions",
        description="Estimate the mean reward of a policy that learns no more, from a log of another one's "
        "decisions: a fixed arm, a table of probabilities, a column of them, or a policy that learns from "
        "the first part of the log and is evaluated on the rest.",
        epilog=f"""\
examples:
  thrifty evaluate log.csv --arm red --arm green
  thrifty evaluate log.csv --probabilities red=0.7,green=0.3 --estimator snips --estimator dr
  thrifty evaluate log.csv --target-column new_probability --estimator clipped
  thrifty evaluate log.csv --policy "ThompsonSampling(law='beta')" --learn 0.5
  thrifty evaluate clicks.csv --separator tab --arm-column item --reward-column click --arm 17 --estimator all

dr is doubly robust, ips inverse propensity, snips self-normalised, direct the mean rewards of arms; the
interval of clipped is proven, those of others are measured.

{logs.ABOUT}""",
    )
    logs.options(parser)
    parser.add_argument("--arm", action="append", metavar="ID", help="always this one; may be repeated")
    parser.add_argument(
        "--probabilities",
        action="append",
        metavar="ID=P,...",
        help="of arms, with the sum 1; may be repeated",
    )
    parser.add_argument("--target-column", metavar="NAME", help="the probability of each row's own arm")
    parser.add_argument("--policy", action="append", metavar="POLICY", help="that learns; may be repeated")
    parser.add_argument("--learn", type=float, default=0.5, metavar="SHARE", help="default: %(default)s")
    parser.add_argument(
        "--estimator", action="append", choices=(*ESTIMATORS, "all"), help="default: dr; may be repeated"
    )
    parser.add_argument(
        "--clip", type=float, metavar="W", help="the largest weight of clipped; default: √rows"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.replays.evaluate import evaluate, table

    named = {name: getattr(arguments, name) for name in ("arm", "probabilities", "policy", "target_column")}
    (kind, values), *others = [(name, value) for name, value in named.items() if value] or [("", [])]
    if others or not kind:
        raise InvalidValue("one of --arm, --probabilities, --policy and --target-column must be given")
    what: list[dict[str, Any]] = [{}]
    if kind == "arm":
        what = [{"arm": logs.identity(text, arguments)} for text in values]
    elif kind == "probabilities":
        what = [{"probabilities": _table(text, arguments)} for text in values]
    elif kind == "policy":
        what = [{"policy": policy(text), "learn": arguments.learn} for text in values]
    read = logs.read(arguments, target_column=arguments.target_column)
    estimators = arguments.estimator or ["dr"]
    if "all" in estimators:
        estimators = ESTIMATORS if kind != "target_column" else ESTIMATORS[1:4]
    given = {"clip": arguments.clip, **logs.shared(arguments)}
    found = [evaluate(read, estimator=name, **one, **given) for one in what for name in estimators]
    print(f"{table(found)}\n\n{found[0].checks}")
    print(f"{len(read):,} rows, {len(read.arms):,} arms")


def _table(text: str, arguments: argparse.Namespace) -> dict[Any, float]:
    """Probabilities by id."""
    found: dict[Any, float] = {}
    for part in text.split(","):
        name, _, share = part.rpartition("=")
        try:
            found[logs.identity(name, arguments)] = float(share)
        except ValueError:
            found = {}
        if not name or not found:
            raise InvalidValue(f"--probabilities must be written like red=0.7,green=0.3, got {text!r}")
    if len(found) < len(text.split(",")):
        raise InvalidValue(f"--probabilities must name every arm once, got {text!r}")
    return found
