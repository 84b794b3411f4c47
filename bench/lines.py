"""Lines of code, without comments, docstrings and blank lines.

    uv run python bench/lines.py                # of src/thrifty, by folder
    uv run python bench/lines.py --at 7bfcb0b   # of another commit

A line counts if a token of code begins or ends on it.
"""

import argparse
import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import PurePosixPath

from thrifty.table import aligned

PACKAGE = "src/thrifty"
SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip


def count(source: str) -> int:
    """
    >>> count('"Says what it is."\\n\\nx = [  # a list\\n    1,\\n]\\n')
    3
    """
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node, False) is not None
        ):
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--at", default="HEAD", help="a commit (default: the last one)")
    commit = parser.parse_args().at
    total: Counter[str] = Counter()
    for path in git("ls-tree", "-r", "--name-only", commit, PACKAGE).split():
        if path.endswith(".py"):
            inside = PurePosixPath(path).relative_to(PACKAGE).parts
            total[inside[0] if len(inside) > 1 else "."] += count(git("show", f"{commit}:{path}"))
    rows = [(folder, f"{lines:,}") for folder, lines in sorted(total.items())]
    print(aligned(("folder", "lines"), [*rows, ("all", f"{total.total():,}")], left=1))


if __name__ == "__main__":
    main()
