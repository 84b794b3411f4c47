"""Functions of numbers. ``arithmetic`` types what kernels do with plain ones, so it comes first."""

from thrifty.numerics import arithmetic as arithmetic
