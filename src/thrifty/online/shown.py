"""A bandit in a notebook: what it is, and the arms that it pulls most."""

from typing import TYPE_CHECKING

import numpy as np

from thrifty import checks
from thrifty.table import Table

if TYPE_CHECKING:
    from thrifty.online.bandit import Bandit

MOST = 5  # arms


def bandit_table(bandit: "Bandit") -> str:
    """The bandit as HTML."""
    known = bandit.statistics()
    names, pulls = known["arm"], known["pulls"]
    top = np.lexsort((np.arange(pulls.size), -pulls))[:MOST]
    rows = [
        (
            checks.shown(names[i]),
            f"{pulls[i]:,}",
            f"{known['mean'][i]:.6g}" if pulls[i] else "",
            f"{known['pending'][i]:,}",
        )
        for i in top
    ]
    title = f"{bandit.policy!r} on {bandit.engine}: {pulls.size:,} arms, {bandit.decisions:,} decisions"
    notes = [f"the {MOST} arms with the most pulls"] if pulls.size > MOST else []
    return Table(("arm", "pulls", "mean", "pending"), rows, title, notes).html()
