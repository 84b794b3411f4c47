"""Plain text tables that line up."""

from collections.abc import Sequence


def aligned(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The heading, a rule, and the rows; the first ``left`` columns flush left, the others flush right.

    >>> print(aligned(("policy", "regret"), [("TS", "12.5"), ("KL-UCB++", "7.25")]))
    policy    regret
    ────────  ──────
    TS          12.5
    KL-UCB++    7.25
    """
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    rule = ["─" * width for width in widths]
    justify = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(justify, row, widths, strict=True)).rstrip()
        for row in (heading, rule, *rows)
    )
