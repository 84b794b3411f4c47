"""``thrifty replay``: what policies would have earned, from a log."""

import argparse
import ast
from typing import TYPE_CHECKING, Any

from thrifty.cli import logs
from thrifty.errors import InvalidValue

if TYPE_CHECKING:
    from thrifty.policies import Policy


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "replay",
        help="estimate what policies would have earned, from logged decisions",
        description="Estimate the mean reward of policies that learn as they go, from a log of another "
        "policy's decisions. For policies that do not: thrifty evaluate.",
        epilog=f"""\
examples:
  thrifty replay log.csv --policy "ThompsonSampling(law='beta')" --policy "TSMA()"
  thrifty replay log.parquet --policy "KLUCB()" --method ips --runs 20
  thrifty replay log.csv --policy "UCB1()" --arms red,green,blue --range 0,5 --strict
  thrifty replay clicks.csv --separator ";" --arm-column item --reward-column click --policy "TSMA()"
  thrifty replay log.csv --policy "UCB1()" --prior 0.01,1 --span red=5001.. --span blue=..9000

Rejection (the default) uses the rows in which the log happens to have the policy's arm, and gives the policy
a life of its own, but a short one. Inverse propensity (ips) counts every row, with more noise.

{logs.ABOUT}""",
    )
    logs.options(parser)
    parser.add_argument(
        "--policy", action="append", required=True, metavar="POLICY", help="as in Python; may be repeated"
    )
    parser.add_argument("--method", choices=("rejection", "ips"), default="rejection")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="default: %(default)s")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.replays.replay import replay, table

    policies = [policy(text) for text in arguments.policy]
    read = logs.read(arguments)
    options = {"method": arguments.method, "runs": arguments.runs, **logs.shared(arguments)}
    found = [replay(one, read, **options) for one in policies]
    print(f"{table(found)}\n\n{found[0].checks}")
    print(f"{len(read):,} rows, {len(read.arms):,} arms, {arguments.method}, {arguments.runs} runs each")


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
