"""SciPy's functions inside kernels are SciPy's functions."""

import numpy as np
import pytest
import scipy.special
from numba import njit

from thrifty.numerics.special import _link, ndtri

P = np.array([0.0, 1e-300, 1e-20, 0.02, 0.5, 0.75, 1.0 - 1e-16, 1.0])


def test_linked_functions_equal_the_ufuncs() -> None:
    np.testing.assert_array_equal([ndtri(p) for p in P], scipy.special.ndtri(P))


def test_functions_of_several_arguments_can_be_linked() -> None:
    linked = _link("betainc", 3)

    @njit
    def betainc(a, b, x):
        return linked(a, b, x, 0)

    np.testing.assert_array_equal([betainc(2.0, 30.5, p) for p in P], scipy.special.betainc(2.0, 30.5, P))


@pytest.mark.parametrize(("name", "arguments"), [("no_such_function", 1), ("ndtri", 2)])
def test_unknown_function_is_an_import_error(name: str, arguments: int) -> None:
    with pytest.raises(ImportError, match=f"no C function {name} of {arguments} doubles"):
        _link(name, arguments)
