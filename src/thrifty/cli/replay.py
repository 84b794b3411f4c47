"""``thrifty replay``: what policies would have earned, from a log."""

import argparse
import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thrifty.cli.shared import numbers
from thrifty.errors import InvalidValue

if TYPE_CHECKING:
    from thrifty.policies import Policy


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "replay",
        help="estimate what policies would have earned, from logged decisions",
        description="Estimate the mean reward of policies from a log of another policy's decisions: CSV or "
        "Parquet, with the columns arm, reward, propensity and, if rows are not in order, time.",
        epilog="""\
examples:
  thrifty replay log.csv --policy "ThompsonSampling(law='beta')" --policy "TSMA()"
  thrifty replay log.parquet --policy "KLUCB()" --method ips --runs 20
  thrifty replay log.csv --policy "UCB1()" --arms red,green,blue --range 0,5 --strict

Rejection (the default) uses the rows in which the log happens to have the policy's arm, and gives the policy
a life of its own, but a short one. Inverse propensity (ips) counts every row, with more noise. Bad rows are
left out and reported by their line; --strict refuses them.""",
    )
    parser.add_argument("log", metavar="LOG", type=Path, help="a .csv or a .parquet file")
    parser.add_argument(
        "--policy", action="append", required=True, metavar="POLICY", help="as in Python; may be repeated"
    )
    parser.add_argument("--arms", metavar="ID,ID,...", help="ids of the arms (default: all in the log)")
    parser.add_argument(
        "--range", type=numbers, default=[0.0, 1.0], metavar="LOW,HIGH", help="of rewards; default: 0,1"
    )
    parser.add_argument("--method", choices=("rejection", "ips"), default="rejection")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="default: %(default)s")
    parser.add_argument("--strict", action="store_true", help="bad rows are an error")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.replays import log
    from thrifty.replays.replay import replay, table

    policies = [policy(text) for text in arguments.policy]
    arms = _ids(arguments.arms, arguments.log.suffix) if arguments.arms else None
    read = log.read(arguments.log, arms, strict=arguments.strict)
    if read.bad:
        print(f"{read.report()}\n")
    options = {key: getattr(arguments, key) for key in ("method", "runs", "seed", "level")}
    options["reward_range"] = tuple(arguments.range)
    print(table([replay(one, read, **options) for one in policies]))
    print(f"\n{len(read):,} rows, {len(read.arms):,} arms, {arguments.method}, {arguments.runs} runs each")


def _ids(text: str, suffix: str) -> list[Any]:
    """Ids between commas: texts in a CSV file, but in Parquet a number may be one."""
    from thrifty.replays.sources import WHOLE

    ids: list[Any] = text.split(",")
    if suffix == ".csv":
        return ids
    return [int(name) if WHOLE.fullmatch(name) else name for name in ids]


def policy(text: str) -> "Policy":
    """A policy as it is written in Python: a name, and parameters that are plain values or policies."""
    from thrifty.policies import POLICIES

    def read(node: ast.expr) -> Any:
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        if isinstance(call.func, ast.Name) and call.func.id in POLICIES:
            names = [part.arg for part in call.keywords]
            if None in names or len({*names}) < len(names):
                raise ValueError("parameters must have names, each once")
            named = {part.arg: read(part.value) for part in call.keywords if part.arg}
            return POLICIES[call.func.id](*(read(part) for part in call.args), **named)
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise ValueError(f"{ast.unparse(node)} is neither a policy nor a value") from None

    try:
        found = read(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError) as error:
        raise InvalidValue(f"policy must be written like TSMA(alpha=0.5), got {text!r}: {error}") from None
    if type(found) not in POLICIES.values():
        raise InvalidValue(f"policy must be one of those of thrifty policies, got {text!r}")
    return found  # type: ignore[no-any-return]
