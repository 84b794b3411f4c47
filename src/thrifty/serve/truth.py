"""What only a simulation knows: a product that is simulated can say what a service has really lost."""

from collections.abc import Callable

from msgspec import Struct


class Truth(Struct):
    """True regret of an experiment against time: ``times`` are seconds since its start, ``curves`` what was
    lost by then, by the name of who chose."""

    times: list[float]
    curves: dict[str, list[float]]


Teller = Callable[[str], Truth | None]  # by the name of an experiment
