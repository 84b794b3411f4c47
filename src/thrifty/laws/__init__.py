"""Laws: from which distribution an arm's index is drawn. A new one is a file, and a line here."""

from thrifty.laws.beta import Beta
from thrifty.laws.exponential_family import FAMILIES
from thrifty.laws.gamma import Gamma
from thrifty.laws.gaussian import Gaussian
from thrifty.laws.inverse_gamma import InverseGamma, InverseGammaFlat
from thrifty.laws.law import Law

__all__ = ["FAMILIES", "LAWS", "Law"]

# By name, as policies take them. Those of ExpTS, by family, are not among them.
_ALL: tuple[Law, ...] = (
    Gaussian(),
    Beta(),
    Gamma(),
    InverseGamma(),
    InverseGammaFlat(),
)
LAWS: dict[str, Law] = {law.name: law for law in _ALL}
