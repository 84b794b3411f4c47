"""The modules of the engines, by name: of sleepers there is one for each schedule."""

from types import ModuleType

from thrifty.engines import kinetic, scan, tournament
from thrifty.engines.sleepers import duel as sleeping_duel
from thrifty.engines.sleepers import epsilon as sleeping_epsilon
from thrifty.engines.sleepers import fresh as sleeping_fresh

MODULES: dict[str, ModuleType] = {
    "scan": scan,
    "tournament": tournament,
    "kinetic": kinetic,
    "sleepers-fresh": sleeping_fresh,
    "sleepers-epsilon": sleeping_epsilon,
    "sleepers-duel": sleeping_duel,
}
