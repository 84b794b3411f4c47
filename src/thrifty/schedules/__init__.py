"""Schedules: when an arm's index is drawn. A new one is a file, and a line here."""

from types import ModuleType

from thrifty.schedules import aggregate, committed, duel, epsilon, fresh

__all__ = ["SCHEDULES"]

SCHEDULES: dict[str, ModuleType] = {
    "fresh": fresh,
    "epsilon": epsilon,
    "aggregate": aggregate,
    "duel": duel,
    "when pulled": committed,  # of an index that is computed: ``Policy.changes``
}
