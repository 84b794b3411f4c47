"""``thrifty compile``: every kernel, ahead of its first use."""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from thrifty.errors import ThriftyError

PROGRAM = """
import sys
from thrifty import cache, errors, storage
from thrifty.policies import ahead
try:
    storage.writable(cache.folder())
except errors.ThriftyError as error:
    sys.exit(f"thrifty: {error}")
ahead.compile_all()
print(f"The kernels are in {cache.folder()}")
"""


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "compile",
        help="compile everything ahead of its first use",
        description="Compile everything ahead: for an image, or for machines and users that cannot write to "
        "a home. It takes a minute or two, once.",
        epilog="""\
A folder that was filled may be read-only, and belong to somebody else. Where it is used, NUMBA_CACHE_DIR
must name it. With --cpu generic it holds on any processor of this architecture; then Numba compiles for
any processor in every process that uses the folder, your own functions too.

examples:
  thrifty compile
  thrifty compile --folder /opt/kernels --cpu generic
  NUMBA_CACHE_DIR=/opt/kernels python program.py""",
    )
    parser.add_argument("--folder", type=Path, help="where to (default: where this user's kernels are kept)")
    parser.add_argument(
        "--cpu", choices=("native", "generic"), default="native", help="this processor, or any of its kind"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """In a process of its own: where kernels are kept is settled when they are imported."""
    environment = os.environ.copy()
    if arguments.folder is not None:
        environment["NUMBA_CACHE_DIR"] = str(arguments.folder.absolute())
    if arguments.cpu == "generic":
        environment |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise ThriftyError("the kernels could not be compiled and kept: see above")
    print(done.stdout, end="")
